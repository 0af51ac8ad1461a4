import { insertLinks } from '../../../src/affiliates/links/links.ts';
import { syncLedger } from '../../../src/analytics/figures/figures.jobs.ts';
import { findFreshness } from '../../../src/analytics/figures/sync.ts';
import { insertOnce } from '../../../src/kit/engines/clickhouse/insert.ts';
import { tsvTime } from '../../../src/kit/engines/clickhouse/tsv.ts';
import type { Db } from '../../../src/kit/engines/postgres/open.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import type { NewEntry } from '../../../src/kit/outbox/ledger-entry.ts';
import { ApiError } from '../../../src/kit/values/errors.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { asTest } from '../affiliates/sales.ts';
import { type TestApp, unique, until } from '../app.ts';

/** When the oldest entry that figures lack was recorded; undefined when they lack none. */
export const findOldestUnsynced = async (db: Db, brandId: string): Promise<Date | undefined> =>
  (await findFreshness(db, brandId)).oldestUnsynced ?? undefined;

export interface Assignment {
  brandId: string;
  creatorId: string;
  linkId: string;
  currency: string;
  email: string;
  value: string;
}

/** A creator of the brand's with an email address of their own. */
export async function putCreator(
  { context }: TestApp,
  brandId: string,
  name = 'Ana',
): Promise<{ id: string; email: string }> {
  const at = new Date();
  const creator = { id: newId('crt', at.getTime()), email: `${unique('c')}@example.com` };
  await asTest(context, { id: brandId }, async ({ db }) => {
    await db
      .insertInto('creators')
      .values({ ...creator, brandId, name, tags: [], createdAt: at })
      .execute();
    await db
      .insertInto('rosterEntries')
      .values({ id: newId('ros', at.getTime()), brandId, creatorId: creator.id, status: 'active', addedAt: at })
      .execute();
  });
  return creator;
}

/** A code of a creator. */
export async function putAssignment(
  app: TestApp,
  brandId: string,
  options: { creator?: { id: string; email: string }; currency?: string } = {},
): Promise<Assignment> {
  const creator = options.creator ?? (await putCreator(app, brandId));
  const at = new Date();
  const currency = options.currency ?? 'USD';
  const link = { id: newId('lnk', at.getTime()), value: unique('CODE'), currency };
  const row = {
    ...link,
    brandId,
    creatorId: creator.id,
    creatorName: null,
    campaignId: null,
    integrationId: null,
    type: 'discount_code',
    slug: null,
    destinationUrl: null,
    commissionRatePpm: 100_000,
    holdDays: 30,
    attributionDays: 30,
    platform: null,
    active: true,
    lastSyncAt: null,
    createdAt: at,
    updatedAt: null,
  } as const;
  await asTest(app.context, { id: brandId }, async ({ db }) => void (await insertLinks(db, [row])));
  return { brandId, creatorId: creator.id, linkId: link.id, currency, email: creator.email, value: link.value };
}

/** What entries have in common: whose they are, and in what currency. */
const of = ({ creatorId, linkId, currency }: Assignment) => ({
  creatorId,
  linkId,
  currency,
  orderId: null,
  commissionId: null,
  payoutId: null,
});

export function sale(link: Assignment, at: Date, amountMinor: number, commissionMinor: number): NewEntry {
  return {
    ...of(link),
    kind: 'sale',
    postings: [
      { account: 'customers', amountMinor, at },
      { account: 'sales', amountMinor: -amountMinor, at },
      { account: 'commission_expense', amountMinor: commissionMinor, at },
      { account: 'commission_pending', amountMinor: -commissionMinor, at },
    ],
  };
}

type State = 'commission_pending' | 'commission_approved' | 'commission_paid';

export function move(link: Assignment, at: Date, amountMinor: number, from: State, to: State): NewEntry {
  return {
    ...of(link),
    kind: to === 'commission_paid' ? 'payment' : 'approval',
    postings: [
      { account: from, amountMinor, at },
      { account: to, amountMinor: -amountMinor, at },
    ],
  };
}

/** A refund after payment: what it takes back of the commission is an adjustment. */
export function lateRefund(link: Assignment, at: Date, amountMinor: number, backMinor: number): NewEntry {
  return {
    ...of(link),
    kind: 'refund',
    postings: [
      { account: 'sales_refunds', amountMinor, at },
      { account: 'customers', amountMinor: -amountMinor, at },
      { account: 'refund_adjustment', amountMinor: backMinor, at },
      { account: 'commission_expense', amountMinor: -backMinor, at },
    ],
  };
}

export async function post({ context }: TestApp, brandId: string, entries: readonly NewEntry[], now = new Date()) {
  const actor = { brandId, keyId: null, operation: 'test', requestId: null };
  await inWork(context.postgres.db, { now: () => now }, actor, async (work) => {
    for (const entry of entries) work.post(entry);
  });
}

/** Repeats work until no engine is too busy for it, as a worker does. */
export const untilDone = (work: () => Promise<unknown>): Promise<void> =>
  until('an engine to have time', () =>
    work().then(
      () => true,
      (error: unknown) => {
        if (error instanceof ApiError && error.status === 503) return false;
        throw error;
      },
    ),
  );

/** Until all of the brand's entries are in ClickHouse; another test's worker may have taken them along. */
export async function sync({ context }: TestApp, brandId: string): Promise<void> {
  const isSynced = async () => {
    await untilDone(() => syncLedger(context));
    return (await findOldestUnsynced(context.postgres.db, brandId)) === undefined;
  };
  await until('the ledger to be synced', isSynced);
}

/** Until the table of orders has them too; clicks that won them must have been drained. */
export async function syncOrders(app: TestApp, brandId: string): Promise<void> {
  const isSynced = async () => {
    await sync(app, brandId);
    return (await findFreshness(app.context.postgres.db, brandId)).oldestUnsyncedOrder === null;
  };
  await until('the orders to be synced', isSynced);
}

/** Until the orders of customers are there, too. */
export async function syncCustomers(app: TestApp, brandId: string): Promise<void> {
  const isSynced = async () => {
    await syncOrders(app, brandId);
    return (await findFreshness(app.context.postgres.db, brandId)).oldestUnsyncedCustomer === null;
  };
  await until('the customers to be synced', isSynced);
}

export async function postAndSync(app: TestApp, brandId: string, entries: readonly NewEntry[]): Promise<void> {
  await post(app, brandId, entries);
  await sync(app, brandId);
}

const COLUMNS = ['click_id', 'brand_id', 'link_id', 'creator_id', 'currency', 'at', 'kind', 'visitor'];

/** Clicks straight into ClickHouse. */
export async function putClicks({ context }: TestApp, link: Assignment, times: readonly Date[], kind = 'counted') {
  const rows = times.map((at) => {
    const facts = [link.brandId, link.linkId, link.creatorId, link.currency, tsvTime(at), kind, '1'];
    return `${[newId('clk', at.getTime()), ...facts].join('\t')}\n`;
  });
  await insertOnce(context.clickhouse, 'clicks_v1', COLUMNS, rows.join(''), unique('clicks'));
}
