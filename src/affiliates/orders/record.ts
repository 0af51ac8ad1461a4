import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { validationError } from '../../kit/values/errors.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { announce, type CommissionRow, entryOf, findOwedOf, lockCommissionOf, updateCommission } from '../commissions/commissions.ts';
import { listPosted, replaceAdjustments } from '../commissions/adjustments.ts';
import { useUnallocated } from '../payouts/actions.ts';
import { lockPayees } from '../payouts/payouts.ts';
import type { DisputeOfOrder, OrderFacts, ReceivedRefunds, RefundOfOrder } from '../stores/formats/facts.ts';
import type { Reading } from '../stores/formats/provider.ts';
import { decideLater, isOpen, recordSales } from './decide.ts';
import { getSalt, hashEmail } from './customers.ts';
import { addFlags, maskEmail } from './fraud.ts';
import { insertItems } from './items.ts';
import {
  isSameSnapshot,
  mergeSnapshots,
  type OrderSnapshot,
  type Recomputed,
  recompute,
  snapshotOf,
} from './recompute.ts';
import {
  findLostAt,
  findOrder,
  type HeadFacts,
  insertDispute,
  keyOf,
  lockKnownOrder,
  lockOrder,
  lockOrders,
  type OrderHead,
  type OrderKey,
  type OrderRow,
  updateOrder,
} from './orders.ts';
import { insertRefunds, listRefunds } from './refunds.ts';
import type { Cause, OrderSource } from './orders.shapes.ts';

/** A known order with its commission, both locked until the transaction ends. */
interface Known {
  head: OrderHead;
  order: OrderRow | undefined;
  commission: CommissionRow | undefined;
}

async function lockKnown(db: Db, key: OrderKey, received: HeadFacts): Promise<Known> {
  const head = await lockOrder(db, key, received);
  const order = head.isNew ? undefined : await findOrder(db, key);
  if (!order) return { head, order, commission: undefined };
  // Before the commission, as payments do. One that is approved just now is locked after it: a deadlock is run again.
  const creatorId = await findOwedOf(db, order);
  if (creatorId !== undefined) await lockPayees(db, key.brandId, [creatorId]);
  return { head, order, commission: await lockCommissionOf(db, order) };
}

/** Locks the order and adds the refunds that a delivery reports; a whole one says which currency the order is in. */
async function lockWithRefunds(
  { db, now }: Work,
  key: OrderKey,
  received: ReceivedRefunds & Pick<OrderFacts, 'items'>,
  isWhole: boolean,
): Promise<Known> {
  const known = await lockKnown(db, key, {
    deletedAt: null,
    refundsListedAt: received.hasAllRefunds ? received.updatedAt : null,
  });
  const { order, commission } = known;
  if (order && order.currency !== received.currency) {
    const message = `is ${received.currency}; the order ${key.orderId} is in ${order.currency}, and keeps its currency.`;
    throw validationError([{ field: 'currency', code: 'currency_mismatch', message }]);
  }
  const isOfOrder = isWhole || order !== undefined;
  await insertRefunds(db, key, received, { now, isPaid: commission?.status === 'paid', isOfOrder });
  await insertItems(db, [{ ...received, ...key }]);
  return known;
}

/** The columns for a customer whom no earlier delivery named. */
async function customerOf(db: Db, { customerHash }: OrderRow, secrets: Secrets, email: string | null) {
  if (customerHash !== null || email === null) return {};
  return { customerEmail: maskEmail(email), customerHash: hashEmail(await getSalt(db, secrets), email) };
}

/** A deleted order stays cancelled, whatever is reported of it earlier or later. */
const asDeleted = ({ cancelledAt }: Pick<OrderSnapshot, 'cancelledAt'>, { deletedAt }: OrderHead) => ({
  cancelledAt: cancelledAt ?? deletedAt,
});

async function mergeOrder(
  work: Work,
  { order, head }: { order: OrderRow; head: OrderHead },
  received: Omit<OrderSnapshot, 'firstCancelledAt' | 'disputeLostAt'>,
  customer: Partial<Pick<OrderRow, 'customerEmail' | 'customerHash'>> = {},
): Promise<OrderRow> {
  const old = snapshotOf(order);
  const { disputeLostAt } = old;
  const all = mergeSnapshots(old, { ...received, firstCancelledAt: received.cancelledAt, disputeLostAt });
  const merged = { ...all, ...asDeleted(all, head) };
  if (isSameSnapshot(old, merged) && customer.customerHash === undefined) return order;
  const { baseMinor, paidAt, cancelledAt, firstCancelledAt, updatedAt: storeUpdatedAt } = merged;
  const kind = { isTest: merged.isTest || null, isRenewal: merged.isRenewal || null };
  const change = { ...customer, ...kind, baseMinor, paidAt, cancelledAt, firstCancelledAt, storeUpdatedAt };
  return await updateOrder(work.db, order, { ...change, updatedAt: work.now });
}

function isChanged(old: CommissionRow, { columns }: Recomputed): boolean {
  const text = ({ amountMinor, commissionMinor, refundedMinor, status, statusNote, ...more }: Recomputed['columns']) =>
    JSON.stringify([amountMinor, commissionMinor, refundedMinor, status, statusNote, more.paidAt, more.holdEndsAt]);
  return text(old) !== text(columns);
}

/** Whether the change alters what payouts owe the creator. */
function changesWhatIsOwed({ entries }: Recomputed): boolean {
  const owed = entries
    .flatMap(({ postings }) => postings)
    .filter(({ account }) => account === 'commission_approved' || account === 'refund_adjustment');
  return owed.reduce((sum, { amountMinor }) => sum + amountMinor, 0) !== 0;
}

/** Updates the commission, its adjustments and the ledger to all known facts of the order. */
async function recomputeCommission(
  work: Work,
  key: OrderKey,
  order: OrderRow,
  commission: CommissionRow,
): Promise<void> {
  const { db, now, brandId } = work;
  const standing = { ...commission, ratePpm: commission.commissionRatePpm };
  const posted = [...(await listPosted(db, commission)), ...work.postedOf(commission.id)];
  const recomputed = recompute(snapshotOf(order), await listRefunds(db, key, order.currency), standing, posted);
  const { columns, adjustments, entries } = recomputed;
  const isOwedChanged = changesWhatIsOwed(recomputed);
  if (isOwedChanged) await lockPayees(db, brandId, [commission.creatorId]);
  if (isChanged(commission, recomputed)) {
    const isMoved = columns.status !== commission.status || columns.statusNote !== commission.statusNote;
    const moved = isMoved ? { statusUpdatedAt: now } : {};
    await updateCommission(db, commission, { ...columns, ...moved, syncedAt: now });
    const isRejected = columns.status === 'rejected' && commission.status !== 'rejected';
    if (isRejected) await announce(work, 'commission.rejected', [commission.id]);
  }
  if (commission.status === 'paid') {
    const { id: commissionId, creatorId, currency } = commission;
    const rows = adjustments.map((one) => ({ brandId, commissionId, creatorId, currency, createdAt: now, ...one }));
    await replaceAdjustments(db, commission, rows);
  }
  for (const { kind, postings } of entries) work.post(entryOf(commission, kind, postings));
  if (isOwedChanged) await useUnallocated(work, [commission]);
}

/** Sets since when a dispute over the order is lost, as all that is known of its disputes says. */
async function updateLost(work: Work, key: OrderKey, order: OrderRow): Promise<OrderRow> {
  const disputeLostAt = await findLostAt(work.db, key);
  if (disputeLostAt?.getTime() === order.disputeLostAt?.getTime()) return order;
  return await updateOrder(work.db, order, { disputeLostAt, updatedAt: work.now });
}

/**
 * Records a store's report of an order. A repeated report changes nothing, and the order in which reports and refunds arrive
 * does not matter.
 */
export async function recordOrder(work: Work, secrets: Secrets, source: OrderSource, facts: OrderFacts): Promise<void> {
  const { db } = work;
  const key = keyOf(source, facts.orderId);
  const { head, order, commission } = await lockWithRefunds(work, key, facts, true);
  if (facts.dispute) await insertDispute(db, key, facts.dispute, work.now);
  const refunds = () => listRefunds(db, key, facts.currency);
  if (!order) {
    const isAlone = head.isNew && facts.refunds.length === 0 && !facts.dispute;
    const known = isAlone
      ? { refunds: [], lostAt: null }
      : { refunds: await refunds(), lostAt: await findLostAt(db, key) };
    const sale = { ...facts, ...asDeleted(facts, head), disputeLostAt: known.lostAt };
    return await recordSales(work, secrets, source, [{ facts: sale, refunds: known.refunds }]);
  }
  const customer = await customerOf(db, order, secrets, facts.customerEmail);
  const snapshot = await mergeOrder(work, { order, head }, facts, customer);
  const merged = facts.dispute ? await updateLost(work, key, snapshot) : snapshot;
  if (commission) {
    await recomputeCommission(work, key, merged, commission);
    if (order.customerHash === null && merged.customerHash !== null) {
      await addFlags(work, secrets, merged, commission, facts.customerEmail);
    }
  } else if (isOpen(merged, facts.updatedAt)) {
    const { codes, clickIds, customerEmail } = facts;
    const late = { codes, clickIds, customerEmail, cause: 'later_report' as const, refunds };
    await decideLater(work, secrets, source, merged, late);
  }
}

/** Records the outcome of a dispute over an order that may not be known yet. */
export async function recordDispute(work: Work, source: OrderSource, dispute: DisputeOfOrder): Promise<void> {
  const key = keyOf(source, dispute.orderId);
  const { order, commission } = await lockKnown(work.db, key, { deletedAt: null, refundsListedAt: null });
  await insertDispute(work.db, key, dispute, work.now);
  if (!order) return;
  const merged = await updateLost(work, key, order);
  if (commission && merged !== order) await recomputeCommission(work, key, merged, commission);
}

/** `stands`: the order pays a creator already. `too_late`: it was placed more than 24 hours ago. */
export type DecidedAgain = 'pays' | 'pays_nobody' | 'stands' | 'too_late' | 'unknown_order';

/**
 * Decides an order that pays nobody again, by clicks and codes that became known otherwise than by a report of its store. It
 * must have been placed within the last 24 hours, after them.
 */
export async function decideAgain(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  orderId: string,
  {
    codes,
    clickIds,
    cause = 'checkout_pixel',
  }: { codes: readonly string[]; clickIds: readonly string[]; cause?: Cause },
): Promise<DecidedAgain> {
  const { db } = work;
  const key = keyOf(source, orderId);
  const order = await lockKnownOrder(db, key);
  if (!order) return 'unknown_order';
  if (await lockCommissionOf(db, order)) return 'stands';
  if (!isOpen(order, work.now)) return 'too_late';
  const refunds = () => listRefunds(db, key, order.currency);
  const isPaid = await decideLater(work, secrets, source, order, {
    ...{ codes, clickIds, cause, refunds, customerEmail: null },
  });
  return isPaid ? 'pays' : 'pays_nobody';
}

/** Records refunds of an order that may not be known yet. */
export async function recordRefunds(work: Work, source: OrderSource, received: RefundOfOrder): Promise<void> {
  const key = keyOf(source, received.orderId);
  const { order, commission } = await lockWithRefunds(work, key, received, false);
  if (order && commission) await recomputeCommission(work, key, order, commission);
}

/** Records that a store deleted an order, whether or not the order was reported before. */
export async function recordDeletion(work: Work, source: OrderSource, orderId: string): Promise<void> {
  const key = keyOf(source, orderId);
  const { head, order, commission } = await lockKnown(work.db, key, { deletedAt: work.now, refundsListedAt: null });
  if (!order) return;
  const merged = await mergeOrder(work, { order, head }, snapshotOf(order));
  if (commission) await recomputeCommission(work, key, merged, commission);
}

/** Records one reading of a store. */
async function recordReading(work: Work, secrets: Secrets, source: OrderSource, reading: Reading): Promise<void> {
  if (reading.kind === 'order') return await recordOrder(work, secrets, source, reading.facts);
  if (reading.kind === 'refund') return await recordRefunds(work, source, reading.facts);
  if (reading.kind === 'dispute') return await recordDispute(work, source, reading.facts);
  return await recordDeletion(work, source, reading.orderId);
}

/** Whether the first report of an order says all that there may be to know of it. */
const isWhole = (reading: Reading) =>
  reading.kind === 'order' && reading.facts.refunds.length === 0 && !reading.facts.dispute ? [reading] : [];

const orderIdOf = (reading: Reading) => (reading.kind === 'deletion' ? reading.orderId : reading.facts.orderId);

/**
 * Records readings of one store, also several of one order, in the order in which they are given. Orders that are new are
 * recorded together, in as many statements as one takes.
 */
export async function recordReadings(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  readings: readonly Reading[],
): Promise<void> {
  const firsts = [...Map.groupBy(readings, orderIdOf).values()].flatMap(([first]) => (first ? isWhole(first) : []));
  const together = firsts.length > 1 ? firsts : [];
  const isNew =
    together.length === 0
      ? new Set()
      : await lockOrders(
          work.db,
          source,
          together.map(({ facts }) => facts),
        );
  const recorded = new Set<Reading>(together.filter(({ facts }) => isNew.has(facts.orderId)));
  const sales = together.filter((one) => recorded.has(one));
  await insertItems(
    work.db,
    sales.map(({ facts }) => ({ ...facts, ...keyOf(source, facts.orderId) })),
  );
  await recordSales(
    work,
    secrets,
    source,
    sales.map(({ facts }) => ({ facts: { ...facts, disputeLostAt: null }, refunds: [] })),
  );
  for (const reading of readings) if (!recorded.has(reading)) await recordReading(work, secrets, source, reading);
}
