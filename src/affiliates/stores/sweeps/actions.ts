import { ZodError } from 'zod';
import { queueMail } from '../../../kit/mail/queue.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { inWork, type Work } from '../../../kit/operation/work.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { findContactEmail } from '../../../platform/brands/queries.ts';
import { recordReadings } from '../../orders/actions.ts';
import type { OrderSource } from '../../orders/schema.ts';
import { beginWebhookTrouble, endWebhookTrouble, getIntegration } from '../connections/queries.ts';
import { clientOf } from '../formats/clients.ts';
import type { Delivery, OrderPage, Reading, Store } from '../formats/provider.ts';
import { backfillBefore } from './backfill/actions.ts';
import { FIRST_BACK_MS, OVERLAP_MS, SWEEP_EVERY_MS, sightOf } from './policy.ts';
import {
  type ClaimedStore,
  findReported,
  listRecordedTimes,
  markSilent,
  moveSweep,
  type PageRead,
  rewindSweep,
  type SweepRow,
  updateAfterPage,
  updateToDone,
} from './queries.ts';

type OrderReading = Extract<Reading, { kind: 'order' }>;

/** Another worker sweeps the store now: the store was connected again, or this claim expired. */
export class LostSweep extends Error {}

const actorOf = ({ brandId }: Pick<ClaimedStore, 'brandId'>) => ({
  brandId,
  keyId: null,
  operation: 'sweep_store',
  requestId: null,
});

/** What a store lists and nobody could read must not keep back the rest. */
export async function readEach(
  { provider }: Pick<ClaimedStore, 'provider'>,
  store: Store & { currency: string },
  orders: readonly Delivery[],
  onUnread: (error: unknown) => void,
): Promise<OrderReading[]> {
  const readings: OrderReading[] = [];
  for (const order of orders) {
    try {
      const reading = await clientOf(provider).read(order, store);
      if (reading?.kind === 'order') readings.push(reading);
    } catch (error) {
      if (!(error instanceof ZodError)) throw error;
      onUnread(error);
    }
  }
  return readings;
}

/** Records all of them together; where one cannot be, each by itself. */
export async function recordEach(
  context: Context,
  claimed: OrderSource,
  readings: readonly OrderReading[],
  onUnread: (error: unknown) => void,
): Promise<void> {
  const { postgres, clock, secrets } = context;
  const record = (some: readonly OrderReading[]) =>
    inWork(postgres.db, clock, actorOf(claimed), (work) => recordReadings(work, secrets, claimed, some));
  try {
    if (readings.length > 0) await record(readings);
  } catch (error) {
    if (error instanceof ApiError && error.engine === 'PostgreSQL') throw error;
    if (readings.length === 1) return onUnread(error);
    for (const reading of readings) await recordEach(context, claimed, [reading], onUnread);
  }
}

/** Counts orders that no delivery reported, whether the delivery was read, is waiting or was refused. */
async function countMissed({ postgres }: Context, claimed: ClaimedStore, missed: readonly OrderReading[]) {
  if (missed.length === 0) return 0;
  const earliest = Math.min(...missed.map(({ facts }) => facts.updatedAt.getTime()));
  const { orderIds, isAnyWaiting } = await findReported(postgres.db, claimed, new Date(earliest));
  return isAnyWaiting ? 0 : missed.filter(({ facts }) => !orderIds.has(facts.orderId)).length;
}

/** Records a page of orders, and leaves to their webhooks those that changed just now. Returns the current sweep. */
export async function takePage(
  context: Context,
  claimed: ClaimedStore,
  store: Store & { currency: string },
  { page, until }: { page: OrderPage; until: Date },
): Promise<SweepRow> {
  const { postgres, clock, failures } = context;
  const { db } = postgres;
  const counts = { read: 0, missed: 0, unread: 0 };
  const onUnread = (error: unknown) => {
    counts.unread += 1;
    failures.failed('reading an order of a store', error, { brandId: claimed.brandId, integration: claimed.id });
  };
  const readings = await readEach(claimed, store, page.orders, onUnread);
  const recorded = await listRecordedTimes(
    db,
    claimed,
    readings.map(({ facts }) => facts.orderId),
  );
  const now = clock.now();
  const seen = readings.map((reading) => {
    const recordedAt = recorded.get(reading.facts.orderId);
    return { reading, ...sightOf(reading.facts, { recordedAt, connectedAt: claimed.connectedAt, now }) };
  });
  const awaited = seen.filter((one) => one.sight === 'awaited').map(({ againAt }) => againAt.getTime());
  const taken = seen.filter((one) => one.sight !== 'awaited').map(({ reading }) => reading);
  const missed = seen.filter((one) => one.sight === 'missed').map(({ reading }) => reading);
  const missedCount = await countMissed(context, claimed, missed);
  await recordEach(context, claimed, taken, onUnread);
  const changes = readings.map(({ facts }) => facts.updatedAt.getTime());
  const read: PageRead = {
    ...counts,
    read: taken.length,
    missed: missedCount,
    cursor: page.cursor,
    reachedAt: changes.length > 0 ? new Date(Math.max(...changes)) : null,
    againAt: awaited.length > 0 ? new Date(Math.min(...awaited)) : null,
  };
  return await inWork(db, clock, actorOf(claimed), async (work) => {
    if (!(await moveSweep(work.db, claimed, { sweepAt: until }))) throw new LostSweep();
    return await updateAfterPage(work.db, claimed, read);
  });
}

async function notice(work: Work, claimed: ClaimedStore, orders: number): Promise<void> {
  const { db, now, brandId } = work;
  await markSilent(db, claimed, now);
  if (!(await beginWebhookTrouble(db, claimed, now))) return;
  const to = await findContactEmail(db, brandId);
  if (to === null) return;
  const since = now.toISOString();
  const params = { store: claimed.name, orders, since };
  await queueMail(work, { kind: 'store_silent', to, subjectRow: `${claimed.id}:${since}`, params });
}

/** Ends a sweep that has read its last page. */
export async function finishSweep(context: Context, claimed: ClaimedStore, sweep: SweepRow): Promise<void> {
  const { postgres, clock } = context;
  await inWork(postgres.db, clock, actorOf(claimed), async (work) => {
    const { db, now } = work;
    const { since, startedAt, reachedAt, againAt, missed } = sweep;
    const next = Math.min(now.getTime() + SWEEP_EVERY_MS, againAt?.getTime() ?? Number.POSITIVE_INFINITY);
    const sweepAt = new Date(Math.max(next, now.getTime()));
    if (!(await moveSweep(db, claimed, { sweepAt, sweptAt: now }))) throw new LostSweep();
    // By the store's clock, which may be behind ours; where it is ahead, by ours.
    const reached = Math.min(reachedAt?.getTime() ?? 0, (startedAt ?? now).getTime());
    await updateToDone(db, claimed, new Date(Math.max(since.getTime(), reached - OVERLAP_MS)));
    // The first one of a store: its history comes after what may still pay.
    if (sweep.sweeps === 0) await backfillBefore(db, claimed, now);
    if (missed > 0) await notice(work, claimed, missed);
    else if (againAt === null) await endWebhookTrouble(db, claimed, now);
  });
}

/** Has the store's orders that changed since a time read again, 60 days back at most. Returns that time. */
export async function readAgain({ db, now, brandId, audit }: Work, id: string, from: Date): Promise<Date> {
  const since = new Date(Math.max(from.getTime(), now.getTime() - FIRST_BACK_MS));
  await getIntegration(db, brandId, id);
  if (!(await rewindSweep(db, { id, brandId }, since, now))) {
    throw new ApiError('CONFLICT', 'The store is not connected; connect it first.');
  }
  audit({ resourceId: id, old: null, new: { read_again_since: since } });
  return since;
}
