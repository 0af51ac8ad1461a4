import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { sql } from 'kysely';
import type { Context } from '../src/kit/operation/context.ts';

const ROWS_AT_ONCE = 500;

/** Reads the rows of a file with the parser alone; the seconds that it takes. */
export async function parseBare(file: string): Promise<number> {
  const from = performance.now();
  for await (const _row of createReadStream(file).pipe(parse()));
  return (performance.now() - from) / 1_000;
}

/**
 * Copies the brand's orders into a table with the same columns, checks and indexes, as many a transaction as an import
 * writes, by statements alone: no seals, no references, no rows about customers. The seconds that it takes.
 */
export async function insertBare({ postgres: { db } }: Context, brandId: string): Promise<number> {
  await sql`create table bare_orders (like orders including all)`.execute(db);
  const from = performance.now();
  for (let after = ''; ; ) {
    const { rows } = await sql<{ id: string }>`
      insert into bare_orders select * from orders where brand_id = ${brandId} and id > ${after}
      order by id limit ${ROWS_AT_ONCE} returning id`.execute(db);
    const last = rows.at(-1);
    if (!last) return (performance.now() - from) / 1_000;
    after = last.id;
  }
}
