import type { Work } from '../../operation/work.ts';
import type { OrderFacts } from '../../stores/facts.ts';
import { readClick } from '../../values/click-token.ts';
import { newId } from '../../values/ids.ts';
import { fromPpm } from '../../values/money.ts';
import type { Secrets } from '../../values/secrets.ts';
import { announceOne } from '../commissions/announce-actions.ts';
import { insertCommission } from '../commissions/order-queries.ts';
import { entryOf } from '../commissions/posting-actions.ts';
import { type ListedLink, listNamed } from '../links/queries.ts';
import {
  attribute,
  type CarriedClick,
  type Decision,
  lastMomentOf,
  nameOf,
  type RedeemedCode,
  shortened,
} from './attribution.ts';
import { hashEmail, maskEmail } from './customer.ts';
import { insertOrder, type OrderRow, updateDecision } from './queries.ts';
import { recompute } from './recompute.ts';
import type { KnownRefund } from './refunds/count.ts';
import { Attribution, type Cause, type OrderSource } from './schema.ts';
import { type OrderSnapshot, snapshotOf } from './snapshot.ts';
import { findFlags } from './suspicion.ts';

function firstOf<K, V>(keys: readonly K[], read: (key: K) => V | undefined): V | undefined {
  for (const key of keys) {
    const value = read(key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Click ids as they were sent, each with the click if we signed it. */
function readClicks(secrets: Secrets, clickIds: readonly string[]) {
  const keys = [secrets.key('click'), secrets.previousKey('click')].filter((key) => key !== undefined);
  return clickIds.map((token) => ({ token, click: firstOf(keys, (key) => readClick(key, token)) }));
}

interface Carried {
  codes: readonly string[];
  clicks: ReturnType<typeof readClicks>;
}

/** The codes and clicks of an order, with their state when the order was placed. */
async function candidatesOf({ db, brandId }: Work, { codes, clicks: read }: Carried, occurredAt: Date) {
  const linkIds = [...new Set(read.flatMap(({ click }) => (click ? [click.linkId] : [])))];
  const moment = { first: occurredAt, last: new Date(lastMomentOf(occurredAt)) };
  const found = await listNamed(db, brandId, { codes, linkIds }, moment);
  const byId = new Map(found.map((link) => [link.id, link]));
  const byCode = new Map(found.map((link) => [link.code, link]));
  return {
    codes: codes.map((code): RedeemedCode<ListedLink> => {
      const assignment = byCode.get(code);
      return { code, assignment, wasActive: assignment?.wasActive ?? false };
    }),
    clicks: read.map(
      (one): CarriedClick<ListedLink> => ({ ...one, assignment: one.click && byId.get(one.click.linkId) }),
    ),
  };
}

function attributionOf(
  { rule, reason, winner, candidates }: Decision<ListedLink>,
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
  };
}

interface Won {
  link: ListedLink;
  code: string | null;
  clickId: string | null;
  /** Those that came before or with the order. */
  refunds: readonly KnownRefund[];
}

async function createCommission(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  order: OrderRow,
  { link, code, clickId, refunds }: Won,
): Promise<void> {
  const { db, now, brandId } = work;
  const flags = await findFlags(work, secrets, order, { linkId: link.id, creatorEmail: link.creatorEmail });
  const terms = { ratePpm: link.commissionRatePpm, holdDays: link.holdDays };
  const stand = {
    status: 'pending',
    statusNote: null,
    rejectedFrom: null,
    noteBeforeRejection: null,
    commissionMinor: 0,
  } as const;
  const { columns, entries } = recompute(snapshotOf(order), refunds, { ...terms, ...stand }, []);
  const row = await insertCommission(db, {
    ...columns,
    ...{ id: newId('com', now.getTime()), brandId, orderId: order.id, source: source.provider },
    ...{ linkId: link.id, creatorId: link.creatorId, campaignId: link.campaignId, affiliateCode: link.value },
    ...{ clickId, discountCode: code, currency: order.currency, occurredAt: order.occurredAt },
    ...{ commissionRatePpm: link.commissionRatePpm, holdDays: link.holdDays, fraudFlags: JSON.stringify(flags) },
    statusUpdatedAt: columns.status === 'pending' ? null : now,
    syncedAt: now,
    createdAt: now,
  });
  for (const { kind, postings } of entries) work.post(entryOf(row, kind, postings));
  announceOne(work, 'commission.created', row);
}

/** PostgreSQL has neither a NUL character nor half a surrogate pair; nothing we assign or mint has one either. */
const storable = (text: string) => text.replaceAll('\0', '').toWellFormed();

const carriedOf = (secrets: Secrets, { codes, clickIds }: Pick<OrderFacts, 'codes' | 'clickIds'>): Carried => ({
  codes: codes.map(storable),
  clicks: readClicks(secrets, clickIds.map(storable)),
});

/** Records a new order. Its attribution is decided here and stored with its reasons. */
export async function recordSale(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  facts: OrderFacts & Pick<OrderSnapshot, 'disputeLostAt'>,
  refunds: readonly KnownRefund[],
): Promise<void> {
  const { db, now, brandId } = work;
  const { orderId, currency, baseMinor, occurredAt, paidAt, cancelledAt, customerEmail, isTest, isRenewal } = facts;
  const decision = attribute({
    ...{ integrationId: source.id, occurredAt, isTest, isRenewal },
    ...(await candidatesOf(work, carriedOf(secrets, facts), occurredAt)),
  });
  const order = await insertOrder(db, {
    ...{ id: newId('ord', now.getTime()), brandId, integrationId: source.id, orderId },
    ...{ currency, baseMinor, occurredAt, paidAt, storeUpdatedAt: facts.updatedAt },
    ...{ cancelledAt, firstCancelledAt: cancelledAt, disputeLostAt: facts.disputeLostAt },
    ...{ isTest: isTest || null, isRenewal: isRenewal || null },
    customerEmail: customerEmail === null ? null : maskEmail(customerEmail),
    customerHash: customerEmail === null ? null : hashEmail(secrets, customerEmail),
    attribution: JSON.stringify(attributionOf(decision, { currency, at: now, cause: 'first_report' })),
    createdAt: now,
  });
  const { winner: link, code, clickId } = decision;
  if (link) await createCommission(work, secrets, source, order, { link, code, clickId, refunds });
}

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
  late: LateCandidates & { refunds: () => Promise<readonly KnownRefund[]> },
): Promise<boolean> {
  const earlier = Attribution.parse(order.attribution);
  const carried = newOnes(earlier, carriedOf(secrets, { codes: [...late.codes], clickIds: [...late.clickIds] }));
  const { isTest, isRenewal, occurredAt } = snapshotOf(order);
  if (isTest || carried.codes.length + carried.clicks.length === 0) return false;
  const decision = attribute({
    ...{ integrationId: source.id, occurredAt, isTest, isRenewal },
    ...(await candidatesOf(work, carried, occurredAt)),
  });
  const { winner: link, code, clickId } = decision;
  if (!link && earlier.earlier.length + 1 >= MAX_DECISIONS) return false;
  const later = following(
    earlier,
    attributionOf(decision, { currency: order.currency, at: work.now, cause: late.cause }),
  );
  const decided = await updateDecision(work.db, order, JSON.stringify(later), work.now);
  if (!decided || !link) return false;
  await createCommission(work, secrets, source, decided, { link, code, clickId, refunds: await late.refunds() });
  return true;
}
