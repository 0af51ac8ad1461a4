import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CAMPAIGN_FILTER, CREATOR_FILTER, Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { counted, day, money, number, percent } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Badge, Button, Copy, Empty } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { Foot } from '../kit/totals.tsx';
import { useIsPhone } from '../kit/wide.ts';
import { CreatorName } from './item-links.tsx';
import { BulkDialog } from './link-bulk.tsx';
import { CreateLink, TYPES } from './link-create.tsx';
import { LinkPanel } from './link-edit.tsx';
import { LeakedCodes } from './link-leaks.tsx';
import { FiguresHead } from './report-open.tsx';

const SORTS = listChoices('list_affiliate_links', 'sort');
type LinkRow = Row<'list_affiliate_links'>;

/** A link's end, which is what tells it from others. */
function toPath({ url, discount_percent: discount }: LinkRow): string {
  if (url === null) return discount === null ? 'Discount code' : `Discount code, ${percent(discount)} off`;
  return URL.canParse(url) ? new URL(url).pathname : url;
}

/** A phone has no columns for the creator, the rate and what is off. */
const toCreator = ({ creator_name, creator_email, commission_rate: rate, active }: LinkRow): string =>
  [creator_name ?? creator_email, percent(rate), !active && 'off'].filter(Boolean).join(', ');

const NOUN = ['link or code', 'links and codes'] as const;

/** Sums in the brand's currency, and below those in others. */
function LinkTotals({ of: { summary, pagination } }: { of: Answer<'list_affiliates'> }) {
  const own = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const others = summary.by_currency.map((one) => ({ count: one.currency, currency: one.currency, of: one }));
  const lines = [{ count: counted(pagination.total, NOUN), currency: own, of: summary }, ...others];
  return (
    <Foot
      label="Totals of these links and codes"
      lines={lines.map(({ count, currency, of }) => ({
        count,
        sums: [
          ['Clicks', number(of.total_clicks)],
          ['Orders', number(of.total_conversions)],
          ['Sales', money(of.total_revenue, currency)],
          ['Commission', money(of.total_commissions, currency)],
        ],
      }))}
      note="Since each link or code was created; sales of paid orders, less refunds. Analytics counts one period."
    />
  );
}

export function Links() {
  const { get } = useFilters();
  const isActive = get('active');
  const sort = findChoice(get('sort'), SORTS) ?? 'newest';
  const query = {
    creator_email: get('creator_email'),
    campaign_id: get('campaign_id'),
    search: get('search'),
    type: findChoice(get('type'), TYPES),
    sort,
    ...(isActive === undefined ? {} : { active: isActive === 'true' }),
  };
  const list = useRows('list_affiliate_links', query);
  const totals = useCall('list_affiliates', { query: { ...query, sort: 'newest', limit: 1 } }).data;
  const update = useChange('update_affiliate_link', ['list_affiliate_links', 'get_affiliate_link']);
  const panel = useOpened();
  const bulk = useDialog('bulk');
  const making = useDialog('create');
  const say = useSay();
  const isPhone = useIsPhone();
  const turnOn = (id: string) =>
    update.mutate({ params: { id }, body: { active: true } }, { onError: ({ message }) => say(message) });
  const renderActions = ({ id, active, url, value }: LinkRow) => (
    <div className="row">
      <Copy text={url ?? value} label={`Copy ${url ? `the address of ${value}` : value}`} />
      <Menu label={`More actions for ${value}`} needs="update_affiliate_link">
        <Button onPress={() => panel.open(id)}>Edit</Button>
        {active ? (
          <Confirm
            label="Turn off"
            title={`Turn ${value} off?`}
            action="Turn off"
            onConfirm={() => update.mutateAsync({ params: { id }, body: { active: false } })}
          >
            <p>New orders are not attributed to it. Existing commissions stay.</p>
          </Confirm>
        ) : (
          <Button onPress={() => turnOn(id)} label={`Turn ${value} on`}>
            Turn on
          </Button>
        )}
      </Menu>
    </div>
  );
  const columns: readonly Column<LinkRow>[] = [
    {
      head: 'Link or code',
      cell: (link) => (
        <Opener onOpen={() => panel.open(link.id)} second={isPhone ? toCreator(link) : toPath(link)}>
          {link.value}
        </Opener>
      ),
    },
    { head: 'Creator', cell: (link) => <CreatorName of={link} />, isWide: true },
    {
      head: 'Clicks',
      cell: ({ clicks, url }) => (url === null ? '–' : number(clicks)),
      sort: { by: 'clicks', isOn: sort === 'clicks' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Orders',
      cell: ({ conversions }) => number(conversions),
      sort: { by: 'conversions', isOn: sort === 'conversions' },
      isNumber: true,
    },
    {
      head: 'Sales',
      cell: ({ revenue, currency }) => money(revenue, currency),
      sort: { by: 'revenue', isOn: sort === 'revenue' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Commission',
      cell: ({ commission, effective_terms: terms, currency }) => (
        <>
          {money(commission, currency)}
          <span className="second">
            {terms.rate.percent === undefined ? 'by its terms' : `${percent(terms.rate.percent)} of sales`}
          </span>
        </>
      ),
      isNumber: true,
      isWide: true,
    },
    { head: 'Status', cell: ({ active }) => <Badge state={active ? 'active' : 'off'} />, isWide: true },
    { head: 'Created', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
    { head: 'Actions', needs: 'update_affiliate_link', cell: renderActions },
  ];
  return (
    <>
      <FiguresHead title="Links and codes" hint="What creators share. Orders made through them earn a commission.">
        <Download id="list_affiliate_links" query={query} name="links.csv" />
        <Button needs="bulk_create_affiliate_codes" onPress={bulk.open}>
          Create for all creators
        </Button>
        <Button needs="create_affiliate_link" kind="primary" onPress={making.open}>
          New link or code
        </Button>
      </FiguresHead>
      <Filters
        of={[
          { name: 'search', label: 'Name or code', kind: 'text' },
          CREATOR_FILTER,
          CAMPAIGN_FILTER,
          {
            name: 'type',
            label: 'Type',
            kind: 'select',
            options: [
              ['link', 'Short links'],
              ['discount_code', 'Discount codes'],
            ],
          },
          {
            name: 'active',
            label: 'Status',
            kind: 'select',
            options: [
              ['true', 'Active'],
              ['false', 'Off'],
            ],
          },
        ]}
      />
      <Table
        caption="Links and codes"
        noun={NOUN}
        list={list}
        columns={columns}
        empty={<Empty title="No links yet">Create one for a creator on your roster.</Empty>}
        foot={totals ? <LinkTotals of={totals} /> : null}
      />
      <LeakedCodes />
      <CreateLink
        creator={get('creator_email')}
        campaign={get('campaign_id')}
        isOpen={making.isOpen}
        onClose={making.close}
        onMade={panel.open}
      />
      <LinkPanel id={panel.id} onClose={panel.close} />
      <BulkDialog isOpen={bulk.isOpen} onClose={bulk.close} />
    </>
  );
}
