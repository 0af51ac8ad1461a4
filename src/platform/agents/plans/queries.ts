import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { PlanRow } from '../../../kit/operation/plans/queries.ts';
import type { ListWindow } from '../../../kit/values/page.ts';

export interface PlanWhere extends ListWindow {
  status?: 'open' | 'applied' | 'expired' | undefined;
  /** The time at which `status` is evaluated. */
  now: Date;
}

export const plans = listing({
  noun: 'plan',
  table: 'plans',
  time: 'createdAt',
  changed: ['createdAt', 'appliedAt'],
  matching: (db, _brandId, { status, now }: PlanWhere) =>
    db
      .selectFrom('plans')
      .$if(status === 'applied', (query) => query.where('appliedAt', 'is not', null))
      .$if(status === 'open', (query) => query.where('appliedAt', 'is', null).where('expiresAt', '>', now))
      .$if(status === 'expired', (query) => query.where('appliedAt', 'is', null).where('expiresAt', '<=', now)),
  rows: (db) => db.selectFrom('plans').selectAll(),
});
export const { get: getPlan } = plans;

/** Takes an open plan in this transaction; undefined if it was applied or has expired. */
export async function takePlan(
  db: Db,
  brandId: string,
  { id, now, keyId }: { id: string; now: Date; keyId: string },
): Promise<PlanRow | undefined> {
  return await db
    .updateTable('plans')
    .set({ appliedAt: now, appliedBy: keyId })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('appliedAt', 'is', null)
    .where('expiresAt', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** Plans are kept for a month. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

export async function deleteOldPlans(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('plans')
    .where('expiresAt', '<', new Date(now.getTime() - KEPT_MS))
    .execute();
}
