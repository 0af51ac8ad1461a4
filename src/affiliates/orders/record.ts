import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { validationError } from '../../kit/values/errors.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { announce, type CommissionRow, entryOf, findOwedOf, lockCommissionOf, updateCommission } from '../commissions/commissions.ts';
import { listPosted, replaceAdjustments } from '../commissions/adjustments.ts';
import { useUnallocated } from '../payouts/actions.ts';
import { lockPayees } from '../payouts/payouts.ts';
import type { ReportedDispute, OrderFacts, ReceivedRefunds, ReportedRefunds } from '../stores/formats/facts.ts';
import type { Reading } from '../stores/formats/provider.ts';
import { reconsiderOrder, mayReconsider, recordNewOrders } from './decide.ts';
import { getSalt, hashEmail } from './customers.ts';
import { addCustomerFlags, maskEmail } from './fraud.ts';
import { insertItems } from './items.ts';
import {
  isSameSnapshot,
  mergeSnapshots,
  type OrderSnapshot,
  type RecomputedCommission,
  recompute,
  toSnapshot,
} from './recompute.ts';
import {
  findDisputeLostAt,
  findOrder,
  type HeadFacts,
  insertDispute,
  toOrderKey,
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
interface LockedOrder {
  head: OrderHead;
  order: OrderRow | undefined;
  commission: CommissionRow | undefined;
}

async function lockOrderAndCommission(db: Db, key: OrderKey, received: HeadFacts): Promise<LockedOrder> {
  const head = await lockOrder(db, key, received);
  const order = head.isNew ? undefined : await findOrder(db, key);
  if (!order) return { head, order, commission: undefined };
  // Before the commission, as payments do. One that is approved just now is locked after it: a deadlock is run again.
  const creatorId = await findOwedOf(db, order);
  if (creatorId !== undefined) await lockPayees(db, key.brandId, [creatorId]);
  return { head, order, commission: await lockCommissionOf(db, order) };
}

/** Locks the order and adds the refunds that a delivery reports; a whole one says which currency the order is in. */
async function lockAndAddRefunds(
  { db, now }: Work,
  key: OrderKey,
  received: ReceivedRefunds & Pick<OrderFacts, 'items'>,
  isWhole: boolean,
): Promise<LockedOrder> {
  const known = await lockOrderAndCommission(db, key, {
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
async function toCustomerColumns(db: Db, { customerHash }: OrderRow, secrets: Secrets, email: string | null) {
  if (customerHash !== null || email === null) return {};
  return { customerEmail: maskEmail(email), customerHash: hashEmail(await getSalt(db, secrets), email) };
}

/** A deleted order stays cancelled, whatever is reported of it earlier or later. */
const applyDeletion = ({ cancelledAt }: Pick<OrderSnapshot, 'cancelledAt'>, { deletedAt }: OrderHead) => ({
  cancelledAt: cancelledAt ?? deletedAt,
});

async function mergeOrder(
  work: Work,
  { order, head }: { order: OrderRow; head: OrderHead },
  received: Omit<OrderSnapshot, 'firstCancelledAt' | 'disputeLostAt'>,
  customer: Partial<Pick<OrderRow, 'customerEmail' | 'customerHash'>> = {},
): Promise<OrderRow> {
  const old = toSnapshot(order);
  const { disputeLostAt } = old;
  const all = mergeSnapshots(old, { ...received, firstCancelledAt: received.cancelledAt, disputeLostAt });
  const merged = { ...all, ...applyDeletion(all, head) };
  if (isSameSnapshot(old, merged) && customer.customerHash === undefined) return order;
  const { baseMinor, paidAt, cancelledAt, firstCancelledAt, updatedAt: storeUpdatedAt } = merged;
  const kind = { isTest: merged.isTest || null, isRenewal: merged.isRenewal || null };
  const change = { ...customer, ...kind, baseMinor, paidAt, cancelledAt, firstCancelledAt, storeUpdatedAt };
  return await updateOrder(work.db, order, { ...change, updatedAt: work.now });
}

function isCommissionChanged(old: CommissionRow, { columns }: RecomputedCommission): boolean {
  const text = ({ amountMinor, commissionMinor, refundedMinor, status, statusNote, ...more }: RecomputedCommission['columns']) =>
    JSON.stringify([amountMinor, commissionMinor, refundedMinor, status, statusNote, more.paidAt, more.holdEndsAt]);
  return text(old) !== text(columns);
}

/** Whether the change alters what payouts owe the creator. */
function changesPayable({ entries }: RecomputedCommission): boolean {
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
  const recomputed = recompute(toSnapshot(order), await listRefunds(db, key, order.currency), standing, posted);
  const { columns, adjustments, entries } = recomputed;
  const isOwedChanged = changesPayable(recomputed);
  if (isOwedChanged) await lockPayees(db, brandId, [commission.creatorId]);
  if (isCommissionChanged(commission, recomputed)) {
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
async function updateDisputeLost(work: Work, key: OrderKey, order: OrderRow): Promise<OrderRow> {
  const disputeLostAt = await findDisputeLostAt(work.db, key);
  if (disputeLostAt?.getTime() === order.disputeLostAt?.getTime()) return order;
  return await updateOrder(work.db, order, { disputeLostAt, updatedAt: work.now });
}

/**
 * Records a store's report of an order. A repeated report changes nothing, and the order in which reports and refunds arrive
 * does not matter.
 */
export async function recordOrder(work: Work, secrets: Secrets, source: OrderSource, facts: OrderFacts): Promise<void> {
  const { db } = work;
  const key = toOrderKey(source, facts.orderId);
  const { head, order, commission } = await lockAndAddRefunds(work, key, facts, true);
  if (facts.dispute) await insertDispute(db, key, facts.dispute, work.now);
  const refunds = () => listRefunds(db, key, facts.currency);
  if (!order) {
    const isAlone = head.isNew && facts.refunds.length === 0 && !facts.dispute;
    const known = isAlone
      ? { refunds: [], lostAt: null }
      : { refunds: await refunds(), lostAt: await findDisputeLostAt(db, key) };
    const sale = { ...facts, ...applyDeletion(facts, head), disputeLostAt: known.lostAt };
    return await recordNewOrders(work, secrets, source, [{ facts: sale, refunds: known.refunds }]);
  }
  const customer = await toCustomerColumns(db, order, secrets, facts.customerEmail);
  const snapshot = await mergeOrder(work, { order, head }, facts, customer);
  const merged = facts.dispute ? await updateDisputeLost(work, key, snapshot) : snapshot;
  if (commission) {
    await recomputeCommission(work, key, merged, commission);
    if (order.customerHash === null && merged.customerHash !== null) {
      await addCustomerFlags(work, secrets, merged, commission, facts.customerEmail);
    }
  } else if (mayReconsider(merged, facts.updatedAt)) {
    const { codes, clickIds, customerEmail } = facts;
    const late = { codes, clickIds, customerEmail, cause: 'later_report' as const, refunds };
    await reconsiderOrder(work, secrets, source, merged, late);
  }
}

/** Records the outcome of a dispute over an order that may not be known yet. */
export async function recordDispute(work: Work, source: OrderSource, dispute: ReportedDispute): Promise<void> {
  const key = toOrderKey(source, dispute.orderId);
  const { order, commission } = await lockOrderAndCommission(work.db, key, { deletedAt: null, refundsListedAt: null });
  await insertDispute(work.db, key, dispute, work.now);
  if (!order) return;
  const merged = await updateDisputeLost(work, key, order);
  if (commission && merged !== order) await recomputeCommission(work, key, merged, commission);
}

/** `stands`: the order pays a creator already. `too_late`: it was placed more than 24 hours ago. */
export type ReconsiderationOutcome = 'pays' | 'pays_nobody' | 'stands' | 'too_late' | 'unknown_order';

/**
 * Decides an order that pays nobody again, by clicks and codes that became known otherwise than by a report of its store. It
 * must have been placed within the last 24 hours, after them.
 */
export async function reconsiderOrderById(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  orderId: string,
  {
    codes,
    clickIds,
    cause = 'checkout_pixel',
  }: { codes: readonly string[]; clickIds: readonly string[]; cause?: Cause },
): Promise<ReconsiderationOutcome> {
  const { db } = work;
  const key = toOrderKey(source, orderId);
  const order = await lockKnownOrder(db, key);
  if (!order) return 'unknown_order';
  if (await lockCommissionOf(db, order)) return 'stands';
  if (!mayReconsider(order, work.now)) return 'too_late';
  const refunds = () => listRefunds(db, key, order.currency);
  const isPaid = await reconsiderOrder(work, secrets, source, order, {
    ...{ codes, clickIds, cause, refunds, customerEmail: null },
  });
  return isPaid ? 'pays' : 'pays_nobody';
}

/** Records refunds of an order that may not be known yet. */
export async function recordRefunds(work: Work, source: OrderSource, received: ReportedRefunds): Promise<void> {
  const key = toOrderKey(source, received.orderId);
  const { order, commission } = await lockAndAddRefunds(work, key, received, false);
  if (order && commission) await recomputeCommission(work, key, order, commission);
}

/** Records that a store deleted an order, whether or not the order was reported before. */
export async function recordDeletion(work: Work, source: OrderSource, orderId: string): Promise<void> {
  const key = toOrderKey(source, orderId);
  const { head, order, commission } = await lockOrderAndCommission(work.db, key, { deletedAt: work.now, refundsListedAt: null });
  if (!order) return;
  const merged = await mergeOrder(work, { order, head }, toSnapshot(order));
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

const getOrderId = (reading: Reading) => (reading.kind === 'deletion' ? reading.orderId : reading.facts.orderId);

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
  const firsts = [...Map.groupBy(readings, getOrderId).values()].flatMap(([first]) => (first ? isWhole(first) : []));
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
    sales.map(({ facts }) => ({ ...facts, ...toOrderKey(source, facts.orderId) })),
  );
  await recordNewOrders(
    work,
    secrets,
    source,
    sales.map(({ facts }) => ({ facts: { ...facts, disputeLostAt: null }, refunds: [] })),
  );
  for (const reading of readings) if (!recorded.has(reading)) await recordReading(work, secrets, source, reading);
}
