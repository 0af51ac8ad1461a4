import type { Selectable, Updateable } from 'kysely';
import { type AccessEngines, changeAccess, monthlyCredits, sumPending } from '../../kit/access/credits/access.ts';
import { type ChargeEntry, insertGrant, sumEntries } from '../../kit/access/credits/entries.ts';
import { periodAt } from '../../kit/access/credits/period.ts';
import { getSubscription } from '../../kit/access/keys/callers.ts';
import type { PlanName, SubscriptionStatus } from '../../kit/access/keys/limits.ts';
import type { BrandsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import type { Work } from '../../kit/operation/work.ts';
import { sealNoted } from '../../kit/outbox/outbox.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { toPpm } from '../../kit/values/money.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import type { BrandPatch } from './brands.api.ts';

/** A brand with the plan of its subscription, as the API shows it. */
export type BrandRow = Selectable<BrandsTable> & { plan: PlanName; subscriptionStatus: SubscriptionStatus };

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
}

/** Lists every brand with its two plans, newest first. */
export async function listBrandPlans(db: Db) {
  return await db
    .selectFrom('brands')
    .leftJoin('subscriptions', 'subscriptions.brandId', 'brands.id')
    .select(['brands.id', 'brands.name', 'brands.createdAt', 'kind', 'plan', 'status'])
    .orderBy('brands.createdAt', 'desc')
    .orderBy('brands.id', 'desc')
    .execute();
}

/** Reads the fields of a brand that public pages show. */
export async function findBrandFace(
  db: Db,
  brandId: string,
): Promise<{ name: string; logo: string | null; website: string | null } | undefined> {
  return await db.selectFrom('brands').select(['name', 'logo', 'website']).where('id', '=', brandId).executeTakeFirst();
}

export async function getBrandCurrency(db: Db, brandId: string): Promise<string> {
  const row = await db.selectFrom('brands').select('currency').where('id', '=', brandId).executeTakeFirstOrThrow();
  return row.currency;
}

/** Reads the commission rate, in millionths, of links created without a rate. */
export async function getDefaultRatePpm(db: Db, brandId: string): Promise<number> {
  const row = await db
    .selectFrom('brands')
    .select('defaultCommissionRatePpm as ppm')
    .where('id', '=', brandId)
    .executeTakeFirstOrThrow();
  return row.ppm;
}

/** Locks the brand until the transaction ends; rows that only refer to it do not wait. */
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

async function updateBrand(db: Db, brandId: string, change: Updateable<BrandsTable>): Promise<Selectable<BrandsTable>> {
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

/** Finds the address for mails about the brand itself. */
export async function findContactEmail(db: Db, brandId: string): Promise<string | null> {
  const row = await db.selectFrom('brands').select('contactEmail').where('id', '=', brandId).executeTakeFirst();
  return row?.contactEmail ?? null;
}

export interface NewBrand {
  name: string;
  plan: PlanName;
  status: SubscriptionStatus;
}

/** Creates a brand with two subscriptions on the same plan; the billing month starts now. */
export async function createBrand(db: Db, clock: Clock, request: NewBrand): Promise<string> {
  const now = clock.now();
  const brandId = newId('brd', now.getTime());
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('brands')
      .values({ id: brandId, name: request.name, createdAt: now, updatedAt: null })
      .execute();
    for (const kind of ['brand', 'data'] as const) {
      await trx
        .insertInto('subscriptions')
        .values({
          id: newId('sub', now.getTime()),
          brandId,
          kind,
          plan: request.plan,
          status: request.status,
          monthlyCredits: null,
          anchorAt: now,
          createdAt: now,
          updatedAt: null,
        })
        .execute();
    }
    await sealNoted(trx, brandId);
  });
  return brandId;
}

/**
 * Sets this period's grant to the new budget, but never below the credits already used, so that the balance never turns
 * negative.
 */
async function adjustGrant(db: Db, subscriptionId: string, pending: readonly ChargeEntry[], now: Date): Promise<void> {
  const subscription = await getSubscription(db, subscriptionId);
  const { start } = periodAt(subscription.anchorAt, now);
  const sums = await sumEntries(db, subscriptionId, start);
  if (sums.granted === 0 && sums.charged === 0) return;
  const usedCredits = sums.charged - sums.refunded + (await sumPending(db, pending, start));
  const credits = Math.max(monthlyCredits(subscription), usedCredits) - sums.granted;
  const reason = `version ${subscription.version + 1}`;
  if (credits !== 0) await insertGrant(db, { subscriptionId, periodStart: start, reason, credits, at: now });
}

/** Sets a subscription's plan; it takes effect in every process within a second. */
export async function setPlan(engines: AccessEngines, subscriptionId: string, change: PlanChange): Promise<void> {
  const now = engines.clock.now();
  await changeAccess(engines, subscriptionId, async (db, pending) => {
    await db
      .updateTable('subscriptions')
      .set((eb) => ({
        plan: change.plan,
        monthlyCredits:
          change.monthlyCredits ??
          eb.case().when('plan', '=', change.plan).then(eb.ref('monthlyCredits')).else(null).end(),
        updatedAt: now,
        ...(change.status === undefined ? {} : { status: change.status }),
      }))
      .where('id', '=', subscriptionId)
      .execute();
    const { kind } = await getSubscription(db, subscriptionId);
    if (kind === 'data') await adjustGrant(db, subscriptionId, pending, now);
  });
}

/** Suspends a brand or takes that back; its keys and sessions follow within a second. False if nothing changed. */
export async function setSuspended(engines: AccessEngines, brandId: string, isSuspended: boolean): Promise<boolean> {
  const { db, clock } = engines;
  let isChanged = false;
  for (const { id } of await listSubscriptions(db, brandId)) {
    await changeAccess(engines, id, async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('brands')
        .set({ suspendedAt: isSuspended ? clock.now() : null })
        .where('id', '=', brandId)
        .where('suspendedAt', isSuspended ? 'is' : 'is not', null)
        .executeTakeFirst();
      isChanged ||= numUpdatedRows > 0n;
    });
  }
  return isChanged;
}

/** Sets the most bytes that the files of a brand may have together; null: no limit. */
export async function setStorageLimit(db: Db, brandId: string, maxStorageBytes: number | null): Promise<void> {
  await db.updateTable('brands').set({ maxStorageBytes }).where('id', '=', brandId).execute();
}

/** Sets only the columns that the patch names, on a locked row. */
export async function patchBrand(work: Work, patch: BrandPatch): Promise<BrandRow> {
  const { db, now, brandId } = work;
  const old = await lockBrand(db, brandId);
  const { name, logo, contact_name, contact_email, website, industry, description, settings = {} } = patch;
  const { default_commission_rate: percent, time_zone: zone } = settings;
  const row = await updateBrand(db, brandId, {
    ...omitUndefined({
      name,
      logo,
      contactName: contact_name,
      contactEmail: contact_email,
      website,
      industry,
      description,
      autoApproveCommissions: settings.auto_approve_commissions,
      requirePaymentProfile: settings.require_payment_profile === false ? null : settings.require_payment_profile,
      bookkeepingYears: settings.bookkeeping_years,
      defaultCommissionRatePpm: percent === undefined ? undefined : toPpm(percent),
      currency: settings.currency,
      timeZone: zone,
    }),
    updatedAt: now,
  });
  work.audit({ resourceId: brandId, old, new: row });
  return await getBrand(db, brandId);
}

export async function getBrandSubscriptionId(db: Db, brandId: string): Promise<string> {
  const row = await db
    .selectFrom('subscriptions')
    .select('id')
    .where('brandId', '=', brandId)
    .where('kind', '=', 'brand')
    .executeTakeFirstOrThrow();
  return row.id;
}
