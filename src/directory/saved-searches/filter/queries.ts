import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';

/** The filters of a saved search that a person, or without one a key, may run. */
export async function findFilters(
  db: Db,
  brandId: string,
  id: string,
  personId: string | undefined,
): Promise<Record<string, string> | undefined> {
  const row = await db
    .selectFrom('savedSearches')
    .select('filters')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('shared', '=', true), eb('personId', '=', personId ?? '')]))
    .executeTakeFirst();
  return row?.filters;
}

/** Opt-outs wait for those who record what they read of the directory, and so remove it. Held until the commit. */
const OPT_OUTS = sql`hashtext('saved_search_opt_outs')`;

/**
 * Whether nobody opted out since a batch of changes. Until the commit, opt-outs wait before they remove creators from
 * what saved searches found, so they find what this transaction writes.
 */
export async function isUndisturbed(transaction: Db, alias: string, seq: number): Promise<boolean> {
  await sql`select pg_advisory_xact_lock_shared(${OPT_OUTS})`.execute(transaction);
  const later = await transaction
    .selectFrom('directoryChanges')
    .select('seq')
    .where('alias', '=', alias)
    .where('kind', '=', 'forget')
    .where('seq', '>', seq)
    .limit(1)
    .executeTakeFirst();
  return later === undefined;
}

/** Removes creators who opted out from what saved searches found and knew. */
export async function removeFromSaved(db: Db, pks: readonly number[]): Promise<void> {
  if (pks.length === 0) return;
  await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${OPT_OUTS})`.execute(transaction);
    await sql`delete from saved_search_matches where pk = any(${pks}::bigint[])`.execute(transaction);
    for (const pk of pks) {
      await sql`
        update saved_search_known set pks = array_remove(pks, ${pk}::bigint)
        where first <= ${pk} and last >= ${pk} and ${pk}::bigint = any(pks)`.execute(transaction);
    }
  });
}
