import type { Db } from '../../../kit/engines/postgres/open.ts';
import { transact } from '../../../kit/engines/postgres/transaction.ts';
import { claimedWork, type Turn } from '../../../kit/operation/claimed-work.ts';
import { type Context, later } from '../../../kit/operation/context.ts';
import { openStore } from '../connections/access.ts';
import { updateAccessStatus } from '../connections/connections.ts';
import { getClient } from '../formats/clients.ts';
import {
  getRetryAfterMs,
  getSettings,
  isStoreUnavailable,
  needsReconnect,
  type OrderPage,
  type StoreAccess,
  type StoreSettings,
} from '../formats/provider.ts';
import {
  type DueBackfill,
  finishBackfill,
  postponeBackfill,
  selectDueBackfills,
  updateAfterHistory,
  updateBackfillToFailed,
} from './backfills.ts';
import { computeRetryMs, openBudget } from './schedule.ts';
import { listRecordedTimes, readEach, recordEach } from './sweeps.ts';

const NOT_LISTED = 'The store does not list its orders.';

/** Records the unknown orders of a page as history. */
async function recordHistoryPage(
  context: Context,
  backfill: DueBackfill,
  store: StoreAccess & StoreSettings,
  { orders, cursor }: OrderPage,
) {
  const { postgres, failures } = context;
  let unread = 0;
  const onUnread = (error: unknown) => {
    unread += 1;
    failures.failed('reading an order of a store', error, { brandId: backfill.brandId, integration: backfill.id });
  };
  const readings = (await readEach(backfill, store, orders, onUnread)).filter(
    ({ facts }) => facts.updatedAt < backfill.before,
  );
  const ids = readings.map(({ facts }) => facts.orderId);
  const recordedTimes = await listRecordedTimes(postgres.db, backfill, ids);
  const history = readings.filter(({ facts }) => !recordedTimes.has(facts.orderId));
  await recordEach(context, { ...backfill, isHistory: true }, history, onUnread);
  const changes = readings.map(({ facts }) => facts.updatedAt.getTime());
  return {
    read: readings.length,
    recorded: history.length,
    unread,
    cursor,
    reachedAt: changes.length > 0 ? new Date(Math.max(...changes)) : null,
  };
}

/** Reads some pages of a store's history. Progress is stored after each page, so that a killed worker loses only one. */
async function readPages(context: Context, first: DueBackfill, turn: Turn, change: TurnChange): Promise<void> {
  const { clock } = context;
  let backfill = first;
  const store = Object.assign(await openStore(context, first), getSettings(first));
  const budget = openBudget(turn.signal);
  while (budget.takePage()) {
    const { since, cursor, before } = backfill;
    const page = await getClient(backfill.provider).listOrders(store, { since, cursor, before });
    const now = clock.now();
    if (!page) return await change((db) => finishBackfill(db, backfill, { problem: NOT_LISTED, now }));
    const result = await recordHistoryPage(context, backfill, store, page);
    await change((db) => updateAfterHistory(db, first, result));
    backfill = { ...backfill, cursor: page.cursor };
    if (page.cursor === null) return await change((db) => finishBackfill(db, first, { problem: null, now }));
    if (page.waitMs > 0) return await change((db) => postponeBackfill(db, first, later(context, page.waitMs)));
  }
  await change((db) => postponeBackfill(db, first, later(context, budget.restMs())));
}

/** Changes the backfill unless another worker has taken it over. */
type TurnChange = (change: (db: Db) => Promise<void>) => Promise<void>;

async function backfillStore(context: Context, backfill: DueBackfill, turn: Turn): Promise<void> {
  const { db } = context.postgres;
  const change: TurnChange = (update) =>
    transact(db, async (trx) => {
      await turn.hold(trx);
      await update(trx);
    });
  try {
    await readPages(context, backfill, turn, change);
  } catch (error) {
    const retryAfterMs = getRetryAfterMs(error);
    if (retryAfterMs !== undefined)
      return await change((trx) => postponeBackfill(trx, backfill, later(context, retryAfterMs)));
    if (needsReconnect(error)) await updateAccessStatus(db, backfill, 'reauth_required', context.clock.now());
    else if (!isStoreUnavailable(error)) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    const dueAt = later(context, computeRetryMs(backfill.failures));
    await change((trx) => updateBackfillToFailed(trx, backfill, { problem, dueAt }));
  }
}

export const backfillStores = claimedWork({
  name: 'backfill-stores',
  everyMs: 5_000,
  leaves: true,
  asksFor: 'stores whose history is being read in',
  places: 8,
  placesOfBrand: 1,
  due: selectDueBackfills,
  doing: 'reading the history of a store',
  run: backfillStore,
});
