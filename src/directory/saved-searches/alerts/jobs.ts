import { mayUseDirectory } from '../../../kit/access/keys/plans.ts';
import { queueMail } from '../../../kit/mail/queue.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { listAddresses } from '../../../platform/people/people.ts';
import { endPeriod, findLastSwap, listToAlert, type ToAlert } from './queries.ts';

const AT_ONCE = 200;
/** The first Monday after 1 January 1970, in days. */
const FIRST_MONDAY = 4;

type Swap = Awaited<ReturnType<typeof findLastSwap>>;

/** The end of the last period. Matches from `before` on belong to the next one. */
function lastPeriod(
  { alertEvery, seq }: ToAlert,
  now: Date,
  swap: Swap,
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

async function alertAbout({ postgres, clock }: Context, search: ToAlert, swap: Swap): Promise<void> {
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
  asksFor: 'saved searches whose new matches are due to be mailed',
  run: alertAboutMatches,
};
