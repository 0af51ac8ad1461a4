import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { day, money, words } from '../kit/format.ts';
import { orderSecond } from '../kit/order-name.ts';
import { Badge, Button, Empty, Facts, Failure, Loading } from '../kit/parts.tsx';
import { Table, toRows } from '../kit/table.tsx';
import { CreatorName } from './item-links.tsx';
import { SettleDialog } from './payout-settle.tsx';

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

export const isToSettle = (payout: Pick<StatementPayout, 'status' | 'method'>) =>
  payout.status === 'completed' && !isPaid(payout);

const titlePayout = ({ creator_name, creator_email, amount, currency }: StatementPayout) =>
  `Payout to ${creator_name ?? creator_email ?? 'a creator'}, ${money(amount, currency)}`;

/** The API calls a payout completed once it is recorded, but the user wants to know what is left to do. */
export function PayoutState({ of: payout }: { of: Pick<StatementPayout, 'status' | 'method'> }) {
  return <Badge state={isPaid(payout) ? 'paid' : isToSettle(payout) ? 'to_settle' : payout.status} />;
}

/** The lines of a payout, which add up to its amount. */
export function PayoutDialog({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_payout_statement', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const read = query.data?.data;
  const statement = read?.payout.id === id ? read : undefined;
  return (
    <Dialog
      title={statement ? titlePayout(statement.payout) : 'Payout'}
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {query.error && <Failure error={query.error} again={() => void query.refetch()} />}
      {!query.error && !statement && <Loading />}
      {statement && <Statement of={statement} />}
    </Dialog>
  );
}

function Statement({ of: { payout, lines, page_url } }: { of: Answer<'get_payout_statement'>['data'] }) {
  const { currency } = payout;
  const [isSettling, setSettling] = useState(false);
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
      {isToSettle(payout) ? (
        <p className="hint">
          No commission is marked as paid yet. Settle the payout once the money has left your account.
        </p>
      ) : (
        <Breakdown lines={lines} currency={currency} />
      )}
      <div className="row">
        {isToSettle(payout) && (
          <Button needs="settle_payout" kind="primary" onPress={() => setSettling(true)}>
            Settle
          </Button>
        )}
        <a className="button plain" href={page_url} target="_blank" rel="noreferrer">
          Open printable page
        </a>
      </div>
      <p className="hint">Anyone with the page’s address can read it for 30 days, so you can send it to the creator.</p>
      <SettleDialog payout={isSettling ? payout : undefined} onClose={() => setSettling(false)} />
    </>
  );
}

function Breakdown({ lines, currency }: { lines: readonly PayoutLine[]; currency: string }) {
  const nameLine = (line: PayoutLine) => line.order_number ?? line.order_id ?? NAMES[line.type];
  return (
    <>
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
    </>
  );
}
