import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer, Row } from '../call/call.ts';
import { useAll, useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, Filters, sortIn, useFilters } from '../kit/filters.tsx';
import { creatorField, Form } from '../kit/form.tsx';
import { day, money, month, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Button, Copy, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, listed, Opener, Table } from '../kit/table.tsx';
import { DAY_MS } from '../kit/utc-day.ts';
import { CreatorName } from './item-links.tsx';

type Statement = Row<'list_statements'>;
type Made = Answer<'create_statement'>['data'];
type Line = Answer<'get_statement'>['data']['lines'][number];

const isWholeMonth = (from: string, to: string) => {
  const next = new Date(Date.parse(to) + DAY_MS).toISOString().slice(0, 10);
  return from.length === 10 && from.endsWith('-01') && next.endsWith('-01') && from.slice(0, 7) === to.slice(0, 7);
};

/** A whole month by its name. */
export const period = ({ from, to }: { from: string; to: string }) =>
  isWholeMonth(from, to) ? month(from) : `${day(from)} to ${day(to)}`;

const TOTALS = [
  ['Opening balance', 'opening', true],
  ['Earned', 'commission', true],
  ['Paid out', 'paid_out', true],
  ['Closing balance', 'closing', false],
] as const;

/** A refund of this period, of an order whose commission was earned in an earlier one. */
const isRefund = ({ refunded_amount, commission, taken_back }: Line) =>
  refunded_amount !== 0 && commission === 0 && taken_back === 0;

/** A line earns or pays. */
const moneyOrNone = (amount: number, currency: string) => (amount === 0 ? '–' : money(amount, currency));

/** The last complete month, in UTC days. */
function lastMonth(): { from: string; to: string } {
  const now = new Date();
  const dayAt = (month: number, date: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), month, date)).toISOString().slice(0, 10);
  return { from: dayAt(now.getUTCMonth() - 1, 1), to: dayAt(now.getUTCMonth(), 0) };
}

function Lines({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const found = useCall('get_statement', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const one = found.data?.data;
  return (
    <Dialog
      title={one?.id === id && one ? `Statement for ${one.creator_name ?? one.creator_email}` : 'Statement'}
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {found.error && <Failure error={found.error} again={() => void found.refetch()} />}
      {!found.error && one?.id !== id && <Loading />}
      {one && one.id === id && (
        <>
          <p className="hint">
            {period(one)}, according to the ledger on {day(one.created_at)}. <CreatorName of={one} />
          </p>
          {one.totals.map(({ currency, opening, commission, taken_back, paid_out, closing }) => (
            <Facts
              key={currency}
              of={[
                ['Opening balance', money(opening, currency)],
                ['Earned', money(commission, currency)],
                ['Reversed by refunds', money(taken_back, currency)],
                ['Paid out', money(paid_out, currency)],
                ['Closing balance', <strong key="closing">{money(closing, currency)}</strong>],
              ]}
            />
          ))}
          {one.lines.some(isRefund) && (
            <p className="hint">
              A refund lowers the commission on the day of its order: one of an earlier order is in the opening balance.
            </p>
          )}
          <Table
            caption="Lines of the statement"
            list={listed(one.lines)}
            getKey={(line) => `${line.id} ${line.currency}`}
            empty={<Empty title="Nothing in this period" />}
            columns={[
              {
                head: 'Order or payout',
                cell: ({ type, order_id, reference, status, refunded_amount, currency }) => (
                  <>
                    {type === 'payout' ? (
                      `Payout ${reference ?? ''}`
                    ) : order_id === null ? (
                      'Commission'
                    ) : (
                      <Link to="/orders" search={{ open: order_id }}>
                        {order_id}
                      </Link>
                    )}
                    <span className="second">
                      {[
                        status && words(status),
                        refunded_amount !== 0 && `${money(refunded_amount, currency)} refunded`,
                      ]
                        .filter(Boolean)
                        .join(', ')}
                    </span>
                  </>
                ),
              },
              { head: 'Date', cell: ({ occurred_at }) => day(occurred_at), isWide: true },
              {
                head: 'Earned',
                cell: (line) => moneyOrNone(line.commission - line.taken_back, line.currency),
                isNumber: true,
              },
              {
                head: 'Paid out',
                cell: (line) => moneyOrNone(line.paid_out + line.fee, line.currency),
                isNumber: true,
              },
            ]}
          />
        </>
      )}
    </Dialog>
  );
}

function Making({
  email,
  onMade,
  onClose,
}: {
  email: string | undefined;
  onMade: (made: Made) => void;
  onClose: () => void;
}) {
  const make = useChange('create_statement', ['list_statements']);
  const { from, to } = lastMonth();
  return (
    <Form
      action="Create the statement"
      onCancel={onClose}
      fields={[
        creatorField(email),
        { name: 'from', label: 'From', kind: 'date', isRequired: true, value: from },
        { name: 'to', label: 'To', kind: 'date', isRequired: true, value: to, hint: 'That day is included.' },
        { name: 'send_email', label: 'Mail the creator the link', kind: 'checkbox' },
      ]}
      onSubmit={async (values) => {
        const { data } = await make.mutateAsync({
          body: {
            creator_email: values.text('creator_email'),
            from: values.text('from'),
            to: values.text('to'),
            send_email: values.isChecked('send_email'),
          },
        });
        onMade(data);
      }}
    />
  );
}

export function Statements() {
  const { get } = useFilters();
  const query = { creator_email: get('creator_email'), sort: sortIn(get) };
  const list = useRows('list_statements', query);
  const opened = useOpened();
  const making = useDialog('create');
  const [made, setMade] = useState<Made>();
  const disputes = useAll('list_disputes', { status: 'open' }).data ?? [];
  const asked = new Map(disputes.map(({ id, statement_id }) => [statement_id ?? '', id]));
  const columns: readonly Column<Statement>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => opened.open(id)}
          second={
            <>
              {creator_name && <span className="wide">{creator_email}</span>}
              {asked.has(id) && (
                <span className="narrow late">
                  <Link to="/disputes" search={{ open: asked.get(id) }}>
                    Disputed
                  </Link>
                </span>
              )}
            </>
          }
        >
          {creator_name ?? creator_email ?? id}
        </Opener>
      ),
    },
    {
      head: 'Period',
      cell: (row) => <span className={isWholeMonth(row.from, row.to) ? 'unbroken' : undefined}>{period(row)}</span>,
    },
    ...TOTALS.map(
      ([head, name, isWide]): Column<Statement> => ({
        head,
        isNumber: true,
        isWide,
        cell: ({ totals }) => totals?.map((one) => money(one[name], one.currency)).join(' + ') || '–',
      }),
    ),
    {
      head: 'Created',
      isWide: true,
      isOrder: true,
      cell: ({ id, created_at }) => (
        <>
          {day(created_at)}
          {asked.has(id) && (
            <Link to="/disputes" search={{ open: asked.get(id) }} className="second late">
              Disputed
            </Link>
          )}
        </>
      ),
    },
  ];
  return (
    <>
      <PageHead title="Statements" hint="What a creator earned and was paid in a period, with a page for the creator.">
        <Download id="list_statements" query={query} name="statements.csv" />
        <Button needs="create_statement" kind="primary" onPress={making.open}>
          Create a statement
        </Button>
      </PageHead>
      <Filters of={[CREATOR_FILTER]} />
      <Table
        caption="Statements"
        list={list}
        columns={columns}
        empty={<Empty title="No statements here">Create one when a creator asks about a month’s earnings.</Empty>}
      />
      <Dialog title="Create a statement" isOpen={making.isOpen} onClose={making.close}>
        <Making
          email={get('creator_email')}
          onClose={making.close}
          onMade={(one) => {
            making.close();
            setMade(one);
          }}
        />
      </Dialog>
      <Dialog
        title="Statement created"
        hint="Anyone with this address can open the page for 90 days. The address is shown only once."
        isOpen={made !== undefined}
        onClose={() => setMade(undefined)}
      >
        <code className="secret">{made?.url}</code>
        {made?.email_sent && <p>It is being mailed to the creator.</p>}
        <div className="popup-foot">
          <Copy text={made?.url ?? ''} label="Copy the address" />
          <a className="button plain" href={made?.url} target="_blank" rel="noreferrer">
            Open the page
          </a>
        </div>
      </Dialog>
      <Lines id={opened.id} onClose={opened.close} />
    </>
  );
}
