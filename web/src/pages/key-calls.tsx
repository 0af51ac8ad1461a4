import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Choose } from '../kit/filters.tsx';
import { Folded } from '../kit/folded.tsx';
import { number, words } from '../kit/format.ts';
import { Card, Failure, Loading, Stat, Stats } from '../kit/parts.tsx';
import { type Column, PlainTable } from '../kit/table.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';

const Chart = lazy(() => import('../kit/chart.tsx'));

type UsagePoint = NonNullable<Answer<'list_usage'>['series']>[number];
const MEASURES = ['calls', 'credits'] as const;
type Measure = (typeof MEASURES)[number];
/** The first and last characters of each key, which tell keys of one name apart. */
export type Masked = ReadonlyMap<string, string>;

/** As long as the record of calls goes back. */
const DAYS = 14;
/** Keys with a row of their own; the filter has all of them. */
const LISTED = 5;

const addUp = (sums: readonly UsagePoint[], measure: Measure) => sums.reduce((sum, one) => sum + one[measure], 0);

/** Every day until today; days without calls are 0. */
function buildPoints(sums: readonly UsagePoint[], measure: Measure, from: string) {
  const byDay = Map.groupBy(sums, ({ start }) => start.slice(0, 10));
  const days = Array.from({ length: DAYS }, (_, i) => toUtcDay(Date.parse(from) + i * DAY_MS));
  return days.map((date) => ({ date, value: addUp(byDay.get(date) ?? [], measure) }));
}

interface KeyCallSums {
  sums: readonly UsagePoint[];
}

const CREDITS: Column<KeyCallSums> = {
  head: 'Credits',
  cell: ({ sums }) => number(addUp(sums, 'credits')),
  isNumber: true,
};

/** The calls of all keys, or of one, by day. */
export function KeyCalls({ keyId: chosen, masked }: { keyId: string | undefined; masked: Masked }) {
  const [measure, setMeasure] = useState<Measure>('calls');
  const from = toUtcDay(Date.now() - (DAYS - 1) * DAY_MS);
  const { data, error, refetch } = useCall('list_usage', {
    query: { granularity: 'day', by: 'key', from, limit: '1' },
  });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  const series = data?.series ?? [];
  const keys = [...Map.groupBy(series, ({ key_id }) => key_id ?? '')]
    .map(([keyId, sums]) => ({ keyId, name: sums[0]?.key_name ?? keyId, sums }))
    .toSorted((one, other) => addUp(other.sums, 'calls') - addUp(one.sums, 'calls'));
  const shownSeries = series.filter(({ key_id }) => chosen === undefined || key_id === chosen);
  // The list below says what to do.
  if (data && shownSeries.length === 0) return null;
  const name = keys.find(({ keyId }) => keyId === chosen)?.name;
  return (
    <Card title={`${name === undefined ? 'The' : `${name}, the`} last ${DAYS} days`}>
      <Folded summary="Show the chart">
        <div className="filters">
          <Choose
            label="Show"
            value={measure}
            options={MEASURES.map((one) => [one, words(one)])}
            onChoose={setMeasure}
          />
        </div>
        {data ? (
          <Suspense fallback={<Loading rows={6} />}>
            <Chart
              label={`${words(measure)} by day`}
              points={buildPoints(shownSeries, measure, from)}
              show={number}
              zone="UTC"
            />
          </Suspense>
        ) : (
          <Loading rows={9} />
        )}
      </Folded>
      {keys.length > 1 && chosen === undefined && (
        <PlainTable
          caption={`Keys with the most calls in the last ${DAYS} days`}
          rows={keys.slice(0, LISTED)}
          getKey={({ keyId }) => keyId}
          columns={[
            {
              head: 'Key',
              cell: ({ keyId, name }) => (
                <>
                  <Link to="/requests" search={{ key: keyId }}>
                    {name}
                  </Link>
                  <span className="second">{masked.get(keyId)}</span>
                </>
              ),
            },
            { head: 'All calls', cell: ({ sums }) => number(addUp(sums, 'calls')), isNumber: true },
            ...(addUp(series, 'credits') > 0 ? [CREDITS] : []),
          ]}
        />
      )}
    </Card>
  );
}

const ms = (value: number | null) => (value === null ? '–' : `${number(value)} ms`);

/** The searches of the keys in the last two weeks. */
export function KeySearches() {
  const { data, error, refetch } = useCall('get_search_usage');
  if (error) return <Failure error={error} again={() => void refetch()} />;
  const searches = data?.data;
  if (!searches || searches.pages + searches.previews + searches.walks === 0) return null;
  return (
    <Card title="Searches in the last 14 days">
      <Stats>
        <Stat label="Pages" value={number(searches.pages)} note={`${number(searches.walks)} walks`} />
        <Stat label="Found nothing" value={number(searches.empty)} />
        <Stat
          label="Previews that became searches"
          value={number(searches.previewed_then_searched)}
          note={`of ${number(searches.previewed)} different ones`}
        />
        <Stat label="Median time" value={ms(searches.p50_ms)} note={`95% within ${ms(searches.p95_ms)}`} />
      </Stats>
      {searches.filters.length > 0 && (
        <PlainTable
          caption="Filters that searches used"
          rows={searches.filters}
          getKey={({ filter }) => filter}
          columns={[
            { head: 'Filter', cell: ({ filter }) => <code>{filter}</code> },
            { head: 'Searches', cell: (one) => number(one.searches), isNumber: true },
            { head: 'Found nothing', cell: ({ empty }) => number(empty), isNumber: true },
          ]}
        />
      )}
    </Card>
  );
}
