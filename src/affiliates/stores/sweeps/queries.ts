import { type Selectable, sql } from 'kysely';
import type { StoreSweepsTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';

export type SweepRow = Selectable<StoreSweepsTable>;

/** A store, as its sweep's row names it. */
export interface StoreOf {
  id: string;
  brandId: string;
}

/** Continues the running sweep, or begins one; it reads back to `earliest` at most. */
export async function beginSweep(
  db: Db,
  { id, brandId }: StoreOf,
  { now, earliest }: { now: Date; earliest: Date },
): Promise<SweepRow> {
  return await db
    .insertInto('storeSweeps')
    .values({ integrationId: id, brandId, since: earliest, startedAt: now })
    .onConflict((conflict) =>
      conflict.column('integrationId').doUpdateSet({
        since: sql<Date>`case when store_sweeps.started_at is null
          then greatest(store_sweeps.since, excluded.since) else store_sweeps.since end`,
        startedAt: sql<Date>`coalesce(store_sweeps.started_at, excluded.started_at)`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface PageRead {
  cursor: string | null;
  reachedAt: Date | null;
  againAt: Date | null;
  read: number;
  missed: number;
  unread: number;
}

export async function updateAfterPage(db: Db, { id }: StoreOf, page: PageRead): Promise<SweepRow> {
  return await db
    .updateTable('storeSweeps')
    .set({
      cursor: page.cursor,
      reachedAt: sql<Date>`greatest(reached_at, ${page.reachedAt}::timestamptz)`,
      againAt: sql<Date>`least(again_at, ${page.againAt}::timestamptz)`,
      failures: 0,
      missed: sql<number>`missed + ${page.missed}`,
      ordersRead: sql<number>`orders_read + ${page.read}`,
      ordersMissed: sql<number>`orders_missed + ${page.missed}`,
      ordersUnread: sql<number>`orders_unread + ${page.unread}`,
    })
    .where('integrationId', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Ends a sweep. The next one reads from `since`. */
export async function updateToDone(db: Db, { id }: StoreOf, since: Date): Promise<void> {
  await db
    .updateTable('storeSweeps')
    .set({
      ...{ since, startedAt: null, cursor: null, reachedAt: null, againAt: null, missed: 0, failures: 0 },
      sweeps: sql<number>`sweeps + 1`,
    })
    .where('integrationId', '=', id)
    .execute();
}

/** Counts a failure; returns how many there were in a row. A cursor that fails again is given up, its sweep is not. */
export async function updateToFailed(db: Db, { id }: StoreOf): Promise<number> {
  const { failures } = await db
    .updateTable('storeSweeps')
    .set({
      failures: sql<number>`failures + 1`,
      failed: sql<number>`failed + 1`,
      cursor: sql<string>`case when failures > 0 then null else cursor end`,
    })
    .where('integrationId', '=', id)
    .returning('failures')
    .executeTakeFirstOrThrow();
  return failures;
}

/** The store's own time of the newest snapshot that is recorded of each order. */
export async function listRecordedTimes(
  db: Db,
  { id, brandId }: StoreOf,
  orderIds: readonly string[],
): Promise<Map<string, Date>> {
  if (orderIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('orders')
    .select(['orderId', 'storeUpdatedAt'])
    .where('brandId', '=', brandId)
    .where('integrationId', '=', id)
    .where('orderId', 'in', orderIds)
    .execute();
  return new Map(rows.map(({ orderId, storeUpdatedAt }) => [orderId, storeUpdatedAt]));
}

/** The orders that deliveries have reported since a time. A waiting delivery may report any order. */
export async function findReported(
  db: Db,
  { id, brandId }: StoreOf,
  since: Date,
): Promise<{ orderIds: Set<string>; isAnyWaiting: boolean }> {
  const rows = await db
    .selectFrom('storeDeliveries')
    .select(['orderId', 'state'])
    .distinct()
    .where('brandId', '=', brandId)
    .where('integrationId', '=', id)
    .where('receivedAt', '>=', since)
    .execute();
  const orderIds = rows.flatMap(({ orderId }) => orderId ?? []);
  return { orderIds: new Set(orderIds), isAnyWaiting: rows.some(({ state }) => state === 'waiting') };
}

export interface SweepFigures {
  done: number;
  failed: number;
  read: number;
  missed: number;
  unread: number;
  /** Of the store whose sweep is due the longest. */
  oldestDueAt: Date | null;
}

/** Over all stores. */
export async function readSweepFigures(db: Db, now: Date): Promise<SweepFigures> {
  const { rows } = await sql<SweepFigures>`
    select coalesce(sum(sweeps), 0)::float8 as done, coalesce(sum(failed), 0)::float8 as failed,
      coalesce(sum(orders_read), 0)::float8 as read, coalesce(sum(orders_missed), 0)::float8 as missed,
      coalesce(sum(orders_unread), 0)::float8 as unread,
      (select min(sweep_at) from integrations where status = 'connected' and sweep_at <= ${now}) as oldest_due_at
    from store_sweeps`.execute(db);
  const [figures] = rows;
  if (!figures) throw new Error('An aggregate gave no row.');
  return figures;
}

/** A claim: which store is swept, and until when it is reserved. */
const CLAIMED = ['id', 'brandId', 'provider', 'name', 'baseUrl', 'currency', 'connectedAt', 'sweepAt'] as const;

/** Claims stores whose sweep is due: no other worker sweeps them before `until`, unless they are connected again. */
export async function claimSweeps(db: Db, now: Date, until: Date, limit: number) {
  return await db
    .updateTable('integrations')
    .set({ sweepAt: until })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('integrations')
        .select('id')
        .where('status', '=', 'connected')
        .where('sweepAt', '<=', now)
        .orderBy('sweepAt')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(CLAIMED)
    .execute();
}
export type ClaimedStore = Awaited<ReturnType<typeof claimSweeps>>[number];

/** Moves a claim, or gives it back with the time of the next sweep. False when it is no longer this one. */
export async function moveSweep(
  db: Db,
  { brandId, id, sweepAt }: Pick<ClaimedStore, 'brandId' | 'id' | 'sweepAt'>,
  change: { sweepAt: Date | null; sweptAt?: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('integrations')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', '=', 'connected')
    .where('sweepAt', '=', sweepAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Has a store's orders read again, from `since` on. A sweep that is under way loses its claim. False if it is not connected. */
export async function rewindSweep(db: Db, { id, brandId }: StoreOf, since: Date, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('integrations')
    .set({ sweepAt: now })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', '=', 'connected')
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await db
    .insertInto('storeSweeps')
    .values({ integrationId: id, brandId, since })
    .onConflict((conflict) =>
      conflict.column('integrationId').doUpdateSet({
        since: sql<Date>`least(store_sweeps.since, excluded.since)`,
        ...{ startedAt: null, cursor: null, reachedAt: null, againAt: null },
      }),
    )
    .execute();
  return true;
}

/** Records that a sweep found orders that no webhook reported. */
export async function markSilent(db: Db, { brandId, id }: StoreOf, at: Date): Promise<void> {
  await db
    .updateTable('integrations')
    .set({ silentSince: at })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('silentSince', 'is', null)
    .execute();
}
