import { sql } from 'kysely';
import { listReferrers } from '../../analytics/figures/clicks.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import type { NewCommission } from '../commissions/commissions.ts';
import { getFraudRules, matchesHost } from '../rules/fraud-rules.ts';
import { toFlag } from './fraud.ts';

/** Schedules the look-up of where the clicks came from. The commissions are not approved automatically before it. */
export async function insertReferrerChecks(
  db: Db,
  commissions: readonly Pick<NewCommission, 'id' | 'brandId' | 'clickId'>[],
  now: Date,
): Promise<void> {
  const rows = commissions
    .filter(({ clickId }) => clickId !== null && clickId !== undefined)
    .map(({ id: commissionId, brandId }) => ({ commissionId, brandId, createdAt: now, dueAt: now }));
  if (rows.length > 0) await db.insertInto('referrerChecks').values(rows).execute();
}

interface DueCheck {
  commissionId: string;
  brandId: string;
  clickId: string;
  createdAt: Date;
}

/** Claims due checks until `until`, so that no other worker runs them. */
async function claimReferrerChecks(db: Db, now: Date, until: Date, limit: number): Promise<DueCheck[]> {
  const { rows } = await sql<DueCheck>`
    with due as (
      select commission_id from referrer_checks where due_at <= ${now} order by due_at limit ${limit}
      for update skip locked)
    update referrer_checks as own set due_at = ${until}
    from due, commissions where own.commission_id = due.commission_id and commissions.id = due.commission_id
    returning own.commission_id, own.brand_id, commissions.click_id, own.created_at`.execute(db);
  return rows;
}

async function deleteReferrerChecks(db: Db, brandId: string, ids: readonly string[]): Promise<void> {
  await db
    .deleteFrom('referrerChecks')
    .where('brandId', '=', brandId)
    .where(sql<boolean>`commission_id = any(${[...ids]}::text[])`)
    .execute();
}

/** Appends a flag to those of a commission. */
async function appendFlag(db: Db, brandId: string, id: string, flag: object): Promise<void> {
  await db
    .updateTable('commissions')
    .set({ fraudFlags: sql<string>`fraud_flags || ${JSON.stringify([flag])}::jsonb` })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}

const AT_ONCE = 500;
const PAUSE_MS = 15_000;
/** A click that is not stored by then never will be. */
const GIVE_UP_MS = 30 * MINUTE_MS;

async function checkBrand(context: Context, brandId: string, dueChecks: readonly DueCheck[]): Promise<void> {
  const { postgres, clickhouse, clock } = context;
  const now = clock.now();
  const clickIds = dueChecks.map(({ clickId }) => clickId);
  const referrers = new Map(
    (await listReferrers(clickhouse, brandId, clickIds)).map((one) => [one.click_id, one.referrer_host]),
  );
  const over = dueChecks.filter(
    ({ clickId, createdAt }) => referrers.has(clickId) || now.getTime() - createdAt.getTime() > GIVE_UP_MS,
  );
  if (over.length === 0) return;
  const actor = { brandId, keyId: null, operation: 'check_referrers', requestId: null };
  await inWork(postgres.db, clock, actor, async ({ db }) => {
    const { rules } = await getFraudRules(db, brandId);
    const { action, hosts } = rules.forbidden_referrer;
    for (const { commissionId, clickId } of over) {
      const host = referrers.get(clickId) ?? '';
      if (action === 'off' || !matchesHost(host, hosts)) continue;
      const detail = `The click came from ${host}.`;
      await appendFlag(db, brandId, commissionId, toFlag('forbidden_referrer', rules, detail, now));
    }
    await deleteReferrerChecks(
      db,
      brandId,
      over.map(({ commissionId }) => commissionId),
    );
  });
}

/** Checks due commissions whose clicks may come from a forbidden page. */
export async function runReferrerChecks(context: Context): Promise<void> {
  const { postgres, clock } = context;
  const now = clock.now();
  const dueChecks = await claimReferrerChecks(postgres.db, now, new Date(now.getTime() + PAUSE_MS), AT_ONCE);
  for (const [brandId, all] of Map.groupBy(dueChecks, (one) => one.brandId)) {
    await checkBrand(context, brandId, all).catch((error: unknown) =>
      context.failures.failed('checking the referrers of a brand', error, { brandId }),
    );
  }
}

export const checkReferrers: Job = {
  name: 'check-referrers',
  everyMs: 5_000,
  asksFor: 'commissions by clicks of brands that forbid referrers',
  run: runReferrerChecks,
};
