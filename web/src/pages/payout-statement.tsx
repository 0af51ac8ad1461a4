import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { day, money, words } from '../kit/format.ts';
import { Glance } from '../kit/glance.tsx';
import { Menu } from '../kit/menu.tsx';
import { orderSecond } from '../kit/order-name.ts';
import { Button, Copy, Empty, Facts, Failure, Loading } from '../kit/parts.tsx';
import { Table, toRows } from '../kit/table.tsx';
import { CorrectionDialog } from './corrections.tsx';
import { CreatorName } from './item-links.tsx';
import { SettleDialog } from './payout-settle.tsx';
import { isPaid, isToSettle, PayoutState } from './payout-state.tsx';

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

const titlePayout = ({ creator_name, creator_email, amount, currency }: StatementPayout) =>
  `Payout to ${creator_name ?? creator_email ?? 'a creator'}, ${money(amount, currency)}`;

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

/** The next step of a payout, its page for the creator, and what corrects a mistake. */
function Acts({ of: payout, page }: { of: StatementPayout; page: string }) {
  const [isSettling, setSettling] = useState(false);
  const [isCorrecting, setCorrecting] = useState(false);
  return (
    <>
      {isToSettle(payout) && (
        <p className="note-box wait">
          No commission is marked as paid yet. Settle the payout once the money has left your account.
        </p>
      )}
      <div className="row">
        {isToSettle(payout) && (
          <Button needs="settle_payout" kind="primary" onPress={() => setSettling(true)}>
            Settle
          </Button>
        )}
        <a className="button plain" href={page} target="_blank" rel="noreferrer">
          Open printable page
        </a>
        <Copy text={page} label="Copy link to the page" shown="Copy link" />
        {payout.corrected_at === null && (
          <Menu label="More actions for this payout" needs="void_payout">
            <Button onPress={() => setCorrecting(true)}>{isPaid(payout) ? 'Mark as returned' : 'Void'}</Button>
          </Menu>
        )}
      </div>
      <p className="hint">Anyone with the link can read the page for 30 days, so you can send it to the creator.</p>
      <SettleDialog payout={isSettling ? payout : undefined} onClose={() => setSettling(false)} />
      <CorrectionDialog payout={isCorrecting ? payout : undefined} onClose={() => setCorrecting(false)} />
    </>
  );
}

function Statement({ of: { payout, lines, page_url } }: { of: Answer<'get_payout_statement'>['data'] }) {
  const { currency } = payout;
  return (
    <>
      <Facts
        of={[
          ['Status', <PayoutState key="state" of={payout} />],
          ['Creator', <CreatorName key="creator" of={payout} />],
          ['Method', words(payout.method)],
          ['Reference', payout.reference],
          ['Note', payout.note],
          ['Recorded', day(payout.created_at)],
          ['Settled', day(payout.paid_at)],
          [payout.status === 'voided' ? 'Voided' : 'Returned', day(payout.corrected_at)],
          ['Reason', payout.correction_reason],
        ]}
      />
      <Acts of={payout} page={page_url} />
      {isToSettle(payout) ? <Payable of={payout} /> : <Breakdown lines={lines} currency={currency} />}
    </>
  );
}

/** The commissions that settling the payout can mark as paid. */
const Payable = ({ of: { creator_email, currency } }: { of: StatementPayout }) => (
  <Glance
    title="Approved commissions, oldest first"
    id="list_affiliate_commissions"
    to="/commissions"
    query={{ status: 'approved', creator_email: creator_email ?? '', currency, sort: 'oldest' }}
    empty="This creator has no approved commissions: settling the payout keeps the money for later ones."
    row={({ id, order_id, order_number, type, commission, occurred_at }) => ({
      key: id,
      name: order_number ?? order_id ?? words(type),
      opens: order_id === null ? null : { open: order_id },
      second: day(occurred_at),
      value: money(commission, currency),
    })}
  />
);

function Breakdown({ lines, currency }: { lines: readonly PayoutLine[]; currency: string }) {
  const nameLine = (line: PayoutLine) => line.order_number ?? line.order_id ?? NAMES[line.type];
  return (
    <>
      <h3>{lines.some(({ type }) => type === 'commission') ? 'Commissions that it paid' : 'Breakdown'}</h3>
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
                {line.order_id === null ? (
                  nameLine(line)
                ) : (
                  <Link to="/orders" search={{ open: line.order_id }}>
                    {nameLine(line)}
                  </Link>
                )}
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
