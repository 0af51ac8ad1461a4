import { type Insertable, sql } from 'kysely';
import type { CommissionAdjustmentsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { type LedgerKind, type Posting, StoredPostings } from '../../kit/outbox/ledger-entry.ts';
import type { CommissionRow } from './commissions.ts';

/** A ledger entry of the commission. */
export interface Posted {
  kind: LedgerKind;
  postings: readonly Posting[];
}

/** Lists the commission's ledger entries. Lock its row first, so that none is added in the meantime. */
export async function listPosted(db: Db, { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>): Promise<Posted[]> {
  const rows = await db
    .selectFrom('ledgerEntries')
    .select(['kind', 'postings'])
    .where('brandId', '=', brandId)
    .where('commissionId', '=', id)
    .execute();
  return rows.map(({ kind, postings }) => ({
    kind,
    postings: StoredPostings.parse(postings).map(({ account, amount_minor, at }) => ({
      account,
      amountMinor: amount_minor,
      at: new Date(at),
    })),
  }));
}

export async function replaceAdjustments(
  db: Db,
  { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>,
  rows: readonly Insertable<CommissionAdjustmentsTable>[],
): Promise<void> {
  const causes = rows.map(({ cause }) => cause);
  await db
    .deleteFrom('commissionAdjustments')
    .where('brandId', '=', brandId)
    .where('commissionId', '=', id)
    .where(sql<boolean>`cause <> all(${causes}::text[])`)
    .execute();
  if (rows.length === 0) return;
  await db
    .insertInto('commissionAdjustments')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['commissionId', 'cause']).doUpdateSet((eb) => ({
        amountMinor: eb.ref('excluded.amountMinor'),
        at: eb.ref('excluded.at'),
      })),
    )
    .execute();
}

export const insertAdjustment = async (db: Db, row: Insertable<CommissionAdjustmentsTable>): Promise<void> =>
  void (await db.insertInto('commissionAdjustments').values(row).execute());

export async function listAdjustments(db: Db, { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>) {
  return await db
    .selectFrom('commissionAdjustments')
    .select(['cause', 'amountMinor', 'at'])
    .where('brandId', '=', brandId)
    .where('commissionId', '=', id)
    .orderBy('at')
    .orderBy('cause')
    .execute();
}
