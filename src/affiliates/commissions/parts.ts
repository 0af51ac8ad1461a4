import { sql } from 'kysely';
import type { PricedPart } from '../../analytics/pricing/price.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { CommissionRow } from './commissions.ts';

type CommissionKey = Pick<CommissionRow, 'brandId' | 'id'>;

const toRows = ({ brandId, id: commissionId }: CommissionKey, parts: readonly PricedPart[]) =>
  parts.map(({ rule, name, amountMinor, refundedMinor, commissionMinor }) => ({
    brandId,
    commissionId,
    rule: rule === null ? 'base' : String(rule),
    name,
    amountMinor,
    refundedMinor,
    commissionMinor,
  }));

/** Inserts what each rule decided of new commissions, in one statement. */
export async function insertParts(
  db: Db,
  commissions: readonly (CommissionKey & { parts: readonly PricedPart[] })[],
): Promise<void> {
  const rows = commissions.flatMap((one) => toRows(one, one.parts));
  if (rows.length > 0) await toInsert('commission_parts', rows).execute(db);
}

/** Replaces what each rule decided of a commission. Parts that stay the same are not written again. */
export async function replaceParts(db: Db, key: CommissionKey, parts: readonly PricedPart[]): Promise<void> {
  const { brandId, id: commissionId } = key;
  const rows = toRows(key, parts);
  const rules = rows.map(({ rule }) => rule);
  await db
    .deleteFrom('commissionParts')
    .where('brandId', '=', brandId)
    .where('commissionId', '=', commissionId)
    .$if(rules.length > 0, (query) => query.where('rule', 'not in', rules))
    .execute();
  if (rows.length === 0) return;
  await db
    .insertInto('commissionParts')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['commissionId', 'rule'])
        .doUpdateSet((eb) => ({
          amountMinor: eb.ref('excluded.amountMinor'),
          refundedMinor: eb.ref('excluded.refundedMinor'),
          commissionMinor: eb.ref('excluded.commissionMinor'),
        }))
        .where(sql<boolean>`(excluded.amount_minor, excluded.refunded_minor, excluded.commission_minor)
          <> (commission_parts.amount_minor, commission_parts.refunded_minor, commission_parts.commission_minor)`),
    )
    .execute();
}

/** Lists the stored parts of a commission, by rule. */
export const listParts = (db: Db, { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>) =>
  db
    .selectFrom('commissionParts')
    .select(['rule', 'amountMinor', 'refundedMinor', 'commissionMinor'])
    .where('brandId', '=', brandId)
    .where('commissionId', '=', id)
    .orderBy('rule')
    .execute();
