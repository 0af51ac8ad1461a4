import type { CallerKind } from '../../engines/postgres/tables.ts';
import { ApiError } from '../../values/errors.ts';
import type { Request } from './identify.ts';
import { isActive, mayUseDirectory, PLANS } from './plans.ts';
import type { Caller, Person } from './queries.ts';

/** What access knows of an operation. */
interface Requested {
  method: string;
  callers: readonly CallerKind[];
  directory: boolean;
  ownersOnly: boolean;
  hints: { readOnly: boolean };
}

/** The key of an Authorization header, else the session of a cookie; neither is taken in the other's place. */
export function readKey({ authorization, cookie }: Pick<Request, 'authorization' | 'cookie'>): string {
  if (!authorization?.trim()) {
    if (cookie?.session.startsWith('svs_')) return cookie.session;
    throw new ApiError('AUTH_REQUIRED', 'Send your API key as `Authorization: Bearer svk_…`.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
  const match = /^Bearer +(\S+) *$/i.exec(authorization);
  if (!match?.[1]) throw invalidKey('The Authorization header must be `Bearer svk_…`.');
  if (match[1].startsWith('svs_')) throw invalidKey('A session of the web app is no API key.');
  return match[1];
}

function invalidKey(message = 'This API key is unknown, revoked or expired.'): ApiError {
  return new ApiError('INVALID_API_KEY', message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
}

/** Throws INVALID_API_KEY for a key that must not be used (any more). */
export function assertValid(caller: Caller | undefined, now: Date): Caller {
  if (!caller || caller.revokedAt || (caller.expiresAt && caller.expiresAt <= now)) throw invalidKey();
  if (caller.kind === 'data' && !isActive(caller.subscription)) {
    throw invalidKey(`The subscription of this data key is ${caller.subscription.status}.`);
  }
  return caller;
}

/** What the caller's kind of key or plan forbids; without an operation, what a data key may not even ask for. */
export function refuseClassOrPlan(caller: Caller, operation: Requested | undefined): ApiError | undefined {
  if (caller.kind === 'session') return refuseRole(caller, operation) ?? refusePlan(caller, operation);
  if (operation && !operation.callers.some((kind) => kind !== 'session')) {
    return new ApiError(
      'SESSION_REQUIRED',
      'This is done by people, signed in to the web app at /app; no API key may.',
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

/** Who is signed in; the door has let nobody else in. */
export function personOf(caller: Caller): Person {
  if (caller.kind === 'session') return caller.person;
  throw new ApiError('SESSION_REQUIRED', 'This is done by people, signed in to the web app at /app.');
}

/** What a person's role forbids: a viewer reads, and some things are the owners' alone. */
function refuseRole({ person }: Extract<Caller, { kind: 'session' }>, operation: Requested | undefined) {
  if (!operation || person.role === 'owner') return undefined;
  const isAllowed = person.role === 'viewer' ? operation.hints.readOnly : !operation.ownersOnly;
  if (isAllowed) return undefined;
  const allowed = operation.ownersOnly ? ['owner'] : ['owner', 'manager'];
  return new ApiError('ROLE_REQUIRED', `You are a ${person.role} of this brand; this needs: ${allowed.join(' or ')}.`, {
    facts: { current_role: person.role, allowed },
  });
}

/** A browser sends its cookie for any page that asks; only the app's own pages may change anything. */
export function refuseForeignPage({ cookie }: Request, caller: Caller, { method }: Requested): ApiError | undefined {
  if (caller.kind !== 'session' || method === 'GET' || cookie?.isSameOrigin) return undefined;
  return new ApiError('CROSS_SITE', 'Changes are taken from the pages of the web app alone (Sec-Fetch-Site).');
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
