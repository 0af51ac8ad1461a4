import { type SelectQueryBuilder, type Simplify, sql, type UpdateQueryBuilder } from 'kysely';
import { notFound } from '../../values/errors.ts';

/**
 * Locks and returns the brand's row with this id until the transaction ends, so that concurrent changes based on its
 * values do not overwrite each other. Throws NOT_FOUND.
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

/** Changes the brand's row with this id, which its caller has locked, and returns it. */
export async function updateOwn<DB, Updated extends keyof DB, Table extends keyof DB, Row>(
  query: UpdateQueryBuilder<DB, Updated, Table, Row>,
  brandId: string,
  id: string,
): Promise<Simplify<Row>> {
  return await query.where(sql<boolean>`brand_id = ${brandId} and id = ${id}`).executeTakeFirstOrThrow();
}
