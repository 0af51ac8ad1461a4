import { useState } from 'react';
import type { Answer, Row } from '../call/call.ts';
import { useCall, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { Filters, useFilters } from '../kit/filters.tsx';
import { brandZone, day, money, month, today } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Button, Empty, Facts, Failure, Loading, oneLine, PageHead } from '../kit/parts.tsx';
import { usePeriod } from '../kit/period.ts';
import { type Column, PlainTable, Table } from '../kit/table.tsx';
import { toUtcDay } from '../kit/utc-day.ts';
import { useIsWide } from '../kit/wide.ts';
import { ExplainDialog } from './explain.tsx';
import { CreatorName } from './item-links.tsx';
import { PayoutDialog } from './payout-statement.tsx';

type JournalLine = Row<'list_ledger_journal'>;
type Turnover = Answer<'list_ledger_journal'>['summary']['by_account'][number];

/** The number by which people know the document. */
const documentName = ({ document, order_number }: JournalLine) => order_number ?? document;

/** A booking's text without the order at its end, which stands beside it. */
function shortText(line: JournalLine): string {
  const end = `, order ${line.order_number ?? line.order_id}`;
  return line.text.endsWith(end) ? line.text.slice(0, -end.length) : line.text;
}

/** The first line of an entry names it, and opens it; the others are below it. */
const buildColumns = (
  open: (entry: string) => void,
  isFirst: (line: JournalLine) => boolean,
  isFirstOfDay: (line: JournalLine) => boolean,
): readonly Column<JournalLine>[] => [
  {
    head: 'Day',
    cell: (line) => isFirstOfDay(line) && <span className="strong unbroken">{day(line.date)}</span>,
    isWide: true,
  },
  {
    head: 'Entry',
    cell: (line) => (
      <>
        {isFirst(line) ? (
          <div className={isFirstOfDay(line) ? 'entry-head day-head' : 'entry-head'}>
            {isFirstOfDay(line) && <p className="narrow strong">{day(line.date)}</p>}
            <button type="button" className="link described" aria-label={line.text} onClick={() => open(line.entry_id)}>
              {shortText(line)}
            </button>
            <div className="narrow">
              <span className="second">
                {documentName(line)}
                {documentName(line) !== null && line.creator_email && ', '}
                {line.creator_email && <CreatorName of={{ creator_email: line.creator_email }} />}
              </span>
            </div>
          </div>
        ) : (
          <span className="continues" />
        )}
        <div className="narrow">{line.account_name}</div>
      </>
    ),
  },
  {
    head: 'Document',
    cell: (line) => isFirst(line) && <span {...oneLine(documentName(line), 'document')}>{documentName(line)}</span>,
    isWide: true,
  },
  {
    head: 'Creator',
    cell: (line) => isFirst(line) && line.creator_email && <CreatorName of={{ creator_email: line.creator_email }} />,
    isWide: true,
  },
  { head: 'Account', cell: ({ account_name }) => account_name, isWide: true },
];

const SIDES: readonly Column<JournalLine>[] = [
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

/** Replaces the columns of debits and credits on a narrow screen. */
const AMOUNT: Column<JournalLine> = {
  head: 'Amount',
  isNumber: true,
  cell: ({ debit, credit, currency }) => `${money(debit ?? credit, currency)} ${debit === null ? 'Cr' : 'Dr'}`,
};

/** All lines of an entry, and what it is about. */
function EntryDialog({ of: lines, onClose, onOpen }: EntryProps) {
  const [first] = lines;
  const opened = first?.payout_id ?? first?.order_id ?? null;
  return (
    <Dialog title={first?.text ?? 'Entry'} isOpen={first !== undefined} onClose={onClose} isSide>
      {first && (
        <>
          <Facts
            of={[
              ['Day', day(first.date)],
              ['Document', first.document],
              ['Creator', first.creator_email && <CreatorName key="creator" of={first} />],
              ['Entry', <code key="entry">{first.entry_id}</code>],
            ]}
          />
          <PlainTable
            caption="Lines of the entry"
            rows={lines}
            getKey={({ account }) => account}
            columns={[{ head: 'Account', cell: ({ account_name }) => account_name }, ...SIDES]}
          />
          {opened !== null && (
            <div className="row">
              <Button onPress={() => onOpen(opened)}>
                {first.payout_id === null ? 'Open the order' : 'Open the payout'}
              </Button>
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}

interface EntryProps {
  /** None if no entry is open. */
  of: readonly JournalLine[];
  onClose: () => void;
  /** Opens the entry's payout or order. */
  onOpen: (id: string) => void;
}

const formatAmount = (amount: number, currency: string) => (amount === 0 ? '–' : money(amount, currency));

/** The sum of a column in each currency. Debit and credit come to the same. */
const totalText = (accounts: readonly Turnover[], side: 'debit' | 'credit') =>
  [...Map.groupBy(accounts, ({ currency }) => currency)]
    .map(([currency, its]) =>
      money(
        its.reduce((sum, one) => sum + one[side], 0),
        currency,
      ),
    )
    .join(' + ');

const OPEN_KEY = 'journal turnover';

/** The turnover of each account: folded, so that the entries are in sight, or as this person left it. */
function AccountTurnover({ of: accounts }: { of: readonly Turnover[] }) {
  const [isOpen, setOpen] = useState(() => localStorage.getItem(OPEN_KEY) === 'open');
  const keep = (next: boolean) => {
    localStorage.setItem(OPEN_KEY, next ? 'open' : 'closed');
    setOpen(next);
  };
  const [debit, credit] = [totalText(accounts, 'debit'), totalText(accounts, 'credit')];
  return (
    <details className="card turnover" open={isOpen} onToggle={({ currentTarget }) => keep(currentTarget.open)}>
      <summary>
        <h2>Turnover</h2>
        {!isOpen && (
          <span className="muted">
            Debit {debit}, credit {credit}
          </span>
        )}
      </summary>
      <PlainTable
        caption="Turnover of each account"
        rows={accounts}
        getKey={(one) => `${one.account} ${one.currency}`}
        foot={['Total', debit, credit]}
        columns={[
          { head: 'Account', cell: ({ account_name }) => account_name },
          { head: 'Debit', cell: (one) => formatAmount(one.debit, one.currency), isNumber: true },
          { head: 'Credit', cell: (one) => formatAmount(one.credit, one.currency), isNumber: true },
        ]}
      />
    </details>
  );
}

/** Until this day of a month, the books of the last one are what is looked at. */
const EARLY = 5;

/** Leads to the month before the period. */
function NoEntries({ from }: { from: string }) {
  const { set } = useFilters();
  const [year = 0, place = 0] = from.split('-').map(Number);
  const before = { from: toUtcDay(Date.UTC(year, place - 2)), to: toUtcDay(Date.UTC(year, place - 1, 0)) };
  function show() {
    set('from', before.from, ['period']);
    set('to', before.to, ['period']);
  }
  return (
    <Empty title="No entries in this period">
      <Button onPress={show}>Show {month(before.from)}</Button>
    </Empty>
  );
}

/** The ledger as a bookkeeper reads it: a line for each posting, and the turnover of each account. */
export function Journal() {
  const { get } = useFilters();
  const { from, to, filters } = usePeriod(Number(today().slice(-2)) <= EARLY ? 'last_month' : 'month');
  const account = get('account');
  const period = { from, to };
  const turnover = useCall('list_ledger_journal', { query: { ...period, limit: 1 } });
  const accounts = turnover.data?.summary.by_account ?? [];
  const accountNames = new Map(accounts.map((one) => [one.account, one.account_name]));
  const chosenAccount = accounts.find((one) => one.account === account)?.account;
  const query = { ...period, ...(chosenAccount ? { account: chosenAccount } : {}) };
  const list = useRows('list_ledger_journal', query);
  const sides = useIsWide() ? SIDES : [AMOUNT];
  const panel = useOpened();
  const [entry, setEntry] = useState<string>();
  const firstLines = new Set(list.rows.filter((line, i) => list.rows[i - 1]?.entry_id !== line.entry_id));
  const firstOfDays = new Set(list.rows.filter((line, i) => list.rows[i - 1]?.date !== line.date));
  const isPayout = panel.id?.startsWith('pay_') === true;
  return (
    <>
      <PageHead
        title="Journal"
        hint={`All entries from ${day(from)} to ${day(to)}, in ${brandZone()}, for bookkeeping.`}
        hasPeriod
      >
        <Download id="list_ledger_journal" query={query} name="journal.csv" />
      </PageHead>
      <Filters of={[...filters, { name: 'account', label: 'Account', kind: 'select', options: [...accountNames] }]} />
      {turnover.data && accounts.length === 0 ? (
        <NoEntries from={from} />
      ) : (
        <>
          {turnover.error && <Failure error={turnover.error} again={() => void turnover.refetch()} />}
          {!turnover.error && !turnover.data && <Loading rows={1} />}
          {accounts.length > 0 && <AccountTurnover of={accounts} />}
          <Table
            caption="Journal"
            noun="line"
            list={list}
            getKey={({ entry_id, account: of }) => `${entry_id} ${of}`}
            columns={[
              ...buildColumns(
                setEntry,
                (line) => firstLines.has(line),
                (line) => firstOfDays.has(line),
              ),
              ...sides,
            ]}
            empty={<Empty title="No entries in this period" />}
          />
        </>
      )}
      <EntryDialog
        of={entry === undefined ? [] : list.rows.filter(({ entry_id }) => entry_id === entry)}
        onClose={() => setEntry(undefined)}
        onOpen={(id) => {
          setEntry(undefined);
          panel.open(id);
        }}
      />
      <PayoutDialog id={isPayout ? panel.id : undefined} onClose={panel.close} />
      <ExplainDialog order={isPayout ? undefined : panel.id} onClose={panel.close} />
    </>
  );
}
