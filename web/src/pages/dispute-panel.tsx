import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useFirst } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { money, number, shortDay, words } from '../kit/format.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Failure, IfMay, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { CreatorName } from './item-links.tsx';
import { Bubble } from './messages.tsx';
import { period } from './statement-period.ts';
import { StatementSums } from './statement-sums.tsx';

const SHOWN = ['list_disputes', 'get_dispute'] as const;
/** Orders of the period that are listed; the page of orders has all. */
const LISTED = 10;

export type Dispute = Row<'list_disputes'>;
export type Statement = Row<'list_statements'>;

export const titleStatement = (statement: Statement | undefined) =>
  statement ? `Statement of ${period(statement)}` : 'Statement';

/** Such as "Ann Lee’s question on Oct 2026". */
function titleDispute(dispute: Dispute | undefined, statement: Statement | undefined): string {
  if (!dispute) return 'Dispute';
  const who = dispute.creator_name ?? dispute.creator_email;
  const question = who === null ? 'A question' : `${who}’s question`;
  if (dispute.payout_id !== null) return `${question} on a payout`;
  return `${question} on ${statement ? period(statement) : 'a statement'}`;
}

/** The status of a question, and the page that it was asked on. */
function Subject({ of: dispute, statement }: { of: Dispute; statement: Statement | undefined }) {
  const { statement_id, payout_id, order_id, order_number, line_id } = dispute;
  return (
    <p className="row">
      <Badge state={dispute.status} />
      <CreatorName of={dispute} />
      {statement_id !== null && (
        <Link to="/statements" search={{ open: statement_id }}>
          {titleStatement(statement)}
        </Link>
      )}
      {payout_id !== null && (
        <Link to="/payouts" search={{ open: payout_id }}>
          Payout
        </Link>
      )}
      {order_id !== null ? (
        <Link to="/orders" search={{ open: order_id }}>
          Order {order_number ?? order_id}
        </Link>
      ) : (
        line_id !== null && <span className="muted">One line</span>
      )}
    </p>
  );
}

/** The question and its answer, as a conversation. */
function Thread({ of: { message, answer, answered_at, created_at, creator_name, creator_email } }: { of: Dispute }) {
  const creator = creator_name ?? creator_email;
  return (
    <ol className="thread" aria-label="Messages">
      <li className="said">
        <Bubble of={{ body: message, sender: 'creator', sent_at: created_at }} creator={creator} />
      </li>
      {answer !== null && (
        <li className="said">
          <Bubble of={{ body: answer, sender: 'brand', sent_at: answered_at ?? created_at }} creator={creator} />
        </li>
      )}
    </ol>
  );
}

function Reply({ of: dispute, onClose }: { of: Dispute; onClose: () => void }) {
  const update = useChange('update_dispute', SHOWN);
  if (dispute.status === 'closed') return null;
  return (
    <IfMay needs="update_dispute">
      <OperationForm
        operation="update_dispute"
        action="Reply"
        params={{ id: dispute.id }}
        fields={[{ name: 'answer', label: 'Your reply', isRequired: true, hint: 'It is emailed to the creator.' }]}
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
  );
}

/** The creator's orders of a statement's period, in which the answer to most questions is found. */
function Orders({ of: { from, to, time_zone, creator_email }, name }: { of: Statement; name: string }) {
  const query = { creator_email: creator_email ?? '', from, to };
  const { data, error, refetch } = useFirst('list_orders', { ...query, time_zone }, { limit: LISTED });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={3} />;
  const { total } = data.pagination;
  return (
    <>
      <div className="card-head">
        <h3>{name}</h3>
        {total > LISTED && (
          <Link to="/orders" search={query}>
            All {number(total)}
          </Link>
        )}
      </div>
      {total === 0 ? (
        <p className="hint">None</p>
      ) : (
        <PlainTable
          caption={name}
          rows={data.data}
          getKey={({ id }) => id}
          columns={[
            {
              head: 'Order',
              cell: ({ id, order_id, order_number, occurred_at }) => (
                <>
                  <Link to="/orders" search={{ open: id }}>
                    {order_number ?? order_id}
                  </Link>
                  <span className="second">{shortDay(occurred_at)}</span>
                </>
              ),
            },
            { head: 'Amount', isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
            {
              head: 'Commission',
              isNumber: true,
              cell: ({ commission, currency, status }) => (
                <>
                  {money(commission, currency)}
                  {status !== null && <span className="second">{words(status)}</span>}
                </>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

/** The statement of a question by its id; undefined until it is read, or if the question is about a payout. */
export type FindStatement = (dispute: Dispute | undefined) => Statement | undefined;

interface PanelProps {
  id: string | undefined;
  onClose: () => void;
  findStatement: FindStatement;
}

/** One question: the conversation first, then what it is about. */
export function DisputePanel({ id, onClose, findStatement }: PanelProps) {
  const query = useCall('get_dispute', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  return (
    <Detail id={id} onClose={onClose} query={query} title={(dispute) => titleDispute(dispute, findStatement(dispute))}>
      {(dispute) => {
        const statement = findStatement(dispute);
        return (
          <>
            <Subject of={dispute} statement={statement} />
            <Thread of={dispute} />
            <Reply of={dispute} onClose={onClose} />
            {statement && (
              <>
                <h3>{titleStatement(statement)}</h3>
                <StatementSums of={statement.totals} />
                {statement.creator_email !== null && <Orders of={statement} name={`Orders of ${period(statement)}`} />}
              </>
            )}
          </>
        );
      }}
    </Detail>
  );
}
