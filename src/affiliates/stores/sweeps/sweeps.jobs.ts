import { transact } from '../../../kit/engines/postgres/transaction.ts';
import { claimedWork, type Turn } from '../../../kit/operation/claimed-work.ts';
import { type Context, later } from '../../../kit/operation/context.ts';
import { toLogFacts } from '../../../kit/values/log.ts';
import { openStore } from '../connections/access.ts';
import { updateAccessStatus } from '../connections/connections.ts';
import { getClient } from '../formats/clients.ts';
import { getRetryAfterMs, getSettings, isStoreUnavailable, needsReconnect } from '../formats/provider.ts';
import { computeRetryMs, FIRST_BACK_MS, openBudget, SWEEP_EVERY_MS, SWEEPS, UNSERVED_EVERY_MS } from './schedule.ts';
import {
  beginSweep,
  finishSweep,
  recordPage,
  type SweptStore,
  scheduleSweep,
  selectDueSweeps,
  updateSweepToFailed,
} from './sweeps.ts';

async function giveBack(context: Context, store: SweptStore, turn: Turn, ms: number): Promise<void> {
  await transact(context.postgres.db, async (trx) => {
    await turn.hold(trx);
    await scheduleSweep(trx, store, { sweepAt: later(context, ms) });
  });
}

/** Reads some pages of a store, and schedules the rest. */
async function readPages(context: Context, swept: SweptStore, turn: Turn): Promise<void> {
  const { postgres, clock } = context;
  const earliest = later(context, -FIRST_BACK_MS);
  let sweep = await beginSweep(postgres.db, swept, { now: clock.now(), earliest });
  const store = Object.assign(await openStore(context, swept), getSettings(swept));
  const budget = openBudget(turn.signal);
  while (budget.takePage()) {
    const page = await getClient(swept.provider).listOrders(store, sweep);
    if (!page) return await giveBack(context, swept, turn, UNSERVED_EVERY_MS);
    sweep = await recordPage(context, swept, store, { page, turn });
    if (page.cursor === null) return await finishSweep(context, swept, { sweep, turn });
    if (page.waitMs > 0) return await giveBack(context, swept, turn, page.waitMs);
  }
  await giveBack(context, swept, turn, budget.restMs());
}

/** An outage is a line of log when it begins, then one every twenty minutes. The wait doubles up to ten minutes. */
async function recordFailure(context: Context, store: SweptStore, turn: Turn, error: unknown): Promise<void> {
  const { postgres, log } = context;
  const { id: integration, brandId } = store;
  const failures = await updateSweepToFailed(postgres.db, store);
  const retryMs = computeRetryMs(failures);
  if (failures === 1 || (retryMs === SWEEP_EVERY_MS && failures % 2 === 0)) {
    log.warn({ ...toLogFacts(error), integration, brandId }, 'the orders of a store cannot be read');
  }
  await giveBack(context, store, turn, retryMs);
}

async function sweepStore(context: Context, store: SweptStore, turn: Turn): Promise<void> {
  const { postgres, clock } = context;
  try {
    await readPages(context, store, turn);
  } catch (error) {
    const retryAfterMs = getRetryAfterMs(error);
    if (retryAfterMs !== undefined) await giveBack(context, store, turn, retryAfterMs);
    else if (needsReconnect(error)) await updateAccessStatus(postgres.db, store, 'reauth_required', clock.now());
    else if (isStoreUnavailable(error)) await recordFailure(context, store, turn, error);
    else throw error;
  }
}

export const sweepStores = claimedWork({
  name: SWEEPS,
  everyMs: 5_000,
  leaves: true,
  asksFor: 'connected stores whose orders were last read ten minutes ago',
  places: 16,
  placesOfBrand: 1,
  due: selectDueSweeps,
  doing: 'reading the orders of a store',
  run: sweepStore,
});
