import { type MeterCall, openMeter } from '../src/access/credits/meter.ts';
import { hashKey } from '../src/access/keys/key-form.ts';
import { type Caller, findCaller } from '../src/access/keys/queries.ts';
import { SEARCH_CREDITS } from '../src/directory/routes.ts';
import type { Redis } from '../src/engines/redis/open.ts';
import type { Sitting } from './sitting.ts';
import { answerInProcess } from './unmetered.ts';

const CALLS = 6_000;
const WARM_UPS = 3;
/** As many debits as leave the API together, at 2,500 searches a second and a group every 3 ms. */
const IN_GROUP = 8;

/** So many calls of the keys whose turn it is. */
async function callsInTurn({ context, nextKey }: Sitting): Promise<MeterCall[]> {
  const callers = new Map<string, Caller | undefined>();
  const calls: MeterCall[] = [];
  while (calls.length < CALLS) {
    const key = nextKey();
    if (!callers.has(key)) callers.set(key, await findCaller(context.postgres.db, hashKey(key)));
    const caller = callers.get(key);
    if (!caller) throw new Error('A key of the bench is unknown.');
    calls.push({ caller, credits: SEARCH_CREDITS, requestId: 'req_of_the_bench' });
  }
  return calls;
}

async function microsPerCall(sitting: Sitting, redis: Redis): Promise<number> {
  const { postgres, clock } = sitting.context;
  const meter = openMeter({ db: postgres.db, redis, clock }, async () => {});
  const left = (await callsInTurn(sitting)).values();
  const work = async () => {
    // As in the API: a debit may wait for those of searches that run beside it.
    for (const call of left) await meter({ ...call, by: new Promise((resolve) => setImmediate(resolve)) });
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: IN_GROUP }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

export interface MeteringCost {
  /** Without the round trip to Redis: what metering computes. */
  inProcess: number;
  /** With it, in a process that does nothing else, in groups as large as the API's. */
  alone: number;
}

/**
 * Microseconds of CPU that metering takes for one call. Alone it is cheaper than what the API saves without it: there
 * each answer of Redis also wakes the process once more.
 */
export async function measureMeter(sitting: Sitting): Promise<MeteringCost> {
  const { redis } = sitting.context;
  const inProcess = answerInProcess(redis);
  for (let i = 0; i < WARM_UPS; i += 1) {
    await microsPerCall(sitting, inProcess);
    await microsPerCall(sitting, redis);
  }
  return { inProcess: await microsPerCall(sitting, inProcess), alone: await microsPerCall(sitting, redis) };
}
