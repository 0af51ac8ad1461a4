import type { Row } from '../call/call.ts';
import { useCall, useRows } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { Filters, useFilters } from '../kit/filters.tsx';
import { day, money } from '../kit/format.ts';
import { Card, Empty, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { usePeriod } from '../kit/period.ts';
import { type Column, PlainTable, Table } from '../kit/table.tsx';
import { CreatorName } from './item-links.tsx';

type Line = Row<'list_ledger_journal'>;

const COLUMNS: readonly Column<Line>[] = [
  { head: 'Day', cell: ({ date }) => day(date) },
  {
    head: 'Text',
    cell: ({ text, creator_email }) => (
      <>
        {text}
        {creator_email && (
          <span className="second">
            <CreatorName of={{ creator_email }} />
          </span>
        )}
      </>
    ),
  },
  { head: 'Account', cell: ({ account_name }) => account_name, isWide: true },
  { head: 'Document', cell: ({ document }) => document ?? '–', isWide: true },
  {
    head: 'Debit',
    cell: ({ debit, currency }) => (debit === null ? '' : money(debit, currency)),
    isNumber: true,
  },
  {
    head: 'Credit',
    cell: ({ credit, currency }) => (credit === null ? '' : money(credit, currency)),
    isNumber: true,
  },
];

const turned = (amount: number, currency: string) => (amount === 0 ? '–' : money(amount, currency));

/** The ledger as a bookkeeper reads it: a line for each posting, and the turnover of each account. */
export function Journal() {
  const { get } = useFilters();
  const { from, to, filters } = usePeriod('month');
  const account = get('account');
  const period = { from, to };
  const turnover = useCall('list_ledger_journal', { query: { ...period, limit: 1 } });
  const accounts = turnover.data?.summary.by_account ?? [];
  const known = new Map(accounts.map((one) => [one.account, one.account_name]));
  const chosen = accounts.find((one) => one.account === account)?.account;
  const query = { ...period, ...(chosen ? { account: chosen } : {}) };
  const list = useRows('list_ledger_journal', query);
  return (
    <>
      <PageHead
        title="Journal"
        hint={`Every posting that counts from ${day(from)} to ${day(to)}, in UTC, for bookkeeping.`}
      >
        <Download id="list_ledger_journal" query={query} name="journal.csv" />
      </PageHead>
      <Filters of={[...filters, { ...{ name: 'account', label: 'Account', kind: 'select' }, options: [...known] }]} />
      <Card title="Turnover">
        {turnover.error && <Failure error={turnover.error} again={() => void turnover.refetch()} />}
        {!turnover.error && !turnover.data && <Loading rows={4} />}
        {turnover.data && accounts.length === 0 && <Empty title="Nothing was posted in this period" />}
        {accounts.length > 0 && (
          <PlainTable
            isTight
            caption="Turnover of each account"
            rows={accounts}
            keyOf={(one) => `${one.account} ${one.currency}`}
            columns={[
              { head: 'Account', cell: ({ account_name }) => account_name },
              { head: 'Debit', cell: ({ debit, currency }) => turned(debit, currency), isNumber: true },
              { head: 'Credit', cell: ({ credit, currency }) => turned(credit, currency), isNumber: true },
            ]}
          />
        )}
      </Card>
      <Table
        caption="Journal"
        list={list}
        keyOf={({ entry_id, account: of }) => `${entry_id} ${of}`}
        columns={COLUMNS}
        empty={<Empty title="Nothing was posted in this period">Choose another period.</Empty>}
      />
    </>
  );
}
