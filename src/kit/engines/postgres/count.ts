import { sql } from 'kysely';

/** The number of rows that a query finds: `countOf(db.selectFrom('notes').select(COUNT))`. */
export const COUNT = sql<number>`count(*)`.as('count');

export async function countRows(query: { executeTakeFirstOrThrow(): Promise<{ count: number }> }): Promise<number> {
  const { count } = await query.executeTakeFirstOrThrow();
  return count;
}

/** True if a query finds or changes a row. */
export const isFound = async (query: { executeTakeFirst(): Promise<object | undefined> }): Promise<boolean> =>
  (await query.executeTakeFirst()) !== undefined;
