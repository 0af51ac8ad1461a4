import { type Selectable, sql } from 'kysely';
import type { StoreBackfillsTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { getIntegration } from '../connections/connections.ts';
import { FIRST_BACK_MS } from './schedule.ts';
import type { SweepKey } from './sweeps.ts';

export type BackfillRow = Selectable<StoreBackfillsTable>;

/** Begins to read a store's history, from its first order on; a running one continues. */
async function beginBackfill(
  db: Db,
  { id, brandId }: SweepKey,
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

/** Due backfills of connected stores. */
export const selectDueBackfills = (db: Db, now: Date) =>
  db
    .selectFrom('storeBackfills as backfill')
    .innerJoin('integrations as store', 'store.id', 'backfill.integrationId')
    .select(['store.id', 'store.brandId', 'store.provider', 'store.name', 'store.baseUrl', 'store.currency'])
    .select(['store.renewalTags', 'store.firstTags'])
    .select(['backfill.before', 'backfill.since', 'backfill.cursor', 'backfill.failures'])
    .where('backfill.dueAt', '<=', now)
    .where('store.status', '=', 'connected')
    .orderBy('backfill.dueAt');
export type DueBackfill = Awaited<ReturnType<ReturnType<typeof selectDueBackfills>['executeTakeFirstOrThrow']>>;

interface HistoryPageResult {
  read: number;
  recorded: number;
  unread: number;
  cursor: string | null;
  reachedAt: Date | null;
}

const updateBackfill = (db: Db, { id, brandId }: SweepKey) =>
  db.updateTable('storeBackfills').where('brandId', '=', brandId).where('integrationId', '=', id);

/** Stores a page's result. */
export async function updateAfterHistory(db: Db, store: SweepKey, page: HistoryPageResult): Promise<void> {
  await updateBackfill(db, store)
    .set({
      cursor: page.cursor,
      failures: 0,
      problem: null,
      reachedAt: sql<Date>`greatest(reached_at, ${page.reachedAt}::timestamptz)`,
      ordersRead: sql<number>`orders_read + ${page.read}`,
      ordersRecorded: sql<number>`orders_recorded + ${page.recorded}`,
      ordersUnread: sql<number>`orders_unread + ${page.unread}`,
    })
    .execute();
}

/** The next page is read at `dueAt`. */
export async function postponeBackfill(db: Db, store: SweepKey, dueAt: Date): Promise<void> {
  await updateBackfill(db, store).set({ dueAt }).execute();
}

/** Counts a failure. A cursor that fails twice is dropped; the next page begins at the latest change that was read. */
export async function updateBackfillToFailed(
  db: Db,
  store: SweepKey,
  { problem, dueAt }: { problem: string; dueAt: Date },
): Promise<void> {
  await updateBackfill(db, store)
    .set({
      problem,
      dueAt,
      failures: sql<number>`failures + 1`,
      since: sql<Date>`case when failures > 0 then greatest(since, reached_at) else since end`,
      cursor: sql<string>`case when failures > 0 then null else cursor end`,
    })
    .execute();
}

export async function finishBackfill(
  db: Db,
  store: SweepKey,
  { problem, now }: { problem: string | null; now: Date },
): Promise<void> {
  await updateBackfill(db, store).set({ dueAt: null, cursor: null, finishedAt: now, problem }).execute();
}

/** Earlier than any store's first order. */
const EVER = new Date(0);

/** Schedules reading a store's history, up to the start of its sweeps. */
export async function backfillBefore(db: Db, store: SweepKey & { connectedAt: Date }, now: Date): Promise<BackfillRow> {
  const before = new Date(store.connectedAt.getTime() - FIRST_BACK_MS);
  return await beginBackfill(db, store, { before, since: EVER, now });
}

export async function startBackfill({ db, now, brandId }: Work, id: string): Promise<BackfillRow> {
  const store = await getIntegration(db, brandId, id);
  if (store.status !== 'connected') throw new ApiError('CONFLICT', 'The store is not connected; connect it first.');
  return await backfillBefore(db, store, now);
}
