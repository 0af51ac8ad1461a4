import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';

/** Searches with an alert that have matches which no mail has counted, after one of them, by id. */
export async function listToAlert(db: Db, after: string, limit: number) {
  return await db
    .selectFrom('savedSearches as search')
    .innerJoin('subscriptions as subscription', (join) =>
      join.onRef('subscription.brandId', '=', 'search.brandId').on('subscription.kind', '=', 'brand'),
    )
    .select(['search.id', 'search.brandId', 'search.name', 'search.seq'])
    .select(['search.alertEvery', 'search.alertMail', 'search.alerted', 'search.alertedAt'])
    .select(['subscription.plan', 'subscription.status'])
    .where('search.alertEvery', 'is not', null)
    .whereRef('search.found', '>', 'search.alerted')
    .where('search.id', '>', after)
    .orderBy('search.id')
    .limit(limit)
    .execute();
}

export type ToAlert = Awaited<ReturnType<typeof listToAlert>>[number];

/** The last batch with which a version of the directory went live. */
export async function findLastSwap(db: Db, alias: string): Promise<{ seq: number; at: Date } | undefined> {
  const { rows } = await sql<{ seq: number; at: Date }>`
    select seq, at from directory_changes
    where alias = ${alias} and seq is not null and kind in ('import', 'rollback')
    order by seq desc limit 1`.execute(db);
  return rows[0];
}

/**
 * Ends a period of a search's alert: counts its matches, which no later mail counts. Undefined if there are none, or if
 * another process ended it.
 */
export async function endPeriod(
  db: Db,
  { id, alerted, alertedAt }: ToAlert,
  { end, before }: { end: Date; before: Date | null },
): Promise<number | undefined> {
  const { rows } = await sql<{ count: number }>`
    with counted as (
      select count(*) as count, max(number) as last from saved_search_matches
      where search_id = ${id} and number > ${alerted}
        and (${before}::timestamptz is null or first_matched_at < ${before}::timestamptz)
    )
    update saved_searches set alerted = counted.last, alerted_at = ${end} from counted
    where id = ${id} and alerted = ${alerted} and alerted_at is not distinct from ${alertedAt} and counted.count > 0
    returning counted.count`.execute(db);
  return rows[0]?.count;
}
