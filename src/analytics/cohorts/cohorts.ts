import type { Context } from '../../kit/operation/context.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { findHistorySince } from '../customers/customers.ts';
import { type CohortSums, listCohortSums } from '../figures/customers.ts';
import { bucketOf, type Period, periodOf } from '../periods.ts';
import type { CohortRow, CohortsQuery } from './cohorts.api.ts';

const USUAL = 12;
const MOST = 120;

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

/** The first day of the next month or week. */
function nextOf(bucket: string, by: CohortsQuery['by']): string {
  const at = new Date(bucket);
  if (by === 'week') return dayOf(new Date(at.getTime() + 7 * DAY_MS));
  return dayOf(new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)));
}

function bucketsBetween(first: string, last: string, by: CohortsQuery['by']): string[] {
  const buckets: string[] = [];
  for (let bucket = first; bucket <= last; bucket = nextOf(bucket, by)) buckets.push(bucket);
  return buckets;
}

/** The period of first orders; by default the last twelve months or weeks. */
function cohortsPeriod({ by, from, to }: CohortsQuery, now: Date): Period {
  const end = new Date(to ?? dayOf(now));
  const back = by === 'week' ? (USUAL - 1) * 7 : 0;
  const start = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth(), end.getUTCDate() - back));
  if (by === 'month') start.setUTCFullYear(end.getUTCFullYear(), end.getUTCMonth() - (USUAL - 1), 1);
  const period = periodOf({ from: from ?? bucketOf(dayOf(start), by), to }, now);
  const days = (period.until.getTime() - period.from.getTime()) / DAY_MS;
  if (days / (by === 'week' ? 7 : 28) <= MOST) return period;
  throw validationError([{ field: 'from', code: 'invalid', message: `must give at most ${MOST} cohorts.` }]);
}

const VALUE: Readonly<Record<CohortsQuery['metric'], (sums: CohortSums) => number>> = {
  customers: ({ customers }) => customers,
  orders: ({ orders }) => orders,
  revenue: ({ worthMinor }) => worthMinor,
};

/** The triangle of a period's cohorts. */
export async function findCohorts(
  { postgres, clickhouse, clock }: Pick<Context, 'postgres' | 'clickhouse' | 'clock'>,
  brandId: string,
  query: CohortsQuery,
) {
  const now = clock.now();
  const period = cohortsPeriod(query, now);
  const [sums, since] = await Promise.all([
    listCohortSums(clickhouse, brandId, query, period),
    findHistorySince(postgres.db, brandId),
  ]);
  const sizes = new Map<string, number>();
  for (const { cohort, firsts } of sums) sizes.set(cohort, (sizes.get(cohort) ?? 0) + firsts);
  const last = bucketOf(dayOf(now), query.by);
  const data = [...Map.groupBy(sums, ({ cohort, money }) => `${cohort} ${money}`).values()].flatMap(
    (rows): CohortRow[] => {
      const [first] = rows;
      if (!first) return [];
      const { cohort, money } = first;
      const values = new Map(rows.map((row) => [row.bucket, VALUE[query.metric](row)]));
      return [
        {
          ...{ cohort, currency: money || null, customers: sizes.get(cohort) ?? 0 },
          values: bucketsBetween(cohort, last, query.by).map((bucket) => values.get(bucket) ?? 0),
        },
      ];
    },
  );
  return { data, meta: { period: period.shown, history_since: since } };
}

/** Every cohort, as of one moment. */
export async function* eachCohort(...requested: Parameters<typeof findCohorts>): AsyncGenerator<CohortRow> {
  yield* (await findCohorts(...requested)).data;
}
