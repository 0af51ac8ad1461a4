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
import { attribute, type CarriedClick, type Decision, lastMomentOf, type RedeemedCode } from './attribution.ts';
import { hashEmail, maskEmail } from './customer.ts';
import { insertOrder, type OrderRow } from './queries.ts';
import { recompute } from './recompute.ts';
import type { KnownRefund } from './refunds/count.ts';
import type { Attribution, OrderSource } from './schema.ts';
import { snapshotOf } from './snapshot.ts';
import { findFlags } from './suspicion.ts';

function firstOf<K, V>(keys: readonly K[], read: (key: K) => V | undefined): V | undefined {
  for (const key of keys) {
    const value = read(key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The codes and clicks of the order, with their state when the order was placed. */
async function candidatesOf({ db, brandId }: Work, secrets: Secrets, { codes, clickIds, occurredAt }: OrderFacts) {
  const keys = [secrets.key('click'), secrets.previousKey('click')].filter((key) => key !== undefined);
  const read = clickIds.map((token) => ({ token, click: firstOf(keys, (key) => readClick(key, token)) }));
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
  currency: string,
  at: Date,
): Attribution {
  return {
    ...{ rule, reason, candidates },
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

/** Records a new order. Its attribution is decided here, once, and stored with its reasons. */
export async function recordSale(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  received: OrderFacts,
  refunds: readonly KnownRefund[],
): Promise<void> {
  const facts = { ...received, codes: received.codes.map(storable), clickIds: received.clickIds.map(storable) };
  const { db, now, brandId } = work;
  const { orderId, currency, baseMinor, occurredAt, paidAt, cancelledAt, customerEmail } = facts;
  const decision = attribute({
    integrationId: source.id,
    occurredAt,
    ...(await candidatesOf(work, secrets, facts)),
  });
  const order = await insertOrder(db, {
    ...{ id: newId('ord', now.getTime()), brandId, integrationId: source.id, orderId },
    ...{ currency, baseMinor, occurredAt, paidAt, storeUpdatedAt: facts.updatedAt },
    ...{ cancelledAt, firstCancelledAt: cancelledAt },
    customerEmail: customerEmail === null ? null : maskEmail(customerEmail),
    customerHash: customerEmail === null ? null : hashEmail(secrets, customerEmail),
    attribution: JSON.stringify(attributionOf(decision, currency, now)),
    createdAt: now,
  });
  const { winner: link, code, clickId } = decision;
  if (link) await createCommission(work, secrets, source, order, { link, code, clickId, refunds });
}
