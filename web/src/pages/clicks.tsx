import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Query, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { useCursor } from '../kit/cursor.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { type Filter, Filters, findChoice, LINK_FILTER, useFilters } from '../kit/filters.tsx';
import { brandZone, countryName, day, money, number, time, timeOfDay, today, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, breakable, Card, Empty, Facts, Failure, Loading, oneLine, PageHead } from '../kit/parts.tsx';
import { usePeriod } from '../kit/period.ts';
import { siteName, siteTitle } from '../kit/platforms.ts';
import { Strip } from '../kit/strip.tsx';
import { type Column, PlainTable } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';
import { useIsPhone } from '../kit/wide.ts';
import { ClickRanks } from './click-ranks.tsx';
import { CreatorName } from './item-links.tsx';

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
  const labels = new Map(
    rows.flatMap(({ key, label }) =>
      key === null ? [] : [[key, by === 'referrer' ? siteTitle(key) : (label ?? key)]],
    ),
  );
  return [...labels];
}

function useLink(id: string) {
  const { data } = useCall('get_affiliate_link', { params: { id } });
  return data?.data.id === id ? data.data : undefined;
}

/** The link that was clicked, and whose it is. It opens the click. */
function LinkName({ of: click, onOpen }: { of: Click; onOpen: () => void }) {
  const link = useLink(click.link_id);
  const name = link?.value ?? click.link_id;
  return (
    <>
      <button type="button" onClick={onOpen} {...oneLine(name, 'link')}>
        {name}
      </button>
      {link && <span className="second">{link.creator_name ?? link.creator_email}</span>}
      <span className="narrow">
        <span className="second">{visitText(click)}</span>
        <NotCounted kind={click.kind} /> {click.has_order && <Won />}
      </span>
    </>
  );
}

const referrerName = ({ referrer }: Click) => (referrer === null ? null : siteName(referrer));

/** A bot is named as the kind of its click. */
const deviceName = ({ device, kind }: Click) => device !== null && kind !== device && words(device);

/** The visitor in a line, such as “United States · Mobile · TikTok”. */
const visitText = (click: Click) =>
  [click.country && countryName(click.country), deviceName(click), referrerName(click)].filter(Boolean).join(' · ');

/** What the visitor's short link was marked with. */
const marksText = (click: Click) => UTM.flatMap((name) => click[name] ?? []).join(' · ');

/** Why a click is in no figure. */
const NotCounted = ({ kind }: Pick<Click, 'kind'>) => kind !== 'counted' && <Badge state={KIND_LABELS[kind]} />;

/** Marks a click that won an order, which its panel names. */
const Won = () => <span className="badge good">Order</span>;

/** Columns that no row fills are left out. */
const buildColumns = (rows: readonly Click[], open: (id: string) => void): Column<Click>[] => [
  { head: 'Link', cell: (click) => <LinkName of={click} onOpen={() => open(click.id)} /> },
  {
    head: 'Clicked',
    cell: ({ at }) => (
      <time dateTime={at} title={time(at)}>
        {timeOfDay(at)}
      </time>
    ),
  },
  { head: 'Country', cell: ({ country }) => countryName(country), isWide: true },
  { head: 'Device', cell: (click) => deviceName(click) || '–', isWide: true },
  { head: 'Referrer', cell: (click) => referrerName(click) ?? '–', isWide: true },
  ...(rows.some((click) => marksText(click) !== '')
    ? [{ head: 'UTM', cell: (click: Click) => marksText(click) || '–', isWide: true }]
    : []),
  ...(rows.some(({ has_order }) => has_order)
    ? [{ head: 'Order', cell: ({ has_order }: Click) => has_order && <Won />, isWide: true }]
    : []),
  ...(rows.some(({ kind }) => kind !== 'counted') ? [{ head: 'Not counted', cell: NotCounted, isWide: true }] : []),
];

/** The order that a click won; orders that it did not win name another click, or a code. */
function WonOrder({ id }: { id: string }) {
  const { data, error } = useCall('list_affiliate_commissions', { query: { click_id: id, limit: 1 } });
  if (error) return 'Unknown';
  if (!data) return '…';
  const [won] = data.data;
  if (!won?.order_id) return 'None';
  return (
    <>
      <Link to="/orders" search={{ open: won.order_id }}>
        {won.order_number ?? won.order_id}
      </Link>
      , {money(won.amount, won.currency)}
    </>
  );
}

/** One click, over the list: whose link it was, where it led and what it won, then the visitor. */
function ClickPanel({ of: click, onClose }: { of: Click | undefined; onClose: () => void }) {
  const link = useLink(click?.link_id ?? '');
  return (
    <Dialog title={link ? `Click on ${link.value}` : 'Click'} isOpen={click !== undefined} onClose={onClose} isSide>
      {click && (
        <Facts
          of={[
            ['Creator', link && <CreatorName of={link} />],
            [
              'Link',
              <Link key="link" to="/links" search={{ open: click.link_id }}>
                {link?.value ?? click.link_id}
              </Link>,
            ],
            [
              'Leads to',
              link?.destination_url && (
                <a href={link.destination_url} target="_blank" rel="noreferrer">
                  {breakable(link.destination_url)}
                </a>
              ),
            ],
            ['Order won', <WonOrder key="order" id={click.id} />],
            ['Clicked', <Time key="at" at={click.at} />],
            ['Counted', click.kind === 'counted' ? 'Yes' : `No: ${KIND_LABELS[click.kind].toLowerCase()}`],
            ['Referrer', click.referrer !== null && siteTitle(click.referrer)],
            ['Country', countryName(click.country)],
            ['Device', deviceName(click)],
            ...UTM.map((name) => [words(name), click[name]] as const),
          ]}
        />
      )}
    </Dialog>
  );
}

/** Clicks a day: the counted ones, or those of the chosen kind. A phone has a low chart, so that the list is near. */
function ByDay({ query: { link_id: link, kind = 'counted', from = '', to = '', ...only } }: { query: ClicksQuery }) {
  const { data, error, refetch } = useCall('get_analytics', {
    query: { ...only, link, click_kind: kind, from, to, granularity: 'day' },
  });
  const isPhone = useIsPhone();
  const label = kind === 'counted' ? 'Counted clicks' : `Clicks, ${KIND_LABELS[kind].toLowerCase()}`;
  return (
    <Card title={data ? `${label}: ${number(data.summary.total_clicks)}` : label}>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!error && !data && <Loading rows={isPhone ? 2 : 6} />}
      {data && isPhone && (
        <Strip
          label={label}
          days={data.trends.map(({ date }) => date)}
          series={[{ name: label, tone: 'quiet', values: data.trends.map(({ clicks }) => clicks) }]}
          zone={brandZone()}
        />
      )}
      {data && !isPhone && (
        <Suspense fallback={<Loading rows={6} />}>
          <Chart
            label={label}
            points={data.trends.map(({ date, clicks }) => ({ date, value: clicks }))}
            show={number}
            within={{ from, to }}
          />
        </Suspense>
      )}
    </Card>
  );
}

/** The same clicks in a breakdown. */
const toBreakdownQuery = ({ link_id: link, kind = 'counted', ...only }: ClicksQuery) => ({
  ...only,
  link,
  click_kind: kind,
});

/** Newest first, page by page. */
function Pages({ query }: { query: ClicksQuery }) {
  const { after, pager } = useCursor();
  const panel = useOpened();
  const { data, error, refetch } = useCall('list_clicks', { query: { ...query, after, limit: PAGE } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={8} />;
  if (data.data.length === 0 && after === undefined)
    return (
      <Empty title="No clicks yet">A click on a short link appears within seconds, and is kept for 90 days.</Empty>
    );
  const opened = data.data.find(({ id }) => id === panel.id);
  return (
    <>
      <PlainTable
        caption="Clicks"
        rows={data.data}
        getKey={({ id }) => id}
        columns={buildColumns(data.data, panel.open)}
        heading={({ at }) => day(at)}
      />
      {pager(data.next_after)}
      <ClickPanel of={opened} onClose={panel.close} />
    </>
  );
}

/** Every click on a short link, counted or not. */
export function Clicks() {
  const { get } = useFilters();
  const [countries, referrers] = [useOrigins('country'), useOrigins('referrer')];
  const { from, to, filters } = usePeriod('90d');
  const downloading = useDialog('create');
  const navigate = useNavigate();
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
        <Button needs="create_export" onPress={downloading.open}>
          Download CSV
        </Button>
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
      <OperationDialog
        operation="create_export"
        title="Download clicks"
        hint="All clicks of these days, whatever else the page filters. The file is made in the background."
        isOpen={downloading.isOpen}
        onClose={downloading.close}
        action="Make the file"
        start={{ from, to }}
        fields={['from', 'to']}
        omits={['of', 'by', 'format', 'schedule', 'destination', 'time_zone']}
        fixed={{ of: 'clicks', by: 'date', format: 'csv' }}
        shown={['list_jobs']}
        onDone={() => navigate({ to: '/exports', search: {} })}
      />
      <ByDay query={query} />
      <ClickRanks query={toBreakdownQuery(query)} />
      <Pages key={JSON.stringify(query)} query={query} />
    </>
  );
}
