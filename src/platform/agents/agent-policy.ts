import type { Selectable } from 'kysely';
import type { AgentPoliciesTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';

export type PolicyRow = Selectable<AgentPoliciesTable>;

/** The policy of a brand that never changed it. */
const defaultPolicy = (brandId: string): PolicyRow => ({
  brandId,
  allowedTools: null,
  highestRatePpm: null,
  payoutsPerDayMinor: null,
  personAboveMinor: null,
  moneyOut: false,
  dataOut: false,
  updatedAt: null,
});

export async function getPolicy(db: Db, brandId: string): Promise<PolicyRow> {
  const row = await db.selectFrom('agentPolicies').selectAll().where('brandId', '=', brandId).executeTakeFirst();
  return row ?? defaultPolicy(brandId);
}

/** Locks the policy until the transaction ends, so that payouts by agents of one brand are checked one after the other. */
export async function lockPolicy(db: Db, brandId: string): Promise<PolicyRow> {
  const row = await db
    .selectFrom('agentPolicies')
    .selectAll()
    .where('brandId', '=', brandId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? defaultPolicy(brandId);
}

export async function updatePolicy(
  db: Db,
  brandId: string,
  change: Partial<Omit<PolicyRow, 'brandId'>> & { updatedAt: Date },
): Promise<PolicyRow> {
  return await db
    .insertInto('agentPolicies')
    .values({ ...defaultPolicy(brandId), ...change })
    .onConflict((conflict) => conflict.column('brandId').doUpdateSet(change))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Sums the payouts in one currency since a time. */
export async function sumPayouts(db: Db, brandId: string, currency: string, since: Date): Promise<number> {
  const { sum } = await db
    .selectFrom('payouts')
    .where('brandId', '=', brandId)
    .where('currency', '=', currency)
    .where('createdAt', '>=', since)
    .select(({ fn }) => fn.sum<number | null>('amountMinor').as('sum'))
    .executeTakeFirstOrThrow();
  return sum ?? 0;
}
