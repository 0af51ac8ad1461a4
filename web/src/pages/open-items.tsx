import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { useCall, useRows } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { day, money, today } from '../kit/format.ts';
import { Empty, Failure, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { CreatorName } from './item-links.tsx';

type Item = Row<'list_open_items'>;

const TYPES: Readonly<Record<Item['type'], string>> = {
  pending: 'Pending',
  approved: 'Approved',
  unallocated: 'Paid in advance',
  owed_back: 'To be deducted for refunds',
};

const COLUMNS: readonly Column<Item>[] = [
  {
    head: 'Item',
    cell: (item) => (
      <>
        {item.order_id === null ? (
          TYPES[item.type]
        ) : (
          <Link to="/orders" search={{ open: item.order_id }}>
            {item.order_number ?? item.order_id}
          </Link>
        )}
        {item.order_id !== null && <span className="second">{TYPES[item.type]}</span>}
        <div className="narrow">
          <span className="second">
            <CreatorName of={item} />
          </span>
        </div>
      </>
    ),
  },
  { head: 'Creator', cell: (item) => <CreatorName of={item} />, isWide: true },
  { head: 'Since', cell: ({ since }) => day(since), isWide: true },
  { head: 'Amount', cell: ({ amount, currency }) => money(amount, currency), isNumber: true },
];

type OpenItemsQuery = Readonly<Record<'as_of' | 'creator_email', string | undefined>>;

function Sums({ query }: { query: OpenItemsQuery }) {
  const { data, error, refetch } = useCall('list_open_items', { query: { ...query, limit: 1 } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  return (
    <Stats isBrief>
      {data?.summary.by_currency.map(({ currency, total, approved, pending, unallocated, owed_back }) => (
        <Stat
          key={currency}
          label={`Owed in ${currency}`}
          value={money(total, currency)}
          note={[
            `${money(approved, currency)} approved`,
            `${money(pending, currency)} pending`,
            unallocated < 0 && `less ${money(-unallocated, currency)} paid in advance`,
            owed_back < 0 && `less ${money(-owed_back, currency)} to be deducted for refunds`,
            owed_back > 0 && `plus ${money(owed_back, currency)} deducted too much for refunds`,
          ]
            .filter(Boolean)
            .join(', ')}
          why="Pending commissions are included, which “Due now” on Payouts leaves out. Commissions of unpaid orders are in neither."
        />
      ))}
      {data?.summary.by_currency.length === 0 && <Stat label="Owed" value="Nothing" />}
      {!data && <Stat label="Owed" value="–" note="Reading the ledger" />}
    </Stats>
  );
}

/** The debts to creators at the end of a day, item by item. */
export function OpenItems() {
  const { get } = useFilters();
  const query = { as_of: get('as_of'), creator_email: get('creator_email') };
  const list = useRows('list_open_items', query);
  const isNow = query.as_of === undefined || query.as_of >= today();
  return (
    <>
      <PageHead
        title="Balances"
        hint={`What you ${isNow ? 'owe creators now' : `owed creators at the end of ${day(query.as_of)}`}, read from the ledger.`}
        hasPeriod
      >
        <Download id="list_open_items" query={query} name={`open-items-${query.as_of ?? today()}.csv`} />
        <Link to="/payouts" search={{}} className="button plain">
          Payouts
        </Link>
      </PageHead>
      <Filters of={[{ name: 'as_of', label: 'At the end of', kind: 'date' }, CREATOR_FILTER]} />
      <Sums query={query} />
      <Table
        caption="Balances"
        noun="open item"
        list={list}
        columns={COLUMNS}
        getKey={(item) => [item.type, item.commission_id ?? item.payout_id ?? item.creator_id, item.currency].join(' ')}
        empty={<Empty title="Nothing was owed that day" />}
      />
    </>
  );
}
