import type { Db } from '../../engines/postgres/open.ts';
import type { KeyKind, PlanName, SubscriptionStatus } from '../../engines/postgres/tables.ts';

export async function insertBrand(db: Db, brand: { id: string; name: string; createdAt: Date }): Promise<void> {
  await db
    .insertInto('brands')
    .values({ ...brand, updatedAt: null })
    .execute();
}

export interface NewSubscription {
  id: string;
  brandId: string;
  kind: KeyKind;
  plan: PlanName;
  status: SubscriptionStatus;
  anchorAt: Date;
  createdAt: Date;
}

export async function insertSubscription(db: Db, subscription: NewSubscription): Promise<void> {
  await db
    .insertInto('subscriptions')
    .values({ ...subscription, monthlyCredits: null, updatedAt: null })
    .execute();
}

/** By id or, in any case, by name. */
export async function findBrand(db: Db, idOrName: string) {
  return await db
    .selectFrom('brands')
    .select(['id', 'name'])
    .where((eb) => eb.or([eb('id', '=', idOrName), eb(eb.fn<string>('lower', ['name']), '=', idOrName.toLowerCase())]))
    .executeTakeFirst();
}

export async function listSubscriptions(db: Db, brandId: string) {
  return await db
    .selectFrom('subscriptions')
    .select(['id', 'kind', 'plan', 'status', 'monthlyCredits', 'anchorAt'])
    .where('brandId', '=', brandId)
    .orderBy('kind')
    .execute();
}

export interface PlanChange {
  plan: PlanName;
  status: SubscriptionStatus | undefined;
  /** Credits a month instead of the plan's own; undefined: the plan's own. */
  monthlyCredits: number | undefined;
  at: Date;
}

export async function updatePlan(db: Db, subscriptionId: string, change: PlanChange): Promise<void> {
  await db
    .updateTable('subscriptions')
    .set({
      plan: change.plan,
      monthlyCredits: change.monthlyCredits ?? null,
      updatedAt: change.at,
      ...(change.status === undefined ? {} : { status: change.status }),
    })
    .where('id', '=', subscriptionId)
    .execute();
}
