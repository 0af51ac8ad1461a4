import { listSubscriptionVersions, markInRedis } from '../keys/queries.ts';
import { type AccessEngines, restoreAccess } from './access.ts';
import { insertEntries } from './queries.ts';
import { accessKey, chargesKey, dropCharges, readChargesOfMany } from './stream.ts';

/** So many subscriptions go into the ledger by one statement, with so many entries of each. */
const SUBSCRIPTIONS = 100;
const ENTRIES = 200;
/** Subscriptions whose state is asked of Redis in one round trip. */
const AT_ONCE = 1_000;

/** Moves charges from the streams into the ledger; trims only what the ledger holds. Returns the entries written. */
export async function settle({ db, redis }: AccessEngines, subscriptionIds: readonly string[]): Promise<number> {
  let settled = 0;
  let left = [...subscriptionIds];
  while (left.length > 0) {
    const charges = await readChargesOfMany(redis, left.splice(0, SUBSCRIPTIONS), ENTRIES);
    const entries = charges.flatMap((one) => one.entries.map(({ entry }) => entry));
    await insertEntries(db, entries);
    await dropCharges(redis, charges);
    settled += entries.length;
    const unfinished = charges.filter((one) => one.entries.length === ENTRIES);
    left = [...left, ...unfinished.map(({ subscriptionId }) => subscriptionId)];
  }
  return settled;
}

/**
 * One pass over subscriptions, those that are due where a time is given: charges on their way go into the ledger, and what
 * Redis holds of a subscription that changed without Redis (a refund or a revocation while it was down) is rebuilt.
 * Returns the entries written.
 */
export async function settleAll(engines: AccessEngines, usedAfter?: Date): Promise<number> {
  let settled = 0;
  const subscriptions = await listSubscriptionVersions(engines.db, usedAfter);
  for (let i = 0; i < subscriptions.length; i += AT_ONCE) {
    settled += await settlePart(engines, subscriptions.slice(i, i + AT_ONCE));
  }
  return settled;
}

type Due = Awaited<ReturnType<typeof listSubscriptionVersions>>;

async function settlePart(engines: AccessEngines, subscriptions: Due): Promise<number> {
  const states = await engines.redis.use(async (client) => {
    const pipeline = client.pipeline();
    for (const { id } of subscriptions) pipeline.xlen(chargesKey(id)).hget(accessKey(id), 'version');
    return (await pipeline.exec()) ?? [];
  });
  const failure = states.find(([error]) => error)?.[0];
  if (failure) throw failure;
  const waiting = subscriptions.filter((_, i) => Number(states[2 * i]?.[1] ?? 0) > 0);
  const settled = await settle(
    engines,
    waiting.map(({ id }) => id),
  );
  for (const [i, { id, version }] of subscriptions.entries()) {
    const held = states[2 * i + 1]?.[1];
    if (typeof held === 'string' && Number(held) < version) await restoreAccess(engines, id);
  }
  await markInRedis(
    engines.db,
    subscriptions.filter(({ inRedis }) => !inRedis),
  );
  return settled;
}
