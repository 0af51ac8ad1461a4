import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { openStore } from '../stores/connections/access.ts';
import { updateAccessStatus } from '../stores/connections/connections.ts';
import { getRetryAfterMs, isStoreUnavailable, needsReconnect } from '../stores/formats/provider.ts';
import { findJourneys, JOURNEYS_AT_ONCE, type Journey } from '../stores/formats/shopify-journey.ts';
import { claimJourneys, type DueJourney, deleteJourney, updateJourney } from './journeys.ts';
import { reconsiderOrderById } from './record.ts';

/** Requests come this many minutes after the order was first seen. */
const REQUESTED_AFTER = [1, 10, 60] as const;
/** Longer than a call takes, even with the renewal of a token. */
const CLAIM_MS = 2 * MINUTE_MS;
const AT_ONCE = 200;
/** Pause before a store that failed to answer is called again. */
const PAUSE_MS = 5 * MINUTE_MS;

/** Decides the order by the clicks of its journey, and schedules the next request in the same transaction. */
async function applyJourney(context: Context, due: DueJourney, journey: Journey | undefined): Promise<void> {
  const { postgres, clock, secrets } = context;
  const { brandId, integrationId: id, storeOrderId, provider } = due;
  const { clickIds, isComplete } = journey ?? { clickIds: [], isComplete: false };
  const actor = { brandId, keyId: null, operation: 'ask_for_journeys', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const late = { codes: [], clickIds, cause: 'customer_journey' } as const;
    const decided = await reconsiderOrderById(work, secrets, { id, brandId, provider }, storeOrderId, late);
    const mayPay = decided === 'pays_nobody' && !isComplete;
    const minutes = mayPay ? REQUESTED_AFTER[due.answers + 1] : undefined;
    if (minutes === undefined) return await deleteJourney(work.db, due);
    const dueAt = new Date(due.seenAt.getTime() + minutes * MINUTE_MS);
    await updateJourney(work.db, due, { answers: due.answers + 1, dueAt });
  });
}

/** Requests journeys of one store's orders together. A busy or unreachable store is retried; only answers count. */
async function requestJourneys(context: Context, all: readonly DueJourney[]): Promise<void> {
  const [first] = all;
  if (!first) return;
  const row = { id: first.integrationId, brandId: first.brandId, provider: first.provider, baseUrl: first.baseUrl };
  try {
    const store = await openStore(context, row);
    const storeOrderIds = all.map(({ storeOrderId }) => storeOrderId);
    const { journeys } = await findJourneys(store, storeOrderIds);
    for (const due of all) {
      const journey = journeys.find(({ orderId }) => orderId === due.storeOrderId);
      await applyJourney(context, due, journey);
    }
  } catch (error) {
    const { db } = context.postgres;
    if (needsReconnect(error)) await updateAccessStatus(db, row, 'reauth_required', context.clock.now());
    else if (!isStoreUnavailable(error)) throw error;
    const dueAt = new Date(context.clock.now().getTime() + (getRetryAfterMs(error) ?? PAUSE_MS));
    for (const due of all) await updateJourney(db, due, { dueAt });
  }
}

/** Requests the journeys that are due. */
export async function requestDueJourneys(context: Context): Promise<void> {
  const { postgres, clock } = context;
  const now = clock.now();
  const claimed = await claimJourneys(postgres.db, now, new Date(now.getTime() + CLAIM_MS), AT_ONCE);
  const stores = Map.groupBy(claimed, ({ integrationId }) => integrationId);
  for (const [integrationId, all] of stores) {
    for (let start = 0; start < all.length; start += JOURNEYS_AT_ONCE) {
      await requestJourneys(context, all.slice(start, start + JOURNEYS_AT_ONCE)).catch((error: unknown) =>
        context.failures.failed('asking a store for journeys', error, { integration: integrationId }),
      );
    }
  }
}

export const requestCustomerJourneys: Job = {
  name: 'ask-for-journeys',
  everyMs: 5_000,
  asksFor: 'orders of Shopify that paid nobody 1, 10 and 60 minutes ago',
  run: requestDueJourneys,
};
