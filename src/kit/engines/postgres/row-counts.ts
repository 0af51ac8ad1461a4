import { sql } from 'kysely';
import type { Db } from './open.ts';

/** Counts the brand's rows of a table that has the triggers of `row_counts`. */
export async function readRowCount(db: Db, brandId: string, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(difference), 0)::bigint as count from row_counts
    where brand_id = ${brandId} and table_name = ${table}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Differences of one table that are read in less than a millisecond. */
const FEW = 100;

/** Replaces many differences by their sum. The lock on the brand waits for a removal of all its rows, or skips the brand. */
export async function sumUpRowCounts(db: Db): Promise<void> {
  await sql`
    with crowded as materialized (
      select id from brands
      where id in (select brand_id from row_counts group by brand_id, table_name having count(*) > ${FEW})
      for key share skip locked),
    summed as (
      delete from row_counts where brand_id in (select id from crowded) returning brand_id, table_name, difference)
    insert into row_counts (brand_id, table_name, difference)
    select brand_id, table_name, sum(difference) from summed group by brand_id, table_name`.execute(db);
}
