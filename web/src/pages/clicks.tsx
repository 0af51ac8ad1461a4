import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Query, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { useCursor } from '../kit/cursor.tsx';
import { type Filter, Filters, findChoice, LINK_FILTER, useFilters } from '../kit/filters.tsx';
import { Folded } from '../kit/folded.tsx';
import { countryName, number, today, words } from '../kit/format.ts';
import { Badge, Card, Empty, Failure, IfMay, Loading, PageHead } from '../kit/parts.tsx';
import { usePeriod } from '../kit/period.ts';
import { siteName } from '../kit/platforms.ts';
import { type Column, PlainTable } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';
import { useIsPhone } from '../kit/wide.ts';

const Chart = lazy(() => import('../kit/chart.tsx'));
type Click = Row<'list_clicks'>;
type ClicksQuery = Query<'list_clicks'>;

const KINDS = listChoices('list_clicks', 'kind');
const KIND_LABELS: Readonly<Record<Click['kind'], string>> = {
  counted: 'Counted',
  repeat: 'Repeat',
  bot: 'Bot',
  prefetch: 'Prefetch',
  head: 'Headers only',
  embedded: 'Loaded by a page',
};
const DEVICES = listChoices('list_clicks', 'device');
const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;
const PAGE = 50;
const KEPT_DAYS = 90;

const KIND_FILTER: Filter = {
  name: 'kind',
  label: 'Kind',
  kind: 'select',
  options: KINDS.map((kind) => [kind, KIND_LABELS[kind]]),
};
const DEVICE_FILTER: Filter = {
  name: 'device',
  label: 'Device',
  kind: 'select',
  options: DEVICES.map((device) => [device, words(device)]),
};

const UTM_FILTERS = UTM.map((name): Filter => ({ name, label: words(name), kind: 'text' }));

/** The origins of the counted clicks that are still kept, most frequent first. */
function useOrigins(by: 'country' | 'referrer'): readonly (readonly [value: string, label: string])[] {
  const from = toUtcDay(Date.parse(today()) - (KEPT_DAYS - 1) * DAY_MS);
  const { data } = useCall('get_analytics_breakdown', { query: { by, from, sort: 'clicks', limit: 100 } });
  const rows = data?.data ?? [];
  const labels = new Map(rows.flatMap(({ key, label }) => (key === null ? [] : [[key, label ?? key]])));
  return [...labels];
}

/** The link that was clicked, and whose it is. */
function LinkName({ id }: { id: string }) {
  const { data } = useCall('get_affiliate_link', { params: { id } });
  const link = data?.data.id === id ? data.data : undefined;
  return (
    <>
      <Link to="/links" search={{ open: id }} className="one-line">
        {link?.value ?? id}
      </Link>
      {link && <span className="second">{link.creator_name ?? link.creator_email}</span>}
    </>
  );
}

/** What the visitor's short link was marked with. */
function Marks({ click }: { click: Click }) {
  const marks = UTM.flatMap((name) => click[name] ?? []);
  return marks.length === 0 ? '–' : marks.join(' · ');
}

/** Why a click is in no figure. */
const NotCounted = ({ kind }: Pick<Click, 'kind'>) => kind !== 'counted' && <Badge state={KIND_LABELS[kind]} />;

const COLUMNS: readonly Column<Click>[] = [
  {
    head: 'Link',
    cell: ({ link_id, kind }) => (
      <>
        <LinkName id={link_id} />
        <span className="narrow">
          <NotCounted kind={kind} />
        </span>
      </>
    ),
  },
  { head: 'Clicked', cell: ({ at }) => <Time at={at} /> },
  { head: 'Country', cell: ({ country }) => countryName(country), isWide: true },
  { head: 'Device', cell: ({ device }) => words(device), isWide: true },
  { head: 'Referrer', cell: ({ referrer }) => (referrer === null ? '–' : siteName(referrer)), isWide: true },
  { head: 'UTM', cell: (click) => <Marks click={click} />, isWide: true },
  { head: 'Not counted', cell: NotCounted, isWide: true },
];

/** Clicks a day: the counted ones, or those of the chosen kind. */
function ByDay({ query: { link_id: link, kind = 'counted', from = '', to = '', ...only } }: { query: ClicksQuery }) {
  const { data, error, refetch } = useCall('get_analytics', {
    query: { ...only, link, click_kind: kind, from, to, granularity: 'day' },
  });
  const isPhone = useIsPhone();
  const label = kind === 'counted' ? 'Counted clicks' : `Clicks, ${KIND_LABELS[kind].toLowerCase()}`;
  return (
    <Card title={data ? `${label}: ${number(data.summary.total_clicks)}` : label}>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!error && !data && <Loading rows={isPhone ? 1 : 6} />}
      {data && (
        <Folded summary="Show the chart">
          <Suspense fallback={<Loading rows={6} />}>
            <Chart
              label={label}
              points={data.trends.map(({ date, clicks }) => ({ date, value: clicks }))}
              show={number}
              within={{ from, to }}
            />
          </Suspense>
        </Folded>
      )}
    </Card>
  );
}

/** Newest first, page by page. */
function Pages({ query }: { query: ClicksQuery }) {
  const { after, pager } = useCursor();
  const { data, error, refetch } = useCall('list_clicks', { query: { ...query, after, limit: PAGE } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={8} />;
  if (data.data.length === 0 && after === undefined)
    return (
      <Empty title="No clicks yet">A click on a short link appears within seconds, and is kept for 90 days.</Empty>
    );
  return (
    <>
      <PlainTable caption="Clicks" rows={data.data} getKey={({ id }) => id} columns={COLUMNS} />
      {pager(data.next_after)}
    </>
  );
}

/** Every click on a short link, counted or not. */
export function Clicks() {
  const { get } = useFilters();
  const [countries, referrers] = [useOrigins('country'), useOrigins('referrer')];
  const { from, to, filters } = usePeriod('90d');
  const [period, ...dates] = filters;
  const query: ClicksQuery = {
    link_id: get('link_id'),
    country: get('country'),
    referrer: get('referrer'),
    kind: findChoice(get('kind'), KINDS),
    device: findChoice(get('device'), DEVICES),
    utm_source: get('utm_source'),
    utm_medium: get('utm_medium'),
    utm_campaign: get('utm_campaign'),
    utm_term: get('utm_term'),
    utm_content: get('utm_content'),
    from,
    to,
  };
  return (
    <>
      <PageHead title="Clicks" hint="Clicks on your short links, kept for 90 days. Repeats and bots are not counted.">
        <IfMay needs="create_export">
          <Link to="/exports" className="button plain">
            Export
          </Link>
        </IfMay>
      </PageHead>
      <Filters
        of={[
          ...(period ? [period] : []),
          LINK_FILTER,
          KIND_FILTER,
          { name: 'country', label: 'Country', kind: 'select', options: countries },
        ]}
        more={[
          ...dates,
          DEVICE_FILTER,
          { name: 'referrer', label: 'Referrer', kind: 'select', options: referrers },
          ...UTM_FILTERS,
        ]}
      />
      <ByDay query={query} />
      <Pages key={JSON.stringify(query)} query={query} />
    </>
  );
}
