import type { Row } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { FormDialog } from '../kit/form.tsx';
import { money } from '../kit/format.ts';
import { isJob } from '../kit/job.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';
import { useSay } from '../kit/toast.tsx';
import { isPaid } from './payout-state.tsx';

const REASON = {
  name: 'reason',
  label: 'Reason',
  kind: 'textarea',
  isRequired: true,
  hint: 'The creator sees it on statements.',
} as const;

const CHANGED = [
  'list_payouts',
  'get_payout_statement',
  'list_commissions',
  'list_affiliate_commissions',
  'preview_payouts',
] as const;

type Payout = Row<'list_payouts'>;

/** Voids a payout that was not paid, or records that a paid one came back. */
export function CorrectionDialog({ payout, onClose }: { payout: Payout | undefined; onClose: () => void }) {
  const cancel = useChange('void_payout', CHANGED);
  const giveBack = useChange('return_payout', CHANGED);
  const say = useSay();
  const came = payout !== undefined && isPaid(payout);
  const amount = payout ? money(payout.amount, payout.currency) : '';
  return (
    <FormDialog
      title={came ? `${amount} came back` : `Void ${amount}`}
      hint={
        came
          ? 'The commissions that it paid are due again, and refunds that it withheld are owed back again.'
          : 'For a payout that you recorded by mistake. It stays in the list and is never paid.'
      }
      isOpen={payout !== undefined}
      onClose={onClose}
      action={came ? 'Record the return' : 'Void the payout'}
      fields={came ? [REASON, { name: 'returned_at', label: 'Returned on', kind: 'date' }] : [REASON]}
      onSubmit={async (values) => {
        const params = { id: payout?.id ?? '' };
        const reason = values.text('reason');
        const day = values.some('returned_at');
        if (came) {
          const { data } = await giveBack.mutateAsync({
            params,
            body: { reason, ...(day ? { returned_at: day } : {}) },
          });
          if (isJob(data)) say('It covered many commissions, which are due again within minutes.');
        } else await cancel.mutateAsync({ params, body: { reason } });
        onClose();
      }}
    />
  );
}

type CorrectedCommission = Pick<Row<'list_affiliate_commissions'>, 'id' | 'commission' | 'currency'>;

/** Takes back a paid commission; the next payout nets it. */
export function ClawBackDialog({
  commission,
  onClose,
}: {
  commission: CorrectedCommission | undefined;
  onClose: () => void;
}) {
  const clawBack = useChange('claw_back_commission', CHANGED);
  return (
    <FormDialog
      title={`Claw back ${commission ? money(commission.commission, commission.currency) : ''}`}
      hint="What remains of it after refunds is deducted from the creator’s next payout. This cannot be undone."
      isOpen={commission !== undefined}
      onClose={onClose}
      action="Claw it back"
      fields={[REASON]}
      onSubmit={async (values) => {
        await clawBack.mutateAsync({ params: { id: commission?.id ?? '' }, body: { reason: values.text('reason') } });
        onClose();
      }}
    />
  );
}

interface ManualProps {
  isOpen: boolean;
  onClose: () => void;
  /** The creator that the page is about. */
  email: string | undefined;
}

/** Records a commission without an order, such as a bonus. */
export function ManualCommissionDialog({ isOpen, onClose, email }: ManualProps) {
  return (
    <OperationDialog
      operation="record_manual_commission"
      title="Record a commission"
      hint="For what a creator earned without an order, such as a bonus."
      isOpen={isOpen}
      onClose={onClose}
      action="Record the commission"
      start={{ creator_email: email, status: 'pending' }}
      fields={[
        'creator_email',
        { name: 'amount', step: '0.01' },
        'currency',
        { name: 'description', label: 'What it is for' },
        'status',
      ]}
      shown={CHANGED}
      onDone={onClose}
    />
  );
}
