import { formatMoney } from '../../values/money.ts';
import type { Attribution } from './schema.ts';

type Candidate = Attribution['candidates'][number];
type CodeReason = Extract<Candidate, { type: 'code' }>['reason'];
type ClickReason = Extract<Candidate, { type: 'click' }>['reason'];

const WHY: Record<NonNullable<CodeReason | ClickReason>, string> = {
  unknown_code: 'No assignment of the brand has this code.',
  other_store: 'It belongs to another store than the one that sent the order.',
  code_inactive: 'It was not active when the order was placed.',
  later_code: 'The first redeemed code of the order that qualifies wins; this one comes after it.',
  invalid_signature: 'Rollcall did not issue this click id.',
  foreign_brand: 'Its link does not belong to this brand.',
  click_after_order: 'It was clicked after the order was placed.',
  click_outside_window: 'The order was placed after its attribution window had ended.',
  older_click: 'The last click within its window wins; this one is older.',
  code_wins: 'A redeemed code wins over any click.',
  test_order: 'The order is a test order, which pays nobody.',
  renewal: 'The order renews a subscription, and this assignment does not pay renewals.',
};

/** Why a candidate won or lost, in a sentence. */
export function explainCandidate({ type, reason }: Candidate): string {
  if (reason !== null) return WHY[reason];
  return type === 'code'
    ? 'It is the first redeemed code of the order that qualifies.'
    : 'No code qualified, and it is the last click within its window.';
}

interface Payable {
  creatorName: string | null;
  currency: string;
  commissionMinor: number;
  status: string;
  statusNote: string | null;
}

const NOBODY: Record<NonNullable<Attribution['reason']>, string> = {
  no_candidates: 'It paid nobody: it came without a code and without a click.',
  no_candidate_qualified: 'It paid nobody: none of its codes and clicks qualified.',
  test_order: 'It paid nobody: it is a test order.',
};

/** Why a decision paid nobody, in a sentence. */
export const explainNobody = (reason: Attribution['reason']): string => NOBODY[reason ?? 'no_candidate_qualified'];

/** The whole decision in a sentence. */
export function explainDecision({ rule, reason }: Attribution, commission: Payable | undefined): string {
  if (!rule || !commission) return explainNobody(reason);
  const { creatorName, currency, commissionMinor, status, statusNote } = commission;
  const by = rule === 'code' ? 'a redeemed code' : 'the last click within its window';
  const owed = `${formatMoney(commissionMinor, currency)} for ${by}`;
  const note = statusNote === null ? '' : ` (${statusNote})`;
  return `Attributed to ${creatorName ?? 'a creator'}: ${owed}; the commission is ${status}${note}.`;
}
