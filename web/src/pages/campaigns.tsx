import { useNavigate } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useAll, useCall, useRows } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { Filters, findChoice, stateFilter, useFilters } from '../kit/filters.tsx';
import { counted, deadline, isPastDeadline, minorMoney, money, number } from '../kit/format.ts';
import { useDialog } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Foot } from '../kit/totals.tsx';
import { FIRST_FIELDS } from './campaign-edit.tsx';
import { SINCE, spendIn } from './campaign-spend.ts';
import { CampaignLink } from './item-links.tsx';

const SORTS = listChoices('list_campaigns', 'sort');
const STATES = listChoices('list_campaigns', 'status');
type Campaign = Row<'list_campaigns'>;

/** Shows the deadline for applications, with a badge once it has passed. */
function Deadline({ of: { deadline: at, status } }: { of: Pick<Campaign, 'deadline' | 'status'> }) {
  return (
    <span className="row">
      {deadline(at)}
      {status === 'active' && isPastDeadline(at) && <span className="badge quiet">Closed</span>}
    </span>
  );
}

/** The order of campaigns that no head of a column shows. */
const ORDERS: Readonly<Record<string, string>> = { newest: 'newest first', oldest: 'oldest first' };

type SoldFigure = 'revenue' | 'commission';

/** A campaign's sales or commission: in the brand's currency, and in others. */
function amounts(of: Pick<Campaign, SoldFigure | 'by_currency'>, figure: SoldFigure, currency: string): string {
  return (
    [{ currency, amount: of[figure] }, ...of.by_currency.map((one) => ({ ...one, amount: one[figure] }))]
      .flatMap(({ currency, amount }) => (amount === null || amount === 0 ? [] : [money(amount, currency)]))
      .join(', ') || '–'
  );
}

/** What each campaign cost since it began, as on its own page, and what all of them did in a currency. */
function useSpend() {
  const { data } = useAll('get_analytics_returns', { by: 'campaign', from: SINCE });
  return {
    show: (id: string): string => {
      if (!data) return '…';
      const sums = data.flatMap((row) => (row.key === id ? [{ currency: row.currency, minor: spendIn(row) }] : []));
      const texts = sums.map(({ currency, minor }) => (minor === 0 ? null : minorMoney(minor, currency)));
      return texts.filter(Boolean).join(', ') || '–';
    },
    total: (currency: string): string | undefined => {
      const ofCampaigns = data?.filter((row) => row.key !== null && row.currency === currency).map(spendIn);
      if (!ofCampaigns?.every((minor) => minor !== null)) return undefined;
      return minorMoney(
        ofCampaigns.reduce((sum, minor) => sum + minor, 0),
        currency,
      );
    },
  };
}

export function Campaigns() {
  const { get } = useFilters();
  const sort = findChoice(get('sort'), SORTS) ?? 'newest';
  const query = { status: findChoice(get('status'), STATES), search: get('search'), sort };
  const list = useRows('list_campaigns', query);
  const totals = useCall('list_campaigns', { query: { ...query, sort: 'newest', totals: true, limit: 1 } }).data
    ?.totals;
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const spend = useSpend();
  // The figures are of all campaigns, also of those that filters leave out.
  const isFiltered = query.status !== undefined || query.search !== undefined;
  const spent = isFiltered ? undefined : spend.total(currency);
  const making = useDialog('create');
  const navigate = useNavigate();
  const columns: readonly Column<Campaign>[] = [
    {
      head: 'Campaign',
      cell: ({ id, title, compensation_label }) => (
        <>
          <CampaignLink id={id} className="link">
            {title}
          </CampaignLink>
          <span className="second">{compensation_label}</span>
        </>
      ),
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    {
      head: 'Applied',
      cell: ({ applicant_count }) => number(applicant_count),
      sort: { by: 'applications', isOn: sort === 'applications' },
      isNumber: true,
      chip: 'named',
    },
    {
      head: 'Accepted',
      cell: ({ hired_count }) => number(hired_count),
      sort: { by: 'accepted', isOn: sort === 'accepted' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Sales',
      cell: (campaign) => amounts(campaign, 'revenue', currency),
      sort: { by: 'revenue', isOn: sort === 'revenue' },
      isNumber: true,
    },
    {
      head: 'Commission',
      cell: (campaign) => amounts(campaign, 'commission', currency),
      sort: { by: 'commission', isOn: sort === 'commission' },
      isNumber: true,
      isWide: true,
    },
    { head: 'Spend', cell: ({ id }) => spend.show(id), isNumber: true, isWide: true },
    {
      head: 'Deadline',
      cell: (campaign) => (campaign.deadline === null ? '–' : <Deadline of={campaign} />),
      chip: 'named',
    },
  ];
  return (
    <>
      <PageHead title="Campaigns" hint="Work you want creators for. Each campaign has a page where creators apply.">
        <Download id="list_campaigns" query={query} name="campaigns.csv" />
        <Button needs="create_campaign" kind="primary" onPress={making.open}>
          Create a campaign
        </Button>
      </PageHead>
      <Filters of={[{ name: 'search', label: 'Name', kind: 'text' }, stateFilter(STATES)]} />
      <Table
        caption="Campaigns"
        noun="campaign"
        list={list}
        columns={columns}
        order={ORDERS[sort]}
        empty={<Empty title="No campaigns yet">Create one and send creators the link to its page.</Empty>}
        foot={
          totals ? (
            <Foot
              label="Totals of these campaigns"
              lines={totals.map((sum) => ({
                count: counted(sum.count, 'campaign'),
                sums: [
                  ['Applied', number(sum.applicant_count)],
                  ['Accepted', number(sum.hired_count)],
                  ['Sales', money(sum.revenue, sum.currency)],
                  ['Commission', money(sum.commission, sum.currency)],
                  ...(spent === undefined ? [] : ([['Spend', spent]] as const)),
                ],
              }))}
              note={`All time: paid orders by these campaigns’ links and codes, less refunds. Spend: fees, commissions, gifts and fixed costs. Amounts in ${currency}.`}
            />
          ) : null
        }
      />
      <OperationDialog
        operation="create_campaign"
        title="Create a campaign"
        isOpen={making.isOpen}
        onClose={making.close}
        action="Save draft"
        actions={[['status', 'Publish', 'active']]}
        fields={['name', ...FIRST_FIELDS]}
        fixed={({ status }) => ({ status: status === 'active' ? ('active' as const) : ('draft' as const) })}
        omits={['terms']}
        shown={['list_campaigns']}
        onDone={({ data }) => navigate({ to: '/campaigns/$id', params: { id: data.id }, search: {} })}
      />
    </>
  );
}
