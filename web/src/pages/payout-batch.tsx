import { useId, useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { counted, money, number } from '../kit/format.ts';
import { FollowedJob, isJob } from '../kit/job.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Button, Empty, Failure, Loading, oneLine } from '../kit/parts.tsx';
import type { Selection } from '../kit/selection.ts';
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

type Payee = Answer<'preview_payouts'>['data'][number];

const BLOCKS: Readonly<Record<NonNullable<Payee['blocked']>['reason'], string>> = {
  payment_change_pending: 'Address is being changed',
  no_payment_address: 'No payment address',
};

const SOURCES: Readonly<Record<Payee['pay_to_source'], string>> = {
  mail: '',
  brand: 'set by your brand',
  creator: 'set by the creator',
};

const keyOf = ({ creator_id, currency }: Payee) => `${creator_id} ${currency}`;

interface DueProps {
  payees: readonly Payee[];
  /** The number of payees who are due something and not listed. */
  others: number;
  limits: Limits;
  /** Undefined if everybody is paid. */
  selection: Selection<Payee> | undefined;
  /** False if somebody was left out. */
  isWhole: boolean;
  /** The sums of those who are ticked. */
  sums: readonly { currency: string; total: number; payees: number }[];
}

function Due({ payees, others, limits, selection, isWhole, sums }: DueProps) {
  if (payees.length === 0)
    return <Empty title="Nothing is due">Approve commissions first, or lower the minimum payout.</Empty>;
  return (
    <>
      {sums.map(({ currency, total, payees }) => (
        <div key={currency} className="actions due">
          <p>
            <strong>{money(total, currency)}</strong> to {number(payees)} {payees === 1 ? 'creator' : 'creators'}
          </p>
          {payees > 0 &&
            isWhole &&
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
      {!isWhole && <p className="hint">Files for PayPal and Wise list everybody: tick all creators to download one.</p>}
      <PlainTable
        caption="What is due"
        rows={payees}
        getKey={keyOf}
        {...(selection
          ? { selection: { ...selection, getName: (one: Payee) => one.creator_name ?? one.creator_email ?? '' } }
          : {})}
        columns={[
          {
            head: 'Creator',
            cell: ({ creator_name, creator_email, pay_to: address, pay_to_source: source, blocked, ...one }) => (
              <div className="person">
                <CreatorFace name={creator_name ?? creator_email ?? '?'} email={creator_email} />
                <div>
                  {creator_name ?? creator_email}
                  {blocked ? (
                    <span className="badge wait">{BLOCKS[blocked.reason]}</span>
                  ) : (
                    <span {...oneLine(address, 'second')}>{[address, SOURCES[source]].filter(Boolean).join(', ')}</span>
                  )}
                  {one.recorded > 0 && (
                    <span className="badge wait">{money(one.recorded, one.currency)} recorded, to settle</span>
                  )}
                </div>
              </div>
            ),
          },
          {
            head: 'Commissions',
            isWide: true,
            isNumber: true,
            cell: ({ commission_count: count }) => number(count),
          },
          {
            head: 'Due',
            cell: ({ total, commissions_amount: approved, netted_amount, unallocated_used, currency }) => (
              <>
                {money(total, currency)}
                {netted_amount + unallocated_used !== 0 && (
                  <span className="second">
                    {money(approved, currency)} less {money(netted_amount + unallocated_used, currency)}
                  </span>
                )}
              </>
            ),
            isNumber: true,
          },
        ]}
      />
      {others > 0 && <p className="hint">And {number(others)} more.</p>}
    </>
  );
}

const listPayees = ({ data }: Answer<'preview_payouts'>) => data.filter(({ total }) => total > 0);

/** The sums of some payees in each currency. */
const sumPayees = (payees: readonly Payee[]) =>
  [...Map.groupBy(payees, ({ currency }) => currency)].map(([currency, its]) => ({
    currency,
    total: its.reduce((sum, { total }) => sum + total, 0),
    payees: its.length,
  }));

/** Everybody is ticked at first. A creator with several currencies is ticked in all of them, or in none. */
function usePayees(preview: Answer<'preview_payouts'> | undefined) {
  const [omittedIds, setOmittedIds] = useState<ReadonlySet<string>>(new Set());
  const payees = preview ? listPayees(preview) : [];
  const isListed = preview !== undefined && preview.pagination.total <= preview.data.length;
  const canChoose = isListed && payees.every(({ creator_email }) => creator_email !== null);
  const chosen = canChoose ? payees.filter(({ creator_id }) => !omittedIds.has(creator_id)) : payees;
  const selection: Selection<Payee> = {
    selected: new Map(chosen.map((one) => [keyOf(one), one])),
    onSelect: (next) => {
      const changed = payees.filter((one) => next.has(keyOf(one)) === omittedIds.has(one.creator_id));
      const ids = new Set(omittedIds);
      for (const { creator_id: id } of changed) {
        if (omittedIds.has(id)) ids.delete(id);
        else ids.add(id);
      }
      setOmittedIds(ids);
    },
  };
  const isWhole = chosen.length === payees.length;
  return {
    payees,
    chosen,
    selection: canChoose ? selection : undefined,
    sums: isWhole ? (preview?.summary.by_currency ?? []) : sumPayees(chosen),
    emails: isWhole ? undefined : [...new Set(chosen.flatMap(({ creator_email }) => creator_email ?? []))],
  };
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
  const { payees, chosen, selection, sums, emails } = usePayees(data);
  const say = useSay();
  const isAnybody = chosen.length > 0;
  const count = sums.reduce((sum, { payees: each }) => sum + each, 0);
  // The limits cannot be changed while the form is open, so that what is shown is what is paid.
  if (jobId !== undefined) return <PaidByJob id={jobId} />;
  const isFormShown = isPaying && isAnybody && !error && !isPlaceholderData;
  return (
    <>
      {!isFormShown && <LimitFields limits={limits} onChange={setLimits} />}
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && !error && (
        <Due
          payees={isFormShown ? chosen : payees}
          others={data.pagination.total - data.data.length}
          limits={limits}
          selection={isFormShown ? undefined : selection}
          isWhole={emails === undefined}
          sums={sums}
        />
      )}
      {isAnybody && !error && !isPaying && (
        <div className="bar">
          <span className="muted wide">Transfer the money first, then record it.</span>
          <Button kind="primary" isBusy={isPlaceholderData} onPress={() => setPaying(true)}>
            {`Record ${counted(count, 'payout')}, ${sums.map(({ total, currency }) => money(total, currency)).join(' + ')}`}
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
          fixed={{ ...limits, ...(emails ? { creator_emails: emails } : {}) }}
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
      hint="Approved commissions, less refunds and advances. Transfer the money yourself, then record it here."
      isOpen={isOpen}
      onClose={onClose}
      isSide
    >
      {isOpen && <Batch onClose={onClose} />}
    </Dialog>
  );
}
