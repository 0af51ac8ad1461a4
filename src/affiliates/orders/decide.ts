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
import { findFlags, maskEmail } from './fraud.ts';
import { insertReferrerChecks } from './referrers.ts';
import { type KnownRefund, type OrderSnapshot, recompute, snapshotOf } from './recompute.ts';
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
  attribute,
  type CarriedClick,
  type Decision,
  lastMomentOf,
  nameOf,
  type RedeemedCode,
  shortened,
} from './attribute.ts';

/** Click ids as they were sent, each with the click if we signed it. */
const readClicks = (secrets: Secrets, clickIds: readonly string[]) =>
  clickIds.map((token) => ({ token, click: readOwnClick(secrets, token) }));

interface Carried {
  codes: readonly string[];
  clicks: ReturnType<typeof readClicks>;
}

/** The facts of an order that decide who earns it. */
interface Deciding extends Pick<OrderSnapshot, 'occurredAt' | 'baseMinor' | 'isTest' | 'isRenewal'> {
  carried: Carried;
  currency: string;
}

/** A decision with the brand's rules that made it. */
interface Made extends Decision<NamedLink> {
  rules: Rules;
}

/** Decides who earns each order, by its codes and clicks and their state when it was placed. */
async function decide({ db, brandId }: Work, source: OrderSource, orders: readonly Deciding[]): Promise<Made[]> {
  const named = await listNamed(
    db,
    brandId,
    orders.map(({ carried: { codes, clicks }, occurredAt }) => ({
      codes,
      linkIds: [...new Set(clicks.flatMap(({ click }) => (click ? [click.linkId] : [])))],
      ...{ first: occurredAt, last: new Date(lastMomentOf(occurredAt)) },
    })),
  );
  const byOrder = Map.groupBy(named, ({ place }) => place);
  // Every row has the brand's rules; without any, nobody can win.
  const rules = named[0] ? rulesOf(named[0]) : DEFAULT_RULES;
  return orders.map(({ carried, ...order }, place) => {
    const found = byOrder.get(place) ?? [];
    const byId = new Map(found.map((link) => [link.id, link]));
    const byCode = new Map(found.map((link) => [link.code, link]));
    const decision = attribute({
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

function attributionOf(
  { rule, reason, winner, candidates, rules }: Made,
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

type DecidedOrder = Pick<OrderRow, 'id' | 'currency' | 'customerHash'> & Parameters<typeof snapshotOf>[0];

interface Won {
  order: DecidedOrder;
  link: NamedLink;
  code: string | null;
  clickId: string | null;
  /** Those that came before or with the order. */
  refunds: readonly KnownRefund[];
  /** As the customer's address was reported just now. */
  reportedEmail: string | null;
}

const wonBy = (
  { winner: link, code, clickId }: Decision<NamedLink>,
  order: DecidedOrder,
  reported: Pick<Won, 'refunds' | 'reportedEmail'>,
): Won[] => (link ? [{ order, link, code, clickId, ...reported }] : []);

const NEW = {
  status: 'pending',
  statusNote: null,
  rejectedFrom: null,
  noteBeforeRejection: null,
  commissionMinor: 0,
} as const;

async function createCommissions(work: Work, secrets: Secrets, source: OrderSource, won: readonly Won[]) {
  const { db, now, brandId } = work;
  if (!won[0]) return;
  const rules = fraudRulesOf(won[0].link.fraudRules);
  const suspects = won.map(({ order, link, code, reportedEmail }) => ({
    ...{ ...order, linkId: link.id, creatorEmail: link.creatorEmail, reportedEmail },
    leakScore: code === null ? null : link.leakScore,
  }));
  const flags = await findFlags(work, secrets, rules, suspects);
  const made = won.map(({ order, link, code, clickId, refunds }, place) => {
    const terms = { ratePpm: link.commissionRatePpm, holdDays: link.holdDays };
    const { columns, entries } = recompute(snapshotOf(order), refunds, { ...terms, ...NEW }, []);
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
const storable = (text: string) => text.replaceAll('\0', '').toWellFormed();

const carriedOf = (secrets: Secrets, { codes, clickIds }: Pick<OrderFacts, 'codes' | 'clickIds'>): Carried => ({
  codes: codes.map(storable),
  clicks: readClicks(secrets, clickIds.map(storable)),
});

/** A new order, with the refunds that came before or with it. */
export interface Sale {
  facts: OrderFacts & Pick<OrderSnapshot, 'disputeLostAt'>;
  refunds: readonly KnownRefund[];
}

/** Nobody earns what was sold before the store was connected. */
const HISTORY: Made = {
  ...{ rule: null, reason: 'history', winner: undefined, code: null, clickId: null, candidates: [] },
  rules: DEFAULT_RULES,
};

/** Records new orders of a store. Their attribution is decided here and stored with its reasons. */
export async function recordSales(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  sales: readonly Sale[],
): Promise<void> {
  if (sales.length === 0) return;
  const { db, now, brandId } = work;
  const salt = await getSalt(db, secrets);
  const deciding = sales.map(({ facts: { occurredAt, baseMinor, currency, isTest, isRenewal, codes, clickIds } }) => ({
    ...{ occurredAt, baseMinor, currency, isTest, isRenewal, carried: carriedOf(secrets, { codes, clickIds }) },
  }));
  const decisions = source.isHistory ? sales.map(() => HISTORY) : await decide(work, source, deciding);
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
  const won = decided.flatMap(({ decision, order, reported }) => wonBy(decision, order, reported));
  await createCommissions(work, secrets, source, won);
  if (source.provider === 'shopify') await lookUpLater();

  /** Shopify knows minutes later which visits led to an order. Nobody visited before a test or a renewal. */
  async function lookUpLater(): Promise<void> {
    const open = decided.filter(({ decision, order }) => !decision.winner && !order.isTest && !order.isRenewal);
    const orders = open.flatMap(({ order }) => (isOpen(order, now) ? [order] : []));
    await insertJourneys(db, orders, new Date(now.getTime() + MINUTE_MS));
  }

  function newOrderOf(facts: Sale['facts'], decision: Made): NewOrder {
    const { orderId, currency, baseMinor, occurredAt, paidAt, cancelledAt, customerEmail, isTest, isRenewal } = facts;
    return {
      ...{ id: newId('ord', now.getTime()), brandId, integrationId: source.id, orderId },
      ...{ currency, baseMinor, occurredAt, paidAt, storeUpdatedAt: facts.updatedAt },
      ...{ cancelledAt, firstCancelledAt: cancelledAt, disputeLostAt: facts.disputeLostAt },
      ...{ isTest: isTest || null, isRenewal: isRenewal || null },
      customerEmail: customerEmail === null ? null : maskEmail(customerEmail),
      customerHash: customerEmail === null ? null : hashEmail(salt, customerEmail),
      attribution: attributionOf(decision, { currency, at: now, cause: 'first_report' }),
      createdAt: now,
    };
  }
}

/** An order that paid nobody may be decided again until then. */
export const isOpen = ({ occurredAt }: Pick<OrderRow, 'occurredAt'>, at: Date): boolean =>
  at.getTime() <= occurredAt.getTime() + DAY_MS;

/** What came after an order was decided, and how. */
export interface LateCandidates {
  codes: readonly string[];
  clickIds: readonly string[];
  cause: Cause;
}

/** So that nobody makes an order's record grow without end. */
const MAX_DECISIONS = 10;

const keyOfCode = (code: string) => `code ${shortened(code).toLowerCase()}`;
const keyOfCandidate = (one: Attribution['candidates'][number]) =>
  one.type === 'code' ? keyOfCode(one.code) : `click ${one.click_id}`;

/** Those that no earlier decision has seen. */
function newOnes({ candidates }: Attribution, { codes, clicks }: Carried): Carried {
  const seen = new Set(candidates.map(keyOfCandidate));
  return {
    codes: codes.filter((code) => !seen.has(keyOfCode(code))),
    clicks: clicks.filter((one) => !seen.has(`click ${nameOf(one)}`)),
  };
}

/** The newer decision, with all candidates and the decisions before it. */
function following(earlier: Attribution, later: Attribution): Attribution {
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
export async function decideLater(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  order: OrderRow,
  late: LateCandidates & { customerEmail: string | null; refunds: () => Promise<readonly KnownRefund[]> },
): Promise<boolean> {
  const earlier = Attribution.parse(order.attribution);
  const carried = newOnes(earlier, carriedOf(secrets, { codes: [...late.codes], clickIds: [...late.clickIds] }));
  const { isTest, isRenewal, occurredAt, baseMinor } = snapshotOf(order);
  const { currency } = order;
  const isSettled = isTest || earlier.reason === 'history';
  if (isSettled || carried.codes.length + carried.clicks.length === 0) return false;
  const [decision] = await decide(work, source, [{ carried, occurredAt, baseMinor, currency, isTest, isRenewal }]);
  if (!decision) return false;
  if (!decision.winner && earlier.earlier.length + 1 >= MAX_DECISIONS) return false;
  const later = following(earlier, attributionOf(decision, { currency, at: work.now, cause: late.cause }));
  const decided = await updateDecision(work.db, order, JSON.stringify(later), work.now);
  if (!decided || !decision.winner) return false;
  const reported = { refunds: await late.refunds(), reportedEmail: late.customerEmail };
  await createCommissions(work, secrets, source, wonBy(decision, decided, reported));
  if (source.provider === 'shopify') await deleteJourney(work.db, { brandId: order.brandId, orderId: order.id });
  return true;
}
