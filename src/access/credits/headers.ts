import { ApiError } from '../../values/errors.ts';
import type { Caller } from '../keys/queries.ts';
import type { Headers } from '../rate/headers.ts';
import { monthlyCredits } from './access.ts';
import type { Metered } from './meter.ts';
import { periodAt } from './period.ts';

/**
 * `X-Credits-*` of a data key's answer, with `charged` credits kept. Without Redis the balance cannot be read: nothing can
 * be spent meanwhile, so nothing is said to remain, as with a rate that cannot be counted.
 */
export function creditHeaders(
  caller: Caller,
  { credits, charge }: Pick<Metered, 'credits' | 'charge'>,
  charged: number,
  now: Date,
): Headers {
  if (caller.kind !== 'data') return {};
  const { end } = credits?.period ?? periodAt(caller.subscription.anchorAt, now);
  return {
    'x-credits-limit': String(credits?.granted ?? monthlyCredits(caller.subscription)),
    'x-credits-remaining': String(credits ? credits.remaining + (charge?.credits ?? 0) - charged : 0),
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
