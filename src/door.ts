import { type Keys, openKeys } from './auth/keys.ts';
import { isActive, mayUseDirectory, PLANS } from './auth/plans.ts';
import type { Caller } from './auth/queries.ts';
import type { Context } from './context.ts';
import { monthlyCredits } from './credits/access.ts';
import { type Charge, type Metered, openMeter, RATE_LIMIT, RATE_WINDOW_MS } from './credits/meter.ts';
import { periodAt } from './credits/period.ts';
import { openRefund } from './credits/refund.ts';
import { ApiError, toApiError } from './errors.ts';
import type { Metrics } from './metrics.ts';
import type { Operation, Prepared, RawInput, SetHeader } from './operation.ts';
import { type AddressLimit, openAddressLimit } from './rate/address.ts';
import { rateHeaders, retryAfterSeconds, unreadRateHeaders } from './rate/headers.ts';
import { openLocalWindows } from './rate/local.ts';

/** Without Redis a key's standing is asked of Postgres this often, so that a revocation holds within a second. */
const UNCONFIRMED_AGE_MS = 900;

export interface Request {
  authorization: string | undefined;
  address: string;
  requestId: string;
  setHeader: SetHeader;
}

/** What a request may do, decided in the process without I/O: refuse, or run at a price. */
type Decision = { refusal: ApiError } | { prepared: Prepared; price: number };
type Decide = (caller: Caller) => Decision;

export interface Door {
  /** Runs an operation for whoever calls: who, how often, at what price, then the work. Throws ApiError. */
  run(operation: Operation, request: Request, read: () => RawInput): Promise<Buffer>;
  /** Answers what is no operation of the API: the caller is still told apart, counted and limited. */
  refuse(request: Request, refusal: ApiError): Promise<never>;
  addresses: AddressLimit;
  keys: Keys;
  close(): Promise<void>;
}

function readKey(authorization: string | undefined): string {
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
function assertValid(caller: Caller | undefined, now: Date): Caller {
  if (!caller || caller.revokedAt || (caller.expiresAt && caller.expiresAt <= now)) throw invalidKey();
  if (caller.kind === 'data' && !isActive(caller.subscription)) {
    throw invalidKey(`The subscription of this data key is ${caller.subscription.status}.`);
  }
  return caller;
}

function refuseClassOrPlan(caller: Caller, operation: Operation | undefined): ApiError | undefined {
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

export function openDoor(context: Context, metrics: Metrics): Door {
  const { clock, log } = context;
  const engines = { db: context.postgres.db, redis: context.redis, clock };
  const keys = openKeys(context.postgres.db, clock);
  const refund = openRefund(engines, log);
  const meter = openMeter(engines, refund);
  const localWindow = openLocalWindows(RATE_WINDOW_MS);
  const addresses = openAddressLimit(context.redis, clock, metrics);

  function decide(operation: Operation, read: () => RawInput): Decide {
    return (caller) => {
      const refusal = refuseClassOrPlan(caller, operation);
      if (refusal) return { refusal };
      try {
        const prepared = operation.prepare(read());
        return { prepared, price: caller.kind === 'data' ? prepared.price(context) : 0 };
      } catch (error) {
        return { refusal: toApiError(error) };
      }
    };
  }

  /** Whoever has no valid key is counted by address, and limited before being told so. */
  async function refuseByAddress(request: Request, refusal: unknown): Promise<never> {
    const limited = await addresses.count(request.address, request.setHeader);
    throw limited ?? refusal;
  }

  /** A key that must not be used may have been mended: it is read again, at most once a second. */
  async function findValid(key: string): Promise<Caller> {
    const caller = await keys.find(key);
    try {
      return assertValid(caller, clock.now());
    } catch (error) {
      if (!caller) throw error;
      return assertValid(await keys.verify(key, UNCONFIRMED_AGE_MS), clock.now());
    }
  }

  async function identify(request: Request): Promise<{ key: string; caller: Caller }> {
    try {
      const key = readKey(request.authorization);
      return { key, caller: await findValid(key) };
    } catch (error) {
      return await refuseByAddress(request, error);
    }
  }

  /** Counting without Redis: by this process alone for what is free, refused for what costs. */
  async function meterLocally(key: string, caller: Caller, price: number, request: Request, cause: unknown) {
    if (price > 0) {
      for (const [name, value] of Object.entries(unreadRateHeaders(RATE_LIMIT, clock.now().getTime()))) {
        request.setHeader(name, value);
      }
      throw cause;
    }
    metrics.localLimits.inc();
    const verified = await keys.verify(key, UNCONFIRMED_AGE_MS);
    if (!verified || verified.revokedAt) return await refuseByAddress(request, invalidKey());
    const window = localWindow(caller.keyId, clock.now().getTime());
    return { ...window, state: 'ok' as const, credits: undefined, charge: undefined };
  }

  async function meterCall(
    key: string,
    caller: Caller,
    price: number,
    request: Request,
    countedAs?: number,
  ): Promise<Metered> {
    try {
      return await meter({
        caller,
        credits: price,
        requestId: request.requestId,
        ...(countedAs === undefined ? {} : { countedAs }),
      });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE') {
        return await meterLocally(key, caller, price, request, error);
      }
      throw error;
    }
  }

  function setCreditHeaders(caller: Caller, metered: Metered, charged: number, setHeader: SetHeader): void {
    if (caller.kind !== 'data') return;
    const { end } = metered.credits?.period ?? periodAt(caller.subscription.anchorAt, clock.now());
    setHeader('x-credits-limit', String(metered.credits?.granted ?? monthlyCredits(caller.subscription)));
    setHeader('x-credits-reset', String(Math.ceil(end.getTime() / 1000)));
    setHeader('x-credits-charged', String(charged));
    if (metered.credits)
      setHeader('x-credits-remaining', String(metered.credits.remaining + (metered.charge?.credits ?? 0) - charged));
  }

  /** Who calls, how often and at what price; returns what may now be run. */
  async function admit(request: Request, decide: Decide) {
    const identified = await identify(request);
    let { caller } = identified;
    let decision = decide(caller);
    const priceOf = (made: Decision) => ('refusal' in made ? 0 : made.price);
    let metered = await meterCall(identified.key, caller, priceOf(decision), request);
    if (metered.state !== 'ok') {
      const again = await keys.verify(identified.key, 0, true);
      try {
        caller = assertValid(metered.state === 'revoked' ? undefined : again, clock.now());
      } catch (error) {
        return await refuseByAddress(request, error);
      }
      decision = decide(caller);
      metered = await meterCall(identified.key, caller, priceOf(decision), request, metered.calls);
    }
    return { caller, decision, metered };
  }

  function assertAdmitted(caller: Caller, decision: Decision, metered: Metered, setHeader: SetHeader) {
    for (const [name, value] of Object.entries(rateHeaders(metered, RATE_LIMIT))) setHeader(name, value);
    setCreditHeaders(caller, metered, metered.charge?.credits ?? 0, setHeader);
    if (metered.calls > RATE_LIMIT) {
      const seconds = retryAfterSeconds(metered, clock.now().getTime());
      setHeader('retry-after', String(seconds));
      throw new ApiError('RATE_LIMITED', `More than ${RATE_LIMIT} calls in 60 seconds; try again in ${seconds} s.`);
    }
    if ('refusal' in decision) throw decision.refusal;
    if (decision.price > 0 && !metered.charge) {
      const resetsAt = metered.credits?.period.end.toISOString();
      throw new ApiError(
        'CREDITS_EXHAUSTED',
        `This call costs ${decision.price} credits; the budget of this period is used up.`,
        {
          facts: {
            credits_remaining: metered.credits?.remaining ?? 0,
            credits_required: decision.price,
            resets_at: resetsAt,
          },
        },
      );
    }
    return decision.prepared;
  }

  async function giveBack(caller: Caller, metered: Metered, charge: Charge, setHeader: SetHeader): Promise<void> {
    setCreditHeaders(caller, metered, 0, setHeader);
    metrics.credits.inc({ kind: 'refund' }, charge.credits);
    await refund(charge);
  }

  return {
    keys,
    addresses,
    run: async (operation, request, read) => {
      const { caller, decision, metered } = await admit(request, decide(operation, read));
      const prepared = assertAdmitted(caller, decision, metered, request.setHeader);
      if (metered.charge) metrics.credits.inc({ kind: 'charge' }, metered.charge.credits);
      try {
        return await prepared.run(context, caller, request.setHeader);
      } catch (error) {
        if (metered.charge) await giveBack(caller, metered, metered.charge, request.setHeader);
        throw error;
      } finally {
        if (prepared.ignored.length > 0) request.setHeader('x-ignored-params', ignoredHeader(prepared.ignored));
      }
    },
    refuse: async (request, refusal) => {
      const { caller, metered, decision } = await admit(request, (caller) => ({
        refusal: refuseClassOrPlan(caller, undefined) ?? refusal,
      }));
      assertAdmitted(caller, decision, metered, request.setHeader);
      throw refusal;
    },
    close: () => keys.close(),
  };
}

/** At most 20 names of 64 bytes each, percent-encoded: a header carries ASCII only. */
function ignoredHeader(names: readonly string[]): string {
  return names
    .slice(0, 20)
    .map((name) => encodeURIComponent(name.toWellFormed()).slice(0, 64))
    .join(', ');
}
