import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { validationError } from '../../kit/values/errors.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { listPosted, replaceAdjustments } from '../commissions/adjustments.ts';
import {
  announceCommissions,
  type CommissionRow,
  findOwedCreator,
  lockCommissions,
  lockOrderCommission,
  toLedgerEntry,
  updateCommission,
} from '../commissions/commissions.ts';
import { replaceParts } from '../commissions/parts.ts';
import { recordWish } from '../data-requests/data-requests.ts';
import { lockPayees } from '../payouts/payouts.ts';
import { allocateUnallocatedFunds } from '../payouts/settle.ts';
import type { OrderFacts, ReceivedRefunds, ReportedDispute, ReportedRefunds } from '../stores/formats/facts.ts';
import { getOrderId, type OrderReading, type Reading } from '../stores/formats/provider.ts';
import type { Cause } from './attribution.shapes.ts';
import { getSalt, hashCustomerId, hashEmail, maskEmail } from './customers.ts';
import { reconsiderOrder, recordNewOrders } from './decide.ts';
import { fixRoom, loadCommissionPricing, mayReconsider } from './decision-facts.ts';
import { findDisputeLostAt, insertDispute } from './disputes.ts';
import { addCustomerFlags } from './fraud.ts';
import { insertItems } from './items.ts';
import { areSameTraits, mergeTraits, type OrderTraits, toTraitColumns, toTraits } from './order-kinds.ts';
import type { OrderSource } from './orders.shapes.ts';
import {
  findOrder,
  findOrderById,
  type HeadFacts,
  lockKnownOrder,
  lockOrder,
  lockOrders,
  type OrderHead,
  type OrderKey,
  type OrderRow,
  toOrderKey,
  updateOrder,
} from './orders.ts';
import { type Pricing, toRatePpm } from './pricing.ts';
import {
  computePayable,
  isSameSnapshot,
  type KnownRefund,
  mergeSnapshots,
  type OrderSnapshot,
  type RecomputedCommission,
  recompute,
  toSnapshot,
} from './recompute.ts';
import { insertRefunds, listRefunds } from './refunds.ts';
import { insertStartedSubscriptions } from './started-subscriptions.ts';
import { changeUnpaidLines } from './unpaid-lines.ts';

/**
 * Records readings of one store, also several of one order, in the sequence of the list. New orders are recorded
 * together, in as many statements as one takes.
 */
export async function recordReadings(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  readings: readonly Reading[],
): Promise<void> {
  await insertStartedSubscriptions(work, source, readings);
  // The first report of an order tells all about it if it has no refunds and no dispute.
  const complete = [...Map.groupBy(readings, getOrderId).values()].flatMap(([first]) =>
    first?.kind === 'order' && first.facts.refunds.length === 0 && !first.facts.dispute ? [first] : [],
  );
  const recordedReadings =
    complete.length > 1 ? await recordUnknownOrders(work, secrets, source, complete) : new Set<Reading>();
  for (const reading of readings) {
    if (recordedReadings.has(reading)) continue;
    if (reading.kind === 'order') await recordOrder(work, secrets, source, reading.facts);
    else if (reading.kind === 'refund') await recordRefunds(work, source, reading.facts);
    else if (reading.kind === 'dispute') await recordDispute(work, source, reading.facts);
    else await recordDeletion(work, source, reading.orderId);
  }
}

/** Records the orders that nothing was reported of before, and returns their readings. */
async function recordUnknownOrders(
  work: Work,
  secrets: Secrets,
  source: OrderSource,
  readings: readonly OrderReading[],
): Promise<Set<Reading>> {
  const facts = readings.map((reading) => reading.facts);
  const newIds = await lockOrders(work.db, source, facts);
  const unknown = readings.filter((reading) => newIds.has(reading.facts.orderId));
  const items = unknown.map((reading) => ({ ...reading.facts, ...toOrderKey(source, reading.facts.orderId) }));
  await insertItems(work.db, items);
  const sales = unknown.map((reading) => ({ facts: { ...reading.facts, disputeLostAt: null }, refunds: [] }));
  await recordNewOrders(work, secrets, source, sales);
  return new Set(unknown);
}

/**
 * Records a store's report of an order. A repeated report changes nothing, and the sequence in which reports and
 * refunds arrive does not matter.
 */
export async function recordOrder(work: Work, secrets: Secrets, source: OrderSource, facts: OrderFacts): Promise<void> {
  const { db, now } = work;
  const key = toOrderKey(source, facts.orderId);
  const { head, order, commission } = await lockAndAddRefunds(work, key, facts, true);
  if (facts.dispute) await insertDispute(db, key, facts.dispute, now);
  const refunds = () => listRefunds(db, key, facts.currency);

  if (!order) {
    const isFirstReport = head.isNew && facts.refunds.length === 0 && !facts.dispute;
    const sale = {
      facts: {
        ...facts,
        ...applyDeletion(facts, head),
        disputeLostAt: isFirstReport ? null : await findDisputeLostAt(db, key),
      },
      refunds: isFirstReport ? [] : await refunds(),
    };
    return await recordNewOrders(work, secrets, source, [sale]);
  }

  const isErasedNow = facts.isErased === true && order.erasedBy === null;
  if (isErasedNow && order.customerHash !== null) {
    const wish = { kind: 'erasure' as const, email: null, customerId: null, orderIds: [order.id], isWholeStore: false };
    await recordWish(work, secrets, source, wish);
  }
  const traits = withoutErased(order, facts);
  const { customerEmail } = traits;
  const email = order.customerHash === null ? customerEmail : null;
  const customer = await toCustomerColumns(work, secrets, order, traits);
  const changes = {
    ...customer,
    ...changeNumber(order, facts),
    ...changeUnpaidLines(order, facts),
    // Nobody is to be erased yet, and an older report that comes later must name nobody.
    ...(isErasedNow && order.customerHash === null ? { erasedBy: source.provider } : {}),
    traits,
  };
  const snapshot = await mergeOrder(work, { order, head }, facts, changes);
  const mergedOrder = facts.dispute ? await updateDisputeLost(work, key, snapshot) : snapshot;

  if (commission) {
    await recomputeCommission(work, mergedOrder, commission);
    if (email !== null) await addCustomerFlags(work, secrets, mergedOrder, commission, email);
  } else if (mayReconsider(mergedOrder, facts.updatedAt)) {
    const { codes, clickIds } = facts;
    const isCustomerChanged =
      Object.keys(customer).length > 0 || !areSameTraits(toTraits(order), toTraits(mergedOrder));
    await reconsiderOrder(work, secrets, source, mergedOrder, {
      codes,
      clickIds,
      customerEmail,
      isCustomerChanged,
      cause: 'later_report',
      refunds,
    });
  }
}

/** Ignores the customer in a report of an order whose customer was erased; the subscription too, if it was erased with its row. */
function withoutErased({ erasedBy, customerId }: OrderRow, facts: OrderFacts): OrderFacts {
  if (erasedBy === null) return facts;
  const subscription = erasedBy === customerId ? { subscriptionId: null, previousSubscriptionId: null } : {};
  return { ...facts, customerEmail: null, customerId: null, ...subscription };
}

/** The customer's columns that a report is the first to tell. */
async function toCustomerColumns(
  { db }: Work,
  secrets: Secrets,
  order: OrderRow,
  { customerEmail, customerId }: OrderFacts,
): Promise<Partial<NamedColumns>> {
  const email = order.customerHash === null ? customerEmail : null;
  const id = order.customerIdHash === null ? customerId : null;
  if (email === null && id === null) return {};
  const salt = await getSalt(db, secrets);
  return {
    ...(email === null ? {} : { customerEmail: maskEmail(email), customerHash: hashEmail(salt, email) }),
    ...(id === null ? {} : { customerIdHash: hashCustomerId(salt, order.integrationId, id) }),
  };
}

/** Records refunds of an order, which may be unknown yet. */
export async function recordRefunds(work: Work, source: OrderSource, received: ReportedRefunds): Promise<void> {
  const key = toOrderKey(source, received.orderId);
  const { order, commission } = await lockAndAddRefunds(work, key, received, false);
  if (order && commission) await recomputeCommission(work, order, commission);
}

/** Records the outcome of a dispute over an order, which may be unknown yet. */
export async function recordDispute(work: Work, source: OrderSource, dispute: ReportedDispute): Promise<void> {
  const key = toOrderKey(source, dispute.orderId);
  const { order, commission } = await lockOrderAndCommission(work.db, key, { deletedAt: null, refundsListedAt: null });
  await insertDispute(work.db, key, dispute, work.now);
  if (!order) return;
  const mergedOrder = await updateDisputeLost(work, key, order);
  if (commission && mergedOrder !== order) await recomputeCommission(work, mergedOrder, commission);
}

/** Records that a store deleted an order, whether or not the order was reported before. */
export async function recordDeletion(work: Work, source: OrderSource, orderId: string): Promise<void> {
  const key = toOrderKey(source, orderId);
  const deletion = { deletedAt: work.now, refundsListedAt: null };
  const { head, order, commission } = await lockOrderAndCommission(work.db, key, deletion);
  if (!order) return;
  const mergedOrder = await mergeOrder(work, { order, head }, toSnapshot(order));
  if (commission) await recomputeCommission(work, mergedOrder, commission);
}

/** `stands`: the order already pays a creator. `too_late`: it was placed more than 24 hours ago. */
export type ReconsiderationOutcome = 'pays' | 'pays_nobody' | 'stands' | 'too_late' | 'unknown_order';

/**
 * Decides an order that pays nobody again, by clicks and codes that became known otherwise than by a report of its
 * store. It must have been placed within the last 24 hours, after them.
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
  if (await lockOrderCommission(db, order)) return 'stands';
  if (!mayReconsider(order, work.now)) return 'too_late';
  const isPaid = await reconsiderOrder(work, secrets, source, order, {
    codes,
    clickIds,
    cause,
    customerEmail: null,
    refunds: () => listRefunds(db, key, order.currency),
  });
  return isPaid ? 'pays' : 'pays_nobody';
}

/** An order with its commission, locked until the transaction ends. */
interface LockedOrder {
  head: OrderHead;
  order: OrderRow | undefined;
  commission: CommissionRow | undefined;
}

async function lockOrderAndCommission(db: Db, key: OrderKey, received: HeadFacts): Promise<LockedOrder> {
  const head = await lockOrder(db, key, received);
  const order = head.isNew ? undefined : await findOrder(db, key);
  if (!order) return { head, order, commission: undefined };
  // Payments lock the payee before the commission too. A commission that is approved just now is locked after it, and a
  // deadlock is run again.
  const creatorId = await findOwedCreator(db, order);
  if (creatorId !== undefined) await lockPayees(db, key.brandId, [creatorId]);
  return { head, order, commission: await lockOrderCommission(db, order) };
}

/** Locks the order and adds the refunds of a delivery. A report of the whole order fixes the currency. */
async function lockAndAddRefunds(
  { db, now }: Work,
  key: OrderKey,
  received: ReceivedRefunds & Pick<OrderFacts, 'items'>,
  isWhole: boolean,
): Promise<LockedOrder> {
  const lockedOrder = await lockOrderAndCommission(db, key, {
    deletedAt: null,
    refundsListedAt: received.hasAllRefunds ? received.updatedAt : null,
  });
  const { order, commission } = lockedOrder;
  if (order && order.currency !== received.currency) {
    const message = `is ${received.currency}; the order ${key.orderId} is in ${order.currency}, and keeps its currency.`;
    throw validationError([{ field: 'currency', code: 'currency_mismatch', message }]);
  }
  const isOfOrder = isWhole || order !== undefined;
  await insertRefunds(db, key, received, { now, isPaid: commission?.status === 'paid', isOfOrder });
  await insertItems(db, [{ ...received, ...key }]);
  return lockedOrder;
}

/** A deleted order stays cancelled, whatever arrives before or after the deletion. */
const applyDeletion = ({ cancelledAt }: Pick<OrderSnapshot, 'cancelledAt'>, { deletedAt }: OrderHead) => ({
  cancelledAt: cancelledAt ?? deletedAt,
});

/** The newest report decides the number; of two with the same time, the greater one, whichever came first. */
function changeNumber(
  { orderNumber: known, storeUpdatedAt }: OrderRow,
  { orderNumber, updatedAt }: OrderFacts,
): { orderNumber?: string } {
  if (typeof orderNumber !== 'string' || orderNumber === known) return {};
  const isLater = updatedAt > storeUpdatedAt || (updatedAt >= storeUpdatedAt && orderNumber > (known ?? ''));
  return known === null || isLater ? { orderNumber } : {};
}

type NamedColumns = Pick<OrderRow, 'customerEmail' | 'customerHash' | 'customerIdHash' | 'orderNumber' | 'erasedBy'> &
  Required<ReturnType<typeof changeUnpaidLines>>;

/** Merges a report into a known order. Returns the same row if nothing changes. */
async function mergeOrder(
  work: Work,
  { order, head }: { order: OrderRow; head: OrderHead },
  received: Omit<OrderSnapshot, 'firstCancelledAt' | 'disputeLostAt'>,
  { traits, ...named }: Partial<NamedColumns> & { traits?: OrderTraits } = {},
): Promise<OrderRow> {
  const old = toSnapshot(order);
  const { disputeLostAt } = old;
  const all = mergeSnapshots(old, { ...received, firstCancelledAt: received.cancelledAt, disputeLostAt });
  const mergedSnapshot = { ...all, ...applyDeletion(all, head) };
  const knownTraits = toTraits(order);
  const mergedTraits = traits ? mergeTraits(knownTraits, traits) : knownTraits;
  const isSame = isSameSnapshot(old, mergedSnapshot) && areSameTraits(knownTraits, mergedTraits);
  if (isSame && Object.keys(named).length === 0) return order;
  return await updateOrder(work.db, order, {
    ...named,
    ...(areSameTraits(knownTraits, mergedTraits) ? {} : toTraitColumns(mergedTraits)),
    isTest: mergedSnapshot.isTest || null,
    baseMinor: mergedSnapshot.baseMinor,
    paidAt: mergedSnapshot.paidAt,
    cancelledAt: mergedSnapshot.cancelledAt,
    firstCancelledAt: mergedSnapshot.firstCancelledAt,
    storeUpdatedAt: mergedSnapshot.updatedAt,
    updatedAt: work.now,
  });
}

/** Updates the time of the loss from all known disputes of the order. */
async function updateDisputeLost(work: Work, key: OrderKey, order: OrderRow): Promise<OrderRow> {
  const disputeLostAt = await findDisputeLostAt(work.db, key);
  if (disputeLostAt?.getTime() === order.disputeLostAt?.getTime()) return order;
  return await updateOrder(work.db, order, { disputeLostAt, updatedAt: work.now });
}

/** Loads what prices the commission, and fixes its room when the order is first known as paid. */
async function loadPricingWithRoom(
  work: Work,
  order: OrderRow,
  commission: CommissionRow,
  refunds: readonly KnownRefund[],
): Promise<Pricing | undefined> {
  const { db } = work;
  const pricing = await loadCommissionPricing(db, order, commission);
  const isFirstPaid = order.paidAt !== null && commission.paidAt === null;
  if (!pricing || !isFirstPaid || pricing.room) return pricing;
  const payable = computePayable(toSnapshot(order), refunds, pricing);
  const room = await fixRoom(work, order, { ...commission, terms: pricing.terms }, payable);
  if (room) await updateCommission(db, commission, { room: JSON.stringify(room) });
  return { ...pricing, room };
}

/** Fixes the room of a commission that grows or comes back: other orders may have taken a part of it in the meantime. */
async function refitRoom(work: Work, order: OrderRow, commission: CommissionRow, pricing: Pricing): Promise<Pricing> {
  const { room: before, terms } = pricing;
  if (!before) return pricing;
  const room = await fixRoom(work, order, { ...commission, terms }, before.minor);
  if (!room || room.minor >= before.minor) return pricing;
  await updateCommission(work.db, commission, { room: JSON.stringify(room) });
  return { ...pricing, room };
}

/**
 * Makes room for a rejected commission that a review is about to approve, and returns it with what it then pays. Several
 * must be approved one after another.
 */
export async function makeRoomAgain(work: Work, commission: CommissionRow): Promise<CommissionRow> {
  const { db, brandId } = work;
  const { orderId, room } = commission;
  if (orderId === null || room === null) return commission;
  const order = await findOrderById(db, brandId, orderId);
  const pricing = order && (await loadCommissionPricing(db, order, commission));
  if (!pricing || (await refitRoom(work, order, commission, pricing)) === pricing) return commission;
  const [refitted = commission] = await lockCommissions(db, brandId, [commission.id]);
  await alignCommission(work, order, refitted);
  const [aligned = refitted] = await lockCommissions(db, brandId, [commission.id]);
  return aligned;
}

const getOwedMinor = ({ status, commissionMinor }: Pick<CommissionRow, 'status' | 'commissionMinor'>) =>
  status === 'rejected' ? 0 : commissionMinor;

/** Brings the commission in line with its order, and pays what fits now. */
async function recomputeCommission(work: Work, order: OrderRow, commission: CommissionRow): Promise<void> {
  if (await alignCommission(work, order, commission)) await allocateUnallocatedFunds(work, [commission]);
}

/**
 * Brings the commission, its adjustments and the ledger in line with all known facts of the order. Returns true if the
 * amount that is due to the creator changed.
 */
export async function alignCommission(work: Work, order: OrderRow, commission: CommissionRow): Promise<boolean> {
  const { db, now, brandId } = work;
  const refunds = await listRefunds(db, order, order.currency);
  const pricing = await loadPricingWithRoom(work, order, commission, refunds);
  const state = { ...commission, ratePpm: commission.commissionRatePpm, pricing };
  const postedEntries = [...(await listPosted(db, commission)), ...work.postedOf(commission.id)];
  let recomputedCommission = recompute(toSnapshot(order), refunds, state, postedEntries);
  const isLarger = getOwedMinor(recomputedCommission.columns) > getOwedMinor(commission);
  if (pricing?.room && isLarger && commission.paidAt !== null && commission.status !== 'paid') {
    const refitted = { ...state, pricing: await refitRoom(work, order, commission, pricing) };
    recomputedCommission = recompute(toSnapshot(order), refunds, refitted, postedEntries);
  }
  const { columns, adjustments, entries, price } = recomputedCommission;

  const payable = entries
    .flatMap(({ postings }) => postings)
    .filter(({ account }) => account === 'commission_approved' || account === 'refund_adjustment')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  if (payable !== 0) await lockPayees(db, brandId, [commission.creatorId]);

  if (price) await replaceParts(db, commission, price.parts);
  const rate = price ? { commissionRatePpm: toRatePpm(price) } : {};
  if (isCommissionChanged(commission, { ...columns, ...rate })) {
    const isStatusChanged = columns.status !== commission.status || columns.statusNote !== commission.statusNote;
    const statusChange = isStatusChanged ? { statusUpdatedAt: now } : {};
    await updateCommission(db, commission, { ...columns, ...rate, ...statusChange, syncedAt: now });
    const isRejected = columns.status === 'rejected' && commission.status !== 'rejected';
    if (isRejected) await announceCommissions(work, 'commission.rejected', [commission.id]);
  }
  if (commission.status === 'paid') {
    const { id: commissionId, creatorId, currency } = commission;
    const rows = adjustments.map((one) => ({ brandId, commissionId, creatorId, currency, createdAt: now, ...one }));
    await replaceAdjustments(db, commission, rows);
  }
  for (const { kind, postings } of entries) work.post(toLedgerEntry(commission, kind, postings));
  return payable !== 0;
}

/** What a report may change of a commission. */
type ReportedColumns = RecomputedCommission['columns'] & Partial<Pick<CommissionRow, 'commissionRatePpm'>>;

function isCommissionChanged(old: CommissionRow, columns: ReportedColumns): boolean {
  const toText = ({
    amountMinor,
    commissionMinor,
    refundedMinor,
    status,
    statusNote,
    paidAt,
    holdEndsAt,
    commissionRatePpm = old.commissionRatePpm,
  }: ReportedColumns) =>
    JSON.stringify([
      ...[amountMinor, commissionMinor, refundedMinor, commissionRatePpm],
      ...[status, statusNote, paidAt, holdEndsAt],
    ]);
  return toText(old) !== toText(columns);
}
