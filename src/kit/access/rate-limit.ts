import { readFileSync } from 'node:fs';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Redis } from '../engines/redis/open.ts';
import type { Clock } from '../values/clock.ts';
import { ApiError } from '../values/errors.ts';
import type { Metrics } from '../values/metrics.ts';
import { RATE_WINDOW_MS } from './credits/meter.ts';
import { RATE_LIMIT } from './keys/limits.ts';

/** Sets a response header. */
export type SetHeader = (name: string, value: string) => void;

export type Headers = Record<string, string>;

/** The `X-RateLimit-*` headers. The reset is the window's end in UTC epoch seconds, rounded up. */
export function rateHeaders(window: Window, limit: number): Headers {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(Math.max(0, limit - window.calls)),
    'x-ratelimit-reset': String(Math.ceil(window.windowEndMs / 1000)),
  };
}

/** The headers of a response whose counter could not be read. */
export function unreadRateHeaders(limit: number, nowMs: number): Headers {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(nowMs / 1000) + 2),
    'retry-after': '2',
  };
}

export function rateLimited(window: Window, limit: number, nowMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil((window.windowEndMs - nowMs) / 1000));
  return new ApiError('RATE_LIMITED', `More than ${limit} calls in 60 seconds; try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

export interface Window {
  calls: number;
  windowEndMs: number;
}

/** Counts calls in this process only, while Redis does not respond. */
export function openLocalWindows(windowMs: number): (id: string, nowMs: number) => Window {
  // Allocated when Redis first fails to respond, because it takes megabytes and each door has one.
  let windowsById: LRUCache<string, Window> | undefined;
  return (id, nowMs) => {
    windowsById ??= new LRUCache({ max: 100_000 });
    const windows = windowsById;
    const open = windows.get(id);
    const window = open && open.windowEndMs > nowMs ? open : { calls: 0, windowEndMs: nowMs + windowMs };
    window.calls += 1;
    windows.set(id, window);
    return window;
  };
}

/** Allows `burst` events at once, and one more every `everyMs`. */
export function createBurstLimiter(burst: number, everyMs: number): () => boolean {
  let tokens = burst;
  let atMs = performance.now();
  return () => {
    const now = performance.now();
    const refill = Math.floor((now - atMs) / everyMs);
    tokens = Math.min(burst, tokens + refill);
    atMs += refill * everyMs;
    if (tokens === 0) return false;
    tokens -= 1;
    return true;
  };
}

const GROUPS_OF_PREFIX = 4;

/** The subscriber that an address belongs to: for IPv6 the /64, because one subscriber has that many addresses. */
export function toSubscriber(text: string): string {
  if (isIPv4(text) || isIP(text) === 0) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const prefix = address.parts.slice(0, GROUPS_OF_PREFIX).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
}

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
  const runScript = redis.script(WINDOW);
  const localWindow = openLocalWindows(RATE_WINDOW_MS);
  /** Maps each subscriber above its limit to the time of its next call; allocated on first use, because it takes megabytes. */
  let over: LRUCache<string, number> | undefined;

  async function countRequest(subscriber: string): Promise<Window> {
    try {
      const [calls, windowEndMs] = Reply.parse(await runScript([`${name}:{${subscriber}}`], [RATE_WINDOW_MS]));
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
