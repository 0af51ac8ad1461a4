import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { Dialog } from '../kit/dialog.tsx';
import { money, number, today } from '../kit/format.ts';
import { FollowedJob, isJob } from '../kit/job.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Button } from '../kit/parts.tsx';

type Approved = Extract<Answer<'approve_due_commissions'>['data'], { updated: number }>;

const SHOWN = ['list_affiliate_commissions', 'list_commissions', 'preview_payouts', 'get_analytics'] as const;

function Result({ of: { updated, flagged, by_currency } }: { of: Approved }) {
  return (
    <div className="stack" role="status">
      <p>
        {updated === 0 ? 'Nothing could be approved.' : `${number(updated)} approved: `}
        <strong>{by_currency.map(({ total, currency }) => money(total, currency)).join(' + ')}</strong>
      </p>
      {flagged > 0 && (
        <p>{number(flagged)} were flagged as possible fraud and are left for you. Select them in the list.</p>
      )}
    </div>
  );
}

function Approving({ email, onClose }: { email: string | undefined; onClose: () => void }) {
  const [approval, setApproval] = useState<Approved>();
  const [jobId, setJobId] = useState<string>();
  if (jobId !== undefined) {
    return (
      <FollowedJob
        id={jobId}
        noun="approval"
        what="commissions"
        onCancel="What was approved so far stays approved."
        done={() => <p role="status">Everything that is due was approved.</p>}
      />
    );
  }
  if (approval) {
    return (
      <>
        <Result of={approval} />
        <div className="popup-foot">
          <Button kind="primary" onPress={onClose}>
            Done
          </Button>
        </div>
      </>
    );
  }
  return (
    <OperationForm
      operation="approve_due_commissions"
      action="Approve what is due"
      onCancel={onClose}
      start={{ cutoff: today(), creator_email: email }}
      fields={[
        { name: 'cutoff', label: 'Orders up to', kind: 'date', hint: 'That day is included.' },
        { name: 'creator_email', hint: 'Empty: everybody.', isRequired: false },
        { name: 'currency', labels: { '': 'All' } },
        { name: 'flagged', label: 'Also those flagged as possible fraud' },
        { name: 'note', hint: 'Saved with each commission.' },
      ]}
      omits={['time_zone']}
      shown={SHOWN}
      onDone={({ data }) => (isJob(data) ? setJobId(data.id) : setApproval(data))}
    />
  );
}

/** Approves all that is past its review period, up to a day. */
export function ApproveDueDialog({
  email,
  isOpen,
  onClose,
}: {
  email: string | undefined;
  isOpen: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog
      title="Approve what is due"
      hint="Commissions of paid orders whose review period is over."
      isOpen={isOpen}
      onClose={onClose}
    >
      {isOpen && <Approving email={email} onClose={onClose} />}
    </Dialog>
  );
}
