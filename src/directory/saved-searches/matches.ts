import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { OPT_OUTS } from './filters.ts';
import type { Moment } from './matching.ts';

/** A batch of changes, up to which matches were looked for. */
export type UpTo = Pick<Moment, 'seq' | 'at'>;

/** Pks in one row. */
const PART = 10_000;

/** Starts over: the creators who match now count as known, and what was found is deleted. Numbering continues. */
export async function beginTracking(
  db: Db,
  id: string,
  { upTo, known }: { upTo: UpTo; known: readonly number[] | undefined },
): Promise<void> {
  await sql`delete from saved_search_matches where search_id = ${id}`.execute(db);
  await sql`delete from saved_search_known where search_id = ${id}`.execute(db);
  for (const pks of toChunks(known ?? [], PART)) {
    await sql`
      insert into saved_search_known (search_id, first, last, pks)
      values (${id}, ${pks[0]}, ${pks.at(-1)}, ${pks}::bigint[])`.execute(db);
  }
  await db
    .updateTable('savedSearches')
    .set(({ eb, ref }) => ({
      version: eb('version', '+', 1),
      tracked: known !== undefined,
      seq: upTo.seq,
      seqAt: upTo.at,
      problem: null,
      alerted: ref('found'),
    }))
    .where('id', '=', id)
    .execute();
}

const selectDue = (db: Db, seq: number) =>
  db
    .selectFrom('savedSearches')
    .select(['id', 'brandId', 'filters', 'version', 'seq', 'seqAt'])
    .where('tracked', '=', true)
    .where(({ or, eb }) => or([eb('seq', 'is', null), eb('seq', '<', seq)]));

export type DueSearch = Awaited<ReturnType<typeof listDue>>[number];

/** Searches for which changes up to a batch were not looked at yet, after one of them, by id. */
export const listDue = (db: Db, seq: number, after: string, limit: number) =>
  selectDue(db, seq).where('id', '>', after).orderBy('id').limit(limit).execute();

export const isDue = async (db: Db, seq: number): Promise<boolean> =>
  (await selectDue(db, seq).limit(1).executeTakeFirst()) !== undefined;

/** Locks a search, unless it has changed since it was read; then false. */
export async function lockDue(db: Db, { id, version, seq }: DueSearch): Promise<boolean> {
  const { rows } = await sql`
    select from saved_searches where id = ${id} and version = ${version} and seq is not distinct from ${seq}
    for update`.execute(db);
  return rows.length > 0;
}

/** Returns the creators, in the order of `pk`, whom the search neither knew nor found. */
export async function listUnknown(db: Db, id: string, pks: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ pk: number }>`
    select candidate.pk from unnest(${pks}::bigint[]) as candidate (pk)
    where not exists (
      select from saved_search_matches as match where match.search_id = ${id} and match.pk = candidate.pk
    ) and candidate.pk not in (
      select unnest(pks) from saved_search_known
      where search_id = ${id} and last >= ${pks[0]} and first <= ${pks.at(-1)}
    ) order by candidate.pk`.execute(db);
  return rows.map(({ pk }) => pk);
}

/**
 * Records new matches together with the batch up to which they were looked for, unless something else has moved the
 * search in the meantime.
 */
export async function recordMatches(
  db: Db,
  { id, version, seq }: DueSearch,
  { upTo, pks, now }: { upTo: UpTo; pks: readonly number[]; now: Date },
): Promise<void> {
  await sql`
    with moved as (
      update saved_searches set seq = ${upTo.seq}, seq_at = ${upTo.at}, problem = null, found = found + ${pks.length}
      where id = ${id} and version = ${version} and seq is not distinct from ${seq}
      returning id, found - ${pks.length} as before
    )
    insert into saved_search_matches (search_id, pk, number, first_matched_at)
    select moved.id, fresh.pk, moved.before + fresh.place, ${now}::timestamptz
    from moved cross join unnest(${pks}::bigint[]) with ordinality as fresh (pk, place)
    on conflict (search_id, pk) do nothing`.execute(db);
}

/** Moves searches that found nothing new; one that something else has moved stays where it is. */
export async function passSearches(db: Db, searches: readonly DueSearch[], upTo: UpTo): Promise<void> {
  if (searches.length === 0) return;
  const [ids, versions] = [searches.map(({ id }) => id), searches.map(({ version }) => version)];
  await sql`
    update saved_searches as search set seq = ${upTo.seq}, seq_at = ${upTo.at}, problem = null
    from unnest(${ids}::text[], ${versions}::bigint[], ${searches.map(({ seq }) => seq)}::bigint[]) as due (id, version, seq)
    where search.id = due.id and search.version = due.version and search.seq = due.seq`.execute(db);
}

/** Records why a search cannot be run, so that nothing matches it. */
export async function recordProblem(db: Db, { id, version }: DueSearch, upTo: UpTo, problem: string): Promise<void> {
  await db
    .updateTable('savedSearches')
    .set({ seq: upTo.seq, seqAt: upTo.at, problem })
    .where('id', '=', id)
    .where('version', '=', version)
    .execute();
}

export async function listMatches(db: Db, id: string, after: number, limit: number) {
  return await db
    .selectFrom('savedSearchMatches')
    .select(['pk', 'number', 'firstMatchedAt'])
    .where('searchId', '=', id)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** Records how far a person has looked; never less far than before. */
export async function putLook(db: Db, id: string, personId: string, number: number): Promise<void> {
  await sql`
    insert into saved_search_looks (search_id, person_id, number) values (${id}, ${personId}, ${number})
    on conflict (search_id, person_id)
    do update set number = greatest(saved_search_looks.number, excluded.number)`.execute(db);
}

/**
 * Tells if nobody opted out since a batch of changes. Until the commit, opt-outs wait before they remove creators from
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
