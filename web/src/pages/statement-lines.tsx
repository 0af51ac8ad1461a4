import { Link } from '@tanstack/react-router';
import type { Answer } from '../call/call.ts';
import { useAll, useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { counted, day, money, words } from '../kit/format.ts';
import { orderSecond } from '../kit/order-name.ts';
import { Copy, Empty, Failure, Loading } from '../kit/parts.tsx';
import { Table, toRows } from '../kit/table.tsx';
import { Foot } from '../kit/totals.tsx';
import { CreatorName } from './item-links.tsx';
import { period } from './statement-period.ts';
import { StatementSums } from './statement-sums.tsx';

type StatementLine = Answer<'get_statement'>['data']['lines'][number];

/** A refund of this period, of an order whose commission was earned in an earlier one. */
const isRefund = ({ refunded_amount, commission, taken_back }: StatementLine) =>
  refunded_amount !== 0 && commission === 0 && taken_back === 0;

/** A line earns or pays. */
const moneyOrNone = (amount: number, currency: string) => (amount === 0 ? '–' : money(amount, currency));

type OpenStatement = Answer<'get_statement'>['data'];

/** An email to the creator, which the person's own program sends. */
function mailTo({ creator_email, url, ...one }: OpenStatement): string {
  const query = new URLSearchParams({ subject: `Your statement for ${period(one)}`, body: url ?? '' });
  return `mailto:${creator_email ?? ''}?${String(query).replaceAll('+', '%20')}`;
}

/** The page that the creator reads, as long as its link lasts. */
function StatementPage({ of: one }: { of: OpenStatement }) {
  if (one.url === null)
    return <p className="hint">The link to the creator’s page has ended. Create the statement again to send it.</p>;
  return (
    <>
      <div className="row">
        <a className="button primary" href={one.url} target="_blank" rel="noreferrer">
          Open the creator’s page
        </a>
        <Copy text={one.url} label="Copy link to the statement" shown="Copy link" />
        {one.creator_email !== null && (
          <a className="button plain" href={mailTo(one)}>
            Email
          </a>
        )}
      </div>
      <p className="hint">Anyone with the link can read the page for 90 days from its creation.</p>
    </>
  );
}

/** The open disputes by their statement. */
export function useStatementDisputes(): ReadonlyMap<string, string> {
  const disputes = useAll('list_disputes', { status: 'open' }).data ?? [];
  return new Map(disputes.flatMap(({ id, statement_id }) => (statement_id === null ? [] : [[statement_id, id]])));
}

/** The lines of a statement, below the page that its creator reads. */
export function StatementDialog({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_statement', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const one = query.data?.data;
  const dispute = useStatementDisputes().get(id ?? '');
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
          <p>
            <CreatorName of={one} />
          </p>
          {dispute !== undefined && (
            <p className="note-box wait">
              The creator disputes this statement.{' '}
              <Link to="/disputes" search={{ open: dispute }}>
                Open the dispute
              </Link>
            </p>
          )}
          <StatementSums of={one.totals} />
          <StatementPage of={one} />
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
