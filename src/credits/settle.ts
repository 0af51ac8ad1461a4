import { listSubscriptionVersions } from '../auth/queries.ts';
import { type AccessEngines, restoreAccess } from './access.ts';
import { insertEntries } from './queries.ts';
import { accessKey, chargesKey, readCharges } from './stream.ts';

const BATCH = 1_000;

/** Moves a subscription's charges from the stream into the ledger; trims only what the ledger holds. */
export async function settleSubscription({ db, redis }: AccessEngines, subscriptionId: string): Promise<number> {
  let settled = 0;
  for (;;) {
    const rows = await readCharges(redis, subscriptionId, BATCH);
    if (rows.length === 0) return settled;
    await insertEntries(
      db,
      rows.map(({ entry }) => entry),
    );
    const ids = rows.map(({ streamId }) => streamId);
    await redis.use((client) => client.xdel(chargesKey(subscriptionId), ...ids));
    settled += rows.length;
    if (rows.length < BATCH) return settled;
  }
}

/**
 * One pass over all subscriptions: charges on their way go into the ledger, and what Redis holds of a subscription
 * that changed without Redis (a refund or a revocation while it was down) is rebuilt. Returns the entries written.
 */
export async function settleAll(engines: AccessEngines): Promise<number> {
  const subscriptions = await listSubscriptionVersions(engines.db);
  const states = await engines.redis.use(async (client) => {
    const pipeline = client.pipeline();
    for (const { id } of subscriptions) pipeline.xlen(chargesKey(id)).hget(accessKey(id), 'version');
    return (await pipeline.exec()) ?? [];
  });
  let settled = 0;
  for (const [i, { id, version }] of subscriptions.entries()) {
    const waiting = states[2 * i]?.[1];
    const held = states[2 * i + 1]?.[1];
    if (typeof waiting === 'number' && waiting > 0) settled += await settleSubscription(engines, id);
    if (typeof held === 'string' && Number(held) < version) await restoreAccess(engines, id);
  }
  return settled;
}
