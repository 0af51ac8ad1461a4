import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import type { NewCustomer } from '../customers/customers.ts';
import { makeCustomerId } from '../customers/customers.ts';
import type { NamedLink } from '../links/links.ts';
import { isBelowMinimum, type Rules } from '../rules/attribution-rules.ts';
import {
  type CustomerOrder,
  type CustomerRow,
  type DecidedOrder,
  findOrDraftRow,
  type RowDraft,
  type WinningLink,
} from '../terms/customer-rows.ts';
import { type CustomerCandidate, type CustomerDecision, decideByCustomer } from '../terms/customers.ts';
import { getLinkTerms } from '../terms/effective.ts';
import type { Decision } from './attribute.ts';
import type { AttributionCandidate } from './attribution.shapes.ts';
import type { KnownCustomers } from './known-customers.ts';

function toWinningLink(link: NamedLink): WinningLink {
  const { terms, termsId } = getLinkTerms(link);
  const { id: linkId, creatorId, integrationId: boundTo, timeZone } = link;
  return { linkId, creatorId, boundTo, terms, termsId, timeZone };
}

/** The order as it is before a decision. */
export interface OrderOfCustomer extends CustomerOrder {
  isTest: boolean;
  isCancelledUnpaid: boolean;
  currency: string;
  /** Masked. */
  customerEmail: string | null;
}

/** A decision about an order, with the customer that it belongs to. */
export interface CustomerOutcome {
  decision: Decision<NamedLink>;
  /** The row that decides the order, that it begins, or that keeps another from being made; null without any. */
  customerId: string | null;
  newCustomer: NewCustomer | null;
  /** The terms that the order is decided by; null if nobody earns it. */
  terms: Terms | null;
  termsId: string | null;
  /** The number of the payment of its customer. */
  payment: number;
  /** A customer's row decides, not what the order carries. */
  isByCustomer: boolean;
}

function toCandidate(claim: CustomerCandidate): AttributionCandidate {
  const { rowId, by, linkId, firstOrderId, since, until, payment, outcome, reason, terms } = claim;
  return {
    type: 'customer',
    customer_id: rowId,
    by,
    link_id: linkId,
    first_order_id: firstOrderId,
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    payment,
    outcome,
    reason,
    duration: terms && { payments: terms.payments, months: terms.months },
  };
}

/** Lets what the order carries lose to the customer that it belongs to. */
const loseToCustomer = (candidate: AttributionCandidate): AttributionCandidate =>
  candidate.outcome === 'won' && candidate.type !== 'customer'
    ? { ...candidate, outcome: 'lost', reason: 'customer_wins' }
    : candidate;

/** Adds the customer to what the order carries, as the customer's decision says. */
function mergeDecisions(
  carried: Decision<NamedLink>,
  { winner, rule, candidate }: CustomerDecision,
  links: ReadonlyMap<string, NamedLink>,
): Decision<NamedLink> {
  if (!candidate) return carried;
  const claim = toCandidate(candidate);
  if (winner === 'carried') return { ...carried, candidates: [...carried.candidates, claim] };
  const candidates = [...carried.candidates.map(loseToCustomer), claim];
  const none = { code: null, clickId: null, candidates };
  if (winner === 'nobody') return { ...none, rule: null, reason: 'no_candidate_qualified', winner: undefined };
  const link = candidate.linkId === null ? undefined : links.get(candidate.linkId);
  if (!link) throw new Error(`The link ${candidate.linkId} of a customer was not read.`);
  return { ...none, rule, reason: null, winner: link };
}

/** The row that a winning code or click starts or continues, or the one that the decision names. */
function findRow(
  order: OrderOfCustomer,
  { winner, draft, candidate }: CustomerDecision,
  link: NamedLink | undefined,
  { rows, orders }: ReturnType<KnownCustomers['find']>,
): { existing: CustomerRow } | { draft: RowDraft } | null {
  if (winner === 'carried') return link ? findOrDraftRow(order, toWinningLink(link), rows, orders) : null;
  if (draft) return { draft };
  const existing = rows.find(({ id }) => id === candidate?.rowId);
  return existing ? { existing } : null;
}

/**
 * Decides an order by what it carries and by the customer that it belongs to. Tests belong to nobody. The decision is added to
 * what is known, so that it counts for the orders after it.
 */
export function decideForCustomer(
  order: OrderOfCustomer,
  carried: Decision<NamedLink>,
  knownCustomers: KnownCustomers,
  { rules, links, now }: { rules: Rules; links: ReadonlyMap<string, NamedLink>; now: Date },
): CustomerOutcome {
  const { winner: link } = carried;
  const none = { customerId: null, newCustomer: null, isByCustomer: false, payment: 1 };
  if (order.isTest) return { ...none, decision: carried, terms: null, termsId: null };
  const known = knownCustomers.find(order);
  const customerDecision = decideByCustomer({
    ...known,
    order,
    carried: link ? { type: carried.rule === 'code' ? 'code' : 'click', creatorId: link.creatorId } : null,
    policy: rules.customerPolicy,
    isBelowMinimum: isBelowMinimum(rules, { baseMinor: order.amountMinor, currency: order.currency }),
  });
  const decision = mergeDecisions(carried, customerDecision, links);
  const match = findRow(order, customerDecision, link, known);
  const newCustomer =
    match && 'draft' in match
      ? { id: makeCustomerId(now), draft: match.draft, customerEmail: order.customerEmail }
      : null;
  const row =
    match && 'existing' in match ? match.existing : newCustomer && { ...newCustomer.draft, id: newCustomer.id };
  if (newCustomer && row) knownCustomers.addRow(row);
  const isByCustomer = customerDecision.winner === 'customer';
  const deal = isByCustomer ? row : decision.winner ? toWinningLink(decision.winner) : null;
  const { terms = null, termsId = null } = deal ?? {};
  knownCustomers.addOrder(toDecided(order, decision, row, terms));
  const payment = (isByCustomer && customerDecision.candidate?.payment) || 1;
  return { decision, customerId: row?.id ?? null, newCustomer, terms, termsId, payment, isByCustomer };
}

function toDecided(
  order: OrderOfCustomer,
  { rule, winner }: Decision<NamedLink>,
  row: CustomerRow | null,
  terms: Terms | null,
): DecidedOrder {
  const deal = winner && terms ? { ...toWinningLink(winner), terms } : row;
  return {
    ...order,
    isHistory: false,
    rule: rule === 'first_click' || rule === 'last_click' ? 'click' : rule,
    owner: deal && {
      rowId: row?.id ?? null,
      linkId: deal.linkId,
      creatorId: deal.creatorId,
      boundTo: deal.boundTo,
      terms: deal.terms,
      timeZone: deal.timeZone,
      isRejected: false,
    },
    hasCommission: winner !== undefined,
  };
}
