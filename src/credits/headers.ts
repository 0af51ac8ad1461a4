import type { Caller } from '../auth/queries.ts';
import { ApiError } from '../errors.ts';
import type { Headers } from '../rate/headers.ts';
import { monthlyCredits } from './access.ts';
import type { Metered } from './meter.ts';
import { periodAt } from './period.ts';

/** `X-Credits-*` of a data key's answer, with `charged` credits kept. Without Redis the balance is not known. */
export function creditHeaders(caller: Caller, metered: Metered, charged: number, now: Date): Headers {
  if (caller.kind !== 'data') return {};
  const { credits, charge } = metered;
  const { end } = credits?.period ?? periodAt(caller.subscription.anchorAt, now);
  return {
    'x-credits-limit': String(credits?.granted ?? monthlyCredits(caller.subscription)),
    ...(credits ? { 'x-credits-remaining': String(credits.remaining + (charge?.credits ?? 0) - charged) } : {}),
    'x-credits-reset': String(Math.ceil(end.getTime() / 1000)),
    'x-credits-charged': String(charged),
  };
}

export function creditsExhausted(price: number, metered: Metered): ApiError {
  const message = `This call costs ${price} credits; the budget of this period is used up.`;
  return new ApiError('CREDITS_EXHAUSTED', message, {
    facts: {
      credits_remaining: metered.credits?.remaining ?? 0,
      credits_required: price,
      resets_at: metered.credits?.period.end.toISOString(),
    },
  });
}
