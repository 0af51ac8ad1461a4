import { ApiError } from '../../values/errors.ts';
import type { Request } from './identify.ts';
import { isActive, mayUseDirectory, PLANS } from './plans.ts';
import type { Caller, CallerKind, Person, Role } from './queries.ts';

/** The part of an operation that access control needs. */
interface Requested {
  method: string;
  callers: readonly CallerKind[];
  directory: boolean;
  ownersOnly: boolean;
  forViewers: boolean;
  hints: { readOnly: boolean };
}

/**
 * The API key from the Authorization header, otherwise the session from the cookie. Neither is accepted in place of the
 * other.
 */
export function readKey({ authorization, cookie }: Pick<Request, 'authorization' | 'cookie'>): string {
  if (!authorization?.trim()) {
    if (cookie?.session.startsWith('svs_')) return cookie.session;
    throw new ApiError('AUTH_REQUIRED', 'Send your API key as `Authorization: Bearer svk_…`.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
  const match = /^Bearer +(\S+) *$/i.exec(authorization);
  if (!match?.[1]) throw invalidKey('The Authorization header must be `Bearer svk_…`.');
  if (match[1].startsWith('svs_')) throw invalidKey('A web app session is not an API key.');
  return match[1];
}

function invalidKey(message = 'This API key is unknown, revoked or expired.'): ApiError {
  return new ApiError('INVALID_API_KEY', message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
}

/** Throws INVALID_API_KEY for a key that is unknown, revoked or expired. */
export function assertValid(caller: Caller | undefined, now: Date): Caller {
  if (!caller || caller.revokedAt || (caller.expiresAt && caller.expiresAt <= now)) throw invalidKey();
  if (caller.kind === 'data' && !isActive(caller.subscription)) {
    throw invalidKey(`The subscription of this data key is ${caller.subscription.status}.`);
  }
  return caller;
}

/**
 * The error if the caller's kind of key or plan does not allow the operation. Without an operation, the error for a
 * data key on an unknown path.
 */
export function refuseClassOrPlan(caller: Caller, operation: Requested | undefined): ApiError | undefined {
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
function refuseRole({ person }: Extract<Caller, { kind: 'session' }>, operation: Requested | undefined) {
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
export function refuseForeignPage({ cookie }: Request, caller: Caller, { method }: Requested): ApiError | undefined {
  if (caller.kind !== 'session' || method === 'GET' || cookie?.isSameOrigin) return undefined;
  return new ApiError('CROSS_SITE', 'Only the pages of the web app may make changes (Sec-Fetch-Site).');
}

/** Rejects an agent's token outside of `/mcp`, where the brand's policy for agents does not apply. */
export function refuseOtherResource({ isAgent }: Request, { scopes }: Caller): ApiError | undefined {
  return scopes === null || isAgent ? undefined : invalidKey('This token is for /mcp only; use an API key here.');
}

function refusePlan(caller: Caller, operation: Requested | undefined): ApiError | undefined {
  if (!operation?.directory) return undefined;
  const allowed =
    caller.kind === 'data' ? PLANS[caller.subscription.plan].directory : mayUseDirectory(caller.subscription);
  if (allowed) return undefined;
  const { plan, status } = caller.subscription;
  return new ApiError(
    'SUBSCRIPTION_REQUIRED',
    `The directory needs an active plan that includes it; yours is ${plan}, ${status}.`,
  );
}
