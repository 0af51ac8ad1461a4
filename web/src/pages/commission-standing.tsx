import type { Row } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { money, percent, shortDay } from '../kit/format.ts';
import { Badge, Button, IfMay } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';

type Commission = Pick<
  Row<'list_affiliate_commissions'>,
  'status' | 'order_paid' | 'type' | 'approvable_at' | 'fraud_flags' | 'clawed_back_at'
>;

/** A pending commission of such an order waits for the customer's payment. */
export const ORDER_NOT_PAID = 'Order not paid';

/** The status of a commission; a pending one shows the step that it waits for. */
export function Standing({
  of: { status, order_paid, type, approvable_at, fraud_flags, clawed_back_at },
}: {
  of: Commission;
}) {
  const isInReview = approvable_at !== null && new Date(approvable_at).getTime() > Date.now();
  return (
    <span className="row">
      {status !== 'pending' ? (
        <Badge state={status} />
      ) : type === 'sale' && !order_paid ? (
        <span className="badge quiet">{ORDER_NOT_PAID}</span>
      ) : isInReview ? (
        <span className="badge quiet">Pending</span>
      ) : (
        <span className="badge wait">
          Ready<span className="wide"> to approve</span>
        </span>
      )}
      {clawed_back_at !== null && <span className="badge quiet">Clawed back</span>}
      {fraud_flags.length > 0 && <span className="badge wait">Check</span>}
      {status === 'pending' && isInReview && <span className="second">until {shortDay(approvable_at)}</span>}
    </span>
  );
}

type Rated = Pick<
  Row<'list_affiliate_commissions'>,
  'amount' | 'commission_at_rate' | 'commission_rate' | 'currency' | 'terms_id'
>;

/** The sale that a percentage was taken of; undefined after a refund, or if terms say more than a percentage. */
function findRatedSale({ amount, commission_at_rate, commission_rate, currency, terms_id }: Rated): string | undefined {
  const isWhole = Math.abs((amount * commission_rate) / 100 - commission_at_rate) < 0.01;
  return terms_id === null && isWhole ? money(amount, currency) : undefined;
}

/** The rate of a commission, such as "12% of $64.00"; undefined if it has none. */
export function rateText(of: Rated): string | undefined {
  if (of.commission_rate === 0) return undefined;
  const sale = findRatedSale(of);
  return sale === undefined ? percent(of.commission_rate) : `${percent(of.commission_rate)} of ${sale}`;
}

/** The same below a commission in a list, whose sale only a phone has to name. */
export function RateNote({ of }: { of: Rated }) {
  const sale = findRatedSale(of);
  if (of.commission_rate === 0) return null;
  return (
    <span className="second">
      {percent(of.commission_rate)}
      {sale !== undefined && <span className="narrow-inline"> of {sale}</span>}
    </span>
  );
}

/** The queries that show whether a commission was reviewed. */
export const SHOW_REVIEWS = [
  ...(['list_affiliate_commissions', 'list_commissions', 'preview_payouts', 'get_analytics'] as const),
  ...(['get_order', 'explain_attribution', 'list_orders'] as const),
] as const;

/** Decides on one commission whose order is paid and whose review period is over. */
export function ReviewOne({ id }: { id: string }) {
  const review = useChange('update_commissions', SHOW_REVIEWS);
  const say = useSay();
  async function decide(status: 'approved' | 'rejected') {
    try {
      await review.mutateAsync({ body: { event_ids: [id], status } });
      say(status === 'approved' ? 'Approved.' : 'Rejected.');
    } catch (error) {
      say(error instanceof Error ? error.message : 'Something went wrong. Try again.');
    }
  }
  return (
    <IfMay needs="update_commissions">
      <div className="row">
        <Button kind="primary" isBusy={review.isPending} onPress={() => void decide('approved')}>
          Approve
        </Button>
        <Button isBusy={review.isPending} onPress={() => void decide('rejected')}>
          Reject
        </Button>
      </div>
    </IfMay>
  );
}
