import { useId, useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { money, number } from '../kit/format.ts';
import { FollowedJob, isJob } from '../kit/job.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Button, Empty, Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';

const PAGE = 100;
const SHOWN = [
  ...(['list_payouts', 'preview_payouts', 'list_commissions', 'list_affiliate_commissions'] as const),
  'get_payout_statement',
] as const;

const RAILS = [
  ['paypal', 'PayPal'],
  ['wise', 'Wise'],
] as const;

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
  const payees = preview.data.filter(({ total }) => total > 0);
  const others = preview.pagination.total - preview.data.length;
  if (payees.length === 0)
    return <Empty title="Nothing is due">Approve commissions first, or lower the minimum payout.</Empty>;
  return (
    <>
      {preview.summary.by_currency.map(({ currency, total, payees }) => (
        <div key={currency} className="actions">
          <p>
            <strong>{money(total, currency)}</strong> to {number(payees)} {payees === 1 ? 'creator' : 'creators'}
          </p>
          {payees > 0 &&
            RAILS.map(([profile, name]) => (
              <Download
                key={profile}
                id="preview_payouts"
                query={{ ...limits, currency }}
                name={`${profile}-${currency.toLowerCase()}.csv`}
                profile={profile}
                label={`${currency} file for ${name}`}
              />
            ))}
        </div>
      ))}
      <PlainTable
        caption="What is due"
        rows={payees}
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

/** Follows a batch that is too large for a call. */
function PaidByJob({ id }: { id: string }) {
  return (
    <FollowedJob
      id={id}
      noun="payment"
      what="creators"
      onCancel="Payouts that were recorded so far stay."
      done={({ files }) => (
        <div className="stack">
          <p role="status">All payouts are recorded.</p>
          {files.map(({ name, url }) => url !== null && <a key={name} href={url}>{`Download ${name}`}</a>)}
        </div>
      )}
    />
  );
}

function Batch({ onClose }: { onClose: () => void }) {
  const [limits, setLimits] = useState<Limits>({});
  const [isPaying, setPaying] = useState(false);
  const [jobId, setJobId] = useState<string>();
  const input = { query: { ...limits, limit: PAGE } };
  const { data, error, refetch, isPlaceholderData } = useCall('preview_payouts', input, { isFresh: true });
  const say = useSay();
  const isAnybody = data?.data.some(({ total }) => total > 0) ?? false;
  // The limits cannot be changed while the form is open, so that what is shown is what is paid.
  if (jobId !== undefined) return <PaidByJob id={jobId} />;
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
        <OperationForm
          operation="pay_payout_batch"
          action="Mark as paid"
          onCancel={() => setPaying(false)}
          start={{ method: 'bank_transfer' }}
          fields={['method', { name: 'reference', kind: 'text', hint: 'Saved with every payout.' }]}
          omits={['creator_emails', 'currency', 'time_zone']}
          fixed={limits}
          shown={SHOWN}
          onDone={({ data: paid }) => {
            if (isJob(paid)) {
              setJobId(paid.id);
              return;
            }
            const remainder = paid.remaining > 0 ? ` ${number(paid.remaining)} remain: pay again.` : '';
            say(`${number(paid.payouts.length)} payouts recorded, ${number(paid.skipped.length)} skipped.${remainder}`);
            onClose();
          }}
        >
          <p className="note-box">This does not move money: transfer it as shown above, then record it here.</p>
        </OperationForm>
      )}
    </>
  );
}

/** Shows who is owed what before anything is paid, then records one payout each. */
export function BatchDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      title="Pay what is due"
      hint="Approved commissions, less refunds and advances."
      isOpen={isOpen}
      onClose={onClose}
      isSide
    >
      {isOpen && <Batch onClose={onClose} />}
    </Dialog>
  );
}
