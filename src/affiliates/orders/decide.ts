import { isPlain } from '../../analytics/pricing/plain.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { newId } from '../../kit/values/ids.ts';
import { toPpm } from '../../kit/values/money.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import {
  announceCommission,
  findOrderCommission,
  insertCommissions,
  type NewCommission,
  toLedgerEntry,
} from '../commissions/commissions.ts';
import { insertParts } from '../commissions/parts.ts';
import { insertCustomers } from '../customers/customers.ts';
import { tellOfSales } from '../links/links.mails.ts';
import { listNamedLinks, type NamedLink } from '../links/links.ts';
import { DEFAULT_RULES, type Rules, toRecordedRules, toRules } from '../rules/attribution-rules.ts';
import { parseFraudRules } from '../rules/fraud-rules.ts';
import type { OrderFacts } from '../stores/formats/facts.ts';
import { startsTrial } from '../terms/customers.ts';
import { attributeOrder, type CarriedClick, getLatestClickMs, type RedeemedCode } from './attribute.ts';
import { Attribution, type Cause } from './attribution.shapes.ts';
import { getSalt, hashCustomerId, hashEmail, maskEmail } from './customers.ts';
import { type CustomerOutcome, decideForCustomer, type OrderOfCustomer } from './decide-customers.ts';
import { dependsOnOthers, type FactsOrder, fixRoom, mayReconsider, readFacts, toPricing } from './decision-facts.ts';
import { detectFlags } from './fraud.ts';
import { findItems, listItemsById } from './items.ts';
import { deleteJourney, insertJourneys } from './journeys.ts';
import { loadKnownCustomers } from './known-customers.ts';
import { NO_CANDIDATES, type OrderCandidates, readCandidates, selectUnseen } from './order-candidates.ts';
import { listProducts, listUnpaidOrdersOfCustomers, toHex } from './order-history.ts';
import { getOrderKind, toTraitColumns } from './order-kinds.ts';
import type { OrderSource } from './orders.shapes.ts';
import { insertOrders, lockKnownOrder, type NewOrder, type OrderRow, updateDecision } from './orders.ts';
import { type Pricing, toRatePpm } from './pricing.ts';
import {
  computePayable,
  type KnownRefund,
  NEW_COMMISSION,
  type OrderSnapshot,
  recompute,
  toSnapshot,
} from './recompute.ts';
import { insertReferrerChecks } from './referrers.ts';
import { listRefunds } from './refunds.ts';
import { toUnpaidLines } from './unpaid-lines.ts';

/** A new order, with the refunds that came before or with it. */
export interface Sale {
  facts: OrderFacts & Pick<OrderSnapshot, 'disputeLostAt'>;
  refunds: readonly KnownRefund[];
}

/**
 * Records new orders of a store: decides who earns each, stores the decision with its reasons, creates the commissions.
 */
export async function recordNewOrders(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  sales: readonly Sale[],
): Promise<void> {
  if (sales.length === 0) return;
  const { db, now } = work;
  const salt = await getSalt(db, secrets);
  const orders = sales.map(({ facts }) => toUndecided(work, source, facts, salt));
  const newOrders = orders.map((order, place) => ({
    order,
    products: listProducts(sales[place]?.facts.items ?? []),
    candidates: readCandidates(secrets, sales[place]?.facts ?? NO_CANDIDATES),
  }));
  const outcomes = source.isHistory ? sales.map(() => HISTORY_OUTCOME) : await decideOrders(work, source, newOrders);
  const decidedOrders = outcomes.flatMap((outcome, place) => {
    const [sale, order] = [sales[place], orders[place]];
    return sale && order ? [{ ...outcome, sale, order: toNewOrder(order, outcome, now) }] : [];
  });
  const newCustomers = decidedOrders.flatMap(({ newCustomer }) => newCustomer ?? []);
  await insertCustomers(db, work, newCustomers);
  await insertOrders(
    db,
    decidedOrders.map(({ order }) => order),
  );
  const earnedOrders = decidedOrders.flatMap(({ sale, order, ...outcome }) =>
    toEarnedOrders(outcome, order, { refunds: sale.refunds, reportedEmail: sale.facts.customerEmail }),
  );
  await createCommissions(work, secrets, source, earnedOrders);
  await decideOrdersOfCustomers(work, secrets, newCustomers);
  if (source.provider !== 'shopify') return;
  // Shopify knows the visits that led to an order some minutes later. Tests and renewals have none.
  const withoutWinner = decidedOrders.flatMap(({ decision, order }) =>
    decision.winner || order.isTest || order.kind === 'renewal' || !mayReconsider(order, now) ? [] : [order],
  );
  await insertJourneys(db, withoutWinner, new Date(now.getTime() + MINUTE_MS));
}

type UndecidedRow = Omit<NewOrder, 'attribution' | 'customerId'>;

/** An order with everything that decides who earns it. */
interface UndecidedOrder {
  order: UndecidedRow;
  products: readonly string[];
  candidates: OrderCandidates;
}

/** A decision with the rules that led to it. */
interface OrderOutcome extends CustomerOutcome {
  rules: Rules;
}

/** Orders from before the store was connected pay nobody. */
const HISTORY_OUTCOME: OrderOutcome = {
  decision: { rule: null, reason: 'history', winner: undefined, code: null, clickId: null, candidates: [] },
  customerId: null,
  newCustomer: null,
  terms: null,
  termsId: null,
  payment: 1,
  isByCustomer: false,
  rules: DEFAULT_RULES,
};

function toOrderOfCustomer({ order, products }: UndecidedOrder): OrderOfCustomer {
  return {
    id: order.id,
    integrationId: order.integrationId,
    placedAt: order.occurredAt,
    amountMinor: order.baseMinor,
    currency: order.currency,
    kind: getOrderKind(order),
    subscriptionId: order.subscriptionId,
    previousSubscriptionId: order.previousSubscriptionId,
    customerId: toHex(order.customerIdHash),
    email: toHex(order.customerHash),
    customerEmail: order.customerEmail,
    products,
    isTest: order.isTest ?? false,
    isCancelledUnpaid: order.cancelledAt !== null && order.paidAt === null,
  };
}

/** Decides who earns each order: by its codes and clicks and their state when it was placed, and by its customer. */
async function decideOrders(
  work: Work,
  source: OrderSource,
  undecided: readonly UndecidedOrder[],
): Promise<OrderOutcome[]> {
  const { db, now, brandId } = work;
  const ofCustomers = undecided.map(toOrderOfCustomer);
  const knownCustomers = await loadKnownCustomers(work, ofCustomers);
  const references = undecided.map(({ candidates: { codes, clicks }, order: { occurredAt } }) => ({
    codes,
    linkIds: [...new Set(clicks.flatMap(({ click }) => (click ? [click.linkId] : [])))],
    first: occurredAt,
    last: new Date(getLatestClickMs(occurredAt)),
  }));
  const owning = { codes: [], linkIds: knownCustomers.listLinks(), first: now, last: now };
  const namedLinks = await listNamedLinks(db, brandId, [...references, owning]);
  const owningLinks = new Map(
    namedLinks.flatMap((link) => (link.place === undecided.length ? [[link.id, link] as const] : [])),
  );
  const byOrder = Map.groupBy(namedLinks, ({ place }) => place);
  // Every row has the brand's rules; without any, nobody can win.
  const rules = namedLinks[0] ? toRules(namedLinks[0]) : DEFAULT_RULES;
  const outcomes = new Map<string, OrderOutcome>();
  // The first order of a subscription is decided before its renewals, in whatever order a store tells of both.
  const inTime = undecided
    .map((one, place) => ({ ...one, place }))
    .toSorted((a, b) => a.order.occurredAt.getTime() - b.order.occurredAt.getTime());
  for (const { candidates, order, place } of inTime) {
    const links = byOrder.get(place) ?? [];
    const byId = new Map(links.map((link) => [link.id, link]));
    const byCode = new Map(links.map((link) => [link.code, link]));
    const ofCustomer = ofCustomers[place];
    if (!ofCustomer) throw new Error('An order has no customer to decide by.');
    const attribution = attributeOrder({
      occurredAt: order.occurredAt,
      baseMinor: order.baseMinor,
      currency: order.currency,
      isTest: order.isTest ?? false,
      isRenewal: getOrderKind(order) === 'renewal',
      rules: startsTrial(ofCustomer) ? { ...rules, minOrder: null } : rules,
      integrationId: source.id,
      codes: candidates.codes.map((code): RedeemedCode<NamedLink> => {
        const assignment = byCode.get(code);
        return { code, assignment, wasActive: assignment?.wasActive ?? false };
      }),
      clicks: candidates.clicks.map(
        (one): CarriedClick<NamedLink> => ({ ...one, assignment: one.click && byId.get(one.click.linkId) }),
      ),
    });
    const outcome = decideForCustomer(ofCustomer, attribution, knownCustomers, { rules, links: owningLinks, now });
    const { winner } = outcome.decision;
    // The customer whom this order begins may decide the next one.
    if (winner && !owningLinks.has(winner.id)) owningLinks.set(winner.id, winner);
    outcomes.set(order.id, { ...outcome, rules });
  }
  return undecided.flatMap(({ order }) => outcomes.get(order.id) ?? []);
}

function toUndecided({ now, brandId }: Work, source: OrderSource, facts: Sale['facts'], salt: Buffer): UndecidedRow {
  const { customerEmail, cancelledAt, currency } = facts;
  return {
    id: newId('ord', now.getTime()),
    brandId,
    integrationId: source.id,
    orderId: facts.orderId,
    orderNumber: facts.orderNumber ?? null,
    currency,
    baseMinor: facts.baseMinor,
    occurredAt: facts.occurredAt,
    paidAt: facts.paidAt,
    storeUpdatedAt: facts.updatedAt,
    cancelledAt,
    firstCancelledAt: cancelledAt,
    disputeLostAt: facts.disputeLostAt,
    isTest: facts.isTest || null,
    isRenewal: null,
    ...toTraitColumns(facts),
    customerEmail: customerEmail === null ? null : maskEmail(customerEmail),
    customerHash: customerEmail === null ? null : hashEmail(salt, customerEmail),
    customerIdHash: facts.customerId === null ? null : hashCustomerId(salt, source.id, facts.customerId),
    unpaidLines: toUnpaidLines(facts),
    erasedBy: facts.isErased ? source.provider : null,
    createdAt: now,
  };
}

function toNewOrder(order: UndecidedRow, outcome: OrderOutcome, now: Date): NewOrder {
  const { currency } = order;
  const attribution = toAttribution(outcome, { currency, at: now, cause: 'first_report' });
  return { ...order, customerId: outcome.customerId, attribution };
}

function toAttribution(
  { decision, terms, rules }: OrderOutcome,
  { currency, at, cause }: { currency: string; at: Date; cause: Cause },
): Attribution {
  const { rule, reason, winner, candidates } = decision;
  return {
    rule,
    reason,
    candidates,
    cause,
    earlier: [],
    link_id: winner?.id ?? null,
    decided_at: at.toISOString(),
    terms: winner
      ? {
          commission_rate: terms?.rate.percent ?? 0,
          hold_days: winner.holdDays,
          attribution_days: winner.attributionDays,
          currency,
          ...(terms && terms.covers !== 'order' ? { covers: terms.covers } : {}),
        }
      : null,
    ...(rules === DEFAULT_RULES ? {} : { rules: toRecordedRules(rules) }),
  };
}

/** An order with the code or link that earned it. */
interface EarnedOrder {
  order: FactsOrder & Pick<OrderRow, 'kind' | 'isRenewal' | 'country'> & Parameters<typeof toSnapshot>[0];
  link: NamedLink;
  terms: Terms;
  termsId: string | null;
  payment: number;
  /** A customer's row earned it, not what it carries. */
  isByCustomer: boolean;
  code: string | null;
  clickId: string | null;
  /** Refunds that arrived before or with the order. */
  refunds: readonly KnownRefund[];
  /** The customer's address as reported now; only its hash is stored. */
  reportedEmail: string | null;
}

function toEarnedOrders(
  { decision: { winner: link, code, clickId }, terms, termsId, payment, isByCustomer }: CustomerOutcome,
  order: EarnedOrder['order'],
  reported: Pick<EarnedOrder, 'refunds' | 'reportedEmail'>,
): EarnedOrder[] {
  if (!link || !terms) return [];
  return [{ order, link, terms, termsId, payment, isByCustomer, code, clickId, ...reported }];
}

/** Creates the commissions of orders. Those that depend on others come one after another, in the order of their times. */
async function createCommissions(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  earned: readonly EarnedOrder[],
): Promise<void> {
  const free = earned.filter((one) => !dependsOnOthers(one.terms, one.order.currency));
  await createTogether(work, secrets, source, free);
  const dependent = earned
    .filter((one) => dependsOnOthers(one.terms, one.order.currency))
    .toSorted((a, b) => a.order.occurredAt.getTime() - b.order.occurredAt.getTime());
  for (const one of dependent) await createTogether(work, secrets, source, [one]);
}

/** Fixes what prices orders beside their refunds, by order; those whose terms are a percentage alone are not in it. */
async function fixPricings(work: Work, earned: readonly EarnedOrder[]) {
  const { db, brandId } = work;
  const ruledOrders = earned.filter(({ terms }) => !isPlain(terms));
  const orders = ruledOrders.map(({ order }) => order);
  const items = await listItemsById(db, brandId, orders);
  const askedOrders = ruledOrders.map(
    ({ order, terms, payment, isByCustomer, code, link: { creatorId, timeZone } }) => {
      const by = isByCustomer ? ('customer' as const) : code === null ? ('click' as const) : ('code' as const);
      const orderFacts = { country: order.country, kind: getOrderKind(order), by, payment };
      return { order, terms, creatorId, timeZone, known: orderFacts };
    },
  );
  const facts = await readFacts(db, brandId, askedOrders);
  const pricings = new Map<string, Pricing>();
  for (const [place, { order, link, terms, termsId, refunds }] of ruledOrders.entries()) {
    const lines = items.get(order.id) ?? { items: [], refunded: new Map() };
    const pricing = toPricing(order, { terms, facts: facts[place] ?? null, room: null }, lines);
    pricings.set(order.id, pricing);
    if (order.paidAt === null) continue;
    const deal = { creatorId: link.creatorId, termsId, terms };
    const room = await fixRoom(work, order, deal, computePayable(toSnapshot(order), refunds, pricing));
    pricings.set(order.id, { ...pricing, room });
  }
  return pricings;
}

/** Creates the commissions of orders, with their fraud flags, ledger entries and events. */
async function createTogether(work: Work, secrets: Secrets, source: OrderSource, earned: readonly EarnedOrder[]) {
  const { db, now, brandId } = work;
  if (!earned[0]) return;
  const fraudRules = parseFraudRules(earned[0].link.fraudRules);
  const suspects = earned.map(({ order, link, code, reportedEmail, isByCustomer }) => ({
    ...order,
    isByCustomer,
    linkId: link.id,
    creatorId: link.creatorId,
    reportedEmail,
    leakScore: code === null ? null : link.leakScore,
  }));
  const flags = await detectFlags(work, secrets, fraudRules, suspects);
  const pricings = await fixPricings(work, earned);
  const commissions = earned.map(({ order, link, terms, termsId, code, clickId, refunds }, place) => {
    const pricing = pricings.get(order.id);
    const state = { ...NEW_COMMISSION, ratePpm: toPpm(terms.rate.percent ?? 0) ?? 0, holdDays: link.holdDays, pricing };
    const { columns, entries, price } = recompute(toSnapshot(order), refunds, state, []);
    const row: NewCommission = {
      ...columns,
      id: newId('com', now.getTime()),
      brandId,
      orderId: order.id,
      source: source.provider,
      linkId: link.id,
      creatorId: link.creatorId,
      campaignId: link.campaignId,
      affiliateCode: link.value,
      clickId,
      discountCode: code,
      currency: order.currency,
      occurredAt: order.occurredAt,
      commissionRatePpm: price ? toRatePpm(price) : state.ratePpm,
      termsId,
      decidedFacts: pricing?.facts ?? null,
      room: pricing?.room ?? null,
      holdDays: link.holdDays,
      fraudFlags: flags[place],
      statusUpdatedAt: columns.status === 'pending' ? null : now,
      syncedAt: now,
      createdAt: now,
    };
    return { row, entries, price };
  });
  const rows = commissions.map(({ row }) => row);
  const insertedById = new Map((await insertCommissions(db, rows)).map((row) => [row.id, row]));
  await insertParts(
    db,
    commissions.map(({ row, price }) => ({ brandId, id: row.id, parts: price?.parts ?? [] })),
  );
  for (const { row, entries } of commissions) {
    const commission = insertedById.get(row.id);
    if (!commission) throw new Error(`The commission ${row.id} was not inserted.`);
    for (const { kind, postings } of entries) work.post(toLedgerEntry(commission, kind, postings));
    announceCommission(work, 'commission.created', commission);
  }
  if (fraudRules.forbidden_referrer.action !== 'off') await insertReferrerChecks(db, rows, now);
  await tellOfSales(work, earned);
}

/** Codes and clicks that became known after the decision, and their origin. */
interface LateCandidates {
  codes: readonly string[];
  clickIds: readonly string[];
  cause: Cause;
  customerEmail: string | null;
  /** What is known of the customer or the subscription has changed, so that they may decide now. */
  isCustomerChanged?: boolean;
  refunds: () => Promise<readonly KnownRefund[]>;
}

/** Caps the stored decision history. */
const MAX_DECISIONS = 10;

/**
 * Decides an order that pays nobody again, by codes and clicks that no earlier decision has seen; candidates that lost
 * before stay lost. Returns true if it pays now. The order must be locked.
 */
export async function reconsiderOrder(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  order: OrderRow,
  late: LateCandidates,
): Promise<boolean> {
  const earlier = Attribution.parse(order.attribution);
  const candidates = selectUnseen(earlier, readCandidates(secrets, late));
  const { db, now } = work;
  const { currency } = order;
  const isSettled = order.isTest || earlier.reason === 'history';
  const isNothingNew = candidates.codes.length + candidates.clicks.length === 0;
  if (isSettled || (isNothingNew && !late.isCustomerChanged)) return false;
  const { items } = await findItems(db, order);
  const [outcome] = await decideOrders(work, source, [{ order, products: listProducts(items), candidates }]);
  if (!outcome) return false;
  const { winner } = outcome.decision;
  if (!winner && (isNothingNew || earlier.earlier.length + 1 >= MAX_DECISIONS)) return false;
  const later = appendDecision(earlier, toAttribution(outcome, { currency, at: now, cause: late.cause }));
  const newCustomers = outcome.newCustomer ? [outcome.newCustomer] : [];
  await insertCustomers(db, work, newCustomers);
  const { customerId } = outcome;
  const decidedOrder = await updateDecision(db, order, JSON.stringify(later), { now, customerId });
  if (!decidedOrder) throw new Error(`The order ${order.id} pays a creator already.`);
  if (!winner) return false;
  const reportedFacts = { refunds: await late.refunds(), reportedEmail: late.customerEmail };
  await createCommissions(work, secrets, source, toEarnedOrders(outcome, decidedOrder, reportedFacts));
  await decideOrdersOfCustomers(work, secrets, newCustomers);
  if (source.provider === 'shopify') await deleteJourney(work.db, { brandId: order.brandId, orderId: order.id });
  return true;
}

/** The span of orders to decide again, and why. */
interface Again {
  from: Date;
  to: Date | null;
  cause: Cause;
}

/** Orders from before their customer was known are decided again until then. */
const AGAIN_MS = 90 * DAY_MS;

/**
 * Decides the orders again that paid nobody although they are of customers who only now are known: customer by customer, oldest
 * first. What they carried stays lost. Returns the ids of those that pay now.
 */
export async function decideOrdersOfCustomers(
  work: Work,
  secrets: Secrets,
  customers: readonly { id: string }[],
  again: Again = { from: new Date(work.now.getTime() - AGAIN_MS), to: null, cause: 'first_order_known' },
): Promise<string[]> {
  const paying: string[] = [];
  const ids = customers.map(({ id }) => id);
  for (const { provider, ...key } of await listUnpaidOrdersOfCustomers(work.db, work.brandId, ids, again)) {
    const order = await lockKnownOrder(work.db, key);
    if (!order || (await findOrderCommission(work.db, order))) continue;
    const source = { id: key.integrationId, brandId: key.brandId, provider };
    const isPaying = await reconsiderOrder(work, secrets, source, order, {
      ...NO_CANDIDATES,
      cause: again.cause,
      customerEmail: null,
      isCustomerChanged: true,
      refunds: () => listRefunds(work.db, key, order.currency),
    });
    if (isPaying) paying.push(order.id);
  }
  return paying;
}

/** Appends a decision to the history, with the candidates of all decisions. */
function appendDecision(earlier: Attribution, later: Attribution): Attribution {
  const { decided_at, cause, reason } = earlier;
  const candidates = [...earlier.candidates, ...later.candidates];
  // The last claim says all that is known of the customer.
  const claim = candidates.findLast(({ type }) => type === 'customer');
  return {
    ...later,
    candidates: [
      ...candidates.filter(({ type }) => type === 'code'),
      ...candidates.filter(({ type }) => type === 'click'),
      ...(claim ? [claim] : []),
    ],
    earlier: [...earlier.earlier, { decided_at, cause, reason: reason ?? 'no_candidate_qualified' }],
  };
}
