import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { day, money, words } from '../kit/format.ts';
import { orderSecond } from '../kit/order-name.ts';
import { Badge, Empty, Facts, Failure, Loading } from '../kit/parts.tsx';
import { Table, toRows } from '../kit/table.tsx';
import { CreatorName } from './item-links.tsx';

type PayoutLine = Answer<'get_payout_statement'>['data']['lines'][number];

const NAMES: Readonly<Record<PayoutLine['type'], string>> = {
  commission: 'Commission',
  refunds: 'Refunds',
  unallocated: 'Left over for later commissions',
  not_paid: 'Not settled yet',
  fee: 'Fee',
  voided: 'Voided',
  returned: 'Returned',
};

type StatementPayout = Answer<'get_payout_statement'>['data']['payout'];

/** A wallet payout is paid as soon as it is recorded. */
export const isPaid = ({ status, method }: Pick<StatementPayout, 'status' | 'method'>) =>
  status === 'paid' || (method === 'wallet' && status === 'completed');

/** The API calls a payout completed once it is recorded, but the user wants to know what is left to do. */
export function PayoutState({ of: payout }: { of: Pick<StatementPayout, 'status' | 'method'> }) {
  return <Badge state={isPaid(payout) ? 'paid' : payout.status === 'completed' ? 'to_settle' : payout.status} />;
}

/** The lines of a payout, which add up to its amount. */
export function PayoutDialog({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_payout_statement', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const statement = query.data?.data;
  return (
    <Dialog title="Payout" isOpen={id !== undefined} onClose={onClose} isSide>
      {query.error && <Failure error={query.error} again={() => void query.refetch()} />}
      {!query.error && statement?.payout.id !== id && <Loading />}
      {statement && statement.payout.id === id && <Statement of={statement} />}
    </Dialog>
  );
}

function Statement({ of: { payout, lines, page_url } }: { of: Answer<'get_payout_statement'>['data'] }) {
  const { currency } = payout;
  const nameLine = (line: PayoutLine) => line.order_number ?? line.order_id ?? NAMES[line.type];
  return (
    <>
      <Facts
        of={[
          ['Creator', <CreatorName key="creator" of={payout} />],
          ['Amount', money(payout.amount, currency)],
          ['Status', <PayoutState key="state" of={payout} />],
          ['Method', words(payout.method)],
          ['Reference', payout.reference],
          ['Note', payout.note],
          ['Recorded', day(payout.created_at)],
          ['Settled', day(payout.paid_at)],
          [payout.status === 'voided' ? 'Voided' : 'Returned', day(payout.corrected_at)],
          ['Reason', payout.correction_reason],
        ]}
      />
      <h3>Breakdown</h3>
      <Table
        caption="Payout breakdown"
        noun="line"
        list={toRows(lines)}
        getKey={({ type, commission_id }) => commission_id ?? type}
        empty={<Empty title="Nothing yet" />}
        columns={[
          {
            head: 'Order',
            cell: (line) => (
              <>
                {nameLine(line)}
                <span className="second">
                  {[orderSecond(line), line.customer_email, line.code].filter(Boolean).join(', ')}
                </span>
              </>
            ),
          },
          { head: 'Ordered', cell: ({ occurred_at }) => day(occurred_at), isWide: true },
          { head: 'Sale', cell: ({ sale_amount }) => money(sale_amount, currency), isNumber: true, isWide: true },
          { head: 'Paid', cell: ({ amount }) => money(amount, currency), isNumber: true },
        ]}
      />
      <a className="button plain" href={page_url} target="_blank" rel="noreferrer">
        Open printable page
      </a>
      <p className="hint">Anyone with the page’s address can read it for 30 days, so you can send it to the creator.</p>
    </>
  );
}
