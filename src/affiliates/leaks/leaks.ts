import { sql } from 'kysely';
import { listCouponVisits } from '../../analytics/figures/clicks.ts';
import { toLocalTimestamp } from '../../analytics/figures/local-time.ts';
import { findPeriod, type Period } from '../../analytics/periods.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { DueRow } from '../../kit/engines/postgres/work-claims.ts';
import type { Context } from '../../kit/operation/context.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { pageThrough } from '../../kit/values/page.ts';
import { getFraudRules } from '../rules/fraud-rules.ts';
import { COUPON_HOSTS, type DayOfOrders, type Leak, scoreLeak, sumDays, type UsualShares } from './leak-score.ts';
import type { LeakRow, LeaksQuery } from './leaks.api.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;

const DAYS_BEFORE = 56;
const MOST_DAYS = 92;

/** Counts the visits that came from coupon sites, by the creator of the link. */
async function countCouponVisits({ postgres, clickhouse }: Engines, brandId: string, period: Period) {
  const visits = await listCouponVisits(clickhouse, brandId, period, COUPON_HOSTS);
  const rows = await postgres.db
    .selectFrom('links')
    .select(['id', 'creatorId'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${visits.map(({ link_id }) => link_id)}::text[])`)
    .execute();
  const owners = new Map(rows.map(({ id, creatorId }) => [id, creatorId]));
  const byCreator = new Map<string, number>();
  for (const { link_id: linkId, visits: count } of visits) {
    const owner = owners.get(linkId);
    if (owner !== undefined) byCreator.set(owner, (byCreator.get(owner) ?? 0) + count);
  }
  return byCreator;
}

interface CodeLeak extends Leak {
  linkId: string;
  couponVisits: number;
}

/** Every code with orders in the period, the highest score first. */
export async function findLeaks(engines: Engines, brandId: string, period: Period): Promise<CodeLeak[]> {
  const { from, until } = period;
  const days = Math.max(1, Math.round((until.getTime() - from.getTime()) / DAY_MS));
  const since = new Date(from.getTime() - DAYS_BEFORE * DAY_MS);
  const [all, visits] = await Promise.all([
    listCodeDays(engines.postgres.db, brandId, { since, from, until, timeZone: period.timeZone }),
    countCouponVisits(engines, brandId, period),
  ]);
  const before = all.filter(({ isNow }) => !isNow);
  const { clickless, orders, firsts, known } = sumDays(before);
  // The brand's shares over all codes, drawn towards one half while there are few orders.
  const usual: UsualShares = { clickless: (clickless + 5) / (orders + 10), firsts: (firsts + 5) / (known + 10) };
  const beforeByCreator = Map.groupBy(before, ({ creatorId }) => creatorId);
  const codes = Map.groupBy(
    all.filter(({ isNow }) => isNow),
    ({ linkId }) => linkId,
  );
  const leaks = [...codes].map(([linkId, now]): CodeLeak => {
    const creatorId = now[0]?.creatorId ?? '';
    const evidence = {
      days,
      now,
      daysBefore: DAYS_BEFORE,
      before: beforeByCreator.get(creatorId) ?? [],
      couponVisits: visits.get(creatorId) ?? 0,
    };
    return { ...scoreLeak(evidence, usual), linkId, couponVisits: evidence.couponVisits };
  });
  return leaks.sort((a, b) => b.score - a.score || b.orders - a.orders || (a.linkId < b.linkId ? -1 : 1));
}

async function checkPeriod({ postgres, clock }: Engines, brandId: string, query: LeaksQuery): Promise<Period> {
  const period = await findPeriod(postgres.db, brandId, query, clock.now());
  const isLong = Math.round((period.until.getTime() - period.from.getTime()) / HOUR_MS) > MOST_DAYS * 24 + 1;
  if (!isLong) return period;
  const message = `must be at most ${MOST_DAYS} days before \`to\`.`;
  throw validationError([{ field: 'from', code: 'invalid', message }]);
}

const toPercent = (share: number | null) => (share === null ? null : Math.round(share * 10_000) / 100);

async function toLeakRows({ postgres }: Engines, brandId: string, leaks: readonly CodeLeak[]): Promise<LeakRow[]> {
  const codes = await postgres.db
    .selectFrom('links')
    .innerJoin('creators', 'creators.id', 'links.creatorId')
    .select(['links.id', 'links.value', 'links.active', 'creators.email as creatorEmail'])
    .select(sql<string | null>`coalesce(links.creator_name, creators.name)`.as('creatorName'))
    .where('links.brandId', '=', brandId)
    .where(sql<boolean>`links.id = any(${leaks.map(({ linkId }) => linkId)}::text[])`)
    .execute();
  const byId = new Map(codes.map((code) => [code.id, code]));
  return leaks.flatMap((leak) => {
    const code = byId.get(leak.linkId);
    if (!code) return [];
    const { value, active, creatorEmail, creatorName } = code;
    return [
      {
        link_id: leak.linkId,
        value,
        active,
        creator_email: creatorEmail,
        creator_name: creatorName,
        score: leak.score,
        orders: leak.orders,
        coupon_site_visits: leak.couponVisits,
        without_click: toPercent(leak.clicklessShare),
        without_click_before: toPercent(leak.clicklessShareBefore),
        new_customers: toPercent(leak.firstShare),
        new_customers_before: toPercent(leak.firstShareBefore),
        busiest_day: leak.busiest?.day ?? null,
        busiest_day_orders: leak.busiest?.orders ?? 0,
        reasons: leak.reasons.map(({ points, detail }) => `${points} points: ${detail}`),
      },
    ];
  });
}

export async function pageOfLeaks(engines: Engines, brandId: string, query: LeaksQuery) {
  const period = await checkPeriod(engines, brandId, query);
  const leaks = (await findLeaks(engines, brandId, period)).filter(({ score }) => score >= query.min_score);
  const page = pageThrough(leaks, query);
  const { rules } = await getFraudRules(engines.postgres.db, brandId);
  return {
    data: await toLeakRows(engines, brandId, page.data),
    pagination: page.pagination,
    meta: { period: period.shown, time_zone: period.timeZone, flagged_from: rules.code_leak.score },
  };
}

export async function* eachLeak(engines: Engines, brandId: string, query: LeaksQuery): AsyncGenerator<LeakRow> {
  const period = await checkPeriod(engines, brandId, query);
  const leaks = (await findLeaks(engines, brandId, period)).filter(({ score }) => score >= query.min_score);
  yield* await toLeakRows(engines, brandId, leaks);
}

interface CodeDay extends DayOfOrders {
  linkId: string;
  creatorId: string;
  isNow: boolean;
}

interface Windows {
  /** Start of the earlier period, which ends at `from`. */
  since: Date;
  from: Date;
  until: Date;
  timeZone: string;
}

/** Counts the paid orders that codes earned, by code and day, within the period and before it. */
async function listCodeDays(db: Db, brandId: string, windows: Windows): Promise<CodeDay[]> {
  const { since, from, until, timeZone } = windows;
  const localTime = sql.raw(toLocalTimestamp({ from: since, until, timeZone }, 'orders.occurred_at'));
  const { rows } = await sql<CodeDay>`
    select link_id, creator_id, is_now, day::text, count(*) as orders, count(*) filter (where is_clickless) as clickless,
      count(*) filter (where is_known) as known, count(*) filter (where is_first) as firsts
    from (
      select commissions.link_id, commissions.creator_id, orders.occurred_at >= ${from} as is_now,
        ${localTime}::date as day, orders.customer_hash is not null as is_known,
        not exists (
          select from jsonb_array_elements(orders.attribution -> 'candidates') as candidate
          join links on links.brand_id = ${brandId} and links.id = candidate ->> 'link_id'
          where candidate ->> 'type' = 'click' and links.creator_id = commissions.creator_id
            and candidate ->> 'reason' is distinct from 'click_after_order') as is_clickless,
        orders.customer_hash is not null and not exists (
          select from orders as earlier
          where earlier.brand_id = ${brandId} and earlier.customer_hash = orders.customer_hash
            and earlier.paid_at is not null and earlier.is_test is not true
            and (earlier.occurred_at, earlier.id) < (orders.occurred_at, orders.id)) as is_first
      from orders join commissions on commissions.order_id = orders.id
      where orders.brand_id = ${brandId} and orders.occurred_at >= ${since} and orders.occurred_at < ${until}
        and orders.paid_at is not null and orders.is_test is not true and orders.is_renewal is not true and orders.kind is distinct from 'renewal'
        and commissions.discount_code is not null
    ) as won
    group by link_id, creator_id, is_now, day order by day`.execute(db);
  return rows;
}

/** Brands that flag leaked codes and were last searched before `since`. */
export const selectDueSearches = (since: Date) => sql<DueRow>`
  select brand_id as id, brand_id from fraud_rules
  where rules -> 'code_leak' ->> 'action' <> 'off' and (searched_at is null or searched_at <= ${since})
  order by searched_at nulls first`;

export async function updateSearchedAt(db: Db, brandId: string, searchedAt: Date): Promise<void> {
  await db.updateTable('fraudRules').set({ searchedAt }).where('brandId', '=', brandId).execute();
}

/** Replaces the brand's stored scores. */
export async function replaceLeaks(
  db: Db,
  brandId: string,
  leaks: readonly { linkId: string; score: number }[],
  foundAt: Date,
): Promise<void> {
  const ids = leaks.map(({ linkId }) => linkId);
  await db
    .deleteFrom('codeLeaks')
    .where('brandId', '=', brandId)
    .where(sql<boolean>`link_id <> all(${ids}::text[])`)
    .execute();
  if (leaks.length === 0) return;
  await db
    .insertInto('codeLeaks')
    .values(leaks.map((one) => ({ ...one, brandId, foundAt })))
    .onConflict((conflict) =>
      conflict.column('linkId').doUpdateSet((eb) => ({
        score: eb.ref('excluded.score'),
        foundAt: eb.ref('excluded.foundAt'),
      })),
    )
    .execute();
}
