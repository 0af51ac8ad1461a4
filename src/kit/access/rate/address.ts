import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Redis } from '../../engines/redis/open.ts';
import type { Clock } from '../../values/clock.ts';
import type { ApiError } from '../../values/errors.ts';
import type { Metrics } from '../../values/metrics.ts';
import { RATE_WINDOW_MS } from '../credits/meter.ts';
import { RATE_LIMIT } from '../keys/limits.ts';
import { rateHeaders, rateLimited, type SetHeader } from './headers.ts';
import { openLocalWindows, type Window } from './local.ts';
import { toSubscriber } from './subscriber.ts';

const WINDOW = readFileSync(new URL('./window.lua', import.meta.url), 'utf8');
const Reply = z.tuple([z.number(), z.number()]);

export interface AddressLimit {
  /** Counts a call from an address, sets the rate headers, and returns RATE_LIMITED if the address is over its limit. */
  count(address: string, setHeader: SetHeader): Promise<ApiError | undefined>;
  /**
   * True if the address is known to be over its limit, without counting a call. Nothing is looked up for such an
   * address.
   */
  isOver(address: string): boolean;
}

/** The calls that an address may make in a window; each name is counted separately. */
interface Allowance {
  name: string;
  limit: number;
}
const WITHOUT_KEY: Allowance = { name: 'rate', limit: RATE_LIMIT };

export function openAddressLimit(
  redis: Redis,
  clock: Clock,
  metrics: Metrics,
  { name, limit }: Allowance = WITHOUT_KEY,
): AddressLimit {
  const run = redis.script(WINDOW);
  const localWindow = openLocalWindows(RATE_WINDOW_MS);
  /** Maps each subscriber above its limit to the time of its next call; allocated on first use, because it takes megabytes. */
  let over: LRUCache<string, number> | undefined;

  async function countRequest(subscriber: string): Promise<Window> {
    try {
      const [calls, windowEndMs] = Reply.parse(await run([`${name}:{${subscriber}}`], [RATE_WINDOW_MS]));
      return { calls, windowEndMs };
    } catch {
      metrics.localLimits.inc();
      return localWindow(subscriber, clock.now().getTime());
    }
  }

  return {
    count: async (address, setHeader) => {
      const subscriber = toSubscriber(address);
      const window = await countRequest(subscriber);
      for (const [header, value] of Object.entries(rateHeaders(window, limit))) setHeader(header, value);
      if (window.calls <= limit) return undefined;
      over ??= new LRUCache({ max: 100_000 });
      over.set(subscriber, window.windowEndMs);
      return rateLimited(window, limit, clock.now().getTime());
    },
    isOver: (address) => (over?.get(toSubscriber(address)) ?? 0) > clock.now().getTime(),
  };
}
