import { sql } from 'kysely';
import { mayUseDirectory } from '../../kit/access/keys/limits.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { listAddresses } from '../../platform/people/people.ts';
import { deleteOrphans } from './saved-searches.ts';

/** Searches with an alert that have matches which no mail has counted, after one of them, by id. */
async function listToAlert(db: Db, after: string, limit: number) {
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

export type AlertedSearch = Awaited<ReturnType<typeof listToAlert>>[number];

/** The last batch with which a version of the directory went live. */
async function findLastSwap(db: Db, alias: string): Promise<{ seq: number; at: Date } | undefined> {
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
async function endPeriod(
  db: Db,
  { id, alerted, alertedAt }: AlertedSearch,
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

const AT_ONCE = 200;
/** The first Monday after 1 January 1970, in days. */
const FIRST_MONDAY = 4;

type LastSwap = Awaited<ReturnType<typeof findLastSwap>>;

/** The end of the last period. Matches from `before` on belong to the next one. */
function lastPeriod(
  { alertEvery, seq }: AlertedSearch,
  now: Date,
  swap: LastSwap,
): { end: Date; before: Date | null } | undefined {
  if (alertEvery === 'import') {
    // Only once the search has seen the import.
    return swap && seq !== null && seq >= swap.seq ? { end: swap.at, before: null } : undefined;
  }
  const today = Math.floor(now.getTime() / DAY_MS);
  const sinceMonday = alertEvery === 'week' ? (today - FIRST_MONDAY) % 7 : 0;
  const end = new Date((today - sinceMonday) * DAY_MS);
  return { end, before: end };
}

async function alertAbout({ postgres, clock }: Context, search: AlertedSearch, swap: LastSwap): Promise<void> {
  const { id, brandId, name, alertEvery, alertMail, alertedAt } = search;
  const period = lastPeriod(search, clock.now(), swap);
  if (!period || (alertedAt !== null && alertedAt >= period.end)) return;
  const actor = { brandId, keyId: null, operation: 'alert_about_matches', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const count = await endPeriod(work.db, search, period);
    if (count === undefined) return;
    const subjectRow = `${id}:${alertEvery}:${period.end.toISOString()}`;
    // People who left the brand get no mail.
    for (const to of await listAddresses(work.db, brandId, alertMail)) {
      await queueMail(work, { kind: 'saved_search_alert', to, subjectRow, params: { id, name, count } });
    }
  });
}

/** Mails what is new, once a period. */
export async function alertAboutMatches(context: Context): Promise<void> {
  const { postgres, config } = context;
  const swap = await findLastSwap(postgres.db, config.directoryAlias);
  for (let after = ''; ; ) {
    const searches = await listToAlert(postgres.db, after, AT_ONCE);
    for (const search of searches) if (mayUseDirectory(search)) await alertAbout(context, search, swap);
    after = searches.at(-1)?.id ?? after;
    if (searches.length < AT_ONCE) return;
  }
}

export const alertAboutSavedSearches: Job = {
  name: 'alert-about-saved-searches',
  everyMs: 10_000,
  asksFor: 'saved searches whose new matches are due to be emailed',
  run: alertAboutMatches,
};

export const forgetSavedSearches: Job = {
  name: 'forget-saved-searches',
  everyMs: HOUR_MS,
  asksFor: 'searches of people who were removed',
  run: ({ postgres }) => deleteOrphans(postgres.db),
};
