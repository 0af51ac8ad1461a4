import { useState } from 'react';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Form } from '../kit/form.tsx';
import { money, number, words } from '../kit/format.ts';
import { Button, Empty, Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';

const METHODS = ['manual', 'bank_transfer', 'wallet'] as const;

/** What is due to whom, before anything is paid; then one payout each. */
export function BatchDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { data, error } = useCall('preview_payouts', { query: { limit: 100 } }, { enabled: isOpen });
  const pay = useChange('pay_payout_batch', ['list_payouts', 'preview_payouts', 'list_commissions']);
  const say = useSay();
  const [isPaying, setPaying] = useState(false);
  const due = data?.data.filter(({ total }) => total > 0) ?? [];
  const close = () => {
    setPaying(false);
    onClose();
  };
  return (
    <Dialog
      title="Pay what is due"
      hint="Approved commissions, less what refunds took back."
      isOpen={isOpen}
      onClose={close}
      isSide
    >
      {error && <Failure error={error} />}
      {!data && !error && <Loading />}
      {data && due.length === 0 && <Empty title="Nothing is due">Approve commissions first.</Empty>}
      {due.length > 0 && (
        <>
          <PlainTable
            caption="What is due"
            rows={due}
            keyOf={({ creator_id, currency }) => `${creator_id} ${currency}`}
            columns={[
              {
                head: 'Creator',
                cell: ({ creator_name, creator_email, commission_count }) => (
                  <>
                    {creator_name ?? creator_email}
                    <span className="second">{number(commission_count)} commissions</span>
                  </>
                ),
              },
              {
                head: 'Taken back',
                cell: ({ netted_amount, currency }) => money(netted_amount, currency),
                isNumber: true,
                isWide: true,
              },
              { head: 'Due', cell: ({ total, currency }) => money(total, currency), isNumber: true },
            ]}
          />
          {data?.summary.by_currency.map(({ currency, total, payees }) => (
            <p key={currency}>
              <strong>{money(total, currency)}</strong> to {number(payees)} creators
            </p>
          ))}
          {!isPaying && (
            <Button kind="primary" onPress={() => setPaying(true)}>
              Pay them
            </Button>
          )}
          {isPaying && (
            <Form
              action="Record that they are paid"
              onCancel={() => setPaying(false)}
              fields={[
                {
                  name: 'method',
                  label: 'Method',
                  kind: 'select',
                  isRequired: true,
                  options: METHODS.map((method) => [method, words(method)]),
                },
                { name: 'reference', label: 'Reference' },
                { name: 'minimum', label: 'Not below', kind: 'number', hint: 'Smaller sums wait for the next time.' },
              ]}
              onSubmit={async (values) => {
                const minimum = values.someNumber('minimum');
                const { data: paid } = await pay.mutateAsync({
                  body: {
                    method: values.choice('method', METHODS),
                    reference: values.orNull('reference'),
                    ...(minimum === undefined ? {} : { minimum }),
                  },
                });
                say(`${number(paid.payouts.length)} payouts, ${number(paid.skipped.length)} left out.`);
                close();
              }}
            />
          )}
        </>
      )}
    </Dialog>
  );
}
