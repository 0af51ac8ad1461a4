import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { mayHaveRun } from '../../engines/redis/open.ts';
import { DAY_MS } from '../../values/duration.ts';
import { newId } from '../../values/ids.ts';
import type { Caller, Subscription } from '../keys/callers.ts';
import { RATE_LIMIT } from '../keys/limits.ts';
import { type AccessEngines, restoreAccess } from './access.ts';
import { findKnownEntries } from './entries.ts';
import type { Mark } from './marks.ts';
import { type Period, periodAt } from './period.ts';
import { accessKey, blocksKey, chargesKey, markKey, rateKey, readCharges } from './stream.ts';

/** A part of a walk that is paid on its own, counted from 1 over all requests that continue the walk. */
export interface Block {
  walkId: string;
  number: number;
}

/** Redis remembers this long how far a walk is paid. After that the ledger is read. */
const BLOCKS_KEPT_MS = 24 * 60 * 60_000;
/** Blocks that are looked for in one statement. */
const AT_ONCE = 500;

const blockCharge = ({ walkId, number }: Block): string => `${walkId}#${number}`;

/** Counts again how far a walk is paid, by the charges that are not settled and the ledger. Blocks are paid in order. */
async function restoreBlocks({ db, redis }: AccessEngines, subscriptionId: string, block: Block): Promise<void> {
  // Read before the ledger: an entry that is drained in between is then found in both.
  const pending = new Set((await readCharges(redis, subscriptionId)).map(({ entry }) => entry.chargeId));
  let paidBlocks = block.number - 1;
  for (let isPaid = true; isPaid; ) {
    const ids = Array.from({ length: AT_ONCE }, (_, i) => blockCharge({ ...block, number: paidBlocks + 1 + i }));
    const entries = await findKnownEntries(db, ids);
    const unpaid = ids.findIndex((id) => !entries.has(`charge:${id}`) && !pending.has(id));
    isPaid = unpaid < 0;
    paidBlocks += isPaid ? ids.length : unpaid;
  }
  const key = blocksKey(subscriptionId, block.walkId);
  await redis.use((client) => client.set(key, paidBlocks, 'PX', BLOCKS_KEPT_MS, 'NX'));
}

export const METER = readFileSync(new URL('./meter.lua', import.meta.url), 'utf8');
const Reply = z.tuple([
  z.number(),
  z.number(),
  z.enum(['ok', 'absent', 'outdated', 'revoked', 'unknown']),
  z.number(),
  z.number(),
  z.number(),
  z.string(),
  z.enum(['', 'key_day', 'key_month']),
  z.number(),
  z.number(),
  z.number(),
  z.string(),
]);

/** Higher than for keys, because each page of the web app makes several calls. */
const SESSION_RATE_LIMIT = 600;
export const getRateLimit = ({ kind, limits }: Pick<Caller, 'kind' | 'limits'>): number =>
  kind === 'session' ? SESSION_RATE_LIMIT : (limits?.calls_per_minute ?? RATE_LIMIT);
export const RATE_WINDOW_MS = 60_000;

/** Credits debited for one call; `refundCharge` refunds them. */
export interface Charge {
  id: string;
  subscriptionId: string;
  keyId: string;
  credits: number;
  periodStartMs: number;
  requestId: string;
  /** The UTC day by Redis's clock, as days since 1970; undefined if the debit's answer was lost. */
  day?: number | undefined;
  /** The marks that go with the charge. */
  markIds?: readonly string[] | undefined;
}

export interface MeterResult {
  calls: number;
  windowEndMs: number;
  /** `outdated`: the caller must be read again. `revoked`: the key was revoked. */
  state: 'ok' | 'outdated' | 'revoked';
  credits: { granted: number; remaining: number; period: Period } | undefined;
  charge: Charge | undefined;
  /** True if the block of a walk, or the same call under the same id, was paid before. */
  isPaid: boolean;
  /** True if the id was used for another call. */
  isReused?: boolean;
  /** The version that the paid call read. */
  paidVersion?: string | undefined;
  /** The limit of the key that refused the debit, and what is left of it. */
  refusedBy?: { limit: 'key_day' | 'key_month'; left: number; endsAt: Date } | undefined;
}

const periods = new WeakMap<Subscription, Period>();

/** The subscription's current period, calculated once per period. */
function readPeriod(subscription: Subscription, now: Date): Period {
  const cached = periods.get(subscription);
  if (cached && cached.start <= now && now < cached.end) return cached;
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
  /** The block of a walk that the credits pay, once. */
  block?: Block | undefined;
  /** The call's own ids, under each of which it is paid once. */
  mark?: Mark | undefined;
}

/**
 * Makes one Redis round trip per call: counts it, reads the state of the key and debits. Rebuilds the balance if Redis
 * lacks it. A debit whose response was lost is refunded; a refund without a charge has no effect.
 */
export function openMeter(
  engines: AccessEngines,
  refund: (charge: Charge) => Promise<void>,
): (call: MeterCall) => Promise<MeterResult> {
  const runScript = engines.redis.script(METER);

  return async function meter(call: MeterCall): Promise<MeterResult> {
    const { caller, credits, requestId, block, mark } = call;
    const { subscription, keyId } = caller;
    const now = engines.clock.now();
    const period = caller.kind === 'data' ? readPeriod(subscription, now) : undefined;
    const charge: Charge = {
      id: block ? blockCharge(block) : credits > 0 ? newId('chg', now.getTime()) : '',
      subscriptionId: subscription.id,
      keyId,
      credits,
      periodStartMs: period?.start.getTime() ?? 0,
      requestId,
      markIds: mark?.ids.map(({ id }) => id),
    };
    const keys = [accessKey(subscription.id), rateKey(subscription.id, keyId), chargesKey(subscription.id)];
    if (block) keys.push(blocksKey(subscription.id, block.walkId));
    if (mark) keys.push(...mark.ids.map(({ id }) => markKey(subscription.id, id)));
    const facts = [
      keyId,
      call.countedAs ?? 0,
      getRateLimit(caller),
      RATE_WINDOW_MS,
      credits,
      subscription.version,
      period ? period.start.getTime() : '',
      charge.id,
      requestId,
      caller.limits?.daily_credits ?? '',
      caller.limits?.monthly_credits ?? '',
      ...(block ? [block.number, BLOCKS_KEPT_MS] : []),
      ...(mark ? ['mark', mark.digest, mark.version, ...mark.ids.map(({ keptMs }) => keptMs)] : []),
    ];
    const reply = await runScript(keys, facts).catch(async (error: unknown) => {
      // A block that may be paid is not charged again when the walk continues.
      if (credits > 0 && !block && mayHaveRun(error)) await refund(charge);
      throw error;
    });
    const [
      calls,
      windowEndMs,
      state,
      granted,
      remaining,
      debited,
      periodStart,
      limit,
      leftCredits,
      day,
      paidState,
      version,
    ] = Reply.parse(reply);
    if (state === 'absent') {
      await restoreAccess(engines, subscription.id);
      return await meter({ ...call, countedAs: calls });
    }
    if (state === 'unknown') {
      if (block) await restoreBlocks(engines, subscription.id, block);
      return await meter({ ...call, countedAs: calls });
    }
    return {
      calls,
      windowEndMs,
      state,
      credits: period ? { granted, remaining, period } : undefined,
      charge: debited > 0 ? { ...charge, periodStartMs: Number(periodStart), day } : undefined,
      refusedBy:
        limit === '' || !period
          ? undefined
          : { limit, left: leftCredits, endsAt: limit === 'key_day' ? new Date((day + 1) * DAY_MS) : period.end },
      isPaid: paidState === 1,
      isReused: paidState === 2,
      paidVersion: version === '' ? undefined : version,
    };
  };
}
