import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { day, money, number } from '../kit/format.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Failure, Loading } from '../kit/parts.tsx';

type Payout = Pick<Row<'list_payouts'>, 'id' | 'amount' | 'currency' | 'creator_email'>;
const HOW = ['oldest', 'chosen', 'none'] as const;
type How = (typeof HOW)[number];

const SAYS: Readonly<Record<How, string>> = {
  oldest: 'The oldest first, up to the amount',
  chosen: 'Selected commissions',
  none: 'None: this payout is a fee',
};

interface ChoiceProps {
  payout: Payout;
  chosen: ReadonlySet<string>;
  onChoose: (ids: ReadonlySet<string>) => void;
}

/** The payee's approved commissions, with checkboxes. */
function Choice({ payout, chosen, onChoose }: ChoiceProps) {
  const list = useRows('list_commissions', { status: 'approved', creator_email: payout.creator_email ?? '' });
  const hidden = (list.total ?? 0) - list.rows.length;
  const rows = list.rows.filter(({ currency }) => currency === payout.currency);
  if (list.error) return <Failure error={list.error} again={list.again} />;
  if (list.isLoading) return <Loading rows={2} />;
  if (rows.length === 0) return <p className="hint">This creator has no approved commissions left to pay.</p>;
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  };
  const sum = rows.filter(({ id }) => chosen.has(id)).reduce((total, { commission }) => total + commission, 0);
  return (
    <>
      <ul className="picks scroll">
        {rows.map(({ id, order_id, order_number, commission, currency, occurred_at }) => (
          <li key={id}>
            <label className="pick">
              <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} />
              <span>
                {order_number ?? order_id ?? id} <span className="hint">{day(occurred_at)}</span>
              </span>
              <span className="figure">{money(commission, currency)}</span>
            </label>
          </li>
        ))}
      </ul>
      {hidden > 0 && (
        <button type="button" className="link" onClick={() => list.see(0, list.rows.length + 1)}>
          Show more ({number(hidden)} left)
        </button>
      )}
      <p role="status">
        {number(chosen.size)} selected, {money(sum, payout.currency)} of {money(payout.amount, payout.currency)}
      </p>
    </>
  );
}

const SHOWN = [
  ...(['list_payouts', 'preview_payouts', 'list_commissions', 'list_affiliate_commissions'] as const),
  'get_payout_statement',
] as const;

/** Records that the money was sent, and which commissions it paid. */
function Settle({ payout, onClose }: { payout: Payout; onClose: () => void }) {
  const [how, setHow] = useState<How>('oldest');
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set());
  const ids = how === 'oldest' ? undefined : how === 'none' ? [] : [...chosenIds];
  return (
    <OperationForm
      operation="settle_payout"
      action="Settle the payout"
      params={{ id: payout.id }}
      onCancel={onClose}
      fields={[
        { name: 'reference', kind: 'text', hint: 'For example, the bank’s transaction number.' },
        { name: 'paid_at', label: 'Paid on' },
      ]}
      omits={['commission_ids']}
      fixed={() => {
        if (how === 'chosen' && chosenIds.size === 0) throw new Error('Select at least one commission.');
        return { status: 'paid' as const, ...(ids ? { commission_ids: ids } : {}) };
      }}
      shown={SHOWN}
      onDone={onClose}
    >
      <fieldset className="field">
        <legend>Commissions to mark as paid</legend>
        {HOW.map((one) => (
          <label key={one} className="option">
            <input type="radio" name="how" checked={how === one} onChange={() => setHow(one)} />
            {SAYS[one]}
          </label>
        ))}
      </fieldset>
      {how === 'chosen' && <Choice payout={payout} chosen={chosenIds} onChoose={setChosenIds} />}
    </OperationForm>
  );
}

export function SettleDialog({ payout, onClose }: { payout: Payout | undefined; onClose: () => void }) {
  return (
    <Dialog
      title={`Settle ${payout ? money(payout.amount, payout.currency) : ''}`}
      hint="Settle a payout once the money has left your account."
      isOpen={payout !== undefined}
      onClose={onClose}
    >
      {payout && <Settle payout={payout} onClose={onClose} />}
    </Dialog>
  );
}
