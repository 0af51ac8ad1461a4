import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { toCsv } from '../../kit/operation/csv.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { toStorageKey } from '../../platform/jobs/job-files.ts';
import {
  assertBelowLimit,
  type ClaimedJob,
  createJob,
  type JobKind,
  storeFile,
  type TurnOutcome,
} from '../../platform/jobs/jobs.ts';
import { decideOrdersOfCustomers } from '../orders/decide.ts';
import { listUnpaidOrdersOfCustomers } from '../orders/order-history.ts';
import { orderKind } from '../orders/orders.ts';
import { BackfilledOrder, BackfillRequest, type CustomerBackfill } from './backfill.shapes.ts';

export const BACKFILL = 'customer_backfill';

/** Customers of one turn. Jobs of other brands wait for it. */
const CUSTOMERS_A_TURN = 500;
/** Limit of a plan's list; its sums are of all orders. */
const MOST_LISTED = 5_000;
/** Limit of creators in the job's `result`, which lists of jobs include. */
const SHOWN_CREATORS = 100;

const Sums = z.object({
  creator_id: z.string(),
  creator_email: z.string().nullable(),
  currency: z.string(),
  orders: z.number().int(),
  commission_minor: z.number().int(),
});

const BackfillCursor = z.object({
  after: z.string(),
  customers: z.number().int(),
  listed: z.array(BackfilledOrder),
  sums: z.array(Sums),
});
type BackfillCursor = z.output<typeof BackfillCursor>;

export async function startBackfill(work: Work, keyId: string, { from, to, apply }: CustomerBackfill) {
  await assertBelowLimit(work);
  const request = { from: from.toISOString(), to: to.toISOString(), apply };
  return await createJob(work, { kind: BACKFILL, request, dueAt: work.now, keyId });
}

type OrderColumns = Omit<BackfilledOrder, 'occurred_at'> & { occurred_at: Date };

/** Reads orders with what they pay, by a condition on `orders` and `commissions`. */
async function listPaying(db: Db, brandId: string, condition: ReturnType<typeof sql>): Promise<BackfilledOrder[]> {
  const { rows } = await sql<OrderColumns>`
    select orders.id, orders.order_id, orders.integration_id, orders.occurred_at, orders.currency,
      orders.base_minor as amount_minor, commissions.commission_minor, commissions.creator_id,
      creators.email as creator_email, commissions.link_id, orders.customer_id, ${orderKind} as kind
    from orders join commissions on commissions.order_id = orders.id join creators on creators.id = commissions.creator_id
    where orders.brand_id = ${brandId} and ${condition} order by orders.occurred_at, orders.id`.execute(
    db.withoutPlugins(),
  );
  return rows.map((row) => ({ ...row, occurred_at: row.occurred_at.toISOString() }));
}

/** Ends the transaction of a plan, so that nothing of it stays. */
class NothingStays extends Error {
  readonly orders: BackfilledOrder[];

  constructor(orders: BackfilledOrder[]) {
    super('This is only a plan.');
    this.orders = orders;
  }
}

type Request = z.output<typeof BackfillRequest>;

/**
 * Decides the orders of one customer. A plan does the same in a transaction that is rolled back, and tells the orders of this
 * customer alone, so that those that two customers share are told once.
 */
async function decideCustomer(
  { postgres, clock, secrets }: Context,
  { brandId, keyId }: ClaimedJob,
  { from, to, apply }: Request,
  customerId: string,
): Promise<BackfilledOrder[]> {
  const actor = { brandId, keyId, operation: 'backfill_customers', requestId: null };
  try {
    await inWork(postgres.db, clock, actor, async (work) => {
      const ids = await decideOrdersOfCustomers(work, secrets, [{ id: customerId }], { from, to, cause: 'backfill' });
      if (apply) return;
      const isOwn = sql`orders.id = any(${ids}::text[]) and orders.customer_id = ${customerId}`;
      throw new NothingStays(await listPaying(work.db, brandId, isOwn));
    });
    return [];
  } catch (error) {
    if (error instanceof NothingStays) return error.orders;
    throw error;
  }
}

const listCustomerIds = async (db: Db, brandId: string, after: string) =>
  await db
    .selectFrom('customers')
    .select('id')
    .where('brandId', '=', brandId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(CUSTOMERS_A_TURN)
    .execute();

function addUp({ sums, listed, ...cursor }: BackfillCursor, orders: readonly BackfilledOrder[]): BackfillCursor {
  const byKey = new Map(sums.map((one) => [`${one.creator_id} ${one.currency}`, { ...one }]));
  for (const { creator_id, creator_email, currency, commission_minor } of orders) {
    const key = `${creator_id} ${currency}`;
    const sum = byKey.get(key) ?? { creator_id, creator_email, currency, orders: 0, commission_minor: 0 };
    byKey.set(key, { ...sum, orders: sum.orders + 1, commission_minor: sum.commission_minor + commission_minor });
  }
  return { ...cursor, sums: [...byKey.values()], listed: [...listed, ...orders].slice(0, MOST_LISTED) };
}

/** Lists the job's own decisions, also of turns lost after their transactions. */
const listDecided = (db: Db, { brandId, createdAt }: ClaimedJob, { from, to }: Request) =>
  listPaying(
    db,
    brandId,
    sql`orders.occurred_at >= ${from} and orders.occurred_at <= ${to}
      and orders.attribution ->> 'cause' = 'backfill'
      and (orders.attribution ->> 'decided_at')::timestamptz >= ${createdAt}`,
  );

async function runBackfill(
  context: Context,
  job: ClaimedJob,
  { signal, note }: Parameters<JobKind['run']>[2],
): Promise<TurnOutcome> {
  const { postgres, files } = context;
  const request = BackfillRequest.parse(job.request);
  const none: BackfillCursor = { after: '', customers: 0, listed: [], sums: [] };
  let cursor = BackfillCursor.parse(job.cursor ?? none);
  const ids = await listCustomerIds(postgres.db, job.brandId, cursor.after);
  for (const { id } of ids) {
    signal.throwIfAborted();
    const [unpaid] = await listUnpaidOrdersOfCustomers(postgres.db, job.brandId, [id], request);
    if (unpaid) cursor = addUp(cursor, await decideCustomer(context, job, request, id));
    cursor = { ...cursor, after: id, customers: cursor.customers + 1 };
    note(cursor.customers);
  }
  if (ids.length === CUSTOMERS_A_TURN) return { cursor, rows: cursor.customers, isDone: false };
  const { sums, listed } = request.apply
    ? addUp(none, await listDecided(postgres.db, job, request))
    : { ...cursor, listed: cursor.listed.toSorted((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1)) };
  const storageKey = toStorageKey(job.id, 1, job.claim);
  const file = { number: 1, name: 'orders.csv', mimeType: 'text/csv', storageKey };
  const csv = toCsv(BackfilledOrder, Readable.from(listed));
  const storedFile = await storeFile(files, { key: storageKey, mimeType: file.mimeType, signal }, csv);
  const creators = sums.toSorted((a, b) => b.commission_minor - a.commission_minor).slice(0, SHOWN_CREATORS);
  return {
    cursor: null,
    rows: cursor.customers,
    isDone: true,
    file: { ...file, ...storedFile, rows: listed.length },
    result: { orders: sums.reduce((sum, { orders }) => sum + orders, 0), creators },
  };
}

/** Decides past orders customer by customer. A lost turn is repeated, and decides nothing twice. */
export const backfillKind: JobKind = { run: runBackfill };
