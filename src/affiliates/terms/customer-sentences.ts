import { datesIn } from '../../kit/values/format.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import type { CustomerCandidate, CustomerReason } from './customers.ts';

/** What a sentence says of a candidate. */
type ExplainedCandidate = Pick<CustomerCandidate, 'by' | 'since' | 'until' | 'payment' | 'reason'> & {
  terms: Pick<Terms, 'payments' | 'months'> | null;
};

/** The names that a sentence needs beside the candidate. */
export interface CandidateNames {
  creatorName: string | null;
  /** The code, or the name of the link. */
  linkValue: string | null;
  subscriptionId: string | null;
  /** The id of the first order at its store. */
  firstOrderId: string | null;
  orderPlacedAt: Date;
  /** The time zone of the days. */
  timeZone: string;
}

/** "March 1", with the year if it is not that of the order. */
function writeDay(at: Date, { orderPlacedAt, timeZone }: Pick<CandidateNames, 'orderPlacedAt' | 'timeZone'>): string {
  const day = dayIn(timeZone, at);
  const { longDay, longShortDay } = datesIn('UTC');
  return (day.slice(0, 4) === dayIn(timeZone, orderPlacedAt).slice(0, 4) ? longShortDay : longDay)(day);
}

const CONTINUED = { product: 'Continues an order of the same product', lead: 'Is the first order of a lead' } as const;

/** Names who brought the customer, when, and with which code and order. */
function writeOrigin(candidate: ExplainedCandidate, names: CandidateNames): string {
  const { by, since } = candidate;
  const creator = names.creatorName ?? 'a creator';
  const code = names.linkValue === null ? '' : ` with ${names.linkValue}`;
  const day = since ? ` on ${writeDay(since, names)}` : '';
  const order = names.firstOrderId === null ? '' : ` (order ${names.firstOrderId})`;
  if (by === 'subscription') {
    return `Continues subscription ${names.subscriptionId ?? 'of the customer'}, which ${creator} sold${code}${day}${order}`;
  }
  if (by === 'product') return `${CONTINUED.product}, which ${creator} sold${code}${day}${order}`;
  if (by === 'lead') return `${CONTINUED.lead}, whom ${creator} brought${code}${day}`;
  return `Is by a customer whom ${creator} brought${code}${day}${order}`;
}

/** Says why the candidate lost, as the end of the sentence. */
function writeReason(reason: CustomerReason, { terms, until }: ExplainedCandidate, names: CandidateNames): string {
  const endedOn = until ? ` on ${writeDay(until, names)}` : '';
  switch (reason) {
    case 'ended':
      return `this was ended${endedOn}`;
    case 'origin_rejected':
      return 'the commission of the first order was rejected in a review';
    case 'first_order_only':
      return 'only the first order pays';
    case 'payments_over':
      return terms?.payments === 1
        ? 'the one payment that earns came before it'
        : `all ${terms?.payments} payments came before it`;
    case 'duration_over':
      return terms?.months === 1 ? `the month ended${endedOn}` : `the ${terms?.months} months ended${endedOn}`;
    case 'own_code_or_click':
      return 'the code or click that the order carries comes first';
    case 'below_minimum':
      return 'the order is below the smallest one that pays, by your rules';
    case 'nobody_sold_it':
      return 'nobody sold it';
  }
}

/** "Continues subscription 8999, which Ana Ortiz sold with ANA15 on March 1 (order 9000): payment 4 of 12." */
export function explainCustomer(candidate: ExplainedCandidate, names: CandidateNames): string {
  const { reason, by, payment, terms } = candidate;
  if (reason === 'nobody_sold_it') {
    const sentence =
      by === 'product' ? CONTINUED.product : `Continues subscription ${names.subscriptionId ?? ''}`.trim();
    return `${sentence}, which no creator sold.`;
  }
  const origin = writeOrigin(candidate, names);
  if (reason !== null) return `${origin}; ${writeReason(reason, candidate, names)}.`;
  const most = terms?.payments ?? null;
  return `${origin}: payment ${payment}${most === null ? '' : ` of ${most}`}.`;
}
