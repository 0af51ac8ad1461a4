import { Link } from '@tanstack/react-router';
import type { Query, Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { useCursor } from '../kit/cursor.tsx';
import { everyOf } from '../kit/every.ts';
import { choiceOf, type Filter, Filters, LINK_FILTER, useFilters } from '../kit/filters.tsx';
import { countryName, words } from '../kit/format.ts';
import { Badge, Empty, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, PlainTable } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { DAY_MS, dayOf } from '../kit/utc-day.ts';
import { siteName } from './platforms.ts';

type Click = Row<'list_clicks'>;
type ClicksQuery = Query<'list_clicks'>;

const KINDS = everyOf<Click['kind']>()(['counted', 'repeat', 'bot', 'prefetch', 'head']);
const KIND_LABELS: Readonly<Record<Click['kind'], string>> = {
  counted: 'Counted',
  repeat: 'Repeat',
  bot: 'Bot',
  prefetch: 'Prefetch',
  head: 'Headers only',
};
const DEVICES = everyOf<NonNullable<ClicksQuery['device']>>()(['mobile', 'tablet', 'desktop', 'bot']);
const PAGE = 50;
const KEPT_DAYS = 90;

const KIND_FILTER: Filter = {
  ...{ name: 'kind', label: 'Kind', kind: 'select' },
  options: KINDS.map((kind) => [kind, KIND_LABELS[kind]]),
};
const DEVICE_FILTER: Filter = {
  ...{ name: 'device', label: 'Device', kind: 'select' },
  options: DEVICES.map((device) => [device, words(device)]),
};

/** Where clicks came from that were counted while they are kept, most first. */
function useOrigins(by: 'country' | 'referrer'): readonly (readonly [value: string, label: string])[] {
  const from = dayOf(Date.now() - (KEPT_DAYS - 1) * DAY_MS);
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
      <Link to="/links" search={{ open: id }}>
        {link?.value ?? id}
      </Link>
      {link && <span className="second">{link.creator_name ?? link.creator_email}</span>}
    </>
  );
}

const COLUMNS: readonly Column<Click>[] = [
  { head: 'Link', cell: ({ link_id }) => <LinkName id={link_id} /> },
  { head: 'Clicked', cell: ({ at }) => <Time at={at} /> },
  { head: 'Country', cell: ({ country }) => countryName(country), isWide: true },
  { head: 'Device', cell: ({ device }) => words(device), isWide: true },
  { head: 'Referrer', cell: ({ referrer }) => (referrer === null ? '–' : siteName(referrer)), isWide: true },
  {
    head: 'Kind',
    cell: ({ kind }) =>
      kind === 'counted' ? <span className="muted">{KIND_LABELS[kind]}</span> : <Badge state={KIND_LABELS[kind]} />,
    isWide: true,
  },
];

/** Newest first, page by page. */
function Pages({ query }: { query: ClicksQuery }) {
  const { after, pager } = useCursor();
  const { data, error, refetch } = useCall('list_clicks', { query: { ...query, after, limit: PAGE } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={8} />;
  if (data.data.length === 0 && after === undefined)
    return (
      <Empty title="No clicks here">A click on a short link appears within seconds, and is kept for 90 days.</Empty>
    );
  return (
    <>
      <PlainTable caption="Clicks" rows={data.data} keyOf={({ id }) => id} columns={COLUMNS} />
      {pager(data.next_after)}
    </>
  );
}

/** Every click on a short link, counted or not. */
export function Clicks() {
  const { get } = useFilters();
  const [countries, referrers] = [useOrigins('country'), useOrigins('referrer')];
  const query: ClicksQuery = {
    ...{ link_id: get('link_id'), country: get('country'), referrer: get('referrer') },
    ...{ kind: choiceOf(get('kind'), KINDS), device: choiceOf(get('device'), DEVICES) },
    ...{ from: get('from'), to: get('to') },
  };
  return (
    <>
      <PageHead
        title="Clicks"
        hint="Every click on a short link in the last 90 days. Figures count those that are marked as counted."
      />
      <Filters
        of={[
          LINK_FILTER,
          KIND_FILTER,
          { name: 'country', label: 'Country', kind: 'select', options: countries },
          { name: 'from', label: 'From', kind: 'date' },
          { name: 'to', label: 'To', kind: 'date' },
        ]}
        more={[DEVICE_FILTER, { name: 'referrer', label: 'Referrer', kind: 'select', options: referrers }]}
      />
      <Pages key={JSON.stringify(query)} query={query} />
    </>
  );
}
