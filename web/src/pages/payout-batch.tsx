import { useId, useState } from 'react';
import type { Answer, Body } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { listEnum } from '../kit/every.ts';
import { Form } from '../kit/form.tsx';
import { money, number, words } from '../kit/format.ts';
import { Button, Empty, Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';

const METHODS = listEnum<Body<'pay_payout_batch'>['method']>()(['bank_transfer', 'manual', 'wallet']);
const PAGE = 100;

/** The limits that the preview and the batch share. */
interface Limits {
  minimum?: number;
  cutoff?: string;
}

interface LimitsProps {
  limits: Limits;
  onChange: (change: (was: Limits) => Limits) => void;
}

function LimitFields({ limits, onChange }: LimitsProps) {
  const id = useId();
  return (
    <div className="filters">
      <div className="filter">
        <label htmlFor={`${id}minimum`}>Minimum payout</label>
        <input
          id={`${id}minimum`}
          type="number"
          min="0"
          step="0.01"
          defaultValue={limits.minimum}
          onChange={({ target: { value } }) =>
            onChange(({ minimum: _, ...was }) => (Number(value) > 0 ? { ...was, minimum: Number(value) } : was))
          }
        />
      </div>
      <div className="filter">
        <label htmlFor={`${id}cutoff`}>Orders up to</label>
        <input
          id={`${id}cutoff`}
          type="date"
          defaultValue={limits.cutoff}
          onChange={({ target: { value } }) =>
            onChange(({ cutoff: _, ...was }) => (value ? { ...was, cutoff: value } : was))
          }
        />
      </div>
    </div>
  );
}

function Due({ preview, limits }: { preview: Answer<'preview_payouts'>; limits: Limits }) {
  const due = preview.data.filter(({ total }) => total > 0);
  const others = preview.pagination.total - preview.data.length;
  if (due.length === 0)
    return <Empty title="Nothing is due">Approve commissions first, or lower the minimum payout.</Empty>;
  return (
    <>
      {preview.summary.by_currency.map(({ currency, total, payees }) => (
        <div key={currency} className="actions">
          <p>
            <strong>{money(total, currency)}</strong> to {number(payees)} {payees === 1 ? 'creator' : 'creators'}
          </p>
          {payees > 0 && (
            <Download
              id="preview_payouts"
              query={{ ...limits, currency }}
              name={`paypal-${currency.toLowerCase()}.csv`}
              profile="paypal"
              label={`Download ${currency} file for PayPal`}
            />
          )}
        </div>
      ))}
      <PlainTable
        caption="What is due"
        rows={due}
        getKey={({ creator_id, currency }) => `${creator_id} ${currency}`}
        columns={[
          {
            head: 'Creator',
            cell: ({ creator_name, creator_email, commission_count, recorded, currency }) => (
              <div className="person">
                <CreatorFace name={creator_name ?? creator_email ?? '?'} email={creator_email} />
                <div>
                  {creator_name ?? creator_email}
                  <span className="second">
                    {number(commission_count)} {commission_count === 1 ? 'commission' : 'commissions'}
                    {recorded > 0 && `; ${money(recorded, currency)} recorded but not settled`}
                  </span>
                </div>
              </div>
            ),
          },
          {
            head: 'Approved',
            cell: (one) => money(one.commissions_amount, one.currency),
            isNumber: true,
            isWide: true,
          },
          {
            head: 'Deductions',
            cell: ({ netted_amount, unallocated_used, currency }) =>
              netted_amount + unallocated_used === 0 ? '–' : money(netted_amount + unallocated_used, currency),
            isNumber: true,
            isWide: true,
          },
          { head: 'Due', cell: ({ total, currency }) => money(total, currency), isNumber: true },
        ]}
      />
      {others > 0 && <p className="hint">And {number(others)} more.</p>}
    </>
  );
}

function Batch({ onClose }: { onClose: () => void }) {
  const [limits, setLimits] = useState<Limits>({});
  const [isPaying, setPaying] = useState(false);
  const input = { query: { ...limits, limit: PAGE } };
  const { data, error, refetch, isPlaceholderData } = useCall('preview_payouts', input, { isFresh: true });
  const pay = useChange('pay_payout_batch', [
    'list_payouts',
    'preview_payouts',
    'list_commissions',
    'list_affiliate_commissions',
    'get_payout_statement',
  ]);
  const say = useSay();
  const isAnybody = data?.data.some(({ total }) => total > 0) ?? false;
  // The limits cannot be changed while the form is open, so that what is shown is what is paid.
  const isFormShown = isPaying && isAnybody && !error && !isPlaceholderData;
  return (
    <>
      {!isFormShown && <LimitFields limits={limits} onChange={setLimits} />}
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && !error && <Due preview={data} limits={limits} />}
      {isAnybody && !error && !isPaying && (
        <div className="bar">
          <span className="muted">Transfer the money first, then record it.</span>
          <Button kind="primary" isBusy={isPlaceholderData} onPress={() => setPaying(true)}>
            Record these payouts
          </Button>
        </div>
      )}
      {isFormShown && (
        <Form
          action="Mark as paid"
          onCancel={() => setPaying(false)}
          fields={[
            {
              name: 'method',
              label: 'Method',
              kind: 'select',
              isRequired: true,
              options: METHODS.map((method) => [method, words(method)]),
            },
            { name: 'reference', label: 'Reference', hint: 'Saved with every payout.' },
          ]}
          onSubmit={async (values) => {
            const { data: paid } = await pay.mutateAsync({
              body: {
                ...limits,
                method: values.choice('method', METHODS),
                reference: values.orNull('reference'),
              },
            });
            const left = paid.remaining > 0 ? ` ${number(paid.remaining)} remain: pay again.` : '';
            say(`${number(paid.payouts.length)} payouts recorded, ${number(paid.skipped.length)} skipped.${left}`);
            onClose();
          }}
        >
          <p className="note-box">This does not move money: transfer it as shown above, then record it here.</p>
        </Form>
      )}
    </>
  );
}

/** Shows who is owed what before anything is paid, then records one payout each. */
export function BatchDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      title="Pay what is due"
      hint="Approved commissions, minus refunds and money left over from earlier payouts."
      isOpen={isOpen}
      onClose={onClose}
      isSide
    >
      {isOpen && <Batch onClose={onClose} />}
    </Dialog>
  );
}
