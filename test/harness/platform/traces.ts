import { sql } from 'kysely';
import type { Db } from '../../../src/kit/engines/postgres/open.ts';

const hexOf = (text: string) => Buffer.from(text, 'utf8').toString('hex');

/** Tables of PostgreSQL with any of these texts, as text, in JSON or within bytes: `table: text`. */
export async function findTraces(db: Db, texts: readonly string[]): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`.execute(
    db,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`
      select distinct wanted.text from ${sql.table(name)} as own,
        unnest(${[...texts]}::text[], ${texts.map(hexOf)}::text[]) as wanted (text, hex)
      where strpos(lower(own::text), lower(wanted.text)) > 0 or strpos(own::text, wanted.hex) > 0`.execute(db);
    found.push(...rows.map(({ text }) => `${name}: ${text}`));
  }
  return found;
}
