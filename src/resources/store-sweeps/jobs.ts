import type { Context } from '../../operation/context.ts';
import type { Job } from '../../operation/job.ts';
import { clientOf } from '../../stores/clients.ts';
import { isToReconnect, retryAfterMsOf, type Store } from '../../stores/provider.ts';
import { openStoreSecrets } from '../../stores/store-secrets.ts';
import { MINUTE_MS } from '../../values/duration.ts';
import { type ClaimedStore, claimSweeps, getSealedSecrets, markStatus, moveSweep } from '../integrations/queries.ts';
import { finishSweep, LostSweep, takePage } from './actions.ts';
import { againAfterMs, FIRST_BACK_MS, UNSERVED_EVERY_MS } from './policy.ts';
import { beginSweep, updateToFailed } from './queries.ts';

const AT_ONCE = 4;
/** A store with many orders lets others go first after this many pages. */
const PAGES_AT_ONCE = 10;
/** Longer than any page takes, with what is asked for each of its orders. */
const CLAIM_MS = 10 * MINUTE_MS;

async function openStore({ config, secrets, postgres }: Context, claimed: ClaimedStore): Promise<Store> {
  const sealed = await getSealedSecrets(postgres.db, claimed.brandId, claimed.id);
  const { token } = openStoreSecrets(secrets, sealed, claimed.id);
  return { baseUrl: claimed.baseUrl, token, allow: config.outboundAllow };
}

const later = (context: Context, ms: number) => new Date(context.clock.now().getTime() + ms);

/** Reads some pages of a claimed store, and says when the rest is read. */
async function readPages(context: Context, claimed: ClaimedStore): Promise<void> {
  const { postgres, clock } = context;
  const now = clock.now();
  const store = await openStore(context, claimed);
  let sweep = await beginSweep(postgres.db, claimed, { now, earliest: new Date(now.getTime() - FIRST_BACK_MS) });
  let held = claimed;
  for (let pages = 0; pages < PAGES_AT_ONCE; pages += 1) {
    const page = await clientOf(claimed.provider).listOrders(store, sweep);
    if (!page) {
      await moveSweep(postgres.db, held, { sweepAt: later(context, UNSERVED_EVERY_MS) });
      return;
    }
    const until = later(context, CLAIM_MS);
    sweep = await takePage(context, held, store, { page, until });
    held = { ...held, sweepAt: until };
    if (page.cursor === null) return await finishSweep(context, held, sweep);
    if (page.waitMs > 0) return void (await moveSweep(postgres.db, held, { sweepAt: later(context, page.waitMs) }));
  }
  await moveSweep(postgres.db, held, { sweepAt: later(context, 0) });
}
