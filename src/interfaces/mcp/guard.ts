import { LRUCache } from 'lru-cache';
import { foreignHosts } from '../../kit/mail/imitation.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { SchemaNode } from '../../kit/operation/json-schema.ts';
import type { Circumstances, Operation } from '../../kit/operation/operation.ts';
import type { AuditEntry, WeighedFields, Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { fromPpm } from '../../kit/values/money.ts';
import { isRecord } from '../../kit/values/wire.ts';
import { getPolicy, lockPolicy, type PolicyRow, sumPayouts } from '../../platform/agents/agent-policy.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';

function refused(rule: string, message: string): ApiError {
  return new ApiError('POLICY_REFUSED', `The brand's policy for agents refuses this: ${message}`, { facts: { rule } });
}

function assertTool({ allowedTools }: PolicyRow, { id }: Operation): void {
  if (allowedTools === null || allowedTools.includes(id)) return;
  throw refused('allowed_tools', `agents may not call ${id}.`);
}

const getColumn = (row: object | null, name: string): unknown => (isRecord(row) ? row[name] : undefined);

/** The numbers that the change set in a column, if they differ from before. */
function numbersSet(entries: readonly AuditEntry[], name: string): number[] {
  return entries.flatMap(({ old, new: row }) => {
    const now = getColumn(row, name);
    return typeof now === 'number' && now !== getColumn(old, name) ? [now] : [];
  });
}

function assertRates({ highestRatePpm }: PolicyRow, { rate }: WeighedFields, entries: readonly AuditEntry[]): void {
  if (highestRatePpm === null || rate === undefined) return;
  const tooHigh = numbersSet(entries, rate).find((ppm) => ppm > highestRatePpm);
  if (tooHigh === undefined) return;
  const [percent, most] = [fromPpm(tooHigh), fromPpm(highestRatePpm)];
  throw refused('highest_rate', `${percent}% is above the highest rate, ${most}%.`);
}

interface Money {
  minor: number;
  currency: string;
  isMade: boolean;
}

/** Payments must be allowed, whether they are planned or not. */
function assertPays({ moneyOut }: PolicyRow, { pays }: WeighedFields, entries: readonly AuditEntry[]): void {
  if (moneyOut || pays === undefined) return;
  if (!entries.some(({ new: row }) => getColumn(row, pays.column) === pays.value)) return;
  throw refused('money_out', 'agents may not pay anybody, nor plan it.');
}

/** The money in every row that the change created or changed. */
function moneyIn(entries: readonly AuditEntry[], columns: WeighedFields['paid']): Money[] {
  if (columns === undefined) return [];
  return entries.flatMap(({ old, new: row }) => {
    const [minor, currency] = [getColumn(row, columns.minor), getColumn(row, columns.currency)];
    return typeof minor === 'number' && typeof currency === 'string' ? [{ minor, currency, isMade: old === null }] : [];
  });
}

/** Promised money that the change itself set. Agents may change other fields of such rows. */
function promisesIn(entries: readonly AuditEntry[], columns: WeighedFields['promised']): Money[] {
  if (columns === undefined) return [];
  const { minor, currency } = columns;
  const isSet = ({ old, new: row }: AuditEntry) =>
    [minor, currency].some((name) => getColumn(row, name) !== getColumn(old, name));
  return moneyIn(entries.filter(isSet), columns);
}

/** Limits are in the brand's currency, so an agent may not change it. */
function assertCounted(policy: PolicyRow, { counted }: WeighedFields, entries: readonly AuditEntry[]): void {
  if (counted === undefined || (policy.payoutsPerDayMinor === null && policy.personAboveMinor === null)) return;
  if (entries.every(({ old, new: row }) => getColumn(old, counted) === getColumn(row, counted))) return;
  throw refused('currency', 'its limits are in the current currency; plan it for a person (mode "plan").');
}

/**
 * Checks sums: payments must stay within the daily limit, and payments and promises below the amount that needs a
 * person. When a recorded payout is settled, only the payout itself is checked: it already counted towards its day, and
 * its commissions are paid by it.
 */
async function assertSums(
  policy: PolicyRow,
  work: Work,
  { paid, promised }: { paid: Money[]; promised: Money[] },
): Promise<void> {
  const { db, brandId, now } = work;
  const { payoutsPerDayMinor, personAboveMinor } = policy;
  const payouts = paid.filter(({ isMade }) => isMade);
  const weighedPayments =
    personAboveMinor === null ? (payoutsPerDayMinor === null ? [] : payouts) : [...paid, ...promised];
  if (weighedPayments.length === 0) return;
  const currency = await getBrandCurrency(db, brandId);
  if (weighedPayments.some((money) => money.currency !== currency)) {
    throw refused('currency', `limits are in ${currency} only; plan it for a person (mode "plan").`);
  }
  if (personAboveMinor !== null && weighedPayments.some(({ minor }) => minor > personAboveMinor)) {
    const limit = formatMoney(personAboveMinor, currency);
    throw refused('person_above', `amounts above ${limit} need a person; plan it (mode "plan").`);
  }
  if (payouts.length === 0 || payoutsPerDayMinor === null) return;
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const sum = await sumPayouts(db, brandId, currency, today);
  if (sum <= payoutsPerDayMinor) return;
  const before = sum - payouts.reduce((total, { minor }) => total + minor, 0);
  const [limit, already] = [payoutsPerDayMinor, before].map((minor) => formatMoney(minor, currency));
  throw refused('payouts_per_day', `at most ${limit} a day, of which ${already} are paid; plan it (mode "plan").`);
}

/** Reads trust a cached policy for this long, as they do a key. Changes read it again, also within their transaction. */
const BELIEVED_MS = 900;
const MAX_BELIEVED = 10_000;
const policies = new LRUCache<string, PolicyRow>({ max: MAX_BELIEVED, ttl: BELIEVED_MS });

async function policyFor({ postgres }: Context, brandId: string, isRead: boolean): Promise<PolicyRow> {
  const cachedPolicy = isRead ? policies.get(brandId) : undefined;
  if (cachedPolicy) return cachedPolicy;
  const policy = await getPolicy(postgres.db, brandId);
  policies.set(brandId, policy);
  return policy;
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const one of value) yield* textsOf(one);
  else if (isRecord(value)) yield* textsOf(Object.values(value));
}

/** True if the call sends data to an address that it names. A creator's text may have tricked the agent into it. */
function sendsOut({ hints: { dataOut = [] } }: Operation, args: SchemaNode): boolean {
  if (dataOut === true) return true;
  if (dataOut === 'links') return foreignHosts([...textsOf(args)].join('\n'), []).length > 0;
  return dataOut.some((field) => args[field] !== undefined);
}

function assertDataStays(policy: PolicyRow, operation: Operation, args: SchemaNode): void {
  if (policy.dataOut || args.mode === 'plan' || !sendsOut(operation, args)) return;
  throw refused('data_out', 'it sends data to an address outside, which needs a person; plan it (mode "plan").');
}

/** A rule of money that an agent may propose and only a person may set. */
function assertPlanned({ hints: { planned = [] } }: Operation, args: SchemaNode): void {
  const isRule = planned === true || planned.some((field) => args[field] !== undefined);
  if (!isRule || args.mode === 'plan') return;
  throw refused('planned', 'it decides what creators are paid, which needs a person; plan it (mode "plan").');
}

/** Runs before the transaction, so that forbidden calls make no outside requests. */
export async function assertMayCall(
  context: Context,
  brandId: string,
  operation: Operation,
  args: SchemaNode,
): Promise<void> {
  const policy = await policyFor(context, brandId, operation.hints.readOnly);
  assertTool(policy, operation);
  assertDataStays(policy, operation, args);
  assertPlanned(operation, args);
  if (operation.hints.moneyOut && !policy.moneyOut) {
    throw refused('money_out', 'agents may not pay anybody, nor plan it; a person can allow it (money_out).');
  }
}

/**
 * Runs a change in its transaction with the policy locked, so that concurrent payouts see each other. Checks the
 * changed rows by the operation's declaration before the commit. A plan is exempt, because a person decides on it.
 */
export function createGuard(operation: Operation, args: SchemaNode): NonNullable<Circumstances['guard']> {
  const isPlan = args.mode === 'plan';
  const { weighs, hints } = operation;
  return async (work, change) => {
    const policy = await lockPolicy(work.db, work.brandId);
    assertTool(policy, operation);
    assertDataStays(policy, operation, args);
    assertPlanned(operation, args);
    if (hints.moneyOut && !policy.moneyOut) throw refused('money_out', 'agents may not pay anybody, nor plan it.');
    const entries: AuditEntry[] = [];
    const audit = (entry: AuditEntry) => {
      entries.push(entry);
      work.audit(entry);
    };
    const answer = await change({ ...work, audit });
    assertRates(policy, weighs, entries);
    assertPays(policy, weighs, entries);
    if (isPlan) return answer;
    assertCounted(policy, weighs, entries);
    await assertSums(policy, work, {
      paid: moneyIn(entries, weighs.paid),
      promised: promisesIn(entries, weighs.promised),
    });
    return answer;
  };
}
