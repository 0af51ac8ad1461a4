import type { Clock } from '../../values/clock.ts';
import { ApiError } from '../../values/errors.ts';
import type { AddressLimit } from '../rate/address.ts';
import { openFew } from '../rate/few.ts';
import type { SetHeader } from '../rate/headers.ts';
import type { Keys } from './keys.ts';
import type { Caller } from './queries.ts';
import { assertValid, readKey } from './rules.ts';

/** A key's standing is asked of Postgres this often where Redis cannot tell, so that a change holds within a second. */
export const UNCONFIRMED_AGE_MS = 900;

/** What a browser that is signed in to the web app sends by itself. */
export interface Cookie {
  session: string;
  /** By `Sec-Fetch-Site`, which no page can set: asked by the app's own pages. */
  isSameOrigin: boolean;
}

export interface Request {
  authorization: string | undefined;
  /** Counts where there is no Authorization header. */
  cookie?: Cookie | undefined;
  address: string;
  requestId: string;
  /** The caller's own key for this call, from `Idempotency-Key`. */
  idempotencyKey: string | undefined;
  setHeader: SetHeader;
}

export interface Identified {
  key: string;
  caller: Caller;
}

export interface Identity {
  /** Who calls. Throws AUTH_REQUIRED, INVALID_API_KEY, RATE_LIMITED by address, or SERVICE_UNAVAILABLE. */
  identify(request: Request): Promise<Identified>;
  /** Reads the caller again, unless it was read within `maxAgeMs`; `must` when it is known to be outdated. */
  identifyAgain(request: Request, key: string, maxAgeMs: number, must?: boolean): Promise<Identified>;
}

/** Keys that this process does not know, for addresses that are over their limit: somebody there may have a valid one. */
const LOOKED_UP_AT_ONCE = 10;
const LOOKED_UP_EVERY_MS = 200;

/** Nobody sees it: whoever is refused is counted, and told so with the window that it counts in. */
const overLimit = new ApiError('RATE_LIMITED', 'Too many calls without a valid key; try again shortly.', {
  headers: { 'retry-after': '1' },
});

export function openIdentity(keys: Keys, addresses: AddressLimit, clock: Clock): Identity {
  const mayLookUp = openFew(LOOKED_UP_AT_ONCE, LOOKED_UP_EVERY_MS);

  /** Whoever has no valid key is counted by address, and limited before being told so. */
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
      // A key that must not be used may have been put right: it is read again, at most once a second.
      if (!caller) throw error;
      return await identifyAgain(key, UNCONFIRMED_AGE_MS);
    }
  }

  return {
    identify: (request) => orRefuse(request, () => identify(request)),
    identifyAgain: (request, key, maxAgeMs, must) => orRefuse(request, () => identifyAgain(key, maxAgeMs, must)),
  };
}
