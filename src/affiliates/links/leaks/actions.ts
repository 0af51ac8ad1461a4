import { type Period, periodOf } from '../../../analytics/analytics/policy.ts';
import { listCouponVisits } from '../../../analytics/figures/clicks/queries.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { validationError } from '../../../kit/values/errors.ts';
import { pageThrough } from '../../../kit/values/page.ts';
import { getFraudRules } from '../../rules/fraud/queries.ts';
import { COUPON_HOSTS, type Leak, scoreLeak, type Usual } from './policy.ts';
import { type CodeDay, listCodeDays, listCodes, listOwners } from './queries.ts';
import type { LeakRow, LeaksQuery } from './schema.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;

const DAYS_BEFORE = 56;
const MOST_DAYS = 92;

/** The brand's shares over all codes; half where nothing is known. */
function usualOf(before: readonly CodeDay[]): Usual {
  const sum = (of: (day: CodeDay) => number) => before.reduce((total, day) => total + of(day), 0);
  const share = (part: number, whole: number) => (part + 5) / (whole + 10);
  return {
    clickless: share(
      sum(({ clickless }) => clickless),
      sum(({ orders }) => orders),
    ),
    firsts: share(
      sum(({ firsts }) => firsts),
      sum(({ known }) => known),
    ),
  };
}

/** Visits to the links of creators that came from coupon sites. */
async function couponVisits({ postgres, clickhouse }: Engines, brandId: string, period: Period) {
  const visits = await listCouponVisits(clickhouse, brandId, period, COUPON_HOSTS);
  const owners = await listOwners(
    postgres.db,
    brandId,
    visits.map(({ link_id }) => link_id),
  );
  const byCreator = new Map<string, number>();
  for (const { link_id: linkId, visits: count } of visits) {
    const owner = owners.get(linkId);
    if (owner !== undefined) byCreator.set(owner, (byCreator.get(owner) ?? 0) + count);
  }
  return byCreator;
}

export interface FoundLeak extends Leak {
  linkId: string;
  couponVisits: number;
}

/** Every code with orders in the period, the highest score first. */
export async function findLeaks(engines: Engines, brandId: string, period: Period): Promise<FoundLeak[]> {
  const { from, until } = period;
  const days = Math.max(1, Math.round((until.getTime() - from.getTime()) / DAY_MS));
  const since = new Date(from.getTime() - DAYS_BEFORE * DAY_MS);
  const [all, visits] = await Promise.all([
    listCodeDays(engines.postgres.db, brandId, { since, from, until }),
    couponVisits(engines, brandId, period),
  ]);
  const before = all.filter(({ isNow }) => !isNow);
  const usual = usualOf(before);
  const beforeOf = Map.groupBy(before, ({ creatorId }) => creatorId);
  const codes = Map.groupBy(
    all.filter(({ isNow }) => isNow),
    ({ linkId }) => linkId,
  );
  const found = [...codes].map(([linkId, now]): FoundLeak => {
    const creatorId = now[0]?.creatorId ?? '';
    const evidence = {
      ...{ days, now, daysBefore: DAYS_BEFORE, before: beforeOf.get(creatorId) ?? [] },
      couponVisits: visits.get(creatorId) ?? 0,
    };
    return { ...scoreLeak(evidence, usual), linkId, couponVisits: evidence.couponVisits };
  });
  return found.sort((a, b) => b.score - a.score || b.orders - a.orders || (a.linkId < b.linkId ? -1 : 1));
}

function boundedPeriod(query: LeaksQuery, now: Date): Period {
  const period = periodOf(query, now);
  if (period.until.getTime() - period.from.getTime() <= MOST_DAYS * DAY_MS) return period;
  const message = `must be at most ${MOST_DAYS} days before \`to\`.`;
  throw validationError([{ field: 'from', code: 'invalid', message }]);
}

const percentOf = (share: number | null) => (share === null ? null : Math.round(share * 10_000) / 100);

async function rowsOf({ postgres }: Engines, brandId: string, found: readonly FoundLeak[]): Promise<LeakRow[]> {
  const codes = await listCodes(
    postgres.db,
    brandId,
    found.map(({ linkId }) => linkId),
  );
  const byId = new Map(codes.map((code) => [code.id, code]));
  return found.flatMap((leak) => {
    const code = byId.get(leak.linkId);
    if (!code) return [];
    const { value, active, creatorEmail, creatorName } = code;
    return [
      {
        ...{ link_id: leak.linkId, value, active, creator_email: creatorEmail, creator_name: creatorName },
        ...{ score: leak.score, orders: leak.orders, coupon_site_visits: leak.couponVisits },
        without_click: percentOf(leak.clicklessShare),
        without_click_before: percentOf(leak.clicklessShareBefore),
        new_customers: percentOf(leak.firstShare),
        new_customers_before: percentOf(leak.firstShareBefore),
        busiest_day: leak.busiest?.day ?? null,
        busiest_day_orders: leak.busiest?.orders ?? 0,
        reasons: leak.reasons.map(({ points, detail }) => `${points} points: ${detail}`),
      },
    ];
  });
}

export async function pageOfLeaks(engines: Engines, brandId: string, query: LeaksQuery) {
  const period = boundedPeriod(query, engines.clock.now());
  const found = (await findLeaks(engines, brandId, period)).filter(({ score }) => score >= query.min_score);
  const page = pageThrough(found, query);
  const { rules } = await getFraudRules(engines.postgres.db, brandId);
  return {
    data: await rowsOf(engines, brandId, page.data),
    pagination: page.pagination,
    meta: { period: period.shown, flagged_from: rules.code_leak.score },
  };
}

export async function* eachLeak(engines: Engines, brandId: string, query: LeaksQuery): AsyncGenerator<LeakRow> {
  const period = boundedPeriod(query, engines.clock.now());
  const found = (await findLeaks(engines, brandId, period)).filter(({ score }) => score >= query.min_score);
  yield* await rowsOf(engines, brandId, found);
}
