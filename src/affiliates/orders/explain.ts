import { makePlainTerms } from '../../analytics/pricing/plain.ts';
import type { DecisionFacts } from '../../analytics/pricing/rules.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { ApiError, notFound } from '../../kit/values/errors.ts';
import { foldCase } from '../../kit/values/fold.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { fromPpm } from '../../kit/values/money.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { toWire } from '../../kit/values/wire.ts';
import { listAdjustments } from '../commissions/adjustments.ts';
import { toCommission } from '../commissions/commissions.shapes.ts';
import {
  type CommissionRow,
  findOrderCommission,
  isSuspicious,
  listApprovalBlockers,
  type OrderEnd,
} from '../commissions/commissions.ts';
import { type ListedLink, listLinksByIds, listPastCodes } from '../links/links.ts';
import { explainCustomer } from '../terms/customer-sentences.ts';
import {
  Attribution,
  type AttributionCandidate,
  type ClickCandidate,
  type CodeCandidate,
} from './attribution.shapes.ts';
import { loadCommissionPricing, toPricing } from './decision-facts.ts';
import { listDisputes } from './disputes.ts';
import { findItems } from './items.ts';
import { getOrderKind } from './order-kinds.ts';
import { type ExplainQuery, Explanation } from './orders.shapes.ts';
import { getOrderStore, listOrders, listOrdersByIds, type OrderRow } from './orders.ts';
import { priceOrder } from './pricing.ts';
import { countRefunds, type OrderRefund, toSnapshot } from './recompute.ts';
import { listRefunds } from './refunds.ts';
import { explainUnpaidLines } from './unpaid-lines.ts';

type CodeReason = CodeCandidate['reason'];
type ClickReason = ClickCandidate['reason'];
type CarriedCandidate = Exclude<AttributionCandidate, { type: 'customer' }>;
type ClaimingCustomer = Extract<AttributionCandidate, { type: 'customer' }>;

const REASONS: Record<NonNullable<CodeReason | ClickReason>, string> = {
  unknown_code: 'No assignment of the brand has this code.',
  other_store: 'It belongs to another store than the one that sent the order.',
  code_inactive: 'It was not active when the order was placed.',
  later_code: 'The first redeemed code of the order that qualifies wins; this one comes after it.',
  invalid_signature: 'Rollcall did not issue this click id.',
  foreign_brand: 'Its link does not belong to this brand.',
  click_after_order: 'It was clicked after the order was placed.',
  click_outside_window: 'The order was placed after its attribution window had ended.',
  older_click: 'The last click within its window wins; this one is older.',
  later_click: 'The first click within its window wins, by your rules; this one is later.',
  click_wins: 'A click within its window wins over any code, by your rules.',
  code_wins: 'A redeemed code wins over any click.',
  test_order: 'The order is a test order, which pays nobody.',
  renewal: 'The order renews a subscription, and this assignment does not pay renewals.',
  below_minimum: 'The order is below the smallest one that pays, by your rules.',
  customer_wins: 'The subscription or customer that the order belongs to decides it.',
};

type DecisionRule = Pick<Attribution, 'rule' | 'rules'>;

const RULE_PHRASES = {
  code: 'a redeemed code',
  last_click: 'the last click within its window',
  first_click: 'the first click within its window',
  subscription: 'a subscription that they sold',
  customer: 'a customer whom they brought',
} as const;

/** Explains in a sentence why a candidate won or lost. */
export function explainCandidate({ type, reason }: CarriedCandidate, { rule, rules }: DecisionRule): string {
  if (reason !== null) return REASONS[reason];
  const isClickFirst = rules?.coupon_policy === 'click_wins';
  if (type === 'code' || rule === null || rule === 'code') {
    return `${isClickFirst ? 'No click qualified, and this is the first' : 'First'} qualifying code used on this order.`;
  }
  return isClickFirst ? `It is ${RULE_PHRASES[rule]}.` : `No code qualified, and it is ${RULE_PHRASES[rule]}.`;
}

interface ExplainedPayment {
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
  history: 'It paid nobody: it is a past order, which was read in as history.',
};

const CUSTOMER_PAYS_NOBODY =
  'It paid nobody: it came without a code and without a click, and its customer or subscription pays nobody.';

/** Explains in a sentence why a decision paid nobody. */
const explainNobody = (reason: Attribution['reason']): string => NOBODY[reason ?? 'no_candidate_qualified'];

const hasOnlyCustomer = ({ candidates }: Attribution): boolean => candidates.every(({ type }) => type === 'customer');

/** Explains the whole decision in a sentence. */
function explainDecision(attribution: Attribution, commission: ExplainedPayment | undefined): string {
  const { rule, reason } = attribution;
  if (reason === 'no_candidate_qualified' && hasOnlyCustomer(attribution)) return CUSTOMER_PAYS_NOBODY;
  if (!rule || !commission) return explainNobody(reason);
  const { creatorName, currency, commissionMinor, status, statusNote } = commission;
  const owedText = `${formatMoney(commissionMinor, currency)} for ${RULE_PHRASES[rule]}`;
  const note = statusNote === null ? '' : ` (${statusNote})`;
  return `Attributed to ${creatorName ?? 'a creator'}: ${owedText}; the commission is ${status}${note}.`;
}

const MOST_CANDIDATES = 20;

/** Finds the order of a query, which must say more if several orders have this id or number. */
export async function getOrderToExplain(db: Db, brandId: string, query: ExplainQuery): Promise<OrderRow> {
  const candidates = await listOrders(db, brandId, query, MOST_CANDIDATES);
  const [order, another] = candidates;
  if (!order) throw notFound('order');
  if (!another) return order;
  const stores = [...new Set(candidates.map(({ integrationId }) => integrationId))];
  const field = stores.length > 1 ? 'integration_id' : query.match === undefined ? 'match' : 'order_id';
  const message =
    field === 'integration_id'
      ? `is required: several stores have an order ${query.order_id} (${stores.join(', ')}).`
      : `is the id or number of several orders: ${candidates.map(({ orderId }) => orderId).join(', ')}.`;
  throw new ApiError('VALIDATION_ERROR', `${field}: ${message}`, {
    details: [{ field, code: 'ambiguous', message }],
    facts: {
      candidates: candidates.map((one) => ({
        id: one.id,
        order_id: one.orderId,
        order_number: one.orderNumber,
        integration_id: one.integrationId,
        occurred_at: one.occurredAt.toISOString(),
        amount: fromMinor(one.baseMinor, one.currency),
        currency: one.currency,
      })),
    },
  });
}

function listBlockers(row: CommissionRow, order: OrderRow, now: Date) {
  const { status } = row;
  if (status === 'paid' || status === 'approved') return [];
  const withoutCancellation: OrderEnd = order.disputeLostAt ? 'dispute_lost' : order.isTest ? 'test_order' : null;
  return [
    ...(status === 'rejected' ? (['rejected'] as const) : []),
    ...listApprovalBlockers(row, order.cancelledAt ? 'cancelled' : withoutCancellation, now).map(({ code }) => code),
    ...(isSuspicious(row) ? (['high_fraud_flag'] as const) : []),
  ];
}

interface CommissionContext {
  order: OrderRow;
  storefrontUrl: string;
  row: CommissionRow;
  link: ListedLink | undefined;
  refunds: readonly OrderRefund[];
}

/** Prices the order again: by rule and by line, and what a cap cut off. A rejected commission is shown at its rate. */
async function explainPrice(db: Db, order: OrderRow, row: CommissionRow, refunds: readonly OrderRefund[]) {
  const plain = { terms: makePlainTerms(fromPpm(row.commissionRatePpm), 'order'), facts: null, room: null };
  const pricing = (await loadCommissionPricing(db, order, row)) ?? toPricing(order, plain, await findItems(db, order));
  const { parts, lines, capped } = priceOrder(toSnapshot(order), refunds, pricing);
  return {
    parts: parts.map(toWire),
    lines: lines.map(toWire),
    capped: capped && toWire(capped),
    facts: pricing.facts && {
      ...toWire(pricing.facts),
      volume: pricing.facts.volume && toVolume(pricing.facts.volume),
    },
  };
}

const toVolume = ({ month, ever }: NonNullable<DecisionFacts['volume']>) => ({
  month: toWire(month),
  ever: toWire(ever),
});

async function explainCommission(db: Db, { order, storefrontUrl, row, link, refunds }: CommissionContext, now: Date) {
  const { orderId: storeOrderId, orderNumber, customerEmail, kind, isRenewal, subscriptionId, customerId } = order;
  const creatorNames = { creatorEmail: link?.creatorEmail ?? null, creatorName: link?.creatorName ?? null };
  const adjustments = await listAdjustments(db, row);
  return {
    ...toCommission({
      ...row,
      ...creatorNames,
      storeOrderId,
      orderNumber,
      customerEmail,
      integrationId: order.integrationId,
      storefrontUrl,
      kind,
      isRenewal,
      subscriptionId,
      customerId,
    }),
    ...(await explainPrice(db, order, row, refunds)),
    hold_over: row.holdEndsAt !== null && row.holdEndsAt <= now,
    blocked_by: listBlockers(row, order, now),
    adjustments: adjustments.map(({ cause, amountMinor, at }) => ({
      cause,
      amount: fromMinor(amountMinor, row.currency),
      at: at.toISOString(),
    })),
  };
}

type PastCodes = Awaited<ReturnType<typeof listPastCodes>>;

/** Explains that the order came with a replaced code that still pays. */
function explainOldCode(candidate: CarriedCandidate, past: PastCodes, orderedAt: Date, timeZone: string): string {
  const toDay = (at: Date) => dayIn(timeZone, at);
  if (candidate.type === 'click') return '';
  const old = past.find(
    ({ linkId, code, replacedAt, until }) =>
      linkId === candidate.link_id &&
      foldCase(code) === foldCase(candidate.code) &&
      replacedAt !== null &&
      replacedAt <= orderedAt &&
      orderedAt < until,
  );
  return old?.replacedAt
    ? ` It is an old code, which was replaced on ${toDay(old.replacedAt)} and pays until ${toDay(old.until)}.`
    : '';
}

/** Explains the customer's claim: "Continues subscription 8999, which Ana Ortiz sold with ANA15 on March 1." */
function explainClaim(
  candidate: ClaimingCustomer,
  order: OrderRow,
  link: ListedLink | undefined,
  firstOrderId: string | null,
  timeZone: string,
): string {
  const { since, until, duration, ...claim } = candidate;
  const { occurredAt, subscriptionId, previousSubscriptionId } = order;
  const isAnew = getOrderKind(order) === 'resubscribe';
  const toDate = (text: string | null) => (text === null ? null : new Date(text));
  return explainCustomer(
    { ...claim, since: toDate(since), until: toDate(until), terms: duration },
    {
      creatorName: link?.creatorName ?? link?.creatorEmail ?? null,
      linkValue: link?.value ?? null,
      subscriptionId: isAnew ? (previousSubscriptionId ?? subscriptionId) : subscriptionId,
      firstOrderId,
      orderPlacedAt: occurredAt,
      timeZone,
    },
  );
}

async function explainCandidates(
  db: Db,
  order: OrderRow,
  attribution: Attribution,
  links: ReadonlyMap<string, ListedLink>,
) {
  const { brandId, occurredAt } = order;
  const timeZone = await getTimeZone(db, brandId);
  const past = await listPastCodes(db, brandId, [...links.keys()]);
  const firstIds = attribution.candidates.flatMap((one) => (one.type === 'customer' ? (one.first_order_id ?? []) : []));
  const firstOrders = new Map((await listOrdersByIds(db, brandId, firstIds)).map(({ id, orderId }) => [id, orderId]));
  return attribution.candidates.map((candidate) => {
    const link = candidate.link_id === null ? undefined : links.get(candidate.link_id);
    return {
      ...candidate,
      link_value: link?.value ?? null,
      creator_email: link?.creatorEmail ?? null,
      creator_name: link?.creatorName ?? null,
      explanation:
        candidate.type === 'customer'
          ? explainClaim(candidate, order, link, firstOrders.get(candidate.first_order_id ?? '') ?? null, timeZone)
          : `${explainCandidate(candidate, attribution)}${explainOldCode(candidate, past, occurredAt, timeZone)}`,
    };
  });
}

/** Explains why an order earned a creator a commission, or paid nobody. */
export async function explainOrder(db: Db, order: OrderRow, now: Date): Promise<Explanation> {
  const attribution = Attribution.parse(order.attribution);
  const ids = attribution.candidates.flatMap(({ link_id }) => (link_id === null ? [] : [link_id]));
  const links = new Map((await listLinksByIds(db, order.brandId, ids)).map((link) => [link.id, link]));
  const winner = attribution.link_id === null ? undefined : links.get(attribution.link_id);
  const commission = await findOrderCommission(db, order);
  const store = await getOrderStore(db, order);
  const refunds = countRefunds(toSnapshot(order), await listRefunds(db, order, order.currency));
  const owedCommission = commission && {
    ...commission,
    creatorName: winner?.creatorName ?? winner?.creatorEmail ?? null,
  };
  const explanation = explainDecision(attribution, owedCommission);
  const { earlier, decided_at, cause, rule, reason } = attribution;
  const stored = await findItems(db, order);
  // The rate does not matter: refunds fall on lines alike under all terms.
  const anyTerms = { terms: makePlainTerms(0, 'order'), facts: null, room: null };
  const { lines } = priceOrder(toSnapshot(order), refunds, toPricing(order, anyTerms, stored));
  const disputes = await listDisputes(db, order);
  return Explanation.parse({
    ...toWire(order),
    ...attribution,
    source: store.provider,
    amount: fromMinor(order.baseMinor, order.currency),
    attributed: commission !== undefined,
    explanation,
    is_test: order.isTest ?? false,
    kind: getOrderKind(order),
    is_renewal: getOrderKind(order) === 'renewal',
    // Only the last decision may have paid a creator.
    decisions: [
      ...earlier.map((one) => ({ ...one, rule: null, explanation: explainNobody(one.reason) })),
      { decided_at, cause, rule, reason, explanation },
    ],
    candidates: await explainCandidates(db, order, attribution, links),
    commission: commission
      ? await explainCommission(
          db,
          { order, storefrontUrl: store.storefrontUrl, row: commission, link: winner, refunds },
          now,
        )
      : null,
    items: stored.items.map((item, place) => ({
      sku: item.sku,
      title: item.title,
      quantity: item.quantity,
      amount_minor: item.amountMinor,
      refunded_minor: lines[place]?.refundedMinor ?? 0,
    })),
    unpaid_lines: explainUnpaidLines(order),
    refunds: refunds.map(({ refundId, amountMinor, countedMinor, at }) => ({
      refund_id: refundId,
      amount: fromMinor(amountMinor, order.currency),
      counted: fromMinor(countedMinor, order.currency),
      at: at.toISOString(),
    })),
    disputes: disputes.map(({ disputeId, status, toldAt, lostAt }) => ({
      dispute_id: disputeId,
      status,
      at: toldAt.toISOString(),
      lost_at: status === 'lost' ? (lostAt?.toISOString() ?? null) : null,
    })),
  });
}
