import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { isDay } from '../../kit/values/time.ts';
import { dayIn, toDay } from '../../kit/values/time-zone.ts';
import { listMerged } from '../../workflow/creators/creators.ts';
import { findHistorySince } from '../customers/customers.ts';
import { type CohortSums, listCohortSums } from '../figures/customers.ts';
import { findUnknownId } from '../labels.ts';
import { type Period, resolvePeriod, toBucket } from '../periods.ts';
import type { CohortRow, CohortsQuery } from './cohorts.api.ts';

const DEFAULT_COHORTS = 12;
const MAX_COHORTS = 120;

/** The first days of the months or weeks from one to another. */
function bucketsBetween(first: string, last: string, by: CohortsQuery['by']): string[] {
  const buckets: string[] = [];
  for (let at = new Date(first); toDay(at) <= last; ) {
    buckets.push(toDay(at));
    if (by === 'week') at.setUTCDate(at.getUTCDate() + 7);
    else at = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1));
  }
  return buckets;
}

/** The period of first orders; by default the last twelve months or weeks. */
function cohortsPeriod({ by, from, to }: CohortsQuery, now: Date, timeZone: string): Period {
  const end = new Date(to === undefined || isDay(to) ? (to ?? dayIn(timeZone, now)) : dayIn(timeZone, new Date(to)));
  const back = by === 'week' ? (DEFAULT_COHORTS - 1) * 7 : 0;
  const start = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth(), end.getUTCDate() - back));
  if (by === 'month') start.setUTCFullYear(end.getUTCFullYear(), end.getUTCMonth() - (DEFAULT_COHORTS - 1), 1);
  const period = resolvePeriod({ from: from ?? toBucket(toDay(start), by), to }, now, timeZone);
  const days = (period.until.getTime() - period.from.getTime()) / DAY_MS;
  if (days / (by === 'week' ? 7 : 28) <= MAX_COHORTS) return period;
  throw validationError([{ field: 'from', code: 'invalid', message: `must give at most ${MAX_COHORTS} cohorts.` }]);
}

const METRIC_VALUES: Readonly<Record<CohortsQuery['metric'], (sums: CohortSums) => number>> = {
  customers: ({ customers }) => customers,
  orders: ({ orders }) => orders,
  revenue: ({ worthMinor }) => worthMinor,
};

/** Refuses an `of` that is neither a word of ours nor a creator of the brand, past ids of merged ones included. */
async function assertOwner(db: Db, brandId: string, of: string): Promise<void> {
  if (of === 'all' || of === 'attributed' || (await listMerged(db, brandId)).has(of)) return;
  if ((await findUnknownId(db, brandId, 'creator', of)).length === 0) return;
  const message = `must be \`all\`, \`attributed\` or the id of a creator of this brand; got ${JSON.stringify(of)}.`;
  throw validationError([{ field: 'of', code: 'not_found', message }]);
}

/** The triangle of a period's cohorts. */
export async function findCohorts(
  { postgres, clickhouse, clock }: Pick<Context, 'postgres' | 'clickhouse' | 'clock'>,
  brandId: string,
  query: CohortsQuery,
) {
  const now = clock.now();
  const timeZone = query.time_zone ?? (await getTimeZone(postgres.db, brandId));
  const period = cohortsPeriod(query, now, timeZone);
  await assertOwner(postgres.db, brandId, query.of);
  const [sums, since] = await Promise.all([
    listCohortSums(clickhouse, brandId, query, period, now),
    findHistorySince(postgres.db, brandId),
  ]);
  const sizes = new Map<string, number>();
  for (const { cohort, firsts } of sums) sizes.set(cohort, (sizes.get(cohort) ?? 0) + firsts);
  const last = toBucket(dayIn(timeZone, now), query.by);
  const data = [...Map.groupBy(sums, ({ cohort, money }) => `${cohort} ${money}`).values()].flatMap(
    (rows): CohortRow[] => {
      const [first] = rows;
      if (!first) return [];
      const { cohort, money } = first;
      const values = new Map(rows.map((row) => [row.bucket, METRIC_VALUES[query.metric](row)]));
      return [
        {
          cohort,
          currency: money || null,
          customers: sizes.get(cohort) ?? 0,
          values: bucketsBetween(cohort, last, query.by).map((bucket) => values.get(bucket) ?? 0),
        },
      ];
    },
  );
  return { data, meta: { period: period.shown, time_zone: timeZone, history_since: since } };
}

/** Every cohort, as of one moment. */
export async function* eachCohort(...request: Parameters<typeof findCohorts>): AsyncGenerator<CohortRow> {
  yield* (await findCohorts(...request)).data;
}
