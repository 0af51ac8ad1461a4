import { sql } from 'kysely';
import type { Db } from './open.ts';

/**
 * Resolves when PostgreSQL accepts writes: it is not a standby and has space for another megabyte. A full disk still
 * accepts a row in its table's last page, so a temporary file does the check.
 */
export async function tryWrite(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local statement_timeout = 2000`.execute(trx);
    await sql`set local work_mem = '64kB'`.execute(trx);
    await sql`with megabyte as materialized (select repeat(md5(n::text), 64) from generate_series(1, 500) as n)
      select count(*) from megabyte`.execute(trx);
    await sql`insert into readiness_writes (written_at) values (now())
      on conflict (id) do update set written_at = excluded.written_at`.execute(trx);
  });
}
