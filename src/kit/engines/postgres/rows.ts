import { sql } from 'kysely';
import { snakeCase } from '../../values/wire.ts';

/**
 * Inserts rows with the same columns through a single parameter. The statement's text is the same for any number of
 * rows, so it is prepared once. JSON columns are passed as values.
 */
export function toInsert(table: string, rows: readonly object[]) {
  // Names are translated once, because an import inserts hundreds of rows a statement, with thirty columns each.
  const names = new Map(Object.keys(rows[0] ?? {}).map((name) => [name, snakeCase(name)]));
  const columns = [...names.values()].map((name) => sql.ref(name));
  const values = rows.map((row) => {
    const cells: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(row))
      cells[names.get(name) ?? name] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
    return cells;
  });
  return sql`insert into ${sql.table(table)} (${sql.join(columns)}) select ${sql.join(columns)}
    from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(values)}::jsonb)`;
}
