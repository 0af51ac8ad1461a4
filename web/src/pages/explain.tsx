import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { day, money, time, words } from '../kit/format.ts';
import { Badge, Facts, Failure, Loading } from '../kit/parts.tsx';

/** Why a commission cannot be approved, in plain words. */
type Commission = NonNullable<Answer<'explain_attribution'>['data']['commission']>;
const BLOCKS: Readonly<Record<Commission['blocked_by'][number], string>> = {
  rejected: 'The commission was rejected.',
  order_not_paid: 'The order is not paid, or was cancelled or refunded in full.',
  review_period_active: 'The review period is not over.',
  high_fraud_flag: 'It was flagged as possible fraud, so it is not approved automatically.',
};

/** Explains why an order paid a creator, or did not. */
export function ExplainDialog({ orderId, onClose }: { orderId: string | undefined; onClose: () => void }) {
  const {
    data: answer,
    error,
    refetch,
  } = useCall('explain_attribution', { query: { order_id: orderId ?? '' } }, { enabled: orderId !== undefined });
  const data = answer?.data;
  return (
    <Dialog title={`Order ${orderId ?? ''}`} isOpen={orderId !== undefined} onClose={onClose} isSide>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data && data.order_id === orderId && (
        <div className="stack">
          <p className="note-box">{data.explanation}</p>
          <Facts
            of={[
              ['Store', words(data.source)],
              ['Amount', money(data.amount, data.currency)],
              ['Ordered', time(data.occurred_at)],
              ['Paid', time(data.paid_at)],
              ['Cancelled', data.cancelled_at && time(data.cancelled_at)],
              ['Customer', data.customer_email],
            ]}
          />
          {data.commission && (
            <>
              <h3>
                Commission <Badge state={data.commission.status} />
              </h3>
              <Facts
                of={[
                  ['Amount', money(data.commission.commission, data.currency)],
                  ['Creator', data.commission.creator_name ?? data.commission.creator_email],
                  ['Can be approved from', day(data.commission.hold_ends_at)],
                  ['Note', data.commission.status_note],
                ]}
              />
              {data.commission.blocked_by.length > 0 && (
                <div className="problem summary">
                  {data.commission.blocked_by.map((code) => (
                    <p key={code}>{BLOCKS[code]}</p>
                  ))}
                </div>
              )}
              {data.commission.fraud_flags.map(({ code, detail, severity }) => (
                <p key={code}>
                  <Badge state={`${severity} risk`} /> {detail}
                </p>
              ))}
            </>
          )}
          <h3>Links and codes considered</h3>
          <ul className="plain">
            {data.candidates.map((candidate, i) => (
              <li key={`${candidate.type} ${candidate.link_id ?? i}`}>
                {candidate.explanation}
                <span className="second muted"> {candidate.creator_name ?? candidate.creator_email}</span>
              </li>
            ))}
            {data.candidates.length === 0 && <li className="muted">This order came with no code and no click.</li>}
          </ul>
          {data.refunds.length > 0 && (
            <>
              <h3>Refunds</h3>
              <ul className="plain">
                {data.refunds.map(({ refund_id, amount, at }) => (
                  <li key={refund_id}>
                    {money(amount, data.currency)}, {day(at)}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}
