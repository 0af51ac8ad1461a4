import type { Selectable } from 'kysely';
import type { AttributionRulesTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { DEFAULT_RULES } from './policy.ts';

export type RulesRow = Selectable<AttributionRulesTable>;

/** The rules of a brand that never changed them. */
const unset = (brandId: string): RulesRow => ({
  brandId,
  model: DEFAULT_RULES.model,
  couponPolicy: DEFAULT_RULES.couponPolicy,
  minOrderMinor: null,
  minOrderCurrency: null,
  updatedAt: null,
});

export async function getRules(db: Db, brandId: string): Promise<RulesRow> {
  const row = await db.selectFrom('attributionRules').selectAll().where('brandId', '=', brandId).executeTakeFirst();
  return row ?? unset(brandId);
}

/** Sets only what is given. */
export async function updateRules(
  db: Db,
  brandId: string,
  change: Partial<Omit<RulesRow, 'brandId'>> & { updatedAt: Date },
): Promise<RulesRow> {
  return await db
    .insertInto('attributionRules')
    .values({ ...unset(brandId), ...change })
    .onConflict((conflict) => conflict.column('brandId').doUpdateSet(change))
    .returningAll()
    .executeTakeFirstOrThrow();
}
