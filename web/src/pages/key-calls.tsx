import { Link } from '@tanstack/react-router';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { number } from '../kit/format.ts';
import { Card, Failure, Loading, Stat, Stats } from '../kit/parts.tsx';
import { Strip } from '../kit/strip.tsx';
import { type Column, PlainTable } from '../kit/table.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';

type UsagePoint = NonNullable<Answer<'list_usage'>['series']>[number];
/** The first and last characters of each key, which tell keys of one name apart. */
export type Masked = ReadonlyMap<string, string>;

/** As long as the record of calls goes back. */
const DAYS = 14;
/** Keys with a row of their own; the filter has all of them. */
const LISTED = 5;

type Measure = 'calls' | 'credits';
const addUp = (sums: readonly UsagePoint[], measure: Measure) => sums.reduce((sum, one) => sum + one[measure], 0);

const getFirstDay = () => toUtcDay(Date.now() - (DAYS - 1) * DAY_MS);

/** The calls of all keys, or of one, by day and by key or status. */
function useSeries(by: 'key' | 'status', keyId?: string) {
  const query = { granularity: 'day', by, from: getFirstDay(), limit: '1' } as const;
  return useCall('list_usage', { query: keyId === undefined ? query : { ...query, key_id: keyId } });
}

/** The answers of a kind, as the filter by status names them: 4xx, or 402. */
const isOfStatus = (kind: string, { status = 0 }: UsagePoint) =>
  kind.endsWith('xx') ? String(status).startsWith(kind.slice(0, 1)) : String(status) === kind;

/** The number of calls with an answer; undefined until it is known. */
export function useCallCount(keyId: string | undefined, status: string | undefined): number | undefined {
  const series = useSeries('status', keyId).data?.series;
  return series && addUp(status === undefined ? series : series.filter((one) => isOfStatus(status, one)), 'calls');
}

const ANSWERS = [
  ['Succeeded', 'quiet', '2xx'],
  ['Refused', 'wait', '4xx'],
  ['Failed', 'bad', '5xx'],
] as const;

/** A strip of the last days' calls above their list: one glance says how many there were and when they failed. */
export function KeyCalls({ keyId }: { keyId: string | undefined }) {
  const { data, error, refetch } = useSeries('status', keyId);
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  const all = data.series ?? [];
  // The list below says what to do.
  if (all.length === 0) return null;
  const byDay = Map.groupBy(all, ({ start }) => start.slice(0, 10));
  const days = Array.from({ length: DAYS }, (_, i) => toUtcDay(Date.parse(getFirstDay()) + i * DAY_MS));
  const series = ANSWERS.map(([name, tone, kind]) => ({
    name,
    tone,
    values: days.map((date) =>
      addUp(
        (byDay.get(date) ?? []).filter((one) => isOfStatus(kind, one)),
        'calls',
      ),
    ),
  }));
  const calls = addUp(all, 'calls');
  const countOf = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0);
  const share = (count: number) => (calls === 0 ? undefined : `${number(Math.round((1_000 * count) / calls) / 10)}%`);
  return (
    <section className="card call-strip" aria-label={`Calls of the last ${DAYS} days`}>
      <dl>
        <div>
          <dt>Last {DAYS} days</dt>
          <dd>{number(calls)} calls</dd>
        </div>
        {series.map(({ name, tone, values }) => (
          <div key={name}>
            <dt>
              <span className={`dot ${tone}`} aria-hidden /> {name}
            </dt>
            <dd>
              {number(countOf(values))} {name !== 'Succeeded' && <small>{share(countOf(values))}</small>}
            </dd>
          </div>
        ))}
        {addUp(all, 'credits') > 0 && (
          <div>
            <dt>Credits</dt>
            <dd>{number(addUp(all, 'credits'))}</dd>
          </div>
        )}
      </dl>
      <Strip label={`Calls of the last ${DAYS} days`} days={days} series={series} />
    </section>
  );
}

interface KeyCallSums {
  sums: readonly UsagePoint[];
}

const CREDITS: Column<KeyCallSums> = {
  head: 'Credits',
  cell: ({ sums }) => number(addUp(sums, 'credits')),
  isNumber: true,
};

/** The keys with the most calls, each of which leads to its own. */
export function BusiestKeys({ masked }: { masked: Masked }) {
  const series = useSeries('key').data?.series ?? [];
  const keys = [...Map.groupBy(series, ({ key_id }) => key_id ?? '')]
    .map(([keyId, sums]) => ({ keyId, name: sums[0]?.key_name ?? keyId, sums }))
    .toSorted((one, other) => addUp(other.sums, 'calls') - addUp(one.sums, 'calls'));
  if (keys.length < 2) return null;
  return (
    <Card title="Calls by key">
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
