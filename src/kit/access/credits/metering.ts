import type { Clock } from '../../values/clock.ts';
import { ApiError } from '../../values/errors.ts';
import type { Metrics } from '../../values/metrics.ts';
import type { Caller } from '../keys/callers.ts';
import { type IdentifiedCaller, type Identity, type Request, UNCONFIRMED_AGE_MS } from '../keys/identify.ts';
import { type Headers, openLocalWindows, unreadRateHeaders } from '../rate-limit.ts';
import { monthlyCredits } from './access.ts';
import { getRateLimit, type MeterCall, type MeterResult, RATE_WINDOW_MS } from './meter.ts';
import { periodAt } from './period.ts';

/**
 * The `X-Credits-*` headers of a data key's response. `charged` credits are kept. Without Redis the balance is
 * unknown and no credits can be spent, so the remaining credits are 0, as with the rate limit.
 */
export function creditHeaders(
  caller: Caller,
  { credits, charge }: Pick<MeterResult, 'credits' | 'charge'>,
  chargedCredits: number,
  now: Date,
): Headers {
  if (caller.kind !== 'data') return {};
  const { end } = credits?.period ?? periodAt(caller.subscription.anchorAt, now);
  return {
    'x-credits-limit': String(credits?.granted ?? monthlyCredits(caller.subscription)),
    'x-credits-remaining': String(credits ? credits.remaining + (charge?.credits ?? 0) - chargedCredits : 0),
    'x-credits-reset': String(Math.ceil(end.getTime() / 1000)),
    'x-credits-charged': String(chargedCredits),
  };
}

/** The headers of a response to a call that was neither counted nor charged. */
export const unreadHeaders = (caller: Caller, now: Date): Headers => ({
  ...unreadRateHeaders(getRateLimit(caller), now.getTime()),
  ...creditHeaders(caller, { credits: undefined, charge: undefined }, 0, now),
});

export function creditsExhausted(price: number, meterResult: MeterResult): ApiError {
  const { refusedBy } = meterResult;
  if (refusedBy) {
    const { limit, left, endsAt } = refusedBy;
    const what = limit === 'key_day' ? 'daily' : 'monthly';
    return new ApiError(
      'CREDITS_EXHAUSTED',
      `This call costs ${price} credits; the ${what} limit of this key has ${left} left.`,
      {
        facts: { limit, credits_remaining: left, credits_required: price, resets_at: endsAt.toISOString() },
      },
    );
  }
  const message = `This call costs ${price} credits, more than this period has left.`;
  return new ApiError('CREDITS_EXHAUSTED', message, {
    facts: {
      credits_remaining: meterResult.credits?.remaining ?? 0,
      credits_required: price,
      resets_at: meterResult.credits?.period.end.toISOString(),
    },
  });
}

/** Work starts before its debit only if this many calls of the window, and credits for as many searches, are left. */
const CALLS_LEFT = 20;
const PRICES_LEFT = 100;

interface CallerHeadroom {
  calls: number;
  windowEndMs: number;
  remaining: number;
}

/** Remembers how far each caller was from its limits at its last call. This is an estimate; the debit decides. */
export interface Headroom {
  note(caller: Caller, meterResult: MeterResult): void;
  forget(caller: Caller): void;
  /** True if a call at this price will almost certainly be admitted. */
  isAmple(caller: Caller, price: number, nowMs: number): boolean;
}

export function openHeadroom(): Headroom {
  const headrooms = new WeakMap<Caller, CallerHeadroom>();
  return {
    note: (caller, { calls, windowEndMs, credits }) => {
      if (credits) headrooms.set(caller, { calls, windowEndMs, remaining: credits.remaining });
    },
    forget: (caller) => void headrooms.delete(caller),
    isAmple: (caller, price, nowMs) => {
      const headroom = headrooms.get(caller);
      if (!headroom || headroom.remaining < PRICES_LEFT * price) return false;
      return headroom.calls <= getRateLimit(caller) - CALLS_LEFT || headroom.windowEndMs <= nowMs;
    },
  };
}

export type MeterOrFallBack = (
  request: Request,
  identified: IdentifiedCaller,
  call: Pick<MeterCall, 'credits' | 'countedAs' | 'block' | 'mark'>,
) => Promise<MeterResult>;

/** The meter with its fallback: while Redis is down, this process counts free calls by itself and refuses priced ones. */
export function openMetering(
  meter: (call: MeterCall) => Promise<MeterResult>,
  identity: Identity,
  metrics: Metrics,
  clock: Clock,
): MeterOrFallBack {
  const localWindow = openLocalWindows(RATE_WINDOW_MS);

  function refuseUnread(request: Request, caller: Caller, cause: ApiError): never {
    const headers = Object.entries(unreadHeaders(caller, clock.now()));
    for (const [name, value] of headers) request.setHeader(name, value);
    throw cause;
  }

  return async (request, { key, caller }, call) => {
    try {
      return await meter({ ...call, caller, requestId: request.requestId });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      if (call.credits > 0) refuseUnread(request, caller, error);
      metrics.localLimits.inc();
      await identity.identifyAgain(request, key, UNCONFIRMED_AGE_MS);
      const window = localWindow(caller.keyId, clock.now().getTime());
      return { ...window, state: 'ok', credits: undefined, charge: undefined, isPaid: false };
    }
  };
}
