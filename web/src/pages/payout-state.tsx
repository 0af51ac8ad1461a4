import type { Row } from '../call/call.ts';
import { Badge } from '../kit/parts.tsx';

type Payout = Row<'list_payouts'>;

/** A wallet payout is paid as soon as it is recorded. */
export const isPaid = ({ status, method }: Pick<Payout, 'status' | 'method'>) =>
  status === 'paid' || (method === 'wallet' && status === 'completed');

export const isToSettle = (payout: Pick<Payout, 'status' | 'method'>) =>
  payout.status === 'completed' && !isPaid(payout);

/** The API calls a payout completed once it is recorded, but the user wants to know what is left to do. */
export function PayoutState({ of: payout }: { of: Pick<Payout, 'status' | 'method'> }) {
  return <Badge state={isPaid(payout) ? 'paid' : isToSettle(payout) ? 'to_settle' : payout.status} />;
}
