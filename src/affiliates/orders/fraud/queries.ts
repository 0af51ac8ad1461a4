import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { CreatedAt } from '../../../kit/engines/postgres/tables.ts';
import type { NewCommission } from '../../commissions/queries.ts';

interface ReferrerChecksTable {
  commissionId: string;
  brandId: string;
  createdAt: CreatedAt;
  dueAt: Date;
}

declare module '../../../kit/engines/postgres/tables.ts' {
  interface Database {
    referrerChecks: ReferrerChecksTable;
  }
}

/** Where their clicks came from is looked up once the clicks are stored; they do not approve themselves before. */
export async function insertReferrerChecks(db: Db, commissions: readonly NewCommission[], now: Date): Promise<void> {
  const rows = commissions
    .filter(({ clickId }) => clickId !== null && clickId !== undefined)
    .map(({ id: commissionId, brandId }) => ({ commissionId, brandId, createdAt: now, dueAt: now }));
  if (rows.length > 0) await db.insertInto('referrerChecks').values(rows).execute();
}

export interface DueCheck {
  commissionId: string;
  brandId: string;
  clickId: string;
  createdAt: Date;
}

/** Takes those that are due until `until`, so that no other worker checks them. */
export async function claimReferrerChecks(db: Db, now: Date, until: Date, limit: number): Promise<DueCheck[]> {
  const { rows } = await sql<DueCheck>`
    with due as (
      select commission_id from referrer_checks where due_at <= ${now} order by due_at limit ${limit}
      for update skip locked)
    update referrer_checks as own set due_at = ${until}
    from due, commissions where own.commission_id = due.commission_id and commissions.id = due.commission_id
    returning own.commission_id, own.brand_id, commissions.click_id, own.created_at`.execute(db);
  return rows;
}

export async function deleteReferrerChecks(db: Db, brandId: string, ids: readonly string[]): Promise<void> {
  await db
    .deleteFrom('referrerChecks')
    .where('brandId', '=', brandId)
    .where(sql<boolean>`commission_id = any(${[...ids]}::text[])`)
    .execute();
}

/** Adds a flag to what a commission has. */
export async function addFlag(db: Db, brandId: string, id: string, flag: object): Promise<void> {
  await db
    .updateTable('commissions')
    .set({ fraudFlags: sql<string>`fraud_flags || ${JSON.stringify([flag])}::jsonb` })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}
