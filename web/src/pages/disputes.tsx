import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useFirst, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { CREATOR_FILTER, Filters, findChoice, stateFilter, useFilters, waitingSortIn } from '../kit/filters.tsx';
import { day } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Empty, Facts, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { BothTimes } from '../kit/time.tsx';
import { CreatorName } from './item-links.tsx';
import { period } from './statement-period.ts';

const STATES = listChoices('list_disputes', 'status');
const SHOWN = ['list_disputes', 'get_dispute'] as const;
type Dispute = Row<'list_disputes'>;

/** The periods of the newest statements, by their ids. */
function usePeriods(): ReadonlyMap<string, string> {
  const { data } = useFirst('list_statements', {}, { limit: 100 });
  return new Map(data?.data.map((statement) => [statement.id, period(statement)]));
}

function Opened({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_dispute', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const update = useChange('update_dispute', SHOWN);
  const periods = usePeriods();
  return (
    <Detail
      id={id}
      onClose={onClose}
      query={query}
      title={(dispute) => dispute?.creator_name ?? dispute?.creator_email ?? 'Dispute'}
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
                    {periods.get(dispute.statement_id) ?? 'Open the statement'}
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
  const periods = usePeriods();
  const columns: readonly Column<Dispute>[] = [
    {
      head: 'Creator',
      cell: (row) => (
        <Opener of={row} onOpen={() => panel.open(row.id)} second={row.creator_name && row.creator_email}>
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
              {['Statement', periods.get(statement_id)].filter(Boolean).join(', ')}
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
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Opened', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
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
