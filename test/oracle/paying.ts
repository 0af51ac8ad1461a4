/** Who is paid what by which payout, as decisions.md §4 says it. */
import { type Oracle, type OracleOrder, type OraclePayout, reviewOutcome, standings } from './model.ts';

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

/** What a refund that a store took back is given, of what the payout has left. */
function giveBack(oracle: Oracle, payout: OraclePayout): void {
  const back = Math.min(payout.leftMinor, Math.max(0, -owedBack(oracle, payout.creator, payout.currency)));
  payout.leftMinor -= back;
  payout.nettedMinor -= back;
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
  if (!made.isFee) {
    if (!payFrom(oracle, [...fundsOf(oracle, made), payout], wanted, mustFit)) return undefined;
  }
  oracle.payouts.push(payout);
  if (!made.isFee) giveBack(oracle, payout);
  return payout;
}

/** What payouts left is used up by what was just approved. */
export function useLeft(oracle: Oracle, approved: readonly OracleOrder[]): void {
  const owed = standings(oracle).filter(({ order }) => approved.includes(order));
  const payees = Map.groupBy(owed, ({ commission, currency }) => `${commission.link.creator} ${currency}`);
  for (const own of payees.values()) {
    const [one] = own;
    if (!one) continue;
    const funds = fundsOf(oracle, { creator: one.commission.link.creator, currency: one.currency });
    const before = own.filter(({ commission }) => commission.review === 'paid').length;
    payFrom(
      oracle,
      funds,
      own.toSorted((a, b) => a.occurredAt - b.occurredAt),
      false,
    );
    const last = funds.at(-1);
    if (last && own.filter(({ commission }) => commission.review === 'paid').length > before) giveBack(oracle, last);
  }
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
  useLeft(oracle, approved);
}
