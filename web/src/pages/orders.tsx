import { Link } from '@tanstack/react-router';
import type { Query, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useRows } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, type Filter, Filters, findChoice, LINK_FILTER, useFilters } from '../kit/filters.tsx';
import { day, money, shortDay, words } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { orderSecond } from '../kit/order-name.ts';
import { Badge, Empty, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Totals } from '../kit/totals.tsx';
import { ORDER_NOT_PAID } from './commission-standing.tsx';
import { ExplainDialog, KIND_WORDS } from './explain.tsx';
import { CreatorName } from './item-links.tsx';

type Order = Row<'list_orders'>;

const REASON: Readonly<Record<NonNullable<Order['reason']>, string>> = {
  no_candidates: 'No code or click',
  no_candidate_qualified: 'No code or click qualified',
  test_order: 'Test order',
  history: 'Past order',
};
const SORTS = listChoices('list_orders', 'sort');
const REASONS = listChoices('list_orders', 'reason');
const FLAGS = listChoices('list_orders', 'flag');
const KINDS = listChoices('list_orders', 'kind');

const FILTERS: readonly Filter[] = [
  {
    name: 'attributed',
    label: 'Paid a creator',
    kind: 'select',
    options: [
      ['true', 'Yes'],
      ['false', 'No'],
    ],
  },
  {
    name: 'customer',
    label: 'Customer',
    kind: 'select',
    options: [
      ['new', 'New'],
      ['returning', 'Returning'],
    ],
  },
  CREATOR_FILTER,
  { name: 'order_id', label: 'Order', kind: 'text' },
];

const MORE: readonly Filter[] = [
  LINK_FILTER,
  { name: 'customer_id', label: 'Customer ID', kind: 'text' },
  {
    name: 'reason',
    label: 'Reason for no commission',
    kind: 'select',
    options: REASONS.map((reason) => [reason, REASON[reason]]),
  },
  { name: 'kind', label: 'Kind', kind: 'select', options: KINDS.map((kind) => [kind, KIND_WORDS[kind]]) },
  { name: 'flag', label: 'Fraud flag', kind: 'select', options: FLAGS.map((flag) => [flag, words(flag)]) },
  { name: 'min_amount', label: 'Amount from', kind: 'number' },
  { name: 'currency', label: 'Currency', kind: 'text' },
  { name: 'from', label: 'From', kind: 'date' },
  { name: 'to', label: 'To', kind: 'date' },
];

/** The order's filters in the address. A least amount is in the brand's currency unless another is chosen. */
function useOrderQuery(): Query<'list_orders'> {
  const { get } = useFilters();
  const own = useCall('get_session').data?.data.brand.currency;
  const attributedChoice = findChoice(get('attributed'), ['true', 'false']);
  const least = Number(get('min_amount') ?? '');
  const currency = get('currency')?.toUpperCase();
  return {
    sort: findChoice(get('sort'), SORTS) ?? 'newest',
    creator_email: get('creator_email'),
    order_id: get('order_id'),
    link_id: get('link_id'),
    customer_id: get('customer_id'),
    customer: findChoice(get('customer'), ['new', 'returning']),
    from: get('from'),
    to: get('to'),
    integration_id: get('integration_id'),
    reason: findChoice(get('reason'), REASONS),
    kind: findChoice(get('kind'), KINDS),
    flag: findChoice(get('flag'), FLAGS),
    attributed: attributedChoice === undefined ? undefined : attributedChoice === 'true',
    ...(least > 0 ? { min_amount: least, currency: currency ?? own } : { currency }),
  };
}

/** The status of an order's commission, in the words of its panel. */
const commissionStatus = ({ status, paid_at }: Order) =>
  status === 'pending' && paid_at === null ? ORDER_NOT_PAID : status && words(status);

/** Every order that stores reported. One that is opened explains whom it paid, and why. */
export function Orders() {
  const panel = useOpened();
  const query = useOrderQuery();
  const list = useRows('list_orders', query);
  const totals = useCall('list_orders', { query: { ...query, sort: 'newest', totals: true, limit: 1 } });
  const stores = useCall('list_affiliate_stores', { query: { limit: 100 } });
  const names = new Map(stores.data?.data.map(({ id, name }) => [id, name]));
  const columns: readonly Column<Order>[] = [
    {
      head: 'Order',
      cell: ({ id, order_id, order_number, source, integration_id, kind, commission, currency, ...order }) => (
        <>
          <button type="button" className="link order-id" onClick={() => panel.open(id)}>
            {order_number ?? order_id}
          </button>
          <span className="second">
            {[
              orderSecond({ order_id, order_number }),
              kind !== 'once' && KIND_WORDS[kind],
              names.size > 1 && (names.get(integration_id) ?? words(source)),
            ]
              .filter(Boolean)
              .join(', ')}
          </span>
          <div className="narrow">
            <span className="second">
              {order.creator_email !== null && (
                <>
                  <CreatorName of={order} />,{' '}
                </>
              )}
              {shortDay(order.occurred_at)}
            </span>
            {commission !== null && commission > 0 && (
              <span className="second">{money(commission, currency)} commission</span>
            )}
          </div>
        </>
      ),
    },
    {
      head: 'Creator',
      cell: ({ reason, ...creator }) =>
        reason === null ? <CreatorName of={creator} /> : <span className="muted">{REASON[reason]}</span>,
      isWide: true,
    },
    { head: 'Customer', cell: ({ customer }) => (customer === null ? '–' : words(customer)), isWide: true },
    {
      head: 'Amount',
      isNumber: true,
      sort: { by: 'amount', isOn: query.sort === 'amount' },
      cell: ({ amount, currency }) => money(amount, currency),
    },
    {
      head: 'Commission',
      sort: { by: 'commission', isOn: query.sort === 'commission' },
      cell: (order) => (
        <>
          {money(order.commission, order.currency)}
          <span className="second">{commissionStatus(order)}</span>
        </>
      ),
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Order status',
      cell: ({ paid_at, cancelled_at, fraud_flags }) => (
        <>
          <Badge state={cancelled_at ? 'cancelled' : paid_at ? 'paid' : 'unpaid'} />
          {fraud_flags.length > 0 && (
            <span className="second">{fraud_flags.map(({ code }) => words(code)).join(', ')}</span>
          )}
        </>
      ),
    },
    { head: 'Ordered', cell: ({ occurred_at }) => day(occurred_at), isWide: true, isOrder: true },
  ];
  return (
    <>
      <PageHead title="Orders" hint="Orders from your stores. Open one to see who was paid, and why.">
        <Download id="list_orders" query={query} name="orders.csv" />
        <IfMay needs="create_import">
          <Link className="button" to="/imports/new" search={{ of: 'orders' }}>
            Import past orders
          </Link>
        </IfMay>
      </PageHead>
      <Filters
        of={FILTERS}
        more={[
          {
            name: 'integration_id',
            label: 'Store',
            kind: 'select',
            options: (stores.data?.data ?? []).map(({ id, name }) => [id, name]),
          },
          ...MORE,
        ]}
      />
      <Table
        caption="Orders"
        noun="order"
        list={list}
        columns={columns}
        empty={<Empty title="No orders yet">They appear when a store reports them.</Empty>}
        foot={
          <Totals
            label="Totals of these orders"
            noun="order"
            of={totals.data?.totals}
            sums={[
              ['amount', 'Amount'],
              ['commission', 'Commission'],
            ]}
            note="All orders, before refunds. Analytics counts only paid orders credited to creators, after refunds."
          />
        }
      />
      <ExplainDialog order={panel.id} onClose={panel.close} />
    </>
  );
}
