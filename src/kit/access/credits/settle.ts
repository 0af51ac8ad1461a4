import { listSubscriptionVersions, markInRedis } from '../keys/callers.ts';
import { type AccessEngines, restoreAccess } from './access.ts';
import { insertEntries } from './entries.ts';
import { accessKey, chargesKey, dropCharges, readChargesOfMany } from './stream.ts';

/** The maximum number of subscriptions, and of entries for each, that one statement writes to the ledger. */
const SUBSCRIPTIONS = 100;
const ENTRIES = 200;
/** Subscriptions whose state is read from Redis at the same time. */
const AT_ONCE = 1_000;

/**
 * Moves charges from the streams to the ledger, and trims only entries that the ledger has. Returns the number of
 * entries written.
 */
export async function settle({ db, redis }: AccessEngines, subscriptionIds: readonly string[]): Promise<number> {
  let entryCount = 0;
  let remainingIds = [...subscriptionIds];
  while (remainingIds.length > 0) {
    const charges = await readChargesOfMany(redis, remainingIds.splice(0, SUBSCRIPTIONS), ENTRIES);
    const entries = charges.flatMap((one) => one.entries.map(({ entry }) => entry));
    await insertEntries(db, entries);
    await dropCharges(redis, charges);
    entryCount += entries.length;
    const unfinishedCharges = charges.filter((one) => one.entries.length === ENTRIES);
    remainingIds = [...remainingIds, ...unfinishedCharges.map(({ subscriptionId }) => subscriptionId)];
  }
  return entryCount;
}

/**
 * One pass over subscriptions, or with `usedAfter` over those that are due. Moves charges to the ledger, and rebuilds
 * the state in Redis of subscriptions that changed while Redis was down (by a refund or revocation). Returns the number
 * of entries written.
 */
export async function settleAll(engines: AccessEngines, usedAfter?: Date): Promise<number> {
  let entryCount = 0;
  const subscriptions = await listSubscriptionVersions(engines.db, usedAfter);
  for (let i = 0; i < subscriptions.length; i += AT_ONCE) {
    entryCount += await settlePart(engines, subscriptions.slice(i, i + AT_ONCE));
  }
  return entryCount;
}

type DueVersions = Awaited<ReturnType<typeof listSubscriptionVersions>>;

async function settlePart(engines: AccessEngines, subscriptions: DueVersions): Promise<number> {
  const states = await Promise.all(
    subscriptions.map(({ id }) =>
      engines.redis.use((client) => Promise.all([client.xlen(chargesKey(id)), client.hget(accessKey(id), 'version')])),
    ),
  );
  const waiting = subscriptions.filter((_, i) => (states[i]?.[0] ?? 0) > 0);
  const entryCount = await settle(
    engines,
    waiting.map(({ id }) => id),
  );
  for (const [i, { id, version }] of subscriptions.entries()) {
    const storedVersion = states[i]?.[1];
    if (storedVersion && Number(storedVersion) < version) await restoreAccess(engines, id);
  }
  await markInRedis(
    engines.db,
    subscriptions.filter(({ inRedis }) => !inRedis),
  );
  return entryCount;
}
