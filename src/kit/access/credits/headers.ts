import { ApiError } from '../../values/errors.ts';
import type { Caller } from '../keys/queries.ts';
import type { Headers } from '../rate/headers.ts';
import { monthlyCredits } from './access.ts';
import type { Metered } from './meter.ts';
import { periodAt } from './period.ts';

/**
 * The `X-Credits-*` headers of a data key's response. `charged` credits are kept. Without Redis the balance is
 * unknown and no credits can be spent, so the remaining credits are 0, as with the rate limit.
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
  const { refusedBy } = metered;
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
      credits_remaining: metered.credits?.remaining ?? 0,
      credits_required: price,
      resets_at: metered.credits?.period.end.toISOString(),
    },
  });
}
