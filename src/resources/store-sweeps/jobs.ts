import type { Context } from '../../operation/context.ts';
import type { Job } from '../../operation/job.ts';
import { clientOf } from '../../stores/clients.ts';
import { isStoreUnavailable, isToReconnect, retryAfterMsOf } from '../../stores/provider.ts';
import { MINUTE_MS } from '../../values/duration.ts';
import { openStore } from '../integrations/actions.ts';
import { type ClaimedStore, claimSweeps, markStatus, moveSweep } from '../integrations/queries.ts';
import { finishSweep, LostSweep, takePage } from './actions.ts';
import { againAfterMs, FIRST_BACK_MS, UNSERVED_EVERY_MS } from './policy.ts';
import { beginSweep, updateToFailed } from './queries.ts';

const AT_ONCE = 4;
/** A store with many orders lets others go first after so many pages. */
const PAGES_AT_ONCE = 10;
/** Longer than any page takes, with what is asked for each of its orders. */
const CLAIM_MS = 10 * MINUTE_MS;

/** A claim as it stands: each page renews it. */
interface Hold {
  claimed: ClaimedStore;
}

const later = (context: Context, ms: number) => new Date(context.clock.now().getTime() + ms);

const giveBack = (context: Context, { claimed }: Hold, ms: number) =>
  moveSweep(context.postgres.db, claimed, { sweepAt: later(context, ms) });

/** Reads some pages of a store, and says when the rest is read. */
async function readPages(context: Context, hold: Hold): Promise<void> {
  const { claimed } = hold;
  const now = context.clock.now();
  const earliest = new Date(now.getTime() - FIRST_BACK_MS);
  let sweep = await beginSweep(context.postgres.db, claimed, { now, earliest });
  const store = { ...(await openStore(context, claimed)), currency: claimed.currency };
  for (let pages = 0; pages < PAGES_AT_ONCE; pages += 1) {
    const page = await clientOf(claimed.provider).listOrders(store, sweep);
    if (!page) return void (await giveBack(context, hold, UNSERVED_EVERY_MS));
    const until = later(context, CLAIM_MS);
    sweep = await takePage(context, hold.claimed, store, { page, until });
    hold.claimed = { ...claimed, sweepAt: until };
    if (page.cursor === null) return await finishSweep(context, hold.claimed, sweep);
    if (page.waitMs > 0) return void (await giveBack(context, hold, page.waitMs));
  }
  await giveBack(context, hold, 0);
}

/** An outage is logged once; what a store does not answer is asked again, later and later. */
async function noteFailure(context: Context, hold: Hold, error: unknown): Promise<void> {
  const { postgres, log } = context;
  const { id: integration, brandId } = hold.claimed;
  const failures = await updateToFailed(postgres.db, hold.claimed);
  if (failures === 1) log.warn({ err: error, integration, brandId }, 'the orders of a store cannot be read');
  await giveBack(context, hold, againAfterMs(failures));
}

export async function sweepStore(context: Context, claimed: ClaimedStore): Promise<void> {
  const { postgres, clock } = context;
  const hold = { claimed };
  try {
    await readPages(context, hold);
  } catch (error) {
    if (error instanceof LostSweep) return;
    const retryAfterMs = retryAfterMsOf(error);
    if (retryAfterMs !== undefined) await giveBack(context, hold, retryAfterMs);
    else if (isToReconnect(error)) await markStatus(postgres.db, claimed, 'reauth_required', clock.now());
    else if (isStoreUnavailable(error)) await noteFailure(context, hold, error);
    else throw error;
  }
}

/** One pass over the stores whose sweep is due. */
export async function sweepDue(context: Context): Promise<void> {
  const { postgres, clock } = context;
  for (;;) {
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
