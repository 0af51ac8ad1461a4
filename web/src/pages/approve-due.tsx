import { useState } from 'react';
import type { Answer, Row } from '../call/call.ts';
import { useAll, useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import type { Values } from '../kit/form.tsx';
import { counted, isoDay, money, number, today } from '../kit/format.ts';
import { FollowedJob, isJob } from '../kit/job.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Button } from '../kit/parts.tsx';
import { sumUp } from '../kit/totals.tsx';

type Commission = Row<'list_affiliate_commissions'>;
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

/** Up to this number, what can be approved is read and counted by the form's limits. */
const COUNTED = 1_000;

interface Limits {
  cutoff: string;
  email: string;
  currency: string;
  isFlagged: boolean;
}

const readLimits = (values: Values): Limits => ({
  cutoff: values.text('cutoff'),
  email: values.text('creator_email'),
  currency: values.text('currency'),
  isFlagged: values.some('flagged') !== undefined,
});

const isHigh = ({ fraud_flags }: Commission) => fraud_flags.some(({ severity }) => severity === 'high');

const isWithin = ({ cutoff, email, currency }: Limits, { creator_email, occurred_at, ...one }: Commission) =>
  isoDay(Date.parse(occurred_at)) <= cutoff &&
  (email === '' || creator_email?.toLowerCase() === email.toLowerCase()) &&
  (currency === '' || one.currency === currency);

interface DueSum {
  count: number;
  sum: string;
  /** Commissions that wait for a person, because they are flagged as possible fraud. */
  flagged: number;
  /** False if the cutoff and the flags, which the list has no filter for, leave less than that. */
  isExact: boolean;
}

/** The commissions that the form would approve; undefined until they are read. */
function useDueSum(limits: Limits): DueSum | undefined {
  const approvable = { approvable: true } as const;
  const list = 'list_affiliate_commissions';
  const all = useCall(list, { query: { ...approvable, limit: 1 } }, { isFresh: true }).data?.pagination.total;
  const { data: rows } = useAll(list, approvable, { isEnabled: all !== undefined && all <= COUNTED });
  const { email, currency } = limits;
  const own = { ...(email ? { creator_email: email } : {}), ...(currency ? { currency } : {}) };
  const query = { ...approvable, ...own, totals: true, limit: 1 };
  const sums = useCall(list, { query }, { enabled: all !== undefined && all > COUNTED });
  if (rows) {
    const within = rows.filter((row) => isWithin(limits, row));
    const due = within.filter((row) => limits.isFlagged || !isHigh(row));
    return { count: due.length, sum: sumUp(due), flagged: within.length - due.length, isExact: true };
  }
  if (!sums.data || sums.isPlaceholderData) return undefined;
  const { pagination, totals = [] } = sums.data;
  return { count: pagination.total, sum: sumUp(totals), flagged: 0, isExact: false };
}

const labelAction = (due: DueSum | undefined) =>
  due === undefined || due.count === 0
    ? 'Approve'
    : `Approve ${due.isExact ? '' : 'up to '}${counted(due.count, 'commission')}, ${due.sum}`;

function ApprovalForm({
  email = '',
  onCancel,
  onDone,
}: {
  email: string | undefined;
  onCancel: () => void;
  onDone: (answer: Answer<'approve_due_commissions'>) => unknown;
}) {
  const [limits, setLimits] = useState<Limits>({ cutoff: today(), email, currency: '', isFlagged: false });
  const due = useDueSum(limits);
  return (
    <OperationForm
      operation="approve_due_commissions"
      action={labelAction(due)}
      onCancel={onCancel}
      onValues={(values) => setLimits(readLimits(values))}
      start={{ cutoff: today(), creator_email: email }}
      fields={[
        { name: 'cutoff', label: 'Orders up to', kind: 'date', hint: 'That day is included.' },
        { name: 'creator_email', hint: 'Leave empty for everybody.', isRequired: false },
        { name: 'currency', labels: { '': 'All' } },
        { name: 'flagged', label: 'Also those flagged as possible fraud' },
        { name: 'note', hint: 'Saved with each commission.' },
      ]}
      omits={['time_zone']}
      shown={SHOWN}
      onDone={onDone}
    >
      <p className="hint" role="status">
        {due?.count === 0 && 'Nothing is ready within these limits. '}
        {due && due.flagged > 0 && `${counted(due.flagged, 'commission')} flagged as possible fraud stay with you.`}
      </p>
    </OperationForm>
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
        done={() => <p role="status">Everything that is ready was approved.</p>}
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
    <ApprovalForm
      email={email}
      onCancel={onClose}
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
      title="Approve all ready"
      hint="Commissions of paid orders whose review period is over."
      isOpen={isOpen}
      onClose={onClose}
    >
      {isOpen && <Approving email={email} onClose={onClose} />}
    </Dialog>
  );
}
