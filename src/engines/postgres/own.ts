import { type SelectQueryBuilder, type Simplify, sql } from 'kysely';
import { notFound } from '../../values/errors.ts';

/**
 * The brand's row of this id of one table, locked until the transaction ends: a change that depends on what stands there
 * cannot lose another's. Throws not found.
 */
export async function lockOwn<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
  noun: string,
  brandId: string,
  id: string,
): Promise<Simplify<Row>> {
  const row = await query.where(sql<boolean>`brand_id = ${brandId} and id = ${id}`).forUpdate().executeTakeFirst();
  if (!row) throw notFound(noun);
  return row;
}
