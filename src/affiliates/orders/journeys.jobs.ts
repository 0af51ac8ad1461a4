import { claimedWork, type Turn } from '../../kit/operation/claimed-work.ts';
import { type Context, later } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { openStore } from '../stores/connections/access.ts';
import { updateAccessStatus } from '../stores/connections/connections.ts';
import { getRetryAfterMs, isStoreUnavailable, needsReconnect } from '../stores/formats/provider.ts';
import { findJourneys, JOURNEYS_AT_ONCE, type Journey } from '../stores/formats/shopify-journey.ts';
import {
  type DueJourney,
  deleteJourney,
  deleteOldJourneys,
  type JourneyStore,
  listDueJourneys,
  postponeJourneys,
  selectJourneyStores,
  updateJourney,
} from './journeys.ts';
import { reconsiderOrderById } from './record.ts';

/** Requests come this many minutes after the order was first seen. */
const REQUESTED_AFTER = [1, 10, 60] as const;
/** Pause before a store that failed to answer is called again. */
const PAUSE_MS = 5 * MINUTE_MS;

/** Decides the order by the clicks of its journey, and schedules the next request in the same transaction. */
async function applyJourney(
  context: Context,
  { store: { id, provider }, due, turn }: { store: JourneyStore; due: DueJourney; turn: Turn },
  journey: Journey | undefined,
): Promise<void> {
  const { postgres, clock, secrets } = context;
  const { brandId, storeOrderId } = due;
  const { clickIds, isComplete } = journey ?? { clickIds: [], isComplete: false };
  const actor = { brandId, keyId: null, operation: 'ask_for_journeys', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    await turn.hold(work.db);
    const late = { codes: [], clickIds, cause: 'customer_journey' } as const;
    const outcome = await reconsiderOrderById(work, secrets, { id, brandId, provider }, storeOrderId, late);
    const mayPay = outcome === 'pays_nobody' && !isComplete;
    const minutes = mayPay ? REQUESTED_AFTER[due.answers + 1] : undefined;
    if (minutes === undefined) return await deleteJourney(work.db, due);
    const dueAt = new Date(due.seenAt.getTime() + minutes * MINUTE_MS);
    await updateJourney(work.db, due, { answers: due.answers + 1, dueAt });
  });
}

/** Requests journeys of one store's orders together. A busy or unreachable store is retried; only answers count. */
async function requestJourneys(context: Context, row: JourneyStore, turn: Turn): Promise<void> {
  const { postgres, clock } = context;
  const { db } = postgres;
  const now = clock.now();
  const all = await listDueJourneys(db, row, now, JOURNEYS_AT_ONCE);
  try {
    const store = await openStore(context, row);
    const storeOrderIds = all.map(({ storeOrderId }) => storeOrderId);
    const { journeys } = await findJourneys(store, storeOrderIds);
    for (const dueOrder of all) {
      const journey = journeys.find(({ orderId }) => orderId === dueOrder.storeOrderId);
      await applyJourney(context, { store: row, due: dueOrder, turn }, journey);
    }
  } catch (error) {
    if (needsReconnect(error)) await updateAccessStatus(db, row, 'reauth_required', clock.now());
    else if (!isStoreUnavailable(error)) throw error;
    await postponeJourneys(db, row, { now, dueAt: later(context, getRetryAfterMs(error) ?? PAUSE_MS) });
  }
}

export const requestCustomerJourneys = claimedWork({
  name: 'ask-for-journeys',
  everyMs: 5_000,
  asksFor: 'orders of Shopify that paid nobody 1, 10 and 60 minutes ago',
  leaves: true,
  places: 8,
  placesOfBrand: 1,
  due: (_db, now) => selectJourneyStores(now),
  doing: 'asking a store for journeys',
  run: requestJourneys,
});

export const forgetJourneys: Job = {
  name: 'forget-journeys',
  everyMs: HOUR_MS,
  asksFor: 'journeys that no store answered for a day',
  run: ({ postgres, clock }) => deleteOldJourneys(postgres.db, clock.now()),
};
