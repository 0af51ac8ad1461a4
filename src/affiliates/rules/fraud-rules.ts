import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updatedAt } from '../../kit/values/fields.ts';
import { applyPatch } from '../../kit/values/patch.ts';

export const FRAUD_RULES = [
  'self_referral',
  'velocity',
  'code_leak',
  'disposable_address',
  'refund_rate',
  'returning_customer',
  'forbidden_referrer',
] as const;
export type FraudRule = (typeof FRAUD_RULES)[number];

const action = z
  .enum(['off', 'flag', 'hold'])
  .describe(
    'What the rule does to the commission of a suspicious order. `flag`: adds a fraud flag. `hold`: also excludes the commission from automatic approval.',
  )
  .meta({ example: 'hold' });
const whole = (least: number, most: number) => z.number().int().min(least).max(most);

const self_referral = z.object({ action });
const velocity = z.object({
  action,
  customer_orders: whole(1, 100)
    .describe('Orders of one customer within `minutes` that are not suspicious yet.')
    .meta({ example: 3 }),
  link_orders: whole(1, 1_000)
    .describe('Orders by one code or link within `minutes` that are not suspicious yet.')
    .meta({ example: 30 }),
  minutes: whole(1, 1_440)
    .describe('Length of the time in which orders are counted, in minutes.')
    .meta({ example: 10 }),
});
const code_leak = z.object({
  action,
  score: whole(1, 100)
    .describe('Score in `/v1/affiliates/leaks` from which a code counts as leaked. It is computed every six hours.')
    .meta({ example: 50 }),
});
const disposable_address = z.object({ action });
const refund_rate = z.object({
  action,
  percent: whole(1, 100)
    .describe('Share of the last paid orders by the code or link that must be refunded to be suspicious, in percent.')
    .meta({ example: 40 }),
  orders: whole(10, 200)
    .describe('Number of the last paid orders that count; with fewer paid orders, nothing is suspicious.')
    .meta({ example: 20 }),
});
const returning_customer = z.object({ action });
const forbidden_referrer = z.object({
  action,
  hosts: z
    .array(
      z
        .string()
        .trim()
        .toLowerCase()
        .max(253)
        .regex(/^(?:[a-z0-9_-]+\.)+[a-z0-9-]+$/, 'must be a host such as coupons.example'),
    )
    .max(200)
    .describe('Hosts of pages whose clicks are suspicious, with their subdomains.')
    .meta({ example: ['coupons.example'] }),
});

const rules = {
  self_referral: self_referral.describe("The customer's email address is the creator's."),
  velocity: velocity.describe('Many orders of one customer, or by one code or link, within minutes.'),
  code_leak: code_leak.describe('The code that earned the order is probably public.'),
  disposable_address: disposable_address.describe(
    "The customer's email address is from a known provider of disposable addresses.",
  ),
  refund_rate: refund_rate.describe('Many of the last orders by the code or link were refunded.'),
  returning_customer: returning_customer.describe('The customer had bought before.'),
  forbidden_referrer: forbidden_referrer.describe('The click that earned the order came from one of these hosts.'),
};

const StoredRules = z.object(rules);
export type FraudRules = z.output<typeof StoredRules>;

export const FraudRulesShown = z.object({ ...rules, updated_at: updatedAt }).meta({ id: 'FraudRules' });

export const FraudRulesPatch = z
  .object({
    self_referral: self_referral.partial().optional().describe('Changes `self_referral`.'),
    velocity: velocity.partial().optional().describe('Changes `velocity`.'),
    code_leak: code_leak.partial().optional().describe('Changes `code_leak`.'),
    disposable_address: disposable_address.partial().optional().describe('Changes `disposable_address`.'),
    refund_rate: refund_rate.partial().optional().describe('Changes `refund_rate`.'),
    returning_customer: returning_customer.partial().optional().describe('Changes `returning_customer`.'),
    forbidden_referrer: forbidden_referrer.partial().optional().describe('Changes `forbidden_referrer`.'),
  })
  .meta({ id: 'FraudRulesPatch', example: { refund_rate: { action: 'hold', percent: 40 } } });
export type FraudRulesPatch = z.output<typeof FraudRulesPatch>;

/** A customer who corrects an order may place two or three in a row; a fourth within ten minutes is suspicious. */
const MAX_ORDERS_OF_CUSTOMER = 3;
/** A creator's post causes a burst of orders; three a minute for ten minutes is still normal. */
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

/** Parses the stored rules; null or undefined if the brand never changed them. */
export const parseFraudRules = (storedRules: unknown): FraudRules =>
  storedRules === null || storedRules === undefined
    ? DEFAULT_FRAUD_RULES
    : StoredRules.parse({ ...DEFAULT_FRAUD_RULES, ...StoredRules.partial().parse(storedRules) });

export const patchedRules = (rules: FraudRules, patch: FraudRulesPatch): FraudRules => ({
  self_referral: applyPatch(rules.self_referral, patch.self_referral ?? {}),
  velocity: applyPatch(rules.velocity, patch.velocity ?? {}),
  code_leak: applyPatch(rules.code_leak, patch.code_leak ?? {}),
  disposable_address: applyPatch(rules.disposable_address, patch.disposable_address ?? {}),
  refund_rate: applyPatch(rules.refund_rate, patch.refund_rate ?? {}),
  returning_customer: applyPatch(rules.returning_customer, patch.returning_customer ?? {}),
  forbidden_referrer: applyPatch(rules.forbidden_referrer, patch.forbidden_referrer ?? {}),
});

/** Matches the hosts and their subdomains. */
export const matchesHost = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((one) => host === one || host.endsWith(`.${one}`));

export async function getFraudRules(db: Db, brandId: string): Promise<{ rules: FraudRules; updatedAt: Date | null }> {
  const row = await db.selectFrom('fraudRules').selectAll().where('brandId', '=', brandId).executeTakeFirst();
  return { rules: parseFraudRules(row?.rules), updatedAt: row?.updatedAt ?? null };
}

/** Resets `searchedAt`, so that the brand's codes are searched for leaks under the new rules. */
export async function replaceFraudRules(db: Db, brandId: string, rules: FraudRules, now: Date): Promise<void> {
  const change = { rules: JSON.stringify(rules), searchedAt: null, updatedAt: now };
  await db
    .insertInto('fraudRules')
    .values({ brandId, ...change })
    .onConflict((conflict) => conflict.column('brandId').doUpdateSet(change))
    .execute();
}
