import { patched } from '../../../kit/values/patch.ts';
import { type FraudRules, type FraudRulesPatch, StoredRules } from './schema.ts';

/** A customer who corrects an order may place two or three in a row; a fourth within ten minutes is unusual. */
const MAX_ORDERS_OF_CUSTOMER = 3;
/** A creator who posts a code gets a burst: three orders a minute for ten minutes is still one. */
const MAX_ORDERS_OF_LINK = 30;

export const DEFAULT_FRAUD_RULES: FraudRules = {
  self_referral: { action: 'hold' },
  velocity: {
    action: 'flag',
    customer_orders: MAX_ORDERS_OF_CUSTOMER,
    link_orders: MAX_ORDERS_OF_LINK,
    minutes: 10,
  },
  code_leak: { action: 'off', score: 50 },
  disposable_address: { action: 'off' },
  refund_rate: { action: 'off', percent: 40, orders: 20 },
  returning_customer: { action: 'off' },
  forbidden_referrer: { action: 'off', hosts: [] },
};

/** The brand's rules from its row's column; null when it never changed them. */
export const fraudRulesOf = (stored: unknown): FraudRules =>
  stored === null || stored === undefined
    ? DEFAULT_FRAUD_RULES
    : StoredRules.parse({ ...DEFAULT_FRAUD_RULES, ...StoredRules.partial().parse(stored) });

/** The rules with only what the patch names changed. */
export const patchedRules = (rules: FraudRules, patch: FraudRulesPatch): FraudRules => ({
  self_referral: patched(rules.self_referral, patch.self_referral ?? {}),
  velocity: patched(rules.velocity, patch.velocity ?? {}),
  code_leak: patched(rules.code_leak, patch.code_leak ?? {}),
  disposable_address: patched(rules.disposable_address, patch.disposable_address ?? {}),
  refund_rate: patched(rules.refund_rate, patch.refund_rate ?? {}),
  returning_customer: patched(rules.returning_customer, patch.returning_customer ?? {}),
  forbidden_referrer: patched(rules.forbidden_referrer, patch.forbidden_referrer ?? {}),
});

/** Whether a host is one of these, or a subdomain of one. */
export const isOfHosts = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((one) => host === one || host.endsWith(`.${one}`));
