import { sql } from 'kysely';
import { snakeCase } from '../../values/wire.ts';

/**
 * Inserts rows with the same columns through a single parameter. The statement's text is the same for any number of
 * rows, so it is prepared once. JSON columns are passed as values.
 */
export function toInsert(table: string, rows: readonly object[]) {
  const columns = Object.keys(rows[0] ?? {}).map((name) => sql.ref(snakeCase(name)));
  const values = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        snakeCase(name),
        Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
      ]),
    ),
  );
  return sql`insert into ${sql.table(table)} (${sql.join(columns)}) select ${sql.join(columns)}
    from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(values)}::jsonb)`;
}
