/**
 * Searches at a fixed rate, whether the ones before are answered or not: `node open-loop.ts`, told by a line of JSON on stdin.
 * Each is a new search with the next key. Latencies count from the moment that a search was due. Prints what came of
 * them as JSON.
 */
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';

export const Flood = z.object({
  url: z.string(),
  perSecond: z.number(),
  forMs: z.number(),
  keys: z.array(z.string()),
  /** Distinguishes its searches from those of other floods. */
  first: z.number(),
});
export type Flood = z.infer<typeof Flood>;

export const Flooded = z.object({
  sent: z.number(),
  answeredMs: z.array(z.number()),
  refusedMs: z.array(z.number()),
  /** Neither 200 nor 503, or no answer at all, by status. */
  others: z.record(z.string(), z.number()),
  /** How late its own timers were: on a machine that is too busy, it measures itself. */
  lateMs: z.array(z.number()),
  /** Answers within the time of the flood. */
  perSecond: z.number(),
});

/** Refused calls are answered at once, so that this many suffice for any rate. */
const CONNECTIONS = 512;
const TICK_MS = 5;
const CATEGORIES = ['food', 'fitness', 'beauty'];

/** A search that no other number makes. */
export const searchPath = (number: number): string =>
  `/v1/creators/search?limit=20&follower_min=${number}&category=${CATEGORIES[number % CATEGORIES.length]}`;

async function flood({ url, perSecond, forMs, keys, first }: Flood): Promise<z.infer<typeof Flooded>> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1, keepAliveTimeout: 60_000 });
  const answeredMs: number[] = [];
  const refusedMs: number[] = [];
  const others: Record<string, number> = {};
  const lateMs: number[] = [];
  let sent = 0;
  let ended = 0;
  let inTime = 0;
  const from = performance.now();

  function end(status: number, dueMs: number): void {
    const ms = performance.now() - from;
    ended += 1;
    if (status === 200) answeredMs.push(ms - dueMs);
    else if (status === 503) refusedMs.push(ms - dueMs);
    else others[status] = (others[status] ?? 0) + 1;
    if (status === 200 && ms <= forMs) inTime += 1;
  }

  function send(dueMs: number): void {
    sent += 1;
    let status = 0;
    pool.dispatch(
      {
        method: 'GET',
        path: searchPath(first + sent),
        headers: { authorization: `Bearer ${keys[sent % keys.length]}` },
      },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: () => {},
        onResponseEnd: () => end(status, dueMs),
        onResponseError: () => end(0, dueMs),
      },
    );
  }

  for (let ms = 0; ms < forMs; ms = performance.now() - from) {
    while ((sent * 1_000) / perSecond <= ms) send((sent * 1_000) / perSecond);
    await pause(TICK_MS);
    lateMs.push(performance.now() - from - ms - TICK_MS);
  }
  while (ended < sent) await pause(TICK_MS);
  await pool.close();
  return { sent, answeredMs, refusedMs, others, lateMs, perSecond: (inTime * 1_000) / forMs };
}

if (import.meta.main) {
  const flooded = await flood(Flood.parse(JSON.parse(await text(process.stdin))));
  process.stdout.write(`${JSON.stringify(flooded)}\n`);
}
