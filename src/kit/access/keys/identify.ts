import type { Clock } from '../../values/clock.ts';
import { ApiError } from '../../values/errors.ts';
import type { AddressLimit } from '../rate/address.ts';
import { createBurstLimiter } from '../rate/few.ts';
import type { SetHeader } from '../rate/headers.ts';
import type { Keys } from './keys.ts';
import type { Caller } from './queries.ts';
import { assertValid, readKey } from './rules.ts';

/** Without Redis, a key is read from Postgres at this interval, so that a change takes effect within a second. */
export const UNCONFIRMED_AGE_MS = 900;

/** The session cookie that a browser sends automatically. */
export interface Cookie {
  session: string;
  /** True if the app's own pages made the request, by `Sec-Fetch-Site`, which no page can set. */
  isSameOrigin: boolean;
}

export interface Request {
  authorization: string | undefined;
  /** Used if there is no Authorization header. */
  cookie?: Cookie | undefined;
  address: string;
  requestId: string;
  /** The value of the `Idempotency-Key` header. */
  idempotencyKey: string | undefined;
  setHeader: SetHeader;
  /** True if it came to `/mcp`, the only resource of tokens that a host of agents got by OAuth. */
  isAgent?: boolean;
}

export interface Identified {
  key: string;
  caller: Caller;
}

export interface Identity {
  /** Identifies the caller. Throws AUTH_REQUIRED, INVALID_API_KEY, RATE_LIMITED by address, or SERVICE_UNAVAILABLE. */
  identify(request: Request): Promise<Identified>;
  /** Reads the caller again unless it was read within `maxAgeMs`. Set `must` if it is known to be outdated. */
  identifyAgain(request: Request, key: string, maxAgeMs: number, must?: boolean): Promise<Identified>;
}

/** Lookups of unknown keys for addresses over their limit, because a caller there may have a valid key. */
const LOOKED_UP_AT_ONCE = 10;
const LOOKED_UP_EVERY_MS = 200;

/** Never sent: the refused caller is counted, and gets the error of its rate window. */
const overLimit = new ApiError('RATE_LIMITED', 'Too many calls without a valid key; try again shortly.', {
  headers: { 'retry-after': '1' },
});

export function openIdentity(keys: Keys, addresses: AddressLimit, clock: Clock): Identity {
  const mayLookUp = createBurstLimiter(LOOKED_UP_AT_ONCE, LOOKED_UP_EVERY_MS);

  /** Counts callers without a valid key by address, and rate-limits them before it reports the bad key. */
  async function orRefuse(request: Request, identified: () => Promise<Identified>): Promise<Identified> {
    try {
      return await identified();
    } catch (error) {
      throw (await addresses.count(request.address, request.setHeader)) ?? error;
    }
  }

  async function identifyAgain(key: string, maxAgeMs: number, must = false): Promise<Identified> {
    return { key, caller: assertValid(await keys.verify(key, maxAgeMs, must), clock.now()) };
  }

  async function identify(request: Request): Promise<Identified> {
    const key = readKey(request);
    const caller = await keys.find(key, () =>
      addresses.isOver(request.address) && !mayLookUp() ? overLimit : undefined,
    );
    try {
      return { key, caller: assertValid(caller, clock.now()) };
    } catch (error) {
      // An unusable key may have been fixed, so it is read again, at most once a second.
      if (!caller) throw error;
      return await identifyAgain(key, UNCONFIRMED_AGE_MS);
    }
  }

  return {
    identify: (request) => orRefuse(request, () => identify(request)),
    identifyAgain: (request, key, maxAgeMs, must) => orRefuse(request, () => identifyAgain(key, maxAgeMs, must)),
  };
}
