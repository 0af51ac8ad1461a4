import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../engines/postgres/open.ts';
import type { Redis } from '../../engines/redis/open.ts';
import type { Clock } from '../../values/clock.ts';
import { ApiError, ignoreFailure, unavailable } from '../../values/errors.ts';
import { randomBase62 } from '../../values/ids.ts';
import { getSubscription, listCountedKeyIds, listRevokedKeyIds, type Subscription } from '../keys/callers.ts';
import { PLANS } from '../keys/limits.ts';
import {
  bumpVersion,
  type ChargeEntry,
  findKnownEntries,
  insertEntries,
  insertGrant,
  listSpending,
  lockSubscription,
  sumEntries,
} from './entries.ts';
import { periodAt } from './period.ts';
import { accessKey, leaseKey, readCharges } from './stream.ts';

const LEASE = readFileSync(new URL('./lease.lua', import.meta.url), 'utf8');
const RELEASE = readFileSync(new URL('./release.lua', import.meta.url), 'utf8');
const LEASE_MS = 5_000;
const POLL_MS = 20;

/** The engines and clock that access control needs. */
export interface AccessEngines {
  db: Db;
  redis: Redis;
  clock: Clock;
}

/** A change to a subscription or its keys, made while no call can be debited. */
export type AccessChange = (db: Db, pending: readonly ChargeEntry[]) => Promise<void>;

export function monthlyCredits(subscription: Pick<Subscription, 'plan' | 'monthlyCredits'>): number {
  return subscription.monthlyCredits ?? PLANS[subscription.plan].monthlyCredits;
}

/** The credits of pending entries that are not in the ledger yet: charges minus refunds. */
export async function sumPending(db: Db, pending: readonly ChargeEntry[], periodStart: Date): Promise<number> {
  const current = pending.filter((entry) => entry.periodStart.getTime() === periodStart.getTime());
  const ledgerEntries = await findKnownEntries(
    db,
    current.map((entry) => entry.chargeId),
  );
  return current
    .filter((entry) => !ledgerEntries.has(`${entry.kind}:${entry.chargeId}`))
    .reduce((sum, entry) => sum + (entry.kind === 'charge' ? entry.credits : -entry.credits), 0);
}

async function creditFields(db: Db, subscription: Subscription, pending: readonly ChargeEntry[], now: Date) {
  const { start } = periodAt(subscription.anchorAt, now);
  await insertGrant(db, {
    subscriptionId: subscription.id,
    periodStart: start,
    reason: 'period',
    credits: monthlyCredits(subscription),
    at: now,
  });
  const balance = await sumEntries(db, subscription.id, start);
  const remaining = balance.remaining - (await sumPending(db, pending, start));
  return ['period', start.getTime(), 'granted', balance.granted, 'remaining', Math.max(0, remaining)];
}

/** The spending of each counted key: by day since yesterday, and in the period. Pending charges are settled first. */
async function spendingFields(db: Db, subscription: Subscription, pending: readonly ChargeEntry[], now: Date) {
  const keyIds = await listCountedKeyIds(db, subscription.id);
  if (keyIds.length === 0) return [];
  await insertEntries(db, pending);
  const { start } = periodAt(subscription.anchorAt, now);
  const fields = new Map<string, number>();
  const add = (field: string, credits: number) => fields.set(field, (fields.get(field) ?? 0) + credits);
  for (const { keyId, day, isOfPeriod, credits } of await listSpending(db, keyIds, start)) {
    add(`day:${keyId}:${day}`, credits);
    if (isOfPeriod) add(`month:${keyId}`, credits);
  }
  return [...fields].flat();
}

/** The fields of the access hash, read from Postgres in one transaction after `change`. */
async function readFields(engines: AccessEngines, subscriptionId: string, change: AccessChange | undefined) {
  const { db, redis, clock } = engines;
  // Read before the ledger: an entry that is drained in between is then found in both and counted once.
  const pending = (await readCharges(redis, subscriptionId)).map(({ entry }) => entry);
  return await db.transaction().execute(async (trx) => {
    await lockSubscription(trx, subscriptionId);
    await change?.(trx, pending);
    const subscription = await getSubscription(trx, subscriptionId);
    const revokedIds = await listRevokedKeyIds(trx, subscriptionId);
    const isPaid = subscription.kind === 'data';
    const spending = isPaid ? await spendingFields(trx, subscription, pending, clock.now()) : [];
    const credits = isPaid ? await creditFields(trx, subscription, pending, clock.now()) : [];
    return [
      'version',
      subscription.version,
      ...credits,
      ...spending,
      ...revokedIds.flatMap((id) => [`revoked:${id}`, 1]),
    ];
  });
}

/**
 * Rebuilds a subscription's access hash in Redis (version, revoked keys, balance) from Postgres and the unsettled
 * charges. No call of the subscription is debited in the meantime, so no credit is spent twice. `change` runs in the same
 * transaction; without it, a rebuild that another process finishes is enough.
 */
export async function restoreAccess(
  engines: AccessEngines,
  subscriptionId: string,
  change?: AccessChange,
): Promise<void> {
  const lease = engines.redis.script(LEASE);
  const release = engines.redis.script(RELEASE);
  const keys = [accessKey(subscriptionId), leaseKey(subscriptionId)];
  const deadline = performance.now() + LEASE_MS;
  while (performance.now() < deadline) {
    const token = randomBase62(20);
    if ((await lease(keys, [token, LEASE_MS])) === 1) {
      const fields = await readFields(engines, subscriptionId, change).catch(async (error: unknown) => {
        await release(keys, [token]).catch(ignoreFailure('the lease expires by itself'));
        throw error;
      });
      const writing = release(keys, [token, ...fields]);
      // The change is committed in Postgres and must not be repeated; the next call or the worker rebuilds the hash.
      if (change) return void (await writing.catch(ignoreFailure('the lease expires by itself')));
      if ((await writing) === 1) return;
    } else {
      await sleep(POLL_MS);
      if (!change && (await engines.redis.use((client) => client.exists(keys[0] ?? ''))) === 1) return;
    }
  }
  throw unavailable('The balance', new Error(`No lease on ${subscriptionId} within ${LEASE_MS} ms.`));
}

/** Updates Redis at once after a change of keys, without waiting for the worker's next pass. */
export async function refreshAccess(engines: AccessEngines, subscriptionIds: readonly string[]): Promise<void> {
  for (const id of subscriptionIds) {
    await restoreAccess(engines, id, async () => undefined).catch(
      ignoreFailure('the worker does the same within a second'),
    );
  }
}

/**
 * Changes a subscription so that every process applies the change at once. Without Redis, only Postgres is changed:
 * processes then read Postgres every second, and the worker repairs Redis when it is back.
 */
export async function changeAccess(
  engines: AccessEngines,
  subscriptionId: string,
  change: AccessChange,
): Promise<void> {
  const changeAndBump: AccessChange = async (db, pending) => {
    await change(db, pending);
    await bumpVersion(db, subscriptionId);
  };
  try {
    await restoreAccess(engines, subscriptionId, changeAndBump);
  } catch (error) {
    if (!(error instanceof ApiError && error.engine === 'Redis')) throw error;
    await engines.db.transaction().execute((trx) => changeAndBump(trx, []));
  }
}
