import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { MINUTE_MS } from '../../../kit/values/duration.ts';
import { openStore } from '../connections/access.ts';
import { updateAccessStatus } from '../connections/connections.ts';
import { getClient } from '../formats/clients.ts';
import { getRetryAfterMs, isStoreUnavailable, needsReconnect } from '../formats/provider.ts';
import { computeRetryMs, FIRST_BACK_MS, UNSERVED_EVERY_MS } from './schedule.ts';
import {
  beginSweep,
  type ClaimedStore,
  claimSweeps,
  finishSweep,
  LostSweep,
  moveSweep,
  recordPage,
  updateSweepToFailed,
} from './sweeps.ts';

const AT_ONCE = 4;
/** A store with many orders yields to others after this many pages. */
const PAGES_AT_ONCE = 10;
/** Longer than any page takes, including the requests for its orders' refunds. */
const CLAIM_MS = 10 * MINUTE_MS;

/** Current claim, which each page renews. */
interface Claim {
  store: ClaimedStore;
}

const later = (context: Context, ms: number) => new Date(context.clock.now().getTime() + ms);

const giveBack = (context: Context, { store }: Claim, ms: number) =>
  moveSweep(context.postgres.db, store, { sweepAt: later(context, ms) });

/** Reads some pages of a store, and schedules the rest. */
async function readPages(context: Context, claim: Claim): Promise<void> {
  const { store: claimed } = claim;
  const now = context.clock.now();
  const earliest = new Date(now.getTime() - FIRST_BACK_MS);
  let sweep = await beginSweep(context.postgres.db, claimed, { now, earliest });
  const store = { ...(await openStore(context, claimed)), currency: claimed.currency };
  for (let pages = 0; pages < PAGES_AT_ONCE && !context.stopping.signal.aborted; pages += 1) {
    const page = await getClient(claimed.provider).listOrders(store, sweep);
    if (!page) return void (await giveBack(context, claim, UNSERVED_EVERY_MS));
    const until = later(context, CLAIM_MS);
    sweep = await recordPage(context, claim.store, store, { page, until });
    claim.store = { ...claimed, sweepAt: until };
    if (page.cursor === null) return await finishSweep(context, claim.store, sweep);
    if (page.waitMs > 0) return void (await giveBack(context, claim, page.waitMs));
  }
  await giveBack(context, claim, 0);
}

/** An outage is logged once. The wait before the next attempt doubles each time. */
async function recordFailure(context: Context, claim: Claim, error: unknown): Promise<void> {
  const { postgres, log } = context;
  const { id: integration, brandId } = claim.store;
  const failures = await updateSweepToFailed(postgres.db, claim.store);
  if (failures === 1) log.warn({ err: error, integration, brandId }, 'the orders of a store cannot be read');
  await giveBack(context, claim, computeRetryMs(failures));
}

async function sweepStore(context: Context, claimed: ClaimedStore): Promise<void> {
  const { postgres, clock } = context;
  const claim = { store: claimed };
  try {
    await readPages(context, claim);
  } catch (error) {
    if (error instanceof LostSweep) return;
    const retryAfterMs = getRetryAfterMs(error);
    if (retryAfterMs !== undefined) await giveBack(context, claim, retryAfterMs);
    else if (needsReconnect(error)) await updateAccessStatus(postgres.db, claimed, 'reauth_required', clock.now());
    else if (isStoreUnavailable(error)) await recordFailure(context, claim, error);
    else throw error;
  }
}

/** Sweeps the stores that are due. */
export async function sweepDue(context: Context): Promise<void> {
  const { postgres, clock, stopping } = context;
  while (!stopping.signal.aborted) {
    const claimed = await claimSweeps(postgres.db, clock.now(), later(context, CLAIM_MS), AT_ONCE);
    await Promise.all(claimed.map((one) => sweepStore(context, one)));
    if (claimed.length < AT_ONCE) return;
  }
}

export const sweepStores: Job = {
  name: 'sweep-stores',
  everyMs: 5_000,
  asksFor: 'connected stores whose orders were last read ten minutes ago',
  run: sweepDue,
};
