import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { MINUTE_MS } from '../../../kit/values/duration.ts';
import { openStore } from '../connections/access.ts';
import { updateAccessStatus } from '../connections/connections.ts';
import { getClient } from '../formats/clients.ts';
import {
  getRetryAfterMs,
  isStoreUnavailable,
  needsReconnect,
  type OrderPage,
  type Store,
} from '../formats/provider.ts';
import {
  type ClaimedBackfill,
  claimBackfills,
  finishBackfill,
  postponeBackfill,
  updateAfterHistory,
  updateBackfillToFailed,
} from './backfills.ts';
import { computeRetryMs } from './schedule.ts';
import { listRecordedTimes, readEach, recordEach } from './sweeps.ts';

const AT_ONCE = 2;
/** A store with many orders yields to others after this many pages. */
const PAGES_AT_ONCE = 10;
/** Longer than any page takes, including the requests for its orders' refunds. */
const CLAIM_MS = 10 * MINUTE_MS;

const NOT_LISTED = 'The store does not list its orders.';

const later = ({ clock }: Context, ms: number) => new Date(clock.now().getTime() + ms);

/** Records the unknown orders of a page as history. */
async function recordHistoryPage(
  context: Context,
  claimed: ClaimedBackfill,
  store: Store & { currency: string },
  { orders, cursor }: OrderPage,
) {
  const { postgres, failures } = context;
  let unread = 0;
  const onUnread = (error: unknown) => {
    unread += 1;
    failures.failed('reading an order of a store', error, { brandId: claimed.brandId, integration: claimed.id });
  };
  const readings = (await readEach(claimed, store, orders, onUnread)).filter(
    ({ facts }) => facts.updatedAt < claimed.before,
  );
  const ids = readings.map(({ facts }) => facts.orderId);
  const recordedTimes = await listRecordedTimes(postgres.db, claimed, ids);
  const history = readings.filter(({ facts }) => !recordedTimes.has(facts.orderId));
  await recordEach(context, { ...claimed, isHistory: true }, history, onUnread);
  const changes = readings.map(({ facts }) => facts.updatedAt.getTime());
  return {
    read: readings.length,
    recorded: history.length,
    unread,
    cursor,
    reachedAt: changes.length > 0 ? new Date(Math.max(...changes)) : null,
  };
}

/**
 * Reads some pages of a store's history. Progress is stored after each page, so that a killed worker loses only one.
 */
async function readPages(context: Context, first: ClaimedBackfill): Promise<void> {
  const { postgres, clock } = context;
  let claimed = first;
  const store = { ...(await openStore(context, claimed)), currency: claimed.currency };
  for (let pages = 0; pages < PAGES_AT_ONCE && !context.stopping.signal.aborted; pages += 1) {
    const { since, cursor, before } = claimed;
    const page = await getClient(claimed.provider).listOrders(store, { since, cursor, before });
    const now = clock.now();
    if (!page) return await finishBackfill(postgres.db, claimed, { problem: NOT_LISTED, now });
    const result = await recordHistoryPage(context, claimed, store, page);
    const dueAt = later(context, CLAIM_MS);
    if (!(await updateAfterHistory(postgres.db, claimed, { ...result, dueAt }))) return;
    claimed = { ...claimed, cursor: page.cursor, dueAt };
    if (page.cursor === null) return await finishBackfill(postgres.db, claimed, { problem: null, now });
    if (page.waitMs > 0) return await postponeBackfill(postgres.db, claimed, later(context, page.waitMs));
  }
  await postponeBackfill(postgres.db, claimed, clock.now());
}

async function backfillStore(context: Context, claimed: ClaimedBackfill): Promise<void> {
  const { db } = context.postgres;
  try {
    await readPages(context, claimed);
  } catch (error) {
    const retryAfterMs = getRetryAfterMs(error);
    if (retryAfterMs !== undefined) return await postponeBackfill(db, claimed, later(context, retryAfterMs));
    if (needsReconnect(error)) await updateAccessStatus(db, claimed, 'reauth_required', context.clock.now());
    else if (!isStoreUnavailable(error)) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    const next = later(context, computeRetryMs(claimed.failures));
    await updateBackfillToFailed(db, claimed, { problem, next });
  }
}

/** Reads history of the stores that are due. */
export async function backfillDue(context: Context): Promise<void> {
  const { postgres, clock, stopping } = context;
  while (!stopping.signal.aborted) {
    const claimed = await claimBackfills(postgres.db, clock.now(), later(context, CLAIM_MS), AT_ONCE);
    await Promise.all(claimed.map((one) => backfillStore(context, one)));
    if (claimed.length < AT_ONCE) return;
  }
}

export const backfillStores: Job = {
  name: 'backfill-stores',
  everyMs: 5_000,
  asksFor: 'stores whose history is being read in',
  run: backfillDue,
};
