import { sql } from 'kysely';
import { COUNT, countOf } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { insertOf } from '../../kit/engines/postgres/rows.ts';
import type { JobRow } from '../../platform/jobs/queries.ts';
import type { Provider } from '../stores/formats/provider.ts';
import type { OurOrder, TheirOrder } from './policy.ts';

type Of = Pick<JobRow, 'id' | 'brandId'>;

/** A store, or a shop that a key reports orders of. */
export interface ComparedStore {
  id: string;
  brandId: string;
  provider: Provider;
  name: string;
  baseUrl: string;
  currency: string;
  isConnected: boolean;
}

const stores = (db: Db, brandId: string) =>
  db
    .selectFrom('integrations')
    .select(['id', 'brandId', 'provider', 'name', 'baseUrl', 'currency'])
    .select(sql<boolean>`status = 'connected'`.as('isConnected'))
    .where('brandId', '=', brandId);

export const findStore = (db: Db, brandId: string, id: string): Promise<ComparedStore | undefined> =>
  stores(db, brandId).where('id', '=', id).executeTakeFirst();

/** The brand's only store; undefined if it has several, or none. */
export async function findOnlyStore(db: Db, brandId: string): Promise<ComparedStore | undefined> {
  const [only, other] = await stores(db, brandId).limit(2).execute();
  return other === undefined ? only : undefined;
}

export async function insertReconciliation(db: Db, { id, brandId }: Of): Promise<void> {
  await db.insertInto('reconciliations').values({ jobId: id, brandId }).execute();
}

/** Keeps the orders that a store lists. Of an order that comes twice, the first counts in a file and the last in a list. */
export async function insertTheirs(
  db: Db,
  { id, brandId }: Of,
  orders: readonly TheirOrder[],
  counts: 'first' | 'last',
): Promise<void> {
  const inTurn = counts === 'first' ? orders.toReversed() : orders;
  const byId = new Map(inTurn.map((order) => [order.orderId, { jobId: id, brandId, ...order }]));
  if (byId.size === 0) return;
  const twice =
    counts === 'first'
      ? sql`do nothing`
      : sql`do update set currency = excluded.currency, least_minor = excluded.least_minor,
          most_minor = excluded.most_minor, refunded_minor = excluded.refunded_minor,
          is_refund_exact = excluded.is_refund_exact, is_refunded = excluded.is_refunded,
          is_cancelled = excluded.is_cancelled`;
  await sql`${insertOf('reconciled_orders', [...byId.values()])} on conflict (job_id, order_id) ${twice}`.execute(db);
}

export const countTheirs = (db: Db, { id, brandId }: Of): Promise<number> =>
  countOf(db.selectFrom('reconciledOrders').select(COUNT).where('brandId', '=', brandId).where('jobId', '=', id));

interface Commission {
  commissionId: string | null;
  commissionMinor: number | null;
  creatorEmail: string | null;
}

export interface TheirsAndOurs extends TheirOrder, OurOrder, Commission {
  /** Null if the order is missing here. */
  ourId: string | null;
  occurredAt: Date | null;
}

const OURS = sql`ours.id as our_id, ours.currency as our_currency, ours.base_minor, ours.cancelled_at, ours.occurred_at,
  commission.id as commission_id, commission.status as commission_status, commission.commission_minor,
  commission.amount_minor as commission_base_minor, commission.refunded_minor as commission_refunded_minor,
  creator.email as creator_email`;
const COMMISSION = sql`left join commissions as commission on commission.order_id = ours.id
  left join creators as creator on creator.id = commission.creator_id`;

/** The next orders of the store by their ids, each with ours. */
export async function listTheirs(
  db: Db,
  { id, brandId }: Of,
  integrationId: string,
  { after, limit }: { after: string; limit: number },
): Promise<TheirsAndOurs[]> {
  const { rows } = await sql<TheirsAndOurs>`
    select theirs.order_id, theirs.currency, theirs.least_minor, theirs.most_minor, theirs.refunded_minor,
      theirs.is_refund_exact, theirs.is_refunded, theirs.is_cancelled, ${OURS}
    from (select * from reconciled_orders where brand_id = ${brandId} and job_id = ${id} and order_id > ${after}
      order by order_id limit ${limit}) as theirs
    left join orders as ours on ours.brand_id = ${brandId} and ours.integration_id = ${integrationId}
      and ours.order_id = theirs.order_id
    ${COMMISSION} order by theirs.order_id`.execute(db);
  return rows;
}

export interface OursAlone extends OurOrder, Commission {
  orderId: string;
  ourId: string;
  occurredAt: Date;
}

/** The next of our orders that the store does not list, by time. Those that it deleted are rightly missing there. */
export async function listOursAlone(
  db: Db,
  { id, brandId }: Of,
  integrationId: string,
  window: { from: Date; until: Date; after: { at: Date; id: string }; limit: number },
): Promise<OursAlone[]> {
  const { from, until, after, limit } = window;
  const { rows } = await sql<OursAlone>`
    select ours.order_id, ${OURS} from orders as ours ${COMMISSION}
    where ours.brand_id = ${brandId} and ours.integration_id = ${integrationId}
      and ours.occurred_at >= ${from} and ours.occurred_at < ${until}
      and (ours.occurred_at, ours.id) > (${after.at}, ${after.id})
      and not exists (select from reconciled_orders as theirs
        where theirs.brand_id = ${brandId} and theirs.job_id = ${id} and theirs.order_id = ours.order_id)
      and not exists (select from order_heads as head where head.brand_id = ${brandId}
        and head.integration_id = ours.integration_id and head.order_id = ours.order_id and head.deleted_at is not null)
    order by ours.occurred_at, ours.id limit ${limit}`.execute(db);
  return rows;
}

/** Comparisons that have ended, whose orders are still kept. */
export async function listEnded(db: Db, limit: number): Promise<Of[]> {
  return await db
    .selectFrom('reconciliations')
    .innerJoin('jobs', 'jobs.id', 'reconciliations.jobId')
    .select(['jobs.id', 'jobs.brandId'])
    .where('jobs.endedAt', 'is not', null)
    .limit(limit)
    .execute();
}

/** Removes some of a comparison's orders, and after the last one the comparison. False when some are left. */
export async function deleteTheirs(db: Db, { id, brandId }: Of, limit: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from reconciled_orders where brand_id = ${brandId} and job_id = ${id} and order_id in (
      select order_id from reconciled_orders where brand_id = ${brandId} and job_id = ${id} limit ${limit})`.execute(
    db,
  );
  if (Number(numAffectedRows) === limit) return false;
  await db.deleteFrom('reconciliations').where('brandId', '=', brandId).where('jobId', '=', id).execute();
  return true;
}
