import { ApiError } from '../../values/errors.ts';
import type { Window } from './local.ts';

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
