import type { Work } from '../../kit/operation/work.ts';
import { readOwnClick } from '../../kit/values/click-token.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { newId } from '../../kit/values/ids.ts';
import { fromPpm } from '../../kit/values/money.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { announceOne, entryOf, insertCommissions, type NewCommission } from '../commissions/commissions.ts';
import { listNamed, type NamedLink } from '../links/links.ts';
import { DEFAULT_RULES, type Rules, recordedRules, rulesOf } from '../rules/attribution-rules.ts';
import { fraudRulesOf } from '../rules/fraud-rules.ts';
import type { OrderFacts } from '../stores/formats/facts.ts';
import { getSalt, hashEmail } from './customers.ts';
import { detectFlags, maskEmail } from './fraud.ts';
import { insertReferrerChecks } from './referrers.ts';
import { type KnownRefund, type OrderSnapshot, recompute, toSnapshot } from './recompute.ts';
import {
  deleteJourney,
  insertJourneys,
  insertOrders,
  type NewOrder,
  type OrderRow,
  updateDecision,
} from './orders.ts';
import { Attribution, type Cause, type OrderSource } from './orders.shapes.ts';
import {
  attributeOrder,
  type CarriedClick,
  type Decision,
  getLatestClickMs,
  toClickId,
  type RedeemedCode,
  truncate,
} from './attribute.ts';

/** Click ids as they were sent, each with the click if we signed it. */
const readClicks = (secrets: Secrets, clickIds: readonly string[]) =>
  clickIds.map((token) => ({ token, click: readOwnClick(secrets, token) }));

interface OrderCandidates {
  codes: readonly string[];
  clicks: ReturnType<typeof readClicks>;
}

/** The facts of an order that decide who earns it. */
interface UndecidedOrder extends Pick<OrderSnapshot, 'occurredAt' | 'baseMinor' | 'isTest' | 'isRenewal'> {
  carried: OrderCandidates;
  currency: string;
}

/** A decision with the brand's rules that made it. */
interface RuledDecision extends Decision<NamedLink> {
  rules: Rules;
}

/** Decides who earns each order, by its codes and clicks and their state when it was placed. */
async function decideOrders({ db, brandId }: Work, source: OrderSource, orders: readonly UndecidedOrder[]): Promise<RuledDecision[]> {
  const named = await listNamed(
    db,
    brandId,
    orders.map(({ carried: { codes, clicks }, occurredAt }) => ({
      codes,
      linkIds: [...new Set(clicks.flatMap(({ click }) => (click ? [click.linkId] : [])))],
      ...{ first: occurredAt, last: new Date(getLatestClickMs(occurredAt)) },
    })),
  );
  const byOrder = Map.groupBy(named, ({ place }) => place);
  // Every row has the brand's rules; without any, nobody can win.
  const rules = named[0] ? rulesOf(named[0]) : DEFAULT_RULES;
  return orders.map(({ carried, ...order }, place) => {
    const found = byOrder.get(place) ?? [];
    const byId = new Map(found.map((link) => [link.id, link]));
    const byCode = new Map(found.map((link) => [link.code, link]));
    const decision = attributeOrder({
      ...{ ...order, rules, integrationId: source.id },
      codes: carried.codes.map((code): RedeemedCode<NamedLink> => {
        const assignment = byCode.get(code);
        return { code, assignment, wasActive: assignment?.wasActive ?? false };
      }),
      clicks: carried.clicks.map(
        (one): CarriedClick<NamedLink> => ({ ...one, assignment: one.click && byId.get(one.click.linkId) }),
      ),
    });
    return { ...decision, rules };
  });
}

function toAttribution(
  { rule, reason, winner, candidates, rules }: RuledDecision,
  { currency, at, cause }: { currency: string; at: Date; cause: Cause },
): Attribution {
  return {
    ...{ rule, reason, candidates, cause, earlier: [] },
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
    ...(rules === DEFAULT_RULES ? {} : { rules: recordedRules(rules) }),
  };
}

type DecidedOrder = Pick<OrderRow, 'id' | 'currency' | 'customerHash'> & Parameters<typeof toSnapshot>[0];

interface EarnedOrder {
  order: DecidedOrder;
  link: NamedLink;
  code: string | null;
  clickId: string | null;
  /** Those that came before or with the order. */
  refunds: readonly KnownRefund[];
  /** As the customer's address was reported just now. */
  reportedEmail: string | null;
}

const toEarnedOrders = (
  { winner: link, code, clickId }: Decision<NamedLink>,
  order: DecidedOrder,
  reported: Pick<EarnedOrder, 'refunds' | 'reportedEmail'>,
): EarnedOrder[] => (link ? [{ order, link, code, clickId, ...reported }] : []);

const NEW = {
  status: 'pending',
  statusNote: null,
  rejectedFrom: null,
  noteBeforeRejection: null,
  commissionMinor: 0,
} as const;

async function createCommissions(work: Work, secrets: Secrets, source: OrderSource, won: readonly EarnedOrder[]) {
  const { db, now, brandId } = work;
  if (!won[0]) return;
  const rules = fraudRulesOf(won[0].link.fraudRules);
  const suspects = won.map(({ order, link, code, reportedEmail }) => ({
    ...{ ...order, linkId: link.id, creatorEmail: link.creatorEmail, reportedEmail },
    leakScore: code === null ? null : link.leakScore,
  }));
  const flags = await detectFlags(work, secrets, rules, suspects);
  const made = won.map(({ order, link, code, clickId, refunds }, place) => {
    const terms = { ratePpm: link.commissionRatePpm, holdDays: link.holdDays };
    const { columns, entries } = recompute(toSnapshot(order), refunds, { ...terms, ...NEW }, []);
    const row: NewCommission = {
      ...columns,
      ...{ id: newId('com', now.getTime()), brandId, orderId: order.id, source: source.provider },
      ...{ linkId: link.id, creatorId: link.creatorId, campaignId: link.campaignId, affiliateCode: link.value },
      ...{ clickId, discountCode: code, currency: order.currency, occurredAt: order.occurredAt },
      ...{ commissionRatePpm: link.commissionRatePpm, holdDays: link.holdDays, fraudFlags: flags[place] },
      statusUpdatedAt: columns.status === 'pending' ? null : now,
      syncedAt: now,
      createdAt: now,
    };
    return { row, entries };
  });
  const rows = made.map(({ row }) => row);
  const facts = new Map((await insertCommissions(db, rows)).map((row) => [row.id, row]));
  for (const { row, entries } of made) {
    const commission = facts.get(row.id);
    if (!commission) throw new Error(`The commission ${row.id} was not inserted.`);
    for (const { kind, postings } of entries) work.post(entryOf(commission, kind, postings));
    announceOne(work, 'commission.created', commission);
  }
  if (rules.forbidden_referrer.action !== 'off') await insertReferrerChecks(db, rows, now);
}

/** PostgreSQL has neither a NUL character nor half a surrogate pair; nothing we assign or mint has one either. */
const toStorable = (text: string) => text.replaceAll('\0', '').toWellFormed();

const readCandidates = (secrets: Secrets, { codes, clickIds }: Pick<OrderFacts, 'codes' | 'clickIds'>): OrderCandidates => ({
  codes: codes.map(toStorable),
  clicks: readClicks(secrets, clickIds.map(toStorable)),
});

/** A new order, with the refunds that came before or with it. */
export interface Sale {
  facts: OrderFacts & Pick<OrderSnapshot, 'disputeLostAt'>;
  refunds: readonly KnownRefund[];
}

/** Nobody earns what was sold before the store was connected. */
const HISTORY_DECISION: RuledDecision = {
  ...{ rule: null, reason: 'history', winner: undefined, code: null, clickId: null, candidates: [] },
  rules: DEFAULT_RULES,
};

/** Records new orders of a store. Their attribution is decided here and stored with its reasons. */
export async function recordNewOrders(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  sales: readonly Sale[],
): Promise<void> {
  if (sales.length === 0) return;
  const { db, now, brandId } = work;
  const salt = await getSalt(db, secrets);
  const deciding = sales.map(({ facts: { occurredAt, baseMinor, currency, isTest, isRenewal, codes, clickIds } }) => ({
    ...{ occurredAt, baseMinor, currency, isTest, isRenewal, carried: readCandidates(secrets, { codes, clickIds }) },
  }));
  const decisions = source.isHistory ? sales.map(() => HISTORY_DECISION) : await decideOrders(work, source, deciding);
  const decided = decisions.flatMap((decision, place) => {
    const sale = sales[place];
    if (!sale) return [];
    const reported = { refunds: sale.refunds, reportedEmail: sale.facts.customerEmail };
    return [{ decision, order: newOrderOf(sale.facts, decision), reported }];
  });
  await insertOrders(
    db,
    decided.map(({ order }) => order),
  );
  const won = decided.flatMap(({ decision, order, reported }) => toEarnedOrders(decision, order, reported));
  await createCommissions(work, secrets, source, won);
  if (source.provider === 'shopify') await lookUpLater();

  /** Shopify knows minutes later which visits led to an order. Nobody visited before a test or a renewal. */
  async function lookUpLater(): Promise<void> {
    const open = decided.filter(({ decision, order }) => !decision.winner && !order.isTest && !order.isRenewal);
    const orders = open.flatMap(({ order }) => (mayReconsider(order, now) ? [order] : []));
    await insertJourneys(db, orders, new Date(now.getTime() + MINUTE_MS));
  }

  function newOrderOf(facts: Sale['facts'], decision: RuledDecision): NewOrder {
    const { orderId, currency, baseMinor, occurredAt, paidAt, cancelledAt, customerEmail, isTest, isRenewal } = facts;
    return {
      ...{ id: newId('ord', now.getTime()), brandId, integrationId: source.id, orderId },
      ...{ currency, baseMinor, occurredAt, paidAt, storeUpdatedAt: facts.updatedAt },
      ...{ cancelledAt, firstCancelledAt: cancelledAt, disputeLostAt: facts.disputeLostAt },
      ...{ isTest: isTest || null, isRenewal: isRenewal || null },
      customerEmail: customerEmail === null ? null : maskEmail(customerEmail),
      customerHash: customerEmail === null ? null : hashEmail(salt, customerEmail),
      attribution: toAttribution(decision, { currency, at: now, cause: 'first_report' }),
      createdAt: now,
    };
  }
}

/** An order that paid nobody may be decided again until then. */
export const mayReconsider = ({ occurredAt }: Pick<OrderRow, 'occurredAt'>, at: Date): boolean =>
  at.getTime() <= occurredAt.getTime() + DAY_MS;

/** What came after an order was decided, and how. */
export interface LateCandidates {
  codes: readonly string[];
  clickIds: readonly string[];
  cause: Cause;
}

/** So that nobody makes an order's record grow without end. */
const MAX_DECISIONS = 10;

const toCodeKey = (code: string) => `code ${truncate(code).toLowerCase()}`;
const toCandidateKey = (one: Attribution['candidates'][number]) =>
  one.type === 'code' ? toCodeKey(one.code) : `click ${one.click_id}`;

/** Those that no earlier decision has seen. */
function selectUnseen({ candidates }: Attribution, { codes, clicks }: OrderCandidates): OrderCandidates {
  const seen = new Set(candidates.map(toCandidateKey));
  return {
    codes: codes.filter((code) => !seen.has(toCodeKey(code))),
    clicks: clicks.filter((one) => !seen.has(`click ${toClickId(one)}`)),
  };
}

/** The newer decision, with all candidates and the decisions before it. */
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

/**
 * Decides an order that pays nobody again, by codes and clicks that no earlier decision has seen; what lost before stays
 * lost. Returns whether it pays now. Call it with the order locked.
 */
export async function reconsiderOrder(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  order: OrderRow,
  late: LateCandidates & { customerEmail: string | null; refunds: () => Promise<readonly KnownRefund[]> },
): Promise<boolean> {
  const earlier = Attribution.parse(order.attribution);
  const carried = selectUnseen(earlier, readCandidates(secrets, { codes: [...late.codes], clickIds: [...late.clickIds] }));
  const { isTest, isRenewal, occurredAt, baseMinor } = toSnapshot(order);
  const { currency } = order;
  const isSettled = isTest || earlier.reason === 'history';
  if (isSettled || carried.codes.length + carried.clicks.length === 0) return false;
  const [decision] = await decideOrders(work, source, [{ carried, occurredAt, baseMinor, currency, isTest, isRenewal }]);
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
