import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { mayHaveRun } from '../../engines/redis/open.ts';
import { newId } from '../../values/ids.ts';
import type { Caller, Subscription } from '../keys/queries.ts';
import { type AccessEngines, restoreAccess } from './access.ts';
import { type Period, periodAt } from './period.ts';
import { accessKey, chargesKey, rateKey } from './stream.ts';

const METER = readFileSync(new URL('./meter.lua', import.meta.url), 'utf8');
const Reply = z.tuple([
  z.number(),
  z.number(),
  z.enum(['ok', 'absent', 'outdated', 'revoked']),
  z.number(),
  z.number(),
  z.number(),
  z.string(),
]);

export const RATE_LIMIT = 100;
/** Higher than for keys, because each page of the web app makes several calls. */
const SESSION_RATE_LIMIT = 600;
export const rateLimitOf = ({ kind }: Pick<Caller, 'kind'>) => (kind === 'session' ? SESSION_RATE_LIMIT : RATE_LIMIT);
export const RATE_WINDOW_MS = 60_000;

/** Credits debited for one call; `refundCharge` refunds them. */
export interface Charge {
  id: string;
  subscriptionId: string;
  keyId: string;
  credits: number;
  periodStartMs: number;
  requestId: string;
}

export interface Metered {
  calls: number;
  windowEndMs: number;
  /** `outdated`: the caller must be read again. `revoked`: the key was revoked. */
  state: 'ok' | 'outdated' | 'revoked';
  credits: { granted: number; remaining: number; period: Period } | undefined;
  charge: Charge | undefined;
}

const periods = new WeakMap<Subscription, Period>();

/** The subscription's current period, calculated once per period. */
function periodOf(subscription: Subscription, now: Date): Period {
  const known = periods.get(subscription);
  if (known && known.start <= now && now < known.end) return known;
  const period = periodAt(subscription.anchorAt, now);
  periods.set(subscription, period);
  return period;
}

export interface MeterCall {
  caller: Caller;
  /** Credits to debit; 0 for calls that are free or will be refused. */
  credits: number;
  /** The number that an earlier round trip counted this request as, so that it is counted once. */
  countedAs?: number | undefined;
  requestId: string;
}

/**
 * Makes one Redis round trip per call: counts it, reads the state of the key and debits. Rebuilds the balance if Redis
 * lacks it. A debit whose response was lost is refunded; a refund without a charge has no effect.
 */
export function openMeter(
  engines: AccessEngines,
  refund: (charge: Charge) => Promise<void>,
): (call: MeterCall) => Promise<Metered> {
  const run = engines.redis.script(METER);

  return async function meter(call: MeterCall): Promise<Metered> {
    const { caller, credits, requestId } = call;
    const { subscription, keyId } = caller;
    const now = engines.clock.now();
    const period = caller.kind === 'data' ? periodOf(subscription, now) : undefined;
    const charge: Charge = {
      id: credits > 0 ? newId('chg', now.getTime()) : '',
      subscriptionId: subscription.id,
      keyId,
      credits,
      periodStartMs: period?.start.getTime() ?? 0,
      requestId,
    };
    const keys = [accessKey(subscription.id), rateKey(subscription.id, keyId), chargesKey(subscription.id)];
    const facts = [
      keyId,
      call.countedAs ?? 0,
      rateLimitOf(caller),
      RATE_WINDOW_MS,
      credits,
      subscription.version,
      period ? period.start.getTime() : '',
      charge.id,
      requestId,
    ];
    const reply = await run(keys, facts).catch(async (error: unknown) => {
      if (credits > 0 && mayHaveRun(error)) await refund(charge);
      throw error;
    });
    const [calls, windowEndMs, state, granted, remaining, debited, periodStart] = Reply.parse(reply);
    if (state === 'absent') {
      await restoreAccess(engines, subscription.id);
      return await meter({ ...call, countedAs: calls });
    }
    return {
      calls,
      windowEndMs,
      state,
      credits: period ? { granted, remaining, period } : undefined,
      charge: debited > 0 ? { ...charge, periodStartMs: Number(periodStart) } : undefined,
    };
  };
}
