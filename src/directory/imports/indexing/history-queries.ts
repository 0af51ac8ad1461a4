import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';

/** One import into or write to the directory. */
export interface HistoryRow {
  id: string;
  what: 'import' | 'upsert' | 'patch' | 'delete';
  state: string;
  startedAt: Date;
  /** Null while it runs, and for an interrupted write. */
  endedAt: Date | null;
  rows: number;
  /** Null for writes, which are all or nothing. */
  rejects: number | null;
  files: string[];
  failure: string | null;
}

/** Imports and writes, newest first. */
export async function listHistory(db: Db, alias: string | undefined, limit: number): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    select id, 'import' as what, state, started_at, coalesce(swapped_at, case when state = 'failed' then updated_at end)
        as ended_at, position as rows, rejected as rejects, files, failure
      from directory_imports where ${alias ?? null}::text is null or alias = ${alias ?? null}
    union all
    select id, kind, case when finished_at is null then 'unfinished' else 'done' end, started_at, finished_at, rows, null,
        array[file], null
      from directory_writes where ${alias ?? null}::text is null or alias = ${alias ?? null}
    order by started_at desc, id desc limit ${limit}`.execute(db);
  return rows;
}
