import { type AccessEngines, monthlyCredits, sumPending } from '../../kit/access/credits/access.ts';
import { periodAt } from '../../kit/access/credits/period.ts';
import { type ChargeEntry, insertGrant, sumEntries } from '../../kit/access/credits/queries.ts';
import { changeAccess } from '../../kit/access/keys/actions.ts';
import type { PlanName, SubscriptionStatus } from '../../kit/access/keys/plans.ts';
import { getSubscription } from '../../kit/access/keys/queries.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { newId } from '../../kit/values/ids.ts';
import { toPpm } from '../../kit/values/money.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { timeZoneName } from '../../kit/values/time-zone.ts';
import {
  type BrandRow,
  getBrand,
  insertBrand,
  insertSubscription,
  lockBrand,
  type PlanChange,
  updateBrand,
  updatePlan,
} from './queries.ts';
import type { BrandPatch } from './brands.api.ts';

export interface BrandRequest {
  name: string;
  plan: PlanName;
  status: SubscriptionStatus;
}

/** Creates a brand with two subscriptions on the same plan; the billing month starts now. */
export async function createBrand(db: Db, clock: Clock, request: BrandRequest): Promise<string> {
  const now = clock.now();
  const brandId = newId('brd', now.getTime());
  await db.transaction().execute(async (trx) => {
    await insertBrand(trx, { id: brandId, name: request.name, createdAt: now });
    for (const kind of ['brand', 'data'] as const) {
      const id = newId('sub', now.getTime());
      const { plan, status } = request;
      await insertSubscription(trx, { id, brandId, kind, plan, status, anchorAt: now, createdAt: now });
    }
  });
  return brandId;
}

/**
 * Sets this period's grant to the new budget, but never below the credits already used, so that the balance never turns
 * negative.
 */
async function regrant(db: Db, subscriptionId: string, pending: readonly ChargeEntry[], now: Date): Promise<void> {
  const subscription = await getSubscription(db, subscriptionId);
  const { start } = periodAt(subscription.anchorAt, now);
  const sums = await sumEntries(db, subscriptionId, start);
  if (sums.granted === 0 && sums.charged === 0) return;
  const used = sums.charged - sums.refunded + (await sumPending(db, pending, start));
  const credits = Math.max(monthlyCredits(subscription), used) - sums.granted;
  const reason = `version ${subscription.version + 1}`;
  if (credits !== 0) await insertGrant(db, { subscriptionId, periodStart: start, reason, credits, at: now });
}

/** Sets a subscription's plan; it takes effect in every process within a second. */
export async function setPlan(
  engines: AccessEngines,
  subscriptionId: string,
  change: Omit<PlanChange, 'at'>,
): Promise<void> {
  const now = engines.clock.now();
  await changeAccess(engines, subscriptionId, async (db, pending) => {
    await updatePlan(db, subscriptionId, { ...change, at: now });
    const { kind } = await getSubscription(db, subscriptionId);
    if (kind === 'data') await regrant(db, subscriptionId, pending, now);
  });
}

function settingColumns({ settings }: BrandPatch) {
  if (!settings) return {};
  const { auto_approve_commissions, default_commission_rate: percent, currency, time_zone } = settings;
  return omitUndefined({
    autoApproveCommissions: auto_approve_commissions,
    defaultCommissionRatePpm: percent === undefined ? undefined : toPpm(percent),
    currency,
    timeZone: time_zone === undefined ? undefined : timeZoneName(time_zone),
  });
}

/** Sets only the columns that the patch names, on a locked row. */
export async function patchBrand(work: Work, patch: BrandPatch): Promise<BrandRow> {
  const { db, now, brandId } = work;
  const old = await lockBrand(db, brandId);
  const { name, logo, contact_name, contact_email, website, industry, description } = patch;
  const row = await updateBrand(db, brandId, {
    ...omitUndefined({
      name,
      logo,
      contactName: contact_name,
      contactEmail: contact_email,
      website,
      industry,
      description,
    }),
    ...settingColumns(patch),
    updatedAt: now,
  });
  work.audit({ resourceId: brandId, old, new: row });
  return await getBrand(db, brandId);
}
