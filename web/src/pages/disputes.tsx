import { Link } from '@tanstack/react-router';
import { listChoices } from '../call/lists.ts';
import { useCall, useFirst, useRows } from '../call/use.ts';
import { CREATOR_FILTER, Filters, findChoice, stateFilter, useFilters, waitingSortIn } from '../kit/filters.tsx';
import { money } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Badge, Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { type Dispute, DisputePanel, type FindStatement, type Statement, titleStatement } from './dispute-panel.tsx';
import { period } from './statement-period.ts';

const STATES = listChoices('list_disputes', 'status');

/** The newest statements, by their ids. */
function useStatements(): ReadonlyMap<string, Statement> {
  const { data } = useFirst('list_statements', {}, { limit: 100 });
  return new Map(data?.data.map((statement) => [statement.id, statement]));
}

/** A phone has no column for the statement. */
const Second = ({ of: dispute, statement }: { of: Dispute; statement: Statement | undefined }) => (
  <>
    <span className="wide">{dispute.creator_name && dispute.creator_email}</span>
    <span className="narrow">
      {dispute.payout_id !== null ? 'Payout' : statement ? period(statement) : 'Statement'}
    </span>
  </>
);

/** The amount of the payout or the closing balance of the statement that is in dispute. */
function Amount({ of: { payout_id }, statement }: { of: Dispute; statement: Statement | undefined }) {
  const { data } = useCall('get_payout', { params: { id: payout_id ?? '' } }, { enabled: payout_id !== null });
  if (payout_id !== null) return data?.data.id === payout_id ? money(data.data.amount, data.data.currency) : '–';
  const closing = statement?.totals?.map((one) => money(one.closing, one.currency)).join(' + ');
  if (!closing) return '–';
  return (
    <>
      {closing} <span className="second">closing balance</span>
    </>
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
  const findStatement: FindStatement = (dispute) => statements.get(dispute?.statement_id ?? '');
  const columns: readonly Column<Dispute>[] = [
    {
      head: 'Creator',
      cell: (row) => (
        <Opener of={row} onOpen={() => panel.open(row.id)} second={<Second of={row} statement={findStatement(row)} />}>
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
      cell: (dispute) => <Amount of={dispute} statement={findStatement(dispute)} />,
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
      <DisputePanel id={panel.id} onClose={panel.close} findStatement={findStatement} />
    </>
  );
}
