import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Context } from '../api/context.ts';
import type { Json } from '../api/openapi/schema.ts';
import type { Circumstances, Operation } from '../api/operation.ts';
import type { AuditEntry, Work } from '../api/work.ts';
import { foreignHosts } from '../mail/imitation.ts';
import { getPolicy, lockPolicy, type PolicyRow, sumPayouts } from '../resources/agent-policy/queries.ts';
import { getBrandCurrency } from '../resources/brands/queries.ts';
import { DAY_MS } from '../values/duration.ts';
import { ApiError } from '../values/errors.ts';
import { formatMoney, fromPpm, toMinor, toPpm } from '../values/money.ts';
import { isRecord } from '../values/wire.ts';

/** The names under which a commission's rate is set, in percent. */
const RATES = ['commission_rate', 'default_commission_rate', 'rate'];

function refused(rule: string, message: string): ApiError {
  return new ApiError('POLICY_REFUSED', `The brand's policy for agents refuses this: ${message}`, { facts: { rule } });
}

/** Every rate of a commission that the arguments set, however deep. */
function* ratesOf(value: unknown): Generator<number> {
  if (Array.isArray(value)) for (const one of value) yield* ratesOf(one);
  if (!isRecord(value)) return;
  if (value.type === 'commission' && typeof value.amount === 'number') yield value.amount;
  for (const [name, inner] of Object.entries(value)) {
    if (RATES.includes(name) && typeof inner === 'number') yield inner;
    else yield* ratesOf(inner);
  }
}

function assertTool({ allowedTools }: PolicyRow, { id }: Operation): void {
  if (allowedTools === null || allowedTools.includes(id)) return;
  throw refused('allowed_tools', `agents may not call ${id}.`);
}

function assertRate({ highestRatePpm }: PolicyRow, rates: Iterable<number>): void {
  if (highestRatePpm === null) return;
  const most = fromPpm(highestRatePpm);
  const tooHigh = [...rates].find((rate) => (toPpm(rate) ?? Number.POSITIVE_INFINITY) > highestRatePpm);
  if (tooHigh !== undefined) throw refused('highest_rate', `${tooHigh} % is above the highest rate, ${most} %.`);
}

const Rated = z.object({ compensationRatePpm: z.number().nullable() }).catch({ compensationRatePpm: null });

/** What a change made of a compensation's rate: an amount alone is one where the record says that it is a commission. */
function* ratesMadeBy(entries: readonly AuditEntry[]): Generator<number> {
  for (const entry of entries) {
    const [before, { compensationRatePpm: now }] = [Rated.parse(entry.old), Rated.parse(entry.new)];
    if (now !== null && now !== before.compensationRatePpm) yield fromPpm(now);
  }
}

const Paid = z.object({ amount: z.number(), currency: z.string(), created_at: z.string() });
const Answered = z.object({
  data: z.union([z.object({ payouts: z.array(Paid) }), Paid.transform((one) => ({ payouts: [one] }))]),
});

/**
 * What is paid may be: within the sum of a day, and below what a person must decide. The answer says what the payouts come
 * to, also where the arguments do not. One that was recorded before is weighed alone when it is settled: its commissions
 * are paid by that, while its day has counted it.
 */
async function assertSums(policy: PolicyRow, work: Work, answer: Buffer): Promise<void> {
  const { db, brandId, now } = work;
  const { payoutsPerDayMinor, personAboveMinor } = policy;
  const { payouts } = Answered.parse(JSON.parse(answer.toString())).data;
  const made = payouts.filter(({ created_at: at }) => at === now.toISOString());
  const weighed = personAboveMinor === null ? made : payouts;
  if (weighed.length === 0 || (payoutsPerDayMinor === null && personAboveMinor === null)) return;
  const currency = await getBrandCurrency(db, brandId);
  if (weighed.some((payout) => payout.currency !== currency)) {
    throw refused('currency', `sums are weighed in ${currency} alone; plan it for a person (mode "plan").`);
  }
  const minorOf = ({ amount }: { amount: number }) => toMinor(amount, currency) ?? Number.POSITIVE_INFINITY;
  if (personAboveMinor !== null && weighed.some((payout) => minorOf(payout) > personAboveMinor)) {
    const limit = formatMoney(personAboveMinor, currency);
    throw refused('person_above', `a payout above ${limit} needs a person; plan it (mode "plan").`);
  }
  if (made.length === 0) return;
  if (payoutsPerDayMinor === null) return;
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const paid = await sumPayouts(db, brandId, currency, today);
  if (paid <= payoutsPerDayMinor) return;
  const before = paid - made.reduce((sum, payout) => sum + minorOf(payout), 0);
  const [limit, already] = [payoutsPerDayMinor, before].map((minor) => formatMoney(minor, currency));
  throw refused('payouts_per_day', `at most ${limit} a day, of which ${already} are paid; plan it (mode "plan").`);
}

/** For reads a policy is believed this long, as a key is; changes read it anew, and again within their transaction. */
const BELIEVED_MS = 900;
const MAX_BELIEVED = 10_000;
const believed = new LRUCache<string, PolicyRow>({ max: MAX_BELIEVED, ttl: BELIEVED_MS });

async function policyFor({ postgres }: Context, brandId: string, isRead: boolean): Promise<PolicyRow> {
  const known = isRead ? believed.get(brandId) : undefined;
  if (known) return known;
  const policy = await getPolicy(postgres.db, brandId);
  believed.set(brandId, policy);
  return policy;
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const one of value) yield* textsOf(one);
  else if (isRecord(value)) yield* textsOf(Object.values(value));
}

/** Whether the call sends data to an address that it names itself. What a creator wrote may have led the agent to it. */
function sendsOut({ hints: { dataOut = [] } }: Operation, args: Json): boolean {
  if (dataOut === true) return true;
  if (dataOut === 'links') return foreignHosts([...textsOf(args)].join('\n'), []).length > 0;
  return dataOut.some((field) => args[field] !== undefined);
}

function assertDataStays(policy: PolicyRow, operation: Operation, args: Json): void {
  if (policy.dataOut || args.mode === 'plan' || !sendsOut(operation, args)) return;
  throw refused('data_out', 'it sends data to an address outside, which needs a person; plan it (mode "plan").');
}

/** Before the transaction, so that nothing outside is asked for what may not be done. */
export async function assertMayCall(
  context: Context,
  brandId: string,
  operation: Operation,
  args: Json,
): Promise<void> {
  const policy = await policyFor(context, brandId, operation.hints.readOnly);
  assertTool(policy, operation);
  assertDataStays(policy, operation, args);
  if (operation.hints.moneyOut && !policy.moneyOut) {
    throw refused('money_out', 'agents may not pay anybody; a person allows it with PATCH /v1/agent-policy.');
  }
}

/**
 * Runs a change within its own transaction on the locked policy, so that of two payouts at once each sees the other; what
 * it has paid is weighed before it is committed. A plan pays nothing: a person decides on it.
 */
export function guardOf(operation: Operation, args: Json): NonNullable<Circumstances['guard']> {
  const isPlan = args.mode === 'plan';
  return async (work, change) => {
    const policy = await lockPolicy(work.db, work.brandId);
    assertTool(policy, operation);
    assertDataStays(policy, operation, args);
    assertRate(policy, ratesOf(args));
    const paysOut = operation.hints.moneyOut === true;
    if (paysOut && !policy.moneyOut) throw refused('money_out', 'agents may not pay anybody.');
    const entries: AuditEntry[] = [];
    const audit = (entry: AuditEntry) => {
      entries.push(entry);
      work.audit(entry);
    };
    const answer = await change({ ...work, audit });
    assertRate(policy, ratesMadeBy(entries));
    if (paysOut && !isPlan) await assertSums(policy, work, answer);
    return answer;
  };
}
