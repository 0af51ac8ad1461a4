import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';

export interface ImportFigures {
  imports: { state: string; count: number; accepted: number; rejected: number }[];
  /** When an import or write last changed the directory; null if never. */
  changedAt: Date | null;
  /** By field: the share of the live import's rows that have a value. */
  fill: Record<string, number>;
}

/** What was imported and written under an alias. */
export async function readImportFigures(db: Db, alias: string): Promise<ImportFigures> {
  const imports = await sql<ImportFigures['imports'][number]>`
    select state, count(*) as count, sum(accepted)::float8 as accepted, sum(rejected)::float8 as rejected
    from directory_imports where alias = ${alias} group by state`.execute(db);
  const changed = await sql<{ at: Date | null }>`
    select greatest((select max(swapped_at) from directory_imports where alias = ${alias} and state = 'live'),
      (select max(finished_at) from directory_writes where alias = ${alias})) as at`.execute(db);
  const live = await sql<{ fill: Record<string, number> | null }>`
    select fill from directory_imports where alias = ${alias} and state = 'live'`.execute(db);
  return { imports: imports.rows, changedAt: changed.rows[0]?.at ?? null, fill: live.rows[0]?.fill ?? {} };
}
