import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useFirst, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { CREATOR_FILTER, Filters, findChoice, stateFilter, useFilters, waitingSortIn } from '../kit/filters.tsx';
import { money } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Empty, Facts, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Ago, BothTimes } from '../kit/time.tsx';
import { CreatorName } from './item-links.tsx';
import { period } from './statement-period.ts';

const STATES = listChoices('list_disputes', 'status');
const SHOWN = ['list_disputes', 'get_dispute'] as const;
type Dispute = Row<'list_disputes'>;

type Statement = Row<'list_statements'>;

/** The newest statements, by their ids. */
function useStatements(): ReadonlyMap<string, Statement> {
  const { data } = useFirst('list_statements', {}, { limit: 100 });
  return new Map(data?.data.map((statement) => [statement.id, statement]));
}

const titleStatement = (statement: Statement | undefined) =>
  statement ? `Statement of ${period(statement)}` : 'Statement';

/** A phone has no column for the statement. */
const Second = ({ of: dispute, statement }: { of: Dispute; statement: Statement | undefined }) => (
  <>
    <span className="wide">{dispute.creator_name && dispute.creator_email}</span>
    <span className="narrow">{dispute.payout_id === null ? titleStatement(statement) : 'Payout'}</span>
  </>
);

/** The amount of the payout or the closing balance of the statement that is in dispute. */
function Amount({ of: { payout_id }, statement }: { of: Dispute; statement: Statement | undefined }) {
  const { data } = useCall('get_payout', { params: { id: payout_id ?? '' } }, { enabled: payout_id !== null });
  if (payout_id !== null) return data?.data.id === payout_id ? money(data.data.amount, data.data.currency) : '–';
  return statement?.totals?.map(({ closing, currency }) => money(closing, currency)).join(', ') || '–';
}

/** The sums of a statement, as they stand on it. */
function Totals({ of: statement }: { of: Statement | undefined }) {
  return statement?.totals?.map(({ currency, opening, commission, taken_back, paid_out, closing }) => (
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
  ));
}

function Opened({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_dispute', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const update = useChange('update_dispute', SHOWN);
  const statements = useStatements();
  const statementIn = (dispute: Dispute | undefined) => statements.get(dispute?.statement_id ?? '');
  return (
    <Detail
      id={id}
      onClose={onClose}
      query={query}
      title={(dispute) =>
        !dispute ? 'Dispute' : dispute.payout_id === null ? titleStatement(statementIn(dispute)) : 'Payout'
      }
    >
      {(dispute) => (
        <>
          <Facts
            of={[
              ['Status', <Badge key="state" state={dispute.status} />],
              ['Creator', <CreatorName key="creator" of={dispute} />],
              ['Message', dispute.message],
              [
                'Statement',
                dispute.statement_id && (
                  <Link to="/statements" search={{ open: dispute.statement_id }}>
                    Open the statement
                  </Link>
                ),
              ],
              [
                'Payout',
                dispute.payout_id && (
                  <Link to="/payouts" search={{ open: dispute.payout_id }}>
                    Open the payout
                  </Link>
                ),
              ],
              ['Order', dispute.order_number ?? dispute.order_id],
              ['Line', dispute.line_id],
              ['Opened', <BothTimes key="opened" at={dispute.created_at} />],
              ['Your reply', dispute.answer],
            ]}
          />
          <Totals of={statementIn(dispute)} />
          {dispute.status !== 'closed' && (
            <IfMay needs="update_dispute">
              <OperationForm
                operation="update_dispute"
                action="Reply"
                params={{ id: dispute.id }}
                fields={[
                  {
                    name: 'answer',
                    label: 'Your reply',
                    isRequired: true,
                    hint: 'It is emailed to the creator.',
                  },
                ]}
                fixed={{ status: 'answered' }}
                shown={SHOWN}
                onDone={onClose}
                beside={
                  <Confirm
                    label="Close dispute"
                    title="Close this dispute?"
                    action="Close dispute"
                    isDanger={false}
                    onConfirm={async () => {
                      await update.mutateAsync({ params: { id: dispute.id }, body: { status: 'closed' } });
                      onClose();
                    }}
                  >
                    <p>Close it once you and the creator agree.</p>
                  </Confirm>
                }
              />
            </IfMay>
          )}
        </>
      )}
    </Detail>
  );
}

export function Disputes() {
  const { get } = useFilters();
  const list = useRows('list_disputes', {
    status: findChoice(get('status'), STATES),
    creator_email: get('creator_email'),
    sort: waitingSortIn(get),
  });
  const panel = useOpened();
  const statements = useStatements();
  const columns: readonly Column<Dispute>[] = [
    {
      head: 'Creator',
      cell: (row) => (
        <Opener
          of={row}
          onOpen={() => panel.open(row.id)}
          second={<Second of={row} statement={statements.get(row.statement_id ?? '')} />}
        >
          {row.creator_name ?? row.creator_email ?? 'A creator'}
        </Opener>
      ),
    },
    { head: 'Message', cell: ({ message }) => <span className="said-more">{message}</span>, isWide: true },
    {
      head: 'About',
      isWide: true,
      cell: ({ statement_id, payout_id, order_id, order_number, line_id }) => (
        <>
          {statement_id !== null ? (
            <Link to="/statements" search={{ open: statement_id }}>
              {titleStatement(statements.get(statement_id))}
            </Link>
          ) : payout_id !== null ? (
            <Link to="/payouts" search={{ open: payout_id }}>
              Payout
            </Link>
          ) : (
            '–'
          )}
          <span className="second">
            {order_id !== null
              ? `Order ${order_number ?? order_id}`
              : line_id === null
                ? `The whole ${statement_id === null ? 'payout' : 'statement'}`
                : 'One line'}
          </span>
        </>
      ),
    },
    {
      head: 'Amount',
      isNumber: true,
      chip: 'value',
      cell: (dispute) => <Amount of={dispute} statement={statements.get(dispute.statement_id ?? '')} />,
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Opened', cell: ({ created_at }) => <Ago at={created_at} />, chip: 'value', isOrder: true },
    {
      head: 'Actions',
      needs: 'update_dispute',
      cell: ({ id, status }) => status === 'open' && <Button onPress={() => panel.open(id)}>Reply</Button>,
    },
  ];
  return (
    <>
      <PageHead title="Disputes" hint="Questions that creators raised about a statement or a payout." />
      <Filters of={[stateFilter(STATES), CREATOR_FILTER]} />
      <Table
        caption="Disputes"
        noun="dispute"
        list={list}
        columns={columns}
        empty={<Empty title="No disputes">Creators open one from their statement.</Empty>}
      />
      <Opened id={panel.id} onClose={panel.close} />
    </>
  );
}
