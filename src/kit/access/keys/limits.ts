import { z } from 'zod';
import { isInNetworks, isNetwork } from '../../engines/http/addresses.ts';
import { ApiError } from '../../values/errors.ts';
import { omitUndefined } from '../../values/patch.ts';

export const PLAN_NAMES = ['free', 'starter', 'growth', 'scale', 'design_partner', 'enterprise'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export const SUBSCRIPTION_STATUSES = ['active', 'trialing', 'past_due', 'canceled'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export interface Plan {
  monthlyCredits: number;
  rosterLimit: number;
  directory: boolean;
}

/** The contents of each plan. `design_partner` and `enterprise` are negotiated: their credits are set on the subscription. */
export const PLANS: Record<PlanName, Plan> = {
  free: { monthlyCredits: 0, rosterLimit: 25, directory: false },
  starter: { monthlyCredits: 1_000, rosterLimit: 100, directory: true },
  growth: { monthlyCredits: 10_000, rosterLimit: 1_000, directory: true },
  scale: { monthlyCredits: 100_000, rosterLimit: 10_000, directory: true },
  design_partner: { monthlyCredits: 100_000, rosterLimit: 10_000, directory: true },
  enterprise: { monthlyCredits: 1_000_000, rosterLimit: 100_000, directory: true },
};

export function isActive(subscription: { status: SubscriptionStatus }): boolean {
  return subscription.status === 'active' || subscription.status === 'trialing';
}

/** True if a brand key may call the directory: an active plan that includes it, or a design partner in any status. */
export function mayUseDirectory(subscription: { plan: PlanName; status: SubscriptionStatus }): boolean {
  return subscription.plan === 'design_partner' || (PLANS[subscription.plan].directory && isActive(subscription));
}

/** The most calls of a key in 60 seconds; a key's own limit is lower. */
export const RATE_LIMIT = 100;
const MAX_CREDITS = 1_000_000_000;
const MAX_NETWORKS = 50;
const MAX_ALERTS = 5;

const credits = z.number().int().min(0).max(MAX_CREDITS);

/** The limits of one key. Null means no limit. */
export const KeyLimits = z.object({
  monthly_credits: credits
    .nullable()
    .describe('Credits that the key may spend in a billing period; null for all that the brand has.')
    .meta({ example: 5_000 }),
  daily_credits: credits
    .nullable()
    .describe('Credits that the key may spend in a UTC day; null for no daily limit.')
    .meta({ example: 500 }),
  calls_per_minute: z
    .number()
    .int()
    .min(1)
    .max(RATE_LIMIT)
    .nullable()
    .describe('Calls that the key may make in 60 seconds; null for 100.')
    .meta({ example: 30 }),
  forced_filters: z
    .record(z.string().min(1).max(50), z.string().min(1).max(5_000))
    .nullable()
    .describe('Parameters of search that narrow everything that the key finds; null for none.')
    .meta({ example: { country: 'US' } }),
  allowed_addresses: z
    .array(z.string().max(50).refine(isNetwork, 'must be an IP address or a network such as 203.0.113.0/24'))
    .min(1)
    .max(MAX_NETWORKS)
    .nullable()
    .describe('Addresses and networks that the key may be used from; null for all.')
    .meta({ example: ['203.0.113.0/24'] }),
  alert_at: z
    .array(z.number().int().min(1).max(100))
    .min(1)
    .max(MAX_ALERTS)
    .nullable()
    .describe(
      'Percentages of each credit limit of the key, else of the budget, at which owners get an email; null for none.',
    )
    .meta({ example: [80, 100] }),
});
export type KeyLimits = z.infer<typeof KeyLimits>;

export const NO_LIMITS: KeyLimits = {
  monthly_credits: null,
  daily_credits: null,
  calls_per_minute: null,
  forced_filters: null,
  allowed_addresses: null,
  alert_at: null,
};

const Stored = KeyLimits.partial().transform((limits): KeyLimits => ({ ...NO_LIMITS, ...omitUndefined(limits) }));

/** The limits as the row has them; undefined if it has none. */
export const parseLimits = (stored: unknown): KeyLimits | undefined =>
  stored === null || stored === undefined ? undefined : Stored.parse(stored);

/** The error if the key may not be used from this address. */
export function refuseAddress(limits: KeyLimits | undefined, address: string): ApiError | undefined {
  const networks = limits?.allowed_addresses;
  if (!networks || isInNetworks(address, networks)) return undefined;
  return new ApiError('ADDRESS_NOT_ALLOWED', `This key may not be used from ${address}.`);
}
