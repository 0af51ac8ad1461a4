import type { Work } from '../../kit/operation/work.ts';
import { readOwnClick } from '../../kit/values/click-token.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { newId } from '../../kit/values/ids.ts';
import { fromPpm } from '../../kit/values/money.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import {
  announceCommission,
  insertCommissions,
  type NewCommission,
  toLedgerEntry,
} from '../commissions/commissions.ts';
import { listNamedLinks, type NamedLink } from '../links/links.ts';
import { DEFAULT_RULES, type Rules, toRecordedRules, toRules } from '../rules/attribution-rules.ts';
import { parseFraudRules } from '../rules/fraud-rules.ts';
import type { OrderFacts } from '../stores/formats/facts.ts';
import {
  attributeOrder,
  type CarriedClick,
  type Decision,
  getLatestClickMs,
  type RedeemedCode,
  toClickId,
  truncate,
} from './attribute.ts';
import { getSalt, hashEmail, maskEmail } from './customers.ts';
import { detectFlags } from './fraud.ts';
import { deleteJourney, insertJourneys } from './journeys.ts';
import { Attribution, type Cause, type OrderSource } from './orders.shapes.ts';
import { insertOrders, type NewOrder, type OrderRow, updateDecision } from './orders.ts';
import { type KnownRefund, NEW_COMMISSION, type OrderSnapshot, recompute, toSnapshot } from './recompute.ts';
import { insertReferrerChecks } from './referrers.ts';

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
  const undecided = sales.map(({ facts }) => ({
    occurredAt: facts.occurredAt,
    baseMinor: facts.baseMinor,
    currency: facts.currency,
    isTest: facts.isTest,
    isRenewal: facts.isRenewal,
    candidates: readCandidates(secrets, facts),
  }));
  const decisions = source.isHistory ? sales.map(() => HISTORY_DECISION) : await decideOrders(work, source, undecided);
  const decided = decisions.flatMap((decision, place) => {
    const sale = sales[place];
    return sale ? [{ decision, sale, order: toNewOrder(work, source, sale.facts, decision, salt) }] : [];
  });
  await insertOrders(
    db,
    decided.map(({ order }) => order),
  );
  const earned = decided.flatMap(({ decision, sale, order }) =>
    toEarnedOrders(decision, order, { refunds: sale.refunds, reportedEmail: sale.facts.customerEmail }),
  );
  await createCommissions(work, secrets, source, earned);
  if (source.provider !== 'shopify') return;
  // Shopify knows the visits that led to an order some minutes later. Tests and renewals have none.
  const withoutWinner = decided.flatMap(({ decision, order }) =>
    decision.winner || order.isTest || order.isRenewal || !mayReconsider(order, now) ? [] : [order],
  );
  await insertJourneys(db, withoutWinner, new Date(now.getTime() + MINUTE_MS));
}

/** Codes and clicks that came with an order. */
interface OrderCandidates {
  codes: readonly string[];
  /** Click ids as they were sent, each with its click if we signed it. */
  clicks: { token: string; click: ReturnType<typeof readOwnClick> }[];
}

/** Removes what PostgreSQL cannot store, NUL and half surrogate pairs; no code or click id of ours has either. */
const toStorable = (text: string) => text.replaceAll('\0', '').toWellFormed();

const readCandidates = (
  secrets: Secrets,
  { codes, clickIds }: { codes: readonly string[]; clickIds: readonly string[] },
): OrderCandidates => ({
  codes: codes.map(toStorable),
  clicks: clickIds.map(toStorable).map((token) => ({ token, click: readOwnClick(secrets, token) })),
});

/** The facts of an order that decide who earns it. */
interface UndecidedOrder extends Pick<OrderSnapshot, 'occurredAt' | 'baseMinor' | 'isTest' | 'isRenewal'> {
  candidates: OrderCandidates;
  currency: string;
}

/** A decision with the rules that led to it. */
interface RuledDecision extends Decision<NamedLink> {
  rules: Rules;
}

/** Orders from before the store was connected pay nobody. */
const HISTORY_DECISION: RuledDecision = {
  rule: null,
  reason: 'history',
  winner: undefined,
  code: null,
  clickId: null,
  candidates: [],
  rules: DEFAULT_RULES,
};

/** Decides who earns each order, by its codes and clicks and their state when it was placed. */
async function decideOrders(
  { db, brandId }: Work,
  source: OrderSource,
  orders: readonly UndecidedOrder[],
): Promise<RuledDecision[]> {
  const named = await listNamedLinks(
    db,
    brandId,
    orders.map(({ candidates: { codes, clicks }, occurredAt }) => ({
      codes,
      linkIds: [...new Set(clicks.flatMap(({ click }) => (click ? [click.linkId] : [])))],
      first: occurredAt,
      last: new Date(getLatestClickMs(occurredAt)),
    })),
  );
  const byOrder = Map.groupBy(named, ({ place }) => place);
  // Every row has the brand's rules; without any, nobody can win.
  const rules = named[0] ? toRules(named[0]) : DEFAULT_RULES;
  return orders.map(({ candidates, ...order }, place) => {
    const links = byOrder.get(place) ?? [];
    const byId = new Map(links.map((link) => [link.id, link]));
    const byCode = new Map(links.map((link) => [link.code, link]));
    const decision = attributeOrder({
      ...order,
      rules,
      integrationId: source.id,
      codes: candidates.codes.map((code): RedeemedCode<NamedLink> => {
        const assignment = byCode.get(code);
        return { code, assignment, wasActive: assignment?.wasActive ?? false };
      }),
      clicks: candidates.clicks.map(
        (one): CarriedClick<NamedLink> => ({ ...one, assignment: one.click && byId.get(one.click.linkId) }),
      ),
    });
    return { ...decision, rules };
  });
}

function toNewOrder(
  { now, brandId }: Work,
  source: OrderSource,
  facts: Sale['facts'],
  decision: RuledDecision,
  salt: Buffer,
): NewOrder {
  const { customerEmail, cancelledAt, currency } = facts;
  return {
    id: newId('ord', now.getTime()),
    brandId,
    integrationId: source.id,
    orderId: facts.orderId,
    currency,
    baseMinor: facts.baseMinor,
    occurredAt: facts.occurredAt,
    paidAt: facts.paidAt,
    storeUpdatedAt: facts.updatedAt,
    cancelledAt,
    firstCancelledAt: cancelledAt,
    disputeLostAt: facts.disputeLostAt,
    isTest: facts.isTest || null,
    isRenewal: facts.isRenewal || null,
    customerEmail: customerEmail === null ? null : maskEmail(customerEmail),
    customerHash: customerEmail === null ? null : hashEmail(salt, customerEmail),
    attribution: toAttribution(decision, { currency, at: now, cause: 'first_report' }),
    createdAt: now,
  };
}

function toAttribution(
  { rule, reason, winner, candidates, rules }: RuledDecision,
  { currency, at, cause }: { currency: string; at: Date; cause: Cause },
): Attribution {
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
          commission_rate: fromPpm(winner.commissionRatePpm),
          hold_days: winner.holdDays,
          attribution_days: winner.attributionDays,
          currency,
        }
      : null,
    ...(rules === DEFAULT_RULES ? {} : { rules: toRecordedRules(rules) }),
  };
}

/** An order with the code or link that earned it. */
interface EarnedOrder {
  order: Pick<OrderRow, 'id' | 'currency' | 'customerHash'> & Parameters<typeof toSnapshot>[0];
  link: NamedLink;
  code: string | null;
  clickId: string | null;
  /** Refunds that arrived before or with the order. */
  refunds: readonly KnownRefund[];
  /** The customer's address as reported now; only its hash is stored. */
  reportedEmail: string | null;
}

const toEarnedOrders = (
  { winner: link, code, clickId }: Decision<NamedLink>,
  order: EarnedOrder['order'],
  reported: Pick<EarnedOrder, 'refunds' | 'reportedEmail'>,
): EarnedOrder[] => (link ? [{ order, link, code, clickId, ...reported }] : []);

/** Creates the commissions of orders, with their fraud flags, ledger entries and events. */
async function createCommissions(work: Work, secrets: Secrets, source: OrderSource, earned: readonly EarnedOrder[]) {
  const { db, now, brandId } = work;
  if (!earned[0]) return;
  const fraudRules = parseFraudRules(earned[0].link.fraudRules);
  const suspects = earned.map(({ order, link, code, reportedEmail }) => ({
    ...order,
    linkId: link.id,
    creatorEmail: link.creatorEmail,
    reportedEmail,
    leakScore: code === null ? null : link.leakScore,
  }));
  const flags = await detectFlags(work, secrets, fraudRules, suspects);
  const commissions = earned.map(({ order, link, code, clickId, refunds }, place) => {
    const state = { ...NEW_COMMISSION, ratePpm: link.commissionRatePpm, holdDays: link.holdDays };
    const { columns, entries } = recompute(toSnapshot(order), refunds, state, []);
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
      commissionRatePpm: link.commissionRatePpm,
      holdDays: link.holdDays,
      fraudFlags: flags[place],
      statusUpdatedAt: columns.status === 'pending' ? null : now,
      syncedAt: now,
      createdAt: now,
    };
    return { row, entries };
  });
  const rows = commissions.map(({ row }) => row);
  const inserted = new Map((await insertCommissions(db, rows)).map((row) => [row.id, row]));
  for (const { row, entries } of commissions) {
    const commission = inserted.get(row.id);
    if (!commission) throw new Error(`The commission ${row.id} was not inserted.`);
    for (const { kind, postings } of entries) work.post(toLedgerEntry(commission, kind, postings));
    announceCommission(work, 'commission.created', commission);
  }
  if (fraudRules.forbidden_referrer.action !== 'off') await insertReferrerChecks(db, rows, now);
}

/** True while an order that paid nobody may be decided again: for 24 hours. */
export const mayReconsider = ({ occurredAt }: Pick<OrderRow, 'occurredAt'>, at: Date): boolean =>
  at.getTime() <= occurredAt.getTime() + DAY_MS;

/** Codes and clicks that became known after the decision, and their origin. */
interface LateCandidates {
  codes: readonly string[];
  clickIds: readonly string[];
  cause: Cause;
  customerEmail: string | null;
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
  const { isTest, isRenewal, occurredAt, baseMinor } = toSnapshot(order);
  const { currency } = order;
  const isSettled = isTest || earlier.reason === 'history';
  if (isSettled || candidates.codes.length + candidates.clicks.length === 0) return false;
  const undecided = { candidates, occurredAt, baseMinor, currency, isTest, isRenewal };
  const [decision] = await decideOrders(work, source, [undecided]);
  if (!decision) return false;
  if (!decision.winner && earlier.earlier.length + 1 >= MAX_DECISIONS) return false;
  const later = appendDecision(earlier, toAttribution(decision, { currency, at: work.now, cause: late.cause }));
  const decided = await updateDecision(work.db, order, JSON.stringify(later), work.now);
  if (!decided || !decision.winner) return false;
  const reported = { refunds: await late.refunds(), reportedEmail: late.customerEmail };
  await createCommissions(work, secrets, source, toEarnedOrders(decision, decided, reported));
  if (source.provider === 'shopify') await deleteJourney(work.db, { brandId: order.brandId, orderId: order.id });
  return true;
}

/** Selects the candidates that no earlier decision has seen. */
function selectUnseen({ candidates }: Attribution, { codes, clicks }: OrderCandidates): OrderCandidates {
  const toCodeKey = (code: string) => `code ${truncate(code).toLowerCase()}`;
  const seen = new Set(candidates.map((one) => (one.type === 'code' ? toCodeKey(one.code) : `click ${one.click_id}`)));
  return {
    codes: codes.filter((code) => !seen.has(toCodeKey(code))),
    clicks: clicks.filter((one) => !seen.has(`click ${toClickId(one)}`)),
  };
}

/** Appends a decision to the history, with the candidates of all decisions. */
function appendDecision(earlier: Attribution, later: Attribution): Attribution {
  const { decided_at, cause, reason } = earlier;
  const candidates = [...earlier.candidates, ...later.candidates];
  return {
    ...later,
    candidates: [
      ...candidates.filter(({ type }) => type === 'code'),
      ...candidates.filter(({ type }) => type === 'click'),
    ],
    earlier: [...earlier.earlier, { decided_at, cause, reason: reason ?? 'no_candidate_qualified' }],
  };
}
