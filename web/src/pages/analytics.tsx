import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { CLICKS_COUNT, commissionsCount, ORDERS_COUNT, salesCount } from '../kit/counts.ts';
import { Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { day, money, number, rate, versus } from '../kit/format.ts';
import { Card, Failure, Loading, Stat, Stats } from '../kit/parts.tsx';
import { usePeriod } from '../kit/period.ts';
import { Tabs } from '../kit/tabs.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';
import { Breakdown, Chosen, useBreakdown, useDimensions } from './analytics-by.tsx';
import { FiguresHead } from './report-open.tsx';

const Chart = lazy(() => import('../kit/chart.tsx'));
const GRANULARITIES = listChoices('get_analytics', 'granularity');

const COMPARED = { previous: 'Previous period', year: 'Year before' } as const;
type Compared = keyof typeof COMPARED;
const BY_HOUR_DAYS = 31;

function yearBefore(date: string): string {
  const at = new Date(date);
  at.setUTCFullYear(at.getUTCFullYear() - 1);
  return toUtcDay(at.getTime());
}

/** The period to compare with: of the same length, or the same dates a year before. */
function before(from: string, to: string, compare: Compared): { from: string; to: string } {
  if (compare === 'year') return { from: yearBefore(from), to: yearBefore(to) };
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return { from: toUtcDay(start - (end - start) - DAY_MS), to: toUtcDay(start - DAY_MS) };
}

/** Hours only of a period that has not too many. */
const listBuckets = (from: string, to: string) =>
  GRANULARITIES.filter((one) => one !== 'hour' || Date.parse(to) - Date.parse(from) < BY_HOUR_DAYS * DAY_MS);

type Dimensions = ReturnType<typeof useDimensions>;

/** The list of what a figure counts, if it can be filtered in the same way. */
function ToList({ of, only, children, ...period }: ListScope & { children: ReactNode }) {
  const { link, country, device, referrer, store, click_kind: kind = 'counted', ...others } = only;
  const isWhole = Object.values(others).every((value) => value === undefined);
  const isNone = [link, country, device, referrer, store, kind].includes('none');
  if (!isWhole || isNone) return children;
  if (of === 'orders') {
    const isByClick = [country, device, referrer, only.click_kind].some((value) => value !== undefined);
    const search = { ...period, attributed: 'true', link_id: link, integration_id: store };
    return isByClick ? children : <ListLink to="/orders" search={search} content={children} />;
  }
  const search = { ...period, kind, link_id: link, country, device, referrer };
  return store === undefined ? <ListLink to="/clicks" search={search} content={children} /> : children;
}

interface ListScope {
  of: 'orders' | 'clicks';
  only: Dimensions;
  from: string;
  to: string;
}

interface ListLinkProps {
  to: '/orders' | '/clicks';
  search: Readonly<Record<string, string | undefined>>;
  content: ReactNode;
}

function ListLink({ to, search, content }: ListLinkProps) {
  return (
    <Link to={to} search={search} className="plain-link">
      {content}
      <span className="sr-only">, one by one</span>
    </Link>
  );
}

export function Analytics() {
  const { get, set } = useFilters();
  const { from, to, time_zone, zone, filters } = usePeriod();
  const buckets = listBuckets(from, to);
  const granularity = findChoice(get('by'), buckets) ?? 'day';
  const compare = findChoice(get('compare'), ['previous', 'year']) ?? 'previous';
  const only = useDimensions();
  const earlier = before(from, to, compare);
  const now = useCall('get_analytics', { query: { ...only, from, to, time_zone, granularity } });
  const was = useCall('get_analytics', { query: { ...only, ...earlier, time_zone, granularity } });
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const summary = now.data?.summary;
  const old = was.data;
  const chartOptions = { before: COMPARED[compare], by: granularity, within: { from, to }, zone };
  const breakdown = useBreakdown({ from, to, time_zone, compare });
  // An order counts for each of its products.
  const won = breakdown.by === 'product' ? undefined : breakdown.data?.meta.coverage;
  return (
    <>
      <FiguresHead
        title="Analytics"
        hint={`${day(from)} to ${day(to)}, in ${zone}, compared with ${day(earlier.from)} to ${day(earlier.to)}.`}
        hasPeriod
      >
        <Tabs legend="Group by" options={buckets} chosen={granularity} onChoose={(one) => set('by', one)} />
      </FiguresHead>
      <Filters
        of={[
          ...filters,
          {
            name: 'compare',
            label: 'Compare with',
            kind: 'select',
            all: COMPARED.previous,
            options: [['year', COMPARED.year]],
          },
        ]}
        saved={['by', 'of', 'sort', ...Object.keys(only)]}
      />
      <Chosen from={from} to={to} />
      {now.error && <Failure error={now.error} again={() => void now.refetch()} />}
      {!now.error && !summary && <Loading />}
      {summary && now.data && (
        <>
          <Stats>
            <Stat
              label="Sales"
              why={salesCount(currency)}
              value={money(summary.total_revenue, currency)}
              note={versus(summary.total_revenue, old?.summary.total_revenue, COMPARED[compare].toLowerCase())}
            />
            <Stat
              label="Commissions"
              why={commissionsCount(currency)}
              value={money(summary.total_commissions, currency)}
              note={versus(summary.total_commissions, old?.summary.total_commissions, COMPARED[compare].toLowerCase())}
            />
            <Stat
              label="Clicks"
              why={CLICKS_COUNT}
              value={
                <ToList of="clicks" only={only} from={from} to={to}>
                  {number(summary.total_clicks)}
                </ToList>
              }
              note={versus(summary.total_clicks, old?.summary.total_clicks, COMPARED[compare].toLowerCase())}
            />
            <Stat
              label="Orders"
              why={ORDERS_COUNT}
              value={
                <ToList of="orders" only={only} from={from} to={to}>
                  {number(summary.total_conversions)}
                </ToList>
              }
              note={versus(summary.total_conversions, old?.summary.total_conversions, COMPARED[compare].toLowerCase())}
            />
            <Stat
              label="Conversion rate"
              value={rate(summary.conversion_rate)}
              note={
                <>
                  {won && won.by_code > 0 && (
                    <span className="block">{`${number(won.by_click)} orders from clicks; ${number(won.by_code)} code orders excluded`}</span>
                  )}
                  {old &&
                    (old.summary.total_clicks === 0
                      ? 'No earlier data'
                      : `${rate(old.summary.conversion_rate)} in the ${COMPARED[compare].toLowerCase()}`)}
                </>
              }
            />
          </Stats>
          <Suspense fallback={<Loading rows={4} />}>
            <div className="grid">
              <Card title="Sales">
                <Chart
                  {...chartOptions}
                  label="Sales"
                  points={now.data.trends.map(({ date, revenue }, i) => ({
                    date,
                    value: revenue,
                    was: old?.trends[i]?.revenue,
                    wasDate: old?.trends[i]?.date,
                  }))}
                  show={(value) => money(value, currency)}
                  currency={currency}
                />
              </Card>
              <Card title="Clicks">
                <Chart
                  {...chartOptions}
                  label="Clicks"
                  points={now.data.trends.map(({ date, clicks }, i) => ({
                    date,
                    value: clicks,
                    was: old?.trends[i]?.clicks,
                    wasDate: old?.trends[i]?.date,
                  }))}
                  show={number}
                />
              </Card>
            </div>
          </Suspense>
          <Breakdown
            from={from}
            to={to}
            time_zone={time_zone}
            compare={compare}
            earlier={
              old
                ? {
                    revenue: money(old.summary.total_revenue, currency),
                    commission: money(old.summary.total_commissions, currency),
                    clicks: number(old.summary.total_clicks),
                    orders: number(old.summary.total_conversions),
                    conversion_rate: rate(old.summary.conversion_rate),
                  }
                : {}
            }
          />
        </>
      )}
    </>
  );
}
