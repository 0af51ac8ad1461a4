import type { Selectable, Updateable } from 'kysely';
import type { PlanName, SubscriptionStatus } from '../../kit/access/keys/plans.ts';
import type { KeyKind } from '../../kit/access/keys/queries.ts';
import type { BrandsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import { ApiError } from '../../kit/values/errors.ts';

/** A brand with the plan of its subscription, as the API shows it. */
export type BrandRow = Selectable<BrandsTable> & { plan: PlanName; subscriptionStatus: SubscriptionStatus };

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

/** Finds a brand by id, or by name ignoring case. */
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
  /** Monthly credits. Undefined keeps the agreed number while the plan stays, and takes that of a new plan. */
  monthlyCredits: number | undefined;
  at: Date;
}

export async function updatePlan(db: Db, subscriptionId: string, change: PlanChange): Promise<void> {
  await db
    .updateTable('subscriptions')
    .set((eb) => ({
      plan: change.plan,
      monthlyCredits:
        change.monthlyCredits ??
        eb.case().when('plan', '=', change.plan).then(eb.ref('monthlyCredits')).else(null).end(),
      updatedAt: change.at,
      ...(change.status === undefined ? {} : { status: change.status }),
    }))
    .where('id', '=', subscriptionId)
    .execute();
}

/** Every brand with its two plans, newest first. */
export async function listBrandPlans(db: Db) {
  return await db
    .selectFrom('brands')
    .leftJoin('subscriptions', 'subscriptions.brandId', 'brands.id')
    .select(['brands.id', 'brands.name', 'brands.createdAt', 'kind', 'plan', 'status'])
    .orderBy('brands.createdAt', 'desc')
    .orderBy('brands.id', 'desc')
    .execute();
}

/** The fields of a brand that public pages show. */
export async function findBrandFace(
  db: Db,
  brandId: string,
): Promise<{ name: string; logo: string | null } | undefined> {
  return await db.selectFrom('brands').select(['name', 'logo']).where('id', '=', brandId).executeTakeFirst();
}

export async function getBrandCurrency(db: Db, brandId: string): Promise<string> {
  const row = await db.selectFrom('brands').select('currency').where('id', '=', brandId).executeTakeFirstOrThrow();
  return row.currency;
}

/** The commission rate, in millionths, of links created without a rate. */
export async function getDefaultRatePpm(db: Db, brandId: string): Promise<number> {
  const row = await db
    .selectFrom('brands')
    .select('defaultCommissionRatePpm as ppm')
    .where('id', '=', brandId)
    .executeTakeFirstOrThrow();
  return row.ppm;
}

/** The brand, locked until the transaction ends; rows that only refer to it do not wait. */
export async function lockBrand(db: Db, brandId: string): Promise<Selectable<BrandsTable>> {
  return await db.selectFrom('brands').selectAll().where('id', '=', brandId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

export async function getBrand(db: Db, brandId: string): Promise<BrandRow> {
  return await db
    .selectFrom('brands')
    .innerJoin('subscriptions', (join) =>
      join.onRef('subscriptions.brandId', '=', 'brands.id').on('subscriptions.kind', '=', 'brand'),
    )
    .selectAll('brands')
    .select(['subscriptions.plan', 'subscriptions.status as subscriptionStatus'])
    .where('brands.id', '=', brandId)
    .executeTakeFirstOrThrow();
}

export async function updateBrand(
  db: Db,
  brandId: string,
  change: Updateable<BrandsTable>,
): Promise<Selectable<BrandsTable>> {
  return await db
    .updateTable('brands')
    .set(change)
    .where('id', '=', brandId)
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (!violates(error, 'brands_name_key')) throw error;
      throw new ApiError('CONFLICT', 'Another brand has this name.', { cause: error });
    });
}

/** The address for mails about the brand itself. */
export async function findContactEmail(db: Db, brandId: string): Promise<string | null> {
  const row = await db.selectFrom('brands').select('contactEmail').where('id', '=', brandId).executeTakeFirst();
  return row?.contactEmail ?? null;
}
