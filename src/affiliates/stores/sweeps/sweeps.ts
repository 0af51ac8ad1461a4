import { type Selectable, sql } from 'kysely';
import { ZodError } from 'zod';
import type { StoreSweepsTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { endClaim } from '../../../kit/engines/postgres/work-claims.ts';
import { queueMail } from '../../../kit/mail/queue.ts';
import type { Turn } from '../../../kit/operation/claimed-work.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { inWork, type Work } from '../../../kit/operation/work.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { findContactEmail } from '../../../platform/brands/brands.ts';
import type { OrderSource } from '../../orders/orders.shapes.ts';
import { recordReadings } from '../../orders/record.ts';
import { getIntegration } from '../connections/connections.ts';
import { beginWebhookTrouble, endWebhookTrouble } from '../connections/health.ts';
import { getClient } from '../formats/clients.ts';
import type { Delivery, OrderPage, OrderReading, StoreAccess, StoreSettings } from '../formats/provider.ts';
import { backfillBefore } from './backfills.ts';
import { compareWithRecorded, FIRST_BACK_MS, OVERLAP_MS, SWEEP_EVERY_MS, SWEEPS } from './schedule.ts';

type SweepRow = Selectable<StoreSweepsTable>;

/** Key of a store in sweeps. */
export interface SweepKey {
  id: string;
  brandId: string;
}

/** Continues the running sweep, or begins one; it reads back to `earliest` at most. */
export async function beginSweep(
  db: Db,
  { id, brandId }: SweepKey,
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

interface PageResult {
  cursor: string | null;
  reachedAt: Date | null;
  againAt: Date | null;
  read: number;
  missed: number;
  unread: number;
}

async function updateAfterPage(db: Db, { id }: SweepKey, page: PageResult): Promise<SweepRow> {
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
async function updateSweepToDone(db: Db, { id }: SweepKey, since: Date): Promise<void> {
  await db
    .updateTable('storeSweeps')
    .set({
      since,
      startedAt: null,
      cursor: null,
      reachedAt: null,
      againAt: null,
      missed: 0,
      failures: 0,
      sweeps: sql<number>`sweeps + 1`,
    })
    .where('integrationId', '=', id)
    .execute();
}

/**
 * Counts a failure and returns the number of consecutive ones. A cursor that fails twice is dropped, its sweep is not.
 */
export async function updateSweepToFailed(db: Db, { id }: SweepKey): Promise<number> {
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

/** Lists the store's own time of each order's recorded state. */
export async function listRecordedTimes(
  db: Db,
  { id, brandId }: SweepKey,
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

/** Finds orders that deliveries have reported since a time. A waiting delivery may report any order. */
async function findReported(
  db: Db,
  { id, brandId }: SweepKey,
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

interface SweepFigures {
  done: number;
  failed: number;
  read: number;
  missed: number;
  unread: number;
  /** Due time of the store that has waited longest. */
  oldestDueAt: Date | null;
}

/** Sums the figures of all stores. */
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

/** Connected stores with a due sweep. */
export const selectDueSweeps = (db: Db, now: Date) =>
  db
    .selectFrom('integrations')
    .select(['id', 'brandId', 'provider', 'name', 'baseUrl', 'currency', 'renewalTags', 'firstTags', 'connectedAt'])
    .where('status', '=', 'connected')
    .where('sweepAt', '<=', now)
    .orderBy('sweepAt');
export type SweptStore = Awaited<ReturnType<ReturnType<typeof selectDueSweeps>['executeTakeFirstOrThrow']>>;

/** Sets when a connected store is swept next. */
export async function scheduleSweep(
  db: Db,
  { brandId, id }: SweepKey,
  change: { sweepAt: Date; sweptAt?: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('integrations')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', '=', 'connected')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Restarts the sweep of a store at `since`, also while it runs. Returns false if the store is not connected. */
async function rewindSweep(db: Db, store: SweepKey, since: Date, now: Date): Promise<boolean> {
  const { id, brandId } = store;
  await endClaim(db, SWEEPS, id);
  if (!(await scheduleSweep(db, store, { sweepAt: now }))) return false;
  await db
    .insertInto('storeSweeps')
    .values({ integrationId: id, brandId, since })
    .onConflict((conflict) =>
      conflict.column('integrationId').doUpdateSet({
        since: sql<Date>`least(store_sweeps.since, excluded.since)`,
        startedAt: null,
        cursor: null,
        reachedAt: null,
        againAt: null,
      }),
    )
    .execute();
  return true;
}

/** Records that a sweep found orders that no webhook reported. */
async function markSilent(db: Db, { brandId, id }: SweepKey, at: Date): Promise<void> {
  await db
    .updateTable('integrations')
    .set({ silentSince: at })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('silentSince', 'is', null)
    .execute();
}

const toActor = ({ brandId }: Pick<SweptStore, 'brandId'>) => ({
  brandId,
  keyId: null,
  operation: 'sweep_store',
  requestId: null,
});

/** Reads listed orders one by one, so that an unreadable one does not hold up the others. */
export async function readEach(
  { provider }: Pick<SweptStore, 'provider'>,
  store: StoreAccess & StoreSettings,
  orders: readonly Delivery[],
  onUnread: (error: unknown) => void,
): Promise<OrderReading[]> {
  const readings: OrderReading[] = [];
  for (const order of orders) {
    try {
      const reading = await getClient(provider).read(order, store);
      if (reading?.kind === 'order') readings.push(reading);
    } catch (error) {
      if (!(error instanceof ZodError)) throw error;
      onUnread(error);
    }
  }
  return readings;
}

/** Records orders together, or one by one if the batch fails. */
export async function recordEach(
  context: Context,
  source: OrderSource,
  readings: readonly OrderReading[],
  onUnread: (error: unknown) => void,
): Promise<void> {
  const { postgres, clock, secrets } = context;
  const record = (some: readonly OrderReading[]) =>
    inWork(postgres.db, clock, toActor(source), (work) => recordReadings(work, secrets, source, some));
  try {
    if (readings.length > 0) await record(readings);
  } catch (error) {
    if (error instanceof ApiError && error.engine === 'PostgreSQL') throw error;
    if (readings.length === 1) return onUnread(error);
    for (const reading of readings) await recordEach(context, source, [reading], onUnread);
  }
}

/** Counts orders that no delivery reported, be it readable, waiting or refused. */
async function countMissed({ postgres }: Context, sweptStore: SweptStore, missed: readonly OrderReading[]) {
  if (missed.length === 0) return 0;
  const earliest = Math.min(...missed.map(({ facts }) => facts.updatedAt.getTime()));
  const { orderIds, isAnyWaiting } = await findReported(postgres.db, sweptStore, new Date(earliest));
  return isAnyWaiting ? 0 : missed.filter(({ facts }) => !orderIds.has(facts.orderId)).length;
}

/**
 * Records a page of orders, except those that changed just now: their webhooks may follow. Returns the current sweep.
 */
export async function recordPage(
  context: Context,
  sweptStore: SweptStore,
  store: StoreAccess & StoreSettings,
  { page, turn }: { page: OrderPage; turn: Turn },
): Promise<SweepRow> {
  const { postgres, clock, failures } = context;
  const { db } = postgres;
  const counts = { read: 0, missed: 0, unread: 0 };
  const onUnread = (error: unknown) => {
    counts.unread += 1;
    failures.failed('reading an order of a store', error, { brandId: sweptStore.brandId, integration: sweptStore.id });
  };
  const readings = await readEach(sweptStore, store, page.orders, onUnread);
  const recordedTimes = await listRecordedTimes(
    db,
    sweptStore,
    readings.map(({ facts }) => facts.orderId),
  );
  const now = clock.now();
  const comparisons = readings.map((reading) => {
    const recordedAt = recordedTimes.get(reading.facts.orderId);
    return { reading, ...compareWithRecorded(reading.facts, { recordedAt, connectedAt: sweptStore.connectedAt, now }) };
  });
  const awaitedTimes = comparisons.filter((one) => one.sight === 'awaited').map(({ againAt }) => againAt.getTime());
  const recordable = comparisons.filter((one) => one.sight !== 'awaited').map(({ reading }) => reading);
  const missedOrders = comparisons.filter((one) => one.sight === 'missed').map(({ reading }) => reading);
  const missedCount = await countMissed(context, sweptStore, missedOrders);
  await recordEach(context, sweptStore, recordable, onUnread);
  const changes = readings.map(({ facts }) => facts.updatedAt.getTime());
  const result: PageResult = {
    ...counts,
    read: recordable.length,
    missed: missedCount,
    cursor: page.cursor,
    reachedAt: changes.length > 0 ? new Date(Math.max(...changes)) : null,
    againAt: awaitedTimes.length > 0 ? new Date(Math.min(...awaitedTimes)) : null,
  };
  return await inWork(db, clock, toActor(sweptStore), async (work) => {
    await turn.hold(work.db);
    return await updateAfterPage(work.db, sweptStore, result);
  });
}

async function reportSilence(work: Work, sweptStore: SweptStore, orders: number): Promise<void> {
  const { db, now, brandId } = work;
  await markSilent(db, sweptStore, now);
  if (!(await beginWebhookTrouble(db, sweptStore, now))) return;
  const to = await findContactEmail(db, brandId);
  if (to === null) return;
  const since = now.toISOString();
  const params = { store: sweptStore.name, orders, since };
  await queueMail(work, { kind: 'store_silent', to, subjectRow: `${sweptStore.id}:${since}`, params });
}

/** Ends a sweep that has read its last page. */
export async function finishSweep(
  context: Context,
  sweptStore: SweptStore,
  { sweep, turn }: { sweep: SweepRow; turn: Turn },
): Promise<void> {
  const { postgres, clock } = context;
  await inWork(postgres.db, clock, toActor(sweptStore), async (work) => {
    const { db, now } = work;
    const { since, startedAt, reachedAt, againAt, missed } = sweep;
    const next = Math.min(now.getTime() + SWEEP_EVERY_MS, againAt?.getTime() ?? Number.POSITIVE_INFINITY);
    const sweepAt = new Date(Math.max(next, now.getTime()));
    await turn.hold(db);
    await scheduleSweep(db, sweptStore, { sweepAt, sweptAt: now });
    // The store's clock counts if it is behind ours, our clock otherwise.
    const reachedMs = Math.min(reachedAt?.getTime() ?? 0, (startedAt ?? now).getTime());
    await updateSweepToDone(db, sweptStore, new Date(Math.max(since.getTime(), reachedMs - OVERLAP_MS)));
    // After the first sweep, the store's history follows: orders that may still pay come first.
    if (sweep.sweeps === 0) await backfillBefore(db, sweptStore, now);
    if (missed > 0) await reportSilence(work, sweptStore, missed);
    else if (againAt === null) await endWebhookTrouble(db, sweptStore, now);
  });
}

/** Schedules reading the store's orders again that changed since a time, at most 60 days ago. Returns that time. */
export async function readAgain({ db, now, brandId, audit }: Work, id: string, from: Date): Promise<Date> {
  const since = new Date(Math.max(from.getTime(), now.getTime() - FIRST_BACK_MS));
  await getIntegration(db, brandId, id);
  if (!(await rewindSweep(db, { id, brandId }, since, now))) {
    throw new ApiError('CONFLICT', 'The store is not connected; connect it first.');
  }
  audit({ resourceId: id, old: null, new: { read_again_since: since } });
  return since;
}
