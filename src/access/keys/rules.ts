import type { Operation } from '../../api/operation.ts';
import { ApiError } from '../../values/errors.ts';
import { isActive, mayUseDirectory, PLANS } from './plans.ts';
import type { Caller } from './queries.ts';

/** The key of an Authorization header. */
export function readKey(authorization: string | undefined): string {
  if (!authorization?.trim()) {
    throw new ApiError('AUTH_REQUIRED', 'Send your API key as `Authorization: Bearer svk_…`.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
  const match = /^Bearer +(\S+) *$/i.exec(authorization);
  if (!match?.[1]) throw invalidKey('The Authorization header must be `Bearer svk_…`.');
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
export function refuseClassOrPlan(caller: Caller, operation: Operation | undefined): ApiError | undefined {
  if (caller.kind === 'data' && !operation?.callers.includes('data')) {
    return new ApiError(
      'BRAND_KEY_REQUIRED',
      'A data key may only search the directory and read one creator; use a brand key.',
    );
  }
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
