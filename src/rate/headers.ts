import type { Window } from './local.ts';

export type Headers = Record<string, string>;

/** `X-RateLimit-*`: the reset is the window's end in UTC epoch seconds, rounded up. */
export function rateHeaders(window: Window, limit: number): Headers {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(Math.max(0, limit - window.calls)),
    'x-ratelimit-reset': String(Math.ceil(window.windowEndMs / 1000)),
  };
}

/** For an answer whose counter could not be read. */
export function unreadRateHeaders(limit: number, nowMs: number): Headers {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(nowMs / 1000) + 2),
    'retry-after': '2',
  };
}

export function retryAfterSeconds(window: Window, nowMs: number): number {
  return Math.max(1, Math.ceil((window.windowEndMs - nowMs) / 1000));
}
