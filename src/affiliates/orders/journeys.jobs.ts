import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { openStore } from '../stores/connections/connect.ts';
import { markStatus } from '../stores/connections/connections.ts';
import { isStoreUnavailable, needsReconnect, getRetryAfterMs } from '../stores/formats/provider.ts';
import { findJourneys, JOURNEYS_AT_ONCE, type Journey } from '../stores/formats/shopify-journey.ts';
import { reconsiderOrderById } from './record.ts';
import { claimJourneys, type DueJourney, deleteJourney, updateJourney } from './orders.ts';

/** Minutes after an order was first seen. */
const REQUESTED_AFTER = [1, 10, 60] as const;
/** Longer than a store takes to answer, also with a token that is renewed. */
const CLAIM_MS = 2 * MINUTE_MS;
const AT_ONCE = 200;
/** How long a store that cannot answer is left alone. */
const PAUSE_MS = 5 * MINUTE_MS;

/** When it is requested next; undefined after the last time. */
function getNextDueAt({ answers, seenAt }: DueJourney, { isComplete }: Pick<Journey, 'isComplete'>): Date | undefined {
  const minutes = isComplete ? undefined : REQUESTED_AFTER[answers + 1];
  return minutes === undefined ? undefined : new Date(seenAt.getTime() + minutes * MINUTE_MS);
}

/** Decides the order by the clicks of its journey, and notes in the same transaction whether it is requested again. */
async function applyJourney(context: Context, due: DueJourney, journey: Journey | undefined): Promise<void> {
  const { postgres, clock, secrets } = context;
  const { brandId, integrationId: id, storeOrderId, provider } = due;
  const { clickIds, isComplete } = journey ?? { clickIds: [], isComplete: false };
  const actor = { brandId, keyId: null, operation: 'ask_for_journeys', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const late = { codes: [], clickIds, cause: 'customer_journey' } as const;
    const decided = await reconsiderOrderById(work, secrets, { id, brandId, provider }, storeOrderId, late);
    const dueAt = decided === 'pays_nobody' ? getNextDueAt(due, { isComplete }) : undefined;
    if (dueAt) await updateJourney(work.db, due, { answers: due.answers + 1, dueAt });
    else await deleteJourney(work.db, due);
  });
}

async function postpone({ postgres, clock }: Context, all: readonly DueJourney[], ms: number): Promise<void> {
  const dueAt = new Date(clock.now().getTime() + ms);
  for (const due of all) await updateJourney(postgres.db, due, { dueAt });
}

/** Some orders of one store in one request. A store that is busy or away gets it later; only an answer counts. */
async function requestJourneys(context: Context, all: readonly DueJourney[]): Promise<void> {
  const [first] = all;
  if (!first) return;
  const row = { id: first.integrationId, brandId: first.brandId, provider: first.provider, baseUrl: first.baseUrl };
  try {
    const store = await openStore(context, row);
    const { journeys } = await findJourneys(
      store,
      all.map(({ storeOrderId }) => storeOrderId),
    );
    for (const due of all) {
      await applyJourney(
        context,
        due,
        journeys.find(({ orderId }) => orderId === due.storeOrderId),
      );
    }
  } catch (error) {
    if (needsReconnect(error)) await markStatus(context.postgres.db, row, 'reauth_required', context.clock.now());
    else if (!isStoreUnavailable(error)) throw error;
    await postpone(context, all, getRetryAfterMs(error) ?? PAUSE_MS);
  }
}

/** One pass over orders with a journey to request. */
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
