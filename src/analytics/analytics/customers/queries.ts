import type { Db } from '../../../kit/engines/postgres/open.ts';

/** When the oldest known order was placed; null without any. */
export async function findHistorySince(db: Db, brandId: string): Promise<string | null> {
  const { since } = await db
    .selectFrom('orders')
    .select(({ fn }) => fn.min('occurredAt').$castTo<Date | null>().as('since'))
    .where('brandId', '=', brandId)
    .executeTakeFirstOrThrow();
  return since?.toISOString() ?? null;
}
