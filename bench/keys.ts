import { RATE_WINDOW_MS } from '../src/kit/access/credits/meter.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import { RATE_LIMIT } from '../src/kit/access/keys/limits.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions, setPlan } from '../src/platform/brands/brands.ts';

const BRANDS = 60;
const KEYS_PER_BRAND = 150;
const MONTHLY_CREDITS = 1_000_000_000;

/**
 * Calls of a key before the next one takes over. A key at its limit of 100 a minute is read again from Postgres twice a
 * minute, so one call in fifty should use a key that was idle for a while.
 */
const CALLS_PER_TURN = RATE_LIMIT / 2;

async function makeBrandKeys(context: Context, name: string, count: number): Promise<string[]> {
  const { postgres, redis, clock } = context;
  const brandId = await createBrand(postgres.db, clock, { name, plan: 'enterprise', status: 'active' });
  const subscription = (await listSubscriptions(postgres.db, brandId)).find(({ kind }) => kind === 'data');
  if (!subscription) throw new Error(`The brand ${name} has no data subscription.`);
  const change = { plan: 'enterprise', status: 'active', monthlyCredits: MONTHLY_CREDITS } as const;
  await setPlan({ db: postgres.db, redis, clock }, subscription.id, change);
  return await postgres.db.transaction().execute(async (trx) => {
    const keys: string[] = [];
    const request = { brandId, subscriptionId: subscription.id, kind: 'data', name: 'bench' } as const;
    for (let i = 0; i < count; i += 1) keys.push((await createKey(trx, clock, request)).key);
    return keys;
  });
}

/** Data keys of many brands, each with credits for a billion searches. */
export async function makeDataKeys(context: Context, perBrand = KEYS_PER_BRAND): Promise<string[]> {
  const byBrand: string[][] = [];
  for (let i = 0; i < BRANDS; i += 1) byBrand.push(await makeBrandKeys(context, `bench ${process.pid} ${i}`, perBrand));
  // Adjacent keys belong to different brands, as keys of concurrent calls do.
  return Array.from({ length: perBrand }, (_, i) => byBrand.flatMap((keys) => keys[i] ?? [])).flat();
}

/**
 * Returns a key for each call: one of every brand in turn, fifty times, then the next of every brand. No key exceeds
 * its limit.
 */
export function takeTurns(keys: readonly string[]): () => string {
  const startedAt: number[] = [];
  const callsPerGroup = BRANDS * CALLS_PER_TURN;
  let calls = 0;
  return () => {
    const group = Math.floor(calls / callsPerGroup) % (keys.length / BRANDS);
    if (calls % callsPerGroup === 0) {
      const now = performance.now();
      if (now - (startedAt[group] ?? Number.NEGATIVE_INFINITY) < RATE_WINDOW_MS) {
        throw new Error(`${keys.length} keys are too few for so fast a machine.`);
      }
      startedAt[group] = now;
    }
    const key = keys[group * BRANDS + (calls % BRANDS)];
    if (!key) throw new Error('There are no keys.');
    calls += 1;
    return key;
  };
}
