import { type Selectable, sql } from 'kysely';
import type { StoreBackfillsTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { getIntegration } from '../connections/connections.ts';
import { FIRST_BACK_MS } from './schedule.ts';
import type { StoreKey } from './sweeps.ts';

export type BackfillRow = Selectable<StoreBackfillsTable>;

/** Begins to read a store's history, from its first order on; a running one continues. */
async function beginBackfill(
  db: Db,
  { id, brandId }: StoreKey,
  { before, since, now }: { before: Date; since: Date; now: Date },
): Promise<BackfillRow> {
  const { rows } = await sql<BackfillRow>`
    insert into store_backfills as known (integration_id, brand_id, before, since, due_at, started_at)
    values (${id}, ${brandId}, ${before}, ${since}, ${now}, ${now})
    on conflict (integration_id) do update set
      before = case when known.due_at is null then excluded.before else known.before end,
      since = case when known.due_at is null then excluded.since else known.since end,
      cursor = case when known.due_at is not null then known.cursor end,
      reached_at = case when known.due_at is not null then known.reached_at end,
      problem = case when known.due_at is not null then known.problem end,
      orders_read = case when known.due_at is not null then known.orders_read else 0 end,
      orders_recorded = case when known.due_at is not null then known.orders_recorded else 0 end,
      orders_unread = case when known.due_at is not null then known.orders_unread else 0 end,
      started_at = case when known.due_at is null then excluded.started_at else known.started_at end,
      finished_at = null, failures = 0, due_at = least(known.due_at, excluded.due_at)
    returning *`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('An upsert returned no row.');
  return row;
}

export async function findBackfill(db: Db, brandId: string, integrationId: string): Promise<BackfillRow | undefined> {
  return await db
    .selectFrom('storeBackfills')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('integrationId', '=', integrationId)
    .executeTakeFirst();
}

/** Claims due backfills of connected stores until `until`. */
export async function claimBackfills(db: Db, now: Date, until: Date, limit: number) {
  return await db
    .updateTable('storeBackfills as backfill')
    .set({ dueAt: until })
    .from('integrations as store')
    .whereRef('store.id', '=', 'backfill.integrationId')
    .where('backfill.integrationId', 'in', (eb) =>
      eb
        .selectFrom('storeBackfills')
        .innerJoin('integrations', 'integrations.id', 'storeBackfills.integrationId')
        .select('storeBackfills.integrationId')
        .where('storeBackfills.dueAt', '<=', now)
        .where('integrations.status', '=', 'connected')
        .orderBy('storeBackfills.dueAt')
        .limit(limit)
        .forUpdate('storeBackfills')
        .skipLocked(),
    )
    .returning(['store.id', 'store.brandId', 'store.provider', 'store.name', 'store.baseUrl', 'store.currency'])
    .returning(['backfill.before', 'backfill.since', 'backfill.cursor', 'backfill.dueAt', 'backfill.failures'])
    .execute();
}
export type ClaimedBackfill = Awaited<ReturnType<typeof claimBackfills>>[number];

interface HistoryPageResult {
  read: number;
  recorded: number;
  unread: number;
  cursor: string | null;
  reachedAt: Date | null;
  dueAt: Date;
}

/** Stores a page's result and renews the claim. Returns false if the claim was lost. */
export async function updateAfterHistory(
  db: Db,
  { id, dueAt }: Pick<ClaimedBackfill, 'id' | 'dueAt'>,
  page: HistoryPageResult,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('storeBackfills')
    .set({
      cursor: page.cursor,
      dueAt: page.dueAt,
      failures: 0,
      problem: null,
      reachedAt: sql<Date>`greatest(reached_at, ${page.reachedAt}::timestamptz)`,
      ordersRead: sql<number>`orders_read + ${page.read}`,
      ordersRecorded: sql<number>`orders_recorded + ${page.recorded}`,
      ordersUnread: sql<number>`orders_unread + ${page.unread}`,
    })
    .where('integrationId', '=', id)
    .where('dueAt', '=', dueAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Releases the claim; the next page is read at `dueAt`. */
export async function postponeBackfill(
  db: Db,
  { id, dueAt }: Pick<ClaimedBackfill, 'id' | 'dueAt'>,
  next: Date,
): Promise<void> {
  await db
    .updateTable('storeBackfills')
    .set({ dueAt: next })
    .where('integrationId', '=', id)
    .where('dueAt', '=', dueAt)
    .execute();
}

/** Counts a failure. A cursor that fails twice is dropped; the next page begins at the latest change that was read. */
export async function updateBackfillToFailed(
  db: Db,
  { id, dueAt }: Pick<ClaimedBackfill, 'id' | 'dueAt'>,
  { problem, next }: { problem: string; next: Date },
): Promise<void> {
  await db
    .updateTable('storeBackfills')
    .set({
      problem,
      dueAt: next,
      failures: sql<number>`failures + 1`,
      since: sql<Date>`case when failures > 0 then greatest(since, reached_at) else since end`,
      cursor: sql<string>`case when failures > 0 then null else cursor end`,
    })
    .where('integrationId', '=', id)
    .where('dueAt', '=', dueAt)
    .execute();
}

export async function finishBackfill(
  db: Db,
  { id, dueAt }: Pick<ClaimedBackfill, 'id' | 'dueAt'>,
  { problem, now }: { problem: string | null; now: Date },
): Promise<void> {
  await db
    .updateTable('storeBackfills')
    .set({ dueAt: null, cursor: null, finishedAt: now, problem })
    .where('integrationId', '=', id)
    .where('dueAt', '=', dueAt)
    .execute();
}

/** Earlier than any store's first order. */
const EVER = new Date(0);

/** Schedules reading a store's history, up to the start of its sweeps. */
export async function backfillBefore(db: Db, store: StoreKey & { connectedAt: Date }, now: Date): Promise<BackfillRow> {
  const before = new Date(store.connectedAt.getTime() - FIRST_BACK_MS);
  return await beginBackfill(db, store, { before, since: EVER, now });
}

export async function startBackfill({ db, now, brandId }: Work, id: string): Promise<BackfillRow> {
  const store = await getIntegration(db, brandId, id);
  if (store.status !== 'connected') throw new ApiError('CONFLICT', 'The store is not connected; connect it first.');
  return await backfillBefore(db, store, now);
}
