import type { Db } from '../../../kit/engines/postgres/open.ts';
import { fraudRulesOf } from './policy.ts';
import type { FraudRules } from './schema.ts';

export async function getFraudRules(db: Db, brandId: string): Promise<{ rules: FraudRules; updatedAt: Date | null }> {
  const row = await db.selectFrom('fraudRules').selectAll().where('brandId', '=', brandId).executeTakeFirst();
  return { rules: fraudRulesOf(row?.rules), updatedAt: row?.updatedAt ?? null };
}

/** Makes concurrent changes follow one another, also the first one. */
export async function lockBrandRules(db: Db, brandId: string): Promise<void> {
  await db.selectFrom('brands').select('id').where('id', '=', brandId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

/** The codes of the brand are searched for leaks again under changed rules. */
export async function replaceFraudRules(db: Db, brandId: string, rules: FraudRules, now: Date): Promise<void> {
  const change = { rules: JSON.stringify(rules), searchedAt: null, updatedAt: now };
  await db
    .insertInto('fraudRules')
    .values({ brandId, ...change })
    .onConflict((conflict) => conflict.column('brandId').doUpdateSet(change))
    .execute();
}
