import { sql } from 'kysely';
import type { Db } from '../engines/postgres/open.ts';

/** Rows of `sealed_rows`, in the form that the hash of their seal covers. */
export const NOTED = sql<string>`string_agg(jsonb_build_array(table_name, key, found_hash, facts)::text, ',' order by id)`;

/**
 * A CTE with what triggers noted of this transaction's writes since its last seal; it has no row if there is nothing.
 */
export const NOTED_HERE = sql`
  noted as (
    select seal_id, ${NOTED} as rows from sealed_rows
    where seal_id = nullif(current_setting('rollcall.seal', true), '')::bigint group by seal_id)`;

/** Inserts the seal that a CTE `head` has numbered and hashed. Later writes are noted under the next seal. */
export const insertSeal = (sealedAt: Date) => sql`
  insert into seals (brand_id, seq, seal_id, ledger_seq, ledger_hash, sealed_at, hash)
  select brand_id, seal_seq, seal_id, ledger_seq, ledger_hash, ${sealedAt}::timestamptz, seal_hash from head cross join noted
  returning set_config('rollcall.seal', '', true)`;

/** True if this transaction wrote a row that is not sealed yet. */
export async function hasUnsealed(db: Db): Promise<boolean> {
  const { rows } = await sql<{ seal: string | null }>`
    select nullif(current_setting('rollcall.seal', true), '') as seal`.execute(db);
  return rows[0]?.seal != null;
}
