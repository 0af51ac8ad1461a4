import type { Clock } from '../../values/clock.ts';
import { ApiError } from '../../values/errors.ts';
import { type AddressLimit, createBurstLimiter, type SetHeader } from '../rate-limit.ts';
import type { Caller, CallerKind, Person, Role } from './callers.ts';
import type { Keys } from './key-cache.ts';
import { isActive, mayUseDirectory, PLANS } from './limits.ts';

/** The part of an operation that access control needs. */
interface RequestedOperation {
  method: string;
  callers: readonly CallerKind[];
  directory: boolean;
  ownersOnly: boolean;
  forViewers: boolean;
  hints: { readOnly: boolean };
}

const BEARER = /^Bearer +(\S+) *$/i;

/**
 * The API key from the Authorization header, otherwise the session from the cookie. Neither is accepted in place of the
 * other.
 */
function readKey({ authorization, cookie }: Pick<Request, 'authorization' | 'cookie'>): string {
  if (!authorization?.trim()) {
    if (cookie?.session.startsWith('svs_')) return cookie.session;
    throw new ApiError('AUTH_REQUIRED', 'Send your API key as `Authorization: Bearer svk_…`.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
  const match = BEARER.exec(authorization);
  if (!match?.[1]) throw invalidKey('The Authorization header must be `Bearer svk_…`.');
  if (match[1].startsWith('svs_')) throw invalidKey('A web app session is not an API key.');
  return match[1];
}

function invalidKey(message = 'This API key is unknown, revoked or expired.'): ApiError {
  return new ApiError('INVALID_API_KEY', message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
}

/** The error for a key that may not be used, such as INVALID_API_KEY for one that is revoked or expired. */
function refuseKey(caller: Caller, now: Date): ApiError | undefined {
  if (caller.revokedAt || (caller.expiresAt && caller.expiresAt <= now)) return invalidKey();
  if (caller.isSuspended) {
    return new ApiError('BRAND_SUSPENDED', 'The operator suspended this brand; nothing was changed. Ask them why.');
  }
  if (caller.kind === 'data' && !isActive(caller.subscription)) {
    return invalidKey(`The subscription of this data key is ${caller.subscription.status}.`);
  }
  return undefined;
}

function assertValid(caller: Caller | undefined, now: Date): Caller {
  if (!caller) throw invalidKey();
  const refusal = refuseKey(caller, now);
  if (refusal) throw refusal;
  return caller;
}

/**
 * The error if the caller's kind of key or plan does not allow the operation. Without an operation, the error for a
 * data key on an unknown path.
 */
export function refuseClassOrPlan(caller: Caller, operation: RequestedOperation | undefined): ApiError | undefined {
  if (caller.kind === 'session') return refuseRole(caller, operation) ?? refusePlan(caller, operation);
  if (operation && !operation.callers.some((kind) => kind !== 'session')) {
    return new ApiError(
      'SESSION_REQUIRED',
      'Only people who are signed in to the web app at /app can do this; API keys cannot.',
    );
  }
  if (caller.kind === 'data' && !operation?.callers.includes('data')) {
    return new ApiError(
      'BRAND_KEY_REQUIRED',
      'A data key may only search the directory and read one creator; use a brand key.',
    );
  }
  return refusePlan(caller, operation);
}

/** The signed-in person. The gate has already rejected other callers. */
export function requirePerson(caller: Caller): Person {
  if (caller.kind === 'session') return caller.person;
  throw new ApiError('SESSION_REQUIRED', 'Only people who are signed in to the web app at /app can do this.');
}

/** The error if the person's role does not allow the operation: viewers only read, and some operations are for owners. */
function refuseRole({ person }: Extract<Caller, { kind: 'session' }>, operation: RequestedOperation | undefined) {
  if (!operation || person.role === 'owner') return undefined;
  const { ownersOnly, forViewers, hints } = operation;
  if (!ownersOnly && (person.role !== 'viewer' || hints.readOnly || forViewers)) return undefined;
  return roleRequired(person, ownersOnly ? ['owner'] : ['owner', 'manager']);
}

/** The error for a person whose role does not suffice. */
export function roleRequired(person: Person, allowed: readonly Role[]): ApiError {
  return new ApiError('ROLE_REQUIRED', `You are a ${person.role} of this brand; this needs: ${allowed.join(' or ')}.`, {
    facts: { current_role: person.role, allowed },
  });
}

/** Rejects changes from other sites' pages, because a browser sends its cookie with their requests too. */
export function refuseForeignPage(
  { cookie }: Request,
  caller: Caller,
  { method }: RequestedOperation,
): ApiError | undefined {
  if (caller.kind !== 'session' || method === 'GET' || cookie?.isSameOrigin) return undefined;
  return new ApiError('CROSS_SITE', 'Only the pages of the web app may make changes (Sec-Fetch-Site).');
}

/** Rejects an agent's token outside of `/mcp`, where the brand's policy for agents does not apply. */
export function refuseOtherResource({ isAgent }: Request, { scopes }: Caller): ApiError | undefined {
  return scopes === null || isAgent ? undefined : invalidKey('This token is for /mcp only; use an API key here.');
}

function refusePlan(caller: Caller, operation: RequestedOperation | undefined): ApiError | undefined {
  if (!operation?.directory) return undefined;
  const isAllowed =
    caller.kind === 'data' ? PLANS[caller.subscription.plan].directory : mayUseDirectory(caller.subscription);
  if (isAllowed) return undefined;
  const { plan, status } = caller.subscription;
  return new ApiError(
    'SUBSCRIPTION_REQUIRED',
    `The directory needs an active plan that includes it; yours is ${plan}, ${status}.`,
  );
}

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
  /** True if the caller chose the request id. */
  isOwnId?: boolean;
  /** The value of the `Idempotency-Key` header. */
  idempotencyKey: string | undefined;
  setHeader: SetHeader;
  /** Aborted when the client closes the connection before its answer. */
  gone?: AbortSignal;
  /** True if it came to `/mcp`, the only resource of tokens that a host of agents got by OAuth. */
  isAgent?: boolean;
}

export interface IdentifiedCaller {
  key: string;
  caller: Caller;
}

export interface Identity {
  /** Identifies the caller. Throws AUTH_REQUIRED, INVALID_API_KEY, RATE_LIMITED by address, or SERVICE_UNAVAILABLE. */
  identify(request: Request): Promise<IdentifiedCaller>;
  /** The caller by what this process knows, without I/O; undefined if that does not suffice or the key is not valid. */
  recognize(authorization: string | undefined): Caller | undefined;
  /** Reads the caller again unless it was read within `maxAgeMs`. Set `must` if it is known to be outdated. */
  identifyAgain(request: Request, key: string, maxAgeMs: number, must?: boolean): Promise<IdentifiedCaller>;
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
  async function orRefuse(request: Request, identified: () => Promise<IdentifiedCaller>): Promise<IdentifiedCaller> {
    try {
      return await identified();
    } catch (error) {
      throw (await addresses.count(request.address, request.setHeader)) ?? error;
    }
  }

  async function identifyAgain(key: string, maxAgeMs: number, must = false): Promise<IdentifiedCaller> {
    return { key, caller: assertValid(await keys.verify(key, maxAgeMs, must), clock.now()) };
  }

  async function identify(request: Request): Promise<IdentifiedCaller> {
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

  function recognize(authorization: string | undefined): Caller | undefined {
    const [, key] = BEARER.exec(authorization ?? '') ?? [];
    const caller = key === undefined ? undefined : keys.peek(key);
    return caller && !refuseKey(caller, clock.now()) ? caller : undefined;
  }

  return {
    recognize,
    identify: (request) => orRefuse(request, () => identify(request)),
    identifyAgain: (request, key, maxAgeMs, must) => orRefuse(request, () => identifyAgain(key, maxAgeMs, must)),
  };
}
