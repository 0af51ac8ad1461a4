import type { FraudFlag } from '../../commissions/schema.ts';
import type { FraudRule, FraudRules } from '../../rules/fraud/schema.ts';

export interface Suspicion {
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
type Finding = (suspicion: Suspicion, rules: FraudRules) => string[];

const FINDINGS: Readonly<Record<Exclude<FraudRule, 'forbidden_referrer'>, Finding>> = {
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
export const flagOf = (code: FraudRule, rules: FraudRules, detail: string, at: Date): FraudFlag => ({
  ...{ code, detail, detected_at: at.toISOString() },
  severity: rules[code].action === 'hold' ? 'high' : 'medium',
});

const CHECKED = [
  'self_referral',
  'velocity',
  'code_leak',
  'disposable_address',
  'refund_rate',
  'returning_customer',
] as const;

/** Fraud flags of an attributed order. */
export const flagsOf = (suspicion: Suspicion, rules: FraudRules): FraudFlag[] =>
  CHECKED.filter((rule) => rules[rule].action !== 'off').flatMap((rule) =>
    FINDINGS[rule](suspicion, rules).map((detail) => flagOf(rule, rules, detail, suspicion.at)),
  );
