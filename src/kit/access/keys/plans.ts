export type PlanName = 'free' | 'starter' | 'growth' | 'scale' | 'design_partner' | 'enterprise';
export type SubscriptionStatus = 'active' | 'trialing' | 'past_due' | 'canceled';

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

export const PLAN_NAMES: readonly PlanName[] = ['free', 'starter', 'growth', 'scale', 'design_partner', 'enterprise'];
export const SUBSCRIPTION_STATUSES: readonly SubscriptionStatus[] = ['active', 'trialing', 'past_due', 'canceled'];

export function isActive(subscription: { status: SubscriptionStatus }): boolean {
  return subscription.status === 'active' || subscription.status === 'trialing';
}

/** True if a brand key may call the directory: an active plan that includes it, or a design partner in any status. */
export function mayUseDirectory(subscription: { plan: PlanName; status: SubscriptionStatus }): boolean {
  return subscription.plan === 'design_partner' || (PLANS[subscription.plan].directory && isActive(subscription));
}
