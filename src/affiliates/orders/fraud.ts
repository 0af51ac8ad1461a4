import { openDisposable } from '../../kit/mail/disposable.ts';
import type { Work } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { getCreator } from '../../workflow/creators/creators.ts';
import { type FraudFlag, FraudFlags } from '../commissions/commissions.shapes.ts';
import { type CommissionRow, updateCommission } from '../commissions/commissions.ts';
import { type FraudRule, type FraudRules, getFraudRules } from '../rules/fraud-rules.ts';
import { getSalt, hashEmail } from './customers.ts';
import { loadFraudSignals, type OrderRow, type AttributedOrder } from './orders.ts';

/** Of what is before and after the `@` and of its last label, one character each is shown: `j***@e***.com`. */
export function maskEmail(email: string): string {
  const match = /^(.).*@(.).*?(\.[^.@]*)?$/su.exec(email.replaceAll('\0', '').toWellFormed().trim());
  if (!match) return '***';
  const [, local, domain, suffix = ''] = match;
  return `${local}***@${domain}***${suffix}`;
}

export interface Suspect extends AttributedOrder {
  creatorEmail: string | null;
  /** The customer's, as it was reported just now; it is not stored. */
  reportedEmail: string | null;
  /** Of the code that won. */
  leakScore: number | null;
}

const isJustBefore = (other: Suspect, { linkId, occurredAt }: Suspect, withinMs: number) =>
  other.linkId === linkId &&
  other.occurredAt <= occurredAt &&
  other.occurredAt.getTime() > occurredAt.getTime() - withinMs;

/** Fraud flags of attributed orders without commissions yet, each given the orders around it now and those before it here. */
export async function detectFlags(
  { db, now, brandId }: Work,
  secrets: Secrets,
  rules: FraudRules,
  orders: readonly Suspect[],
) {
  const { customer_orders, link_orders, minutes } = rules.velocity;
  const withinMs = minutes * MINUTE_MS;
  const around = await loadFraudSignals(db, brandId, orders, {
    withinMs,
    most: { ofCustomer: customer_orders + 1, ofLink: link_orders },
    refundsOf: rules.refund_rate.action === 'off' ? 0 : rules.refund_rate.orders,
  });
  const salt = await getSalt(db, secrets);
  const isDisposable = rules.disposable_address.action === 'off' ? () => false : await openDisposable();
  return orders.map((order, place) => {
    const { customerHash, creatorEmail, reportedEmail, leakScore } = order;
    const { ofCustomer = 0, ofLink = 0, isReturning = false, paid = 0, refunded = 0 } = around[place] ?? {};
    const before = orders.slice(0, place).filter((other) => isJustBefore(other, order, withinMs));
    const suspicion = {
      ...{ customerHash, creatorHash: creatorEmail === null ? null : hashEmail(salt, creatorEmail) },
      ...{ ordersOfCustomer: ofCustomer, ordersOfLink: 1 + ofLink + before.length },
      ...{ isReturning, paid, refunded, leakScore, at: now },
      hasDisposableAddress: reportedEmail !== null && isDisposable(reportedEmail),
    };
    return checkRules(suspicion, rules);
  });
}

/** A store may name the customer only after the attribution: flags are added then, and none is removed. */
export async function addCustomerFlags(
  work: Work,
  secrets: Secrets,
  order: OrderRow,
  commission: CommissionRow,
  reportedEmail: string | null,
): Promise<void> {
  const { linkId, creatorId, fraudFlags } = commission;
  if (linkId === null) return;
  const { rules: all } = await getFraudRules(work.db, work.brandId);
  // The customer has no part in the refunds of others.
  const rules = { ...all, refund_rate: { ...all.refund_rate, action: 'off' as const } };
  const creator = await getCreator(work.db, work.brandId, creatorId);
  const suspect = { ...order, linkId, creatorEmail: creator.email, reportedEmail, leakScore: null };
  const [found = []] = await detectFlags(work, secrets, rules, [suspect]);
  const known = FraudFlags.parse(fraudFlags);
  const added = found.filter(({ code }) => known.every((flag) => flag.code !== code));
  if (added.length === 0) return;
  await updateCommission(work.db, commission, { fraudFlags: JSON.stringify([...known, ...added]) });
}

export interface FraudCase {
  customerHash: Buffer | null;
  creatorHash: Buffer | null;
  /** Of the customer, and of the winning assignment, in the minutes up to this order, which counts too. */
  ordersOfCustomer: number;
  ordersOfLink: number;
  /** Whether its provider gives out addresses for a while. */
  hasDisposableAddress: boolean;
  isReturning: boolean;
  /** The last paid orders by the same code or link, and those of them that were refunded. */
  paid: number;
  refunded: number;
  /** Of the code that won; null when it does not look leaked, or a click won. */
  leakScore: number | null;
  at: Date;
}

/** What the rule says of the order, in sentences. */
type FraudCheck = (suspicion: FraudCase, rules: FraudRules) => string[];

const CHECKS: Readonly<Record<Exclude<FraudRule, 'forbidden_referrer'>, FraudCheck>> = {
  self_referral: ({ customerHash, creatorHash }) =>
    customerHash && creatorHash?.equals(customerHash) ? ["The customer's e-mail address is the creator's."] : [],
  velocity: ({ ordersOfCustomer, ordersOfLink }, { velocity: { customer_orders, link_orders, minutes } }) =>
    [
      { who: 'One customer', count: ordersOfCustomer, most: customer_orders },
      { who: 'One code or link', count: ordersOfLink, most: link_orders },
    ].flatMap(({ who, count, most }) =>
      count > most ? [`${who} had more than ${most} orders within ${minutes} minutes.`] : [],
    ),
  code_leak: ({ leakScore }, { code_leak: { score } }) =>
    leakScore !== null && leakScore >= score ? [`The code is probably public: its leak score is ${leakScore}.`] : [],
  disposable_address: ({ hasDisposableAddress }) =>
    hasDisposableAddress ? ["The customer's e-mail address is a disposable one."] : [],
  refund_rate: ({ paid, refunded }, { refund_rate: { percent, orders } }) =>
    paid >= orders && refunded * 100 >= percent * paid
      ? [`${refunded} of the last ${paid} paid orders by this code or link were refunded.`]
      : [],
  returning_customer: ({ isReturning }) => (isReturning ? ['The customer had bought before.'] : []),
};

/** A flag of a rule. A high one prevents automatic approval. */
export const toFlag = (code: FraudRule, rules: FraudRules, detail: string, at: Date): FraudFlag => ({
  ...{ code, detail, detected_at: at.toISOString() },
  severity: rules[code].action === 'hold' ? 'high' : 'medium',
});

const CHECKED_RULES = [
  'self_referral',
  'velocity',
  'code_leak',
  'disposable_address',
  'refund_rate',
  'returning_customer',
] as const;

/** Fraud flags of an attributed order. */
export const checkRules = (suspicion: FraudCase, rules: FraudRules): FraudFlag[] =>
  CHECKED_RULES.filter((rule) => rules[rule].action !== 'off').flatMap((rule) =>
    CHECKS[rule](suspicion, rules).map((detail) => toFlag(rule, rules, detail, suspicion.at)),
  );
