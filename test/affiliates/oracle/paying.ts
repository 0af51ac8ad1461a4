/** Who is paid what by which payout, as decisions.md §4 says it. */
import {
  keyOf,
  type Oracle,
  type OracleOrder,
  type OraclePayout,
  type Reported,
  reviewOutcome,
  standings,
} from './model.ts';

type Owed = ReturnType<typeof standings>[number];

/** What the creator owes; below zero: what was netted for refunds that the store took back since. */
export function owedBack(oracle: Oracle, creator: number, currency: string): number {
  const lost = standings(oracle)
    .filter((one) => one.commission.link.creator === creator && one.currency === currency)
    .flatMap(({ losses }) => losses)
    .reduce((sum, { minor }) => sum + minor, 0);
  return lost - nettedOf(oracle, creator, currency);
}

export const nettedOf = ({ payouts }: Oracle, creator: number, currency: string): number =>
  payouts
    .filter((payout) => payout.creator === creator && payout.currency === currency)
    .reduce((sum, { nettedMinor }) => sum + nettedMinor, 0);

/** What can be paid to a creator, oldest first. */
export const payable = (oracle: Oracle, creator: number, currency: string): Owed[] =>
  standings(oracle)
    .filter((one) => one.status === 'approved' && one.currency === currency && one.commission.link.creator === creator)
    .toSorted((a, b) => a.occurredAt - b.occurredAt);

/** Pays what fits of the wanted out of the funds, the first fund first. With `mustFit`, all or none. */
function payFrom(oracle: Oracle, funds: OraclePayout[], wanted: readonly Owed[], mustFit: boolean): boolean {
  const last = funds.at(-1);
  if (!last) return false;
  const owed = owedBack(oracle, last.creator, last.currency);
  const budget = Math.max(0, owed) + funds.reduce((sum, { leftMinor }) => sum + leftMinor, 0);
  let paid = 0;
  const chosen = wanted.filter(({ dueMinor }) => {
    if (paid + dueMinor > budget) return false;
    paid += dueMinor;
    return true;
  });
  if (mustFit && chosen.length < wanted.length) return false;
  for (const { commission, dueMinor } of chosen) Object.assign(commission, { review: 'paid', paidMinor: dueMinor });
  const netted = Math.min(paid, Math.max(0, owed));
  last.nettedMinor += netted;
  last.allocatedMinor += netted;
  let rest = paid - netted;
  for (const fund of funds) {
    const part = Math.min(rest, fund.leftMinor);
    fund.leftMinor -= part;
    fund.allocatedMinor += part;
    rest -= part;
  }
  return true;
}

/** What refunds that a store took back are given, of what payouts have left, the oldest first. */
function giveBack(oracle: Oracle, payouts: readonly OraclePayout[]): void {
  for (const payout of payouts) {
    const back = Math.min(payout.leftMinor, Math.max(0, -owedBack(oracle, payout.creator, payout.currency)));
    payout.leftMinor -= back;
    payout.nettedMinor -= back;
  }
}

const older = (a: OraclePayout, b: OraclePayout) => a.at - b.at || (a.id < b.id ? -1 : 1);

const fundsOf = ({ payouts }: Oracle, { creator, currency }: Pick<OraclePayout, 'creator' | 'currency'>) =>
  payouts.filter((one) => one.creator === creator && one.currency === currency && one.leftMinor > 0).toSorted(older);

type NewPayout = Pick<OraclePayout, 'id' | 'at' | 'creator' | 'currency' | 'amountMinor' | 'isFee'>;

/** Undefined when the list is too dear: then nothing happened. */
export function payOut(
  oracle: Oracle,
  made: NewPayout,
  wanted: readonly Owed[],
  mustFit: boolean,
): OraclePayout | undefined {
  const leftMinor = made.isFee ? 0 : made.amountMinor;
  const payout = { ...made, leftMinor, allocatedMinor: 0, nettedMinor: 0 };
  const funds = made.isFee ? [] : [...fundsOf(oracle, made), payout];
  if (!made.isFee && !payFrom(oracle, funds, wanted, mustFit)) return undefined;
  oracle.payouts.push(payout);
  giveBack(oracle, funds);
  return payout;
}

/** What payouts left is used up by whatever of the creator's fits, the oldest first. */
function useLeft(oracle: Oracle, creator: number, currency: string): void {
  const wanted = payable(oracle, creator, currency);
  const due = wanted.reduce((sum, { dueMinor }) => sum + dueMinor, 0);
  const owed = owedBack(oracle, creator, currency);
  const funds = fundsOf(oracle, { creator, currency });
  // Without money that is left, what is owed back pays only all of it, and the newest payout nets it.
  if (funds.length === 0 && owed > 0 && due <= owed) {
    const own = oracle.payouts.filter((one) => one.creator === creator && one.currency === currency && !one.isFee);
    funds.push(...own.toSorted(older).slice(-1));
  }
  payFrom(oracle, funds, wanted, false);
  giveBack(oracle, funds);
}

/** What was just approved may be paid by what payouts left, and so may what did not fit before. */
export function useLeftOf(oracle: Oracle, approved: readonly OracleOrder[]): void {
  for (const { order, commission, currency } of standings(oracle)) {
    if (approved.includes(order)) useLeft(oracle, commission.link.creator, currency);
  }
}

/** What an order makes a creator be owed. */
function owedOf(oracle: Oracle, key: string): number {
  const order = oracle.orders.get(key);
  const standing = standings(oracle).find((one) => one.order === order);
  if (!standing) return 0;
  const lost = standing.losses.reduce((sum, { minor }) => sum + minor, 0);
  return standing.status === 'approved' ? standing.dueMinor : -lost;
}

/** A store said something of an order: where that changes what its creator is owed, something may fit now. */
export function heard(oracle: Oracle, { store, orderId }: Reported, hear: () => void): void {
  const key = keyOf(store, orderId);
  const before = owedOf(oracle, key);
  hear();
  const order = oracle.orders.get(key);
  if (order && owedOf(oracle, key) !== before) useLeftOf(oracle, [order]);
}

/** What `payable_now` is, and what a batch pays. */
export function dueTo(oracle: Oracle, creator: number, currency: string): number {
  const approved = payable(oracle, creator, currency).reduce((sum, { dueMinor }) => sum + dueMinor, 0);
  const left = fundsOf(oracle, { creator, currency }).reduce((sum, { leftMinor }) => sum + leftMinor, 0);
  return Math.max(0, approved - owedBack(oracle, creator, currency) - left);
}

/** At any moment the brand that wants it approves what nothing speaks against. */
export function approveDue(oracle: Oracle, now: number): void {
  if (!oracle.isAutomatic) return;
  const approved: OracleOrder[] = [];
  for (const { order, commission, status } of standings(oracle)) {
    const isSuspect = order.reported.some(({ customer }) => customer === commission.link.creator);
    if (status !== 'pending' || isSuspect || reviewOutcome(order, 'approved', now) !== 'moves') continue;
    commission.review = 'approved';
    approved.push(order);
  }
  useLeftOf(oracle, approved);
}
