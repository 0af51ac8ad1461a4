import { lazy, Suspense } from 'react';
import type { Query } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { everyOf } from '../kit/every.ts';
import { choiceOf, Filters, useFilters } from '../kit/filters.tsx';
import { day, money, number, percent, words } from '../kit/format.ts';
import { Card, Failure, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { ByCampaign, ByLink } from './analytics-by.tsx';

const Chart = lazy(() => import('../kit/chart.tsx'));
const GRANULARITIES = everyOf<NonNullable<Query<'get_analytics'>['granularity']>>()(['day', 'week', 'month']);
const DAY_MS = 86_400_000;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The period of the same length that ends the day before. */
function before(from: string, to: string): { from: string; to: string } {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return { from: dayOf(start - (end - start) - DAY_MS), to: dayOf(start - DAY_MS) };
}

function versus(now: number, was: number | undefined): string | undefined {
  if (was === undefined) return undefined;
  if (was === 0) return now === 0 ? 'No change' : 'No earlier data';
  const change = Math.round(((now - was) / was) * 100);
  return `${change > 0 ? '+' : ''}${number(change)} % from the previous period`;
}

export function Analytics() {
  const { get, set } = useFilters();
  const granularity = choiceOf(get('by'), GRANULARITIES) ?? 'day';
  const to = get('to') ?? dayOf(Date.now());
  const from = get('from') ?? dayOf(Date.parse(to) - 29 * DAY_MS);
  const now = useCall('get_analytics', { query: { from, to, granularity } });
  const was = useCall('get_analytics', { query: { ...before(from, to), granularity } });
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const summary = now.data?.summary;
  const old = was.data;
  return (
    <>
      <PageHead
        title="Analytics"
        hint={`${day(from)} to ${day(to)}, in UTC, compared with ${day(before(from, to).from)} to ${day(before(from, to).to)}.`}
      >
        <fieldset className="tabs">
          <legend className="sr-only">Group by</legend>
          {GRANULARITIES.map((one) => (
            <label key={one} className="tab">
              <input
                type="radio"
                name="by"
                className="sr-only"
                checked={granularity === one}
                onChange={() => set('by', one)}
              />
              {words(one)}
            </label>
          ))}
        </fieldset>
      </PageHead>
      <Filters
        of={[
          { name: 'from', label: 'From', kind: 'date', fallback: from },
          { name: 'to', label: 'To', kind: 'date', fallback: to },
        ]}
      />
      {now.error && <Failure error={now.error} again={() => void now.refetch()} />}
      {!now.error && !summary && <Loading />}
      {summary && now.data && (
        <>
          <Stats>
            <Stat
              label="Sales"
              value={money(summary.total_revenue, currency)}
              note={versus(summary.total_revenue, old?.summary.total_revenue)}
            />
            <Stat
              label="Commissions"
              value={money(summary.total_commissions, currency)}
              note={versus(summary.total_commissions, old?.summary.total_commissions)}
            />
            <Stat
              label="Clicks"
              value={number(summary.total_clicks)}
              note={versus(summary.total_clicks, old?.summary.total_clicks)}
            />
            <Stat
              label="Orders"
              value={number(summary.total_conversions)}
              note={versus(summary.total_conversions, old?.summary.total_conversions)}
            />
            <Stat
              label="Conversion rate"
              value={percent(summary.conversion_rate)}
              note={old && `${percent(old.summary.conversion_rate)} previously`}
            />
          </Stats>
          <Suspense fallback={<Loading rows={4} />}>
            <div className="grid">
              <Card title="Sales">
                <Chart
                  label="Sales"
                  points={now.data.trends.map(({ date, revenue }, i) => ({
                    date,
                    value: revenue,
                    was: old?.trends[i]?.revenue,
                  }))}
                  show={(value) => money(value, currency)}
                />
              </Card>
              <Card title="Clicks">
                <Chart
                  label="Clicks"
                  points={now.data.trends.map(({ date, clicks }, i) => ({
                    date,
                    value: clicks,
                    was: old?.trends[i]?.clicks,
                  }))}
                  show={number}
                />
              </Card>
            </div>
          </Suspense>
          <div className="grid">
            <Card title="Top creators">
              <PlainTable
                caption="Top creators"
                rows={now.data.top_creators}
                keyOf={({ id }) => id}
                columns={[
                  { head: 'Creator', cell: ({ name, id }) => name ?? id },
                  { head: 'Orders', cell: ({ conversions }) => number(conversions), isNumber: true },
                  { head: 'Sales', cell: ({ revenue }) => money(revenue, currency), isNumber: true },
                  {
                    head: 'Previous',
                    cell: ({ id }) => money(old?.top_creators.find((one) => one.id === id)?.revenue, currency),
                    isNumber: true,
                    isWide: true,
                  },
                ]}
              />
            </Card>
            <Card title="Campaigns">
              <ByCampaign from={from} to={to} before={before(from, to)} />
            </Card>
          </div>
          <Card title="Links and codes">
            <ByLink from={from} to={to} before={before(from, to)} />
          </Card>
        </>
      )}
    </>
  );
}
