import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer, Row } from '../call/call.ts';
import { useAll, useCall, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, Filters, sortIn, useFilters } from '../kit/filters.tsx';
import { counted, day, money, month, today, words } from '../kit/format.ts';
import { FollowedJob } from '../kit/job.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { orderSecond } from '../kit/order-name.ts';
import { Button, Copy, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table, toRows } from '../kit/table.tsx';
import { Foot } from '../kit/totals.tsx';
import { DAY_MS } from '../kit/utc-day.ts';
import { CreatorName } from './item-links.tsx';

type Statement = Row<'list_statements'>;
type CreatedStatement = Answer<'create_statement'>['data'];
type StatementLine = Answer<'get_statement'>['data']['lines'][number];

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
const isRefund = ({ refunded_amount, commission, taken_back }: StatementLine) =>
  refunded_amount !== 0 && commission === 0 && taken_back === 0;

/** A line earns or pays. */
const moneyOrNone = (amount: number, currency: string) => (amount === 0 ? '–' : money(amount, currency));

/** The last complete month. */
function lastMonth(): { from: string; to: string } {
  const now = new Date(today());
  const dayAt = (month: number, date: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), month, date)).toISOString().slice(0, 10);
  return { from: dayAt(now.getUTCMonth() - 1, 1), to: dayAt(now.getUTCMonth(), 0) };
}

function Lines({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_statement', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const one = query.data?.data;
  return (
    <Dialog
      title={
        one?.id === id && one ? `Statement for ${one.creator_name ?? one.creator_email}, ${period(one)}` : 'Statement'
      }
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {query.error && <Failure error={query.error} again={() => void query.refetch()} />}
      {!query.error && one?.id !== id && <Loading />}
      {one && one.id === id && (
        <>
          <Facts
            of={[
              ['Creator', <CreatorName key="creator" of={one} />],
              ['Period', period(one)],
            ]}
          />
          {one.totals.map(({ currency, opening, commission, taken_back, paid_out, closing }) => (
            <div key={currency} className="sums">
              <Facts
                of={[
                  ['Opening balance', money(opening, currency)],
                  ['Earned', money(commission, currency)],
                  ['Reversed by refunds', money(taken_back, currency)],
                  ['Paid out', money(paid_out, currency)],
                  ['Closing balance', <strong key="closing">{money(closing, currency)}</strong>],
                ]}
              />
            </div>
          ))}
          <p className="hint">
            As of {day(one.created_at)}. Later changes appear in the next statement’s opening balance.
          </p>
          <Table
            caption="Lines of the statement"
            noun="line"
            list={toRows(one.lines.toSorted((a, b) => Number(isRefund(a)) - Number(isRefund(b))))}
            getKey={(line) => `${line.id} ${line.currency}`}
            empty={<Empty title="Nothing in this period" />}
            foot={
              <Foot
                label="Totals of the statement"
                lines={one.totals.map(({ currency, commission, taken_back, paid_out }) => ({
                  count: counted(one.lines.filter((line) => line.currency === currency).length, 'line'),
                  sums: [
                    ['Earned', money(commission - taken_back, currency)],
                    ['Paid out', money(paid_out, currency)],
                  ],
                }))}
                note={
                  one.ledger_hash === null
                    ? undefined
                    : `Seal ${one.ledger_hash.slice(0, 12)}…: proves this statement hasn’t been altered.`
                }
              />
            }
            columns={[
              {
                head: 'Order or payout',
                cell: (line) => {
                  const { type, order_id, order_number, reference, status, refunded_amount, currency } = line;
                  return (
                    <>
                      {type === 'payout' ? (
                        `Payout ${reference ?? ''}`
                      ) : order_id === null ? (
                        'Commission'
                      ) : (
                        <Link to="/orders" search={{ open: order_id }}>
                          {order_number ?? order_id}
                        </Link>
                      )}
                      <span className="second">
                        {[
                          orderSecond({ order_id, order_number }),
                          status && words(status),
                          refunded_amount !== 0 && `${money(refunded_amount, currency)} refunded`,
                          isRefund(line) && 'ordered before this period',
                        ]
                          .filter(Boolean)
                          .join(', ')}
                      </span>
                    </>
                  );
                },
              },
              {
                head: 'Date',
                cell: ({ occurred_at }) => <span className="unbroken">{day(occurred_at)}</span>,
                isWide: true,
              },
              {
                head: 'Earned',
                cell: (line) => (
                  <>
                    {moneyOrNone(line.commission - line.taken_back, line.currency)}
                    {isRefund(line) && <span className="second">in the opening balance</span>}
                  </>
                ),
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

const SEND_EMAIL = { name: 'send_email', label: 'Email the creator the link' } as const;

function Making({
  email,
  onMade,
  onClose,
}: {
  email: string | undefined;
  onMade: (statement: CreatedStatement) => void;
  onClose: () => void;
}) {
  const { from, to } = lastMonth();
  return (
    <OperationForm
      operation="create_statement"
      action="Create the statement"
      onCancel={onClose}
      start={{ creator_email: email, from, to }}
      fields={['creator_email', 'from', { name: 'to', hint: 'That day is included.' }, SEND_EMAIL]}
      omits={['time_zone']}
      shown={['list_statements']}
      onDone={({ data }) => onMade(data)}
    />
  );
}

/** Statements of everybody, made by a job. */
function MakingAll({ onClose }: { onClose: () => void }) {
  const [jobId, setJobId] = useState<string>();
  if (jobId !== undefined) {
    return (
      <FollowedJob
        id={jobId}
        noun="run"
        what="creators"
        onCancel="Statements that were created so far stay."
        done={({ files }) => (
          <div className="stack">
            <p role="status">All statements are created.</p>
            {files.map(({ name, url }) => url !== null && <a key={name} href={url}>{`Download ${name}`}</a>)}
          </div>
        )}
      />
    );
  }
  return (
    <OperationForm
      operation="create_statements"
      action="Create them"
      onCancel={onClose}
      start={lastMonth()}
      fields={[
        'from',
        { name: 'to', hint: 'That day is included.' },
        { name: 'send_email', label: 'Email every creator the link' },
      ]}
      omits={['time_zone']}
      shown={['list_statements', 'list_jobs']}
      onDone={({ data }) => setJobId(data.id)}
    />
  );
}

export function Statements() {
  const { get } = useFilters();
  const query = { creator_email: get('creator_email'), sort: sortIn(get) };
  const list = useRows('list_statements', query);
  const panel = useOpened();
  const making = useDialog('create');
  const makingAll = useDialog('everybody');
  const [createdStatement, setCreatedStatement] = useState<CreatedStatement>();
  const disputes = useAll('list_disputes', { status: 'open' }).data ?? [];
  const disputeIds = new Map(disputes.map(({ id, statement_id }) => [statement_id ?? '', id]));
  const columns: readonly Column<Statement>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => panel.open(id)}
          second={creator_name && <span className="wide">{creator_email}</span>}
        >
          {creator_name ?? creator_email ?? id}
        </Opener>
      ),
    },
    {
      head: 'Period',
      cell: (row) => (
        <span className="row">
          <span className={isWholeMonth(row.from, row.to) ? 'unbroken' : undefined}>{period(row)}</span>
          {disputeIds.has(row.id) && (
            <Link to="/disputes" search={{ open: disputeIds.get(row.id) }} className="badge wait">
              Disputed
            </Link>
          )}
        </span>
      ),
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
      cell: ({ created_at }) => day(created_at),
    },
  ];
  return (
    <>
      <PageHead title="Statements" hint="What a creator earned and was paid in a period, with a page for the creator.">
        <Download id="list_statements" query={query} name="statements.csv" />
        <Button needs="create_statements" onPress={makingAll.open}>
          Create for all creators
        </Button>
        <Button needs="create_statement" kind="primary" onPress={making.open}>
          New statement
        </Button>
      </PageHead>
      <Filters of={[CREATOR_FILTER]} />
      <Table
        caption="Statements"
        noun="statement"
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
            setCreatedStatement(one);
          }}
        />
      </Dialog>
      <Dialog
        title="Statements for everybody"
        hint="One for each creator who earned or was paid in the period, or is owed something at its end."
        isOpen={makingAll.isOpen}
        onClose={makingAll.close}
      >
        {makingAll.isOpen && <MakingAll onClose={makingAll.close} />}
      </Dialog>
      <Dialog
        title="Statement created"
        hint="Anyone with this address can open the page for 90 days. The address is shown only once."
        isOpen={createdStatement !== undefined}
        onClose={() => setCreatedStatement(undefined)}
      >
        <code className="secret">{createdStatement?.url}</code>
        {createdStatement?.email_sent && <p>It is being emailed to the creator.</p>}
        <div className="popup-foot">
          <Copy text={createdStatement?.url ?? ''} label="Copy the address" />
          <a className="button plain" href={createdStatement?.url} target="_blank" rel="noreferrer">
            Open the page
          </a>
        </div>
      </Dialog>
      <Lines id={panel.id} onClose={panel.close} />
    </>
  );
}
