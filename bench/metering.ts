import { SEARCH_CREDITS } from '../src/directory/search/preview.ts';
import { type MeterCall, openMeter } from '../src/kit/access/credits/meter.ts';
import { type Caller, findCaller } from '../src/kit/access/keys/callers.ts';
import { hashKey } from '../src/kit/access/keys/key-form.ts';
import type { Redis } from '../src/kit/engines/redis/open.ts';
import type { Session } from './session.ts';
import { answerInProcess } from './unmetered.ts';

const CALLS = 6_000;
const WARM_UPS = 3;
/** Calls that wait for Redis at a time, as in a busy API. */
const AT_ONCE = 8;

/** Makes this many calls with keys in turn. */
async function callsInTurn({ context, nextKey }: Session): Promise<MeterCall[]> {
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

async function microsPerCall(session: Session, redis: Redis): Promise<number> {
  const { postgres, clock } = session.context;
  const meter = openMeter({ db: postgres.db, redis, clock }, async () => {});
  const left = (await callsInTurn(session)).values();
  const work = async () => {
    for (const call of left) await meter(call);
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

export interface MeteringCost {
  /** Without the round trip to Redis: only what metering computes. */
  inProcess: number;
  /** With the round trip, in an otherwise idle process. */
  alone: number;
}

/**
 * Microseconds of CPU that metering takes per call. Measured alone it costs less than what the API saves without it,
 * because there each answer of Redis also wakes the process once more.
 */
export async function measureMeter(session: Session): Promise<MeteringCost> {
  const { redis } = session.context;
  const inProcess = answerInProcess(redis);
  for (let i = 0; i < WARM_UPS; i += 1) {
    await microsPerCall(session, inProcess);
    await microsPerCall(session, redis);
  }
  return { inProcess: await microsPerCall(session, inProcess), alone: await microsPerCall(session, redis) };
}
