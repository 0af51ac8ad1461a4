import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { everyOf } from '../kit/every.ts';
import { Choose } from '../kit/filters.tsx';
import { number, shortHour, words } from '../kit/format.ts';
import { Card, Failure, Loading, Stat, Stats } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { dayOf } from '../kit/utc-day.ts';

const Chart = lazy(() => import('../kit/chart.tsx'));

type Sum = NonNullable<Answer<'list_usage'>['series']>[number];
type Measure = 'calls' | 'credits';

const MEASURES = everyOf<Measure>()(['calls', 'credits']);
const HOUR_MS = 3_600_000;
const DAYS = 7;
/** Keys with a row of their own; the filter has all of them. */
const LISTED = 5;

const sumOf = (sums: readonly Sum[], measure: Measure) => sums.reduce((sum, one) => sum + one[measure], 0);

/** Every hour of the days until now; hours without calls are 0. */
function pointsOf(sums: readonly Sum[], measure: Measure, { from, now }: { from: string; now: number }) {
  const byHour = Map.groupBy(sums, ({ start }) => Date.parse(start));
  const first = Date.parse(from);
  const hours = Math.max(0, Math.floor((now - first) / HOUR_MS) + 1);
  return Array.from({ length: hours }, (_, i) => first + i * HOUR_MS).map((hour) => ({
    date: new Date(hour).toISOString(),
    value: sumOf(byHour.get(hour) ?? [], measure),
  }));
}

/** What the keys called in the last week, by hour and key. */
export function KeyCalls() {
  const [chosen, setChosen] = useState('');
  const [measure, setMeasure] = useState<Measure>('calls');
  const now = Date.now();
  const from = dayOf(now - (DAYS - 1) * 24 * HOUR_MS);
  const { data, error, refetch } = useCall('list_usage', {
    query: { granularity: 'hour', by: 'key', from, limit: '1' },
  });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  const series = data?.series ?? [];
  const keys = [...Map.groupBy(series, ({ key_id }) => key_id ?? '')]
    .map(([keyId, sums]) => ({ keyId, name: sums[0]?.key_name ?? keyId, sums }))
    .toSorted((one, other) => sumOf(other.sums, 'calls') - sumOf(one.sums, 'calls'));
  const shown = series.filter(({ key_id }) => chosen === '' || key_id === chosen);
  return (
    <Card title={`Calls in the last ${DAYS} days`}>
      <div className="filters">
        <Choose
          label="Key"
          value={chosen}
          options={[['', 'All keys'], ...keys.map(({ keyId, name }) => [keyId, name] as const)]}
          onChoose={setChosen}
        />
        <Choose label="Show" value={measure} options={MEASURES.map((one) => [one, words(one)])} onChoose={setMeasure} />
      </div>
      {data ? (
        <Suspense fallback={<Loading rows={6} />}>
          <Chart
            label={`${words(measure)} by hour`}
            points={pointsOf(shown, measure, { from, now })}
            show={number}
            dateOf={shortHour}
          />
        </Suspense>
      ) : (
        <Loading rows={9} />
      )}
      {keys.length > 0 && (
        <PlainTable
          caption={`Keys with the most calls in the last ${DAYS} days`}
          rows={keys.slice(0, LISTED)}
          keyOf={({ keyId }) => keyId}
          columns={[
            {
              head: 'Key',
              cell: ({ keyId, name }) => (
                <Link to="/requests" search={{ key: keyId }}>
                  {name}
                </Link>
              ),
            },
            { head: 'Calls', cell: ({ sums }) => number(sumOf(sums, 'calls')), isNumber: true },
            { head: 'Credits', cell: ({ sums }) => number(sumOf(sums, 'credits')), isNumber: true },
          ]}
        />
      )}
    </Card>
  );
}

const ms = (value: number | null) => (value === null ? '–' : `${number(value)} ms`);

/** How the keys searched in the last two weeks. */
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
          keyOf={({ filter }) => filter}
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
