import { sql } from 'kysely';
import { insertUnfolded } from '../../analytics/figures/sync.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { newId } from '../../kit/values/ids.ts';
import { isMoreThanCode } from '../../platform/imports/reading/people.ts';
import type { Line, OrderRecord } from '../../platform/imports/reading/shapes.ts';
import { recordReadings } from '../orders/record.ts';
import { upsertSource } from '../stores/connections/connections.ts';
import type { OrderFacts } from '../stores/formats/facts.ts';
import type { OrderReading } from '../stores/formats/provider.ts';
import type { ImportRow } from './imports.ts';
import { isOrderUntouched } from './staying.ts';
import type { Judged } from './tallies.ts';
import { differs, insertWrites, isKnown, isNew, refuse, selectRecords, type Writer } from './writer.ts';

interface KnownOrder {
  id: string;
  orderId: string;
  orderNumber: string | null;
  currency: string;
  baseMinor: number;
  refundedMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
}

const foldNumber = (number: string) => number.replace(/^#+/, '').toLowerCase();

async function findShop(db: Db, brandId: string, source: string) {
  return await db
    .selectFrom('integrations')
    .select('id')
    .where('brandId', '=', brandId)
    .where('sourceName', '=', source)
    .executeTakeFirst();
}

const stripZeros = (id: string) => id.replace(/^0+(?=.)/, '');

/**
 * Orders of the shop with one of these ids or numbers, or with one that differs in the zeros before it, each by its index.
 * Without `offset 0`, each would be compared with all orders of the shop while a first import has no statistics.
 */
async function listKnown(db: Db, brandId: string, shopId: string, names: readonly string[]): Promise<KnownOrder[]> {
  const strippedNames = [...new Set(names.map(stripZeros))];
  const ids = [...new Set([...names, ...strippedNames])];
  const numbers = [...new Set(names.map(foldNumber))];
  const { rows } = await sql<KnownOrder>`
    with named as materialized (
      select id from orders where integration_id = ${shopId} and order_id = any(${ids}::text[])
      union select id from orders
        where integration_id = ${shopId} and order_id like '0%' and ltrim(order_id, '0') = any(${strippedNames}::text[])
      union select id from orders
        where brand_id = ${brandId} and lower(ltrim(order_number, '#')) = any(${numbers}::text[])
    )
    select orders.id, orders.order_id, orders.order_number, orders.currency, orders.base_minor, orders.occurred_at,
      orders.paid_at, orders.cancelled_at, coalesce((select sum(refund.amount_minor) from order_refunds as refund
        where refund.integration_id = orders.integration_id and refund.order_id = orders.order_id), 0)::bigint as refunded_minor
    from named cross join lateral (select * from orders
      where id = named.id and brand_id = ${brandId} and integration_id = ${shopId} offset 0) as orders`.execute(db);
  return rows;
}

/** The id of an order; its number is its id, too, until an id comes. */
const getId = ({ order_id, order_number }: OrderRecord): string => order_id ?? order_number ?? '';

/** Known orders that a record may be: by its id, else by its number in that shop. */
function findMatches(
  { order_id: id, order_number: number }: OrderRecord,
  knownOrders: readonly KnownOrder[],
): KnownOrder[] {
  const same = knownOrders.filter(({ orderId }) => orderId === (id ?? number));
  if (same.length > 0 || number === null) return same;
  const foldedNumber = foldNumber(number);
  const isNumbered = ({ orderId, orderNumber }: KnownOrder) =>
    id === null
      ? orderNumber !== null && foldNumber(orderNumber) === foldedNumber
      : foldNumber(orderId) === foldedNumber;
  return knownOrders.filter(isNumbered);
}

/** Known orders whose ids are the record's without the zeros before them, which spreadsheets drop. */
function findStripped(record: OrderRecord, knownOrders: readonly KnownOrder[]): KnownOrder[] {
  const id = stripZeros(getId(record));
  return knownOrders.filter(({ orderId }) => stripZeros(orderId) === id);
}

function describeDifference(knownOrder: KnownOrder, record: OrderRecord): string | undefined {
  const { currency } = knownOrder;
  const refundedMinor =
    knownOrder.cancelledAt === null ? knownOrder.refundedMinor : Math.max(knownOrder.refundedMinor, record.refunded);
  if (currency !== record.currency) return `it is known in ${currency}.`;
  if (knownOrder.baseMinor !== record.amount) return `it is known with ${formatMoney(knownOrder.baseMinor, currency)}.`;
  if (refundedMinor !== record.refunded) return `${formatMoney(refundedMinor, currency)} of it is known as refunded.`;
  const isCancelled = knownOrder.cancelledAt !== null;
  if (isCancelled !== (record.cancelled_at !== null)) return `it is known as ${isCancelled ? '' : 'not '}cancelled.`;
  return undefined;
}

/** A name such as “10% off” is a discount's own, and nobody's code. */
const isDiscountName = (code: string): boolean => /^\d[\d.,]*\s?%/.test(code);

/** A code with something else in its cell is nobody's, so that an order that pays would pay nobody without a word. */
const findMixedCode = ({ codes }: OrderRecord): string | undefined =>
  codes.find((code) => isMoreThanCode(code) && !isDiscountName(code));

/** An order that was called off says so of a known one, and is left out otherwise. */
function judgeCalledOff(line: Line, record: OrderRecord, knownOrders: readonly KnownOrder[]): Judged[] {
  const [match, another] = findMatches(record, knownOrders);
  const isSaid = match !== undefined && another === undefined && match.cancelledAt === null;
  return isSaid ? [differs(line, match.id, 'it is known as not cancelled.')] : [];
}

async function judge(
  db: Db,
  { brandId, source, mapping, options }: ImportRow,
  lines: Parameters<Writer['judge']>[2],
): Promise<Judged[]> {
  const records = selectRecords(lines, 'order');
  const shop = await findShop(db, brandId, source);
  const names = records.flatMap(({ record }) => [record.order_id ?? [], record.order_number ?? []].flat());
  const knownOrders = shop ? await listKnown(db, brandId, shop.id, names) : [];
  return records.flatMap(({ line, record }) => {
    if (line.outcome === 'left_out') return judgeCalledOff(line, record, knownOrders);
    const mixedCode = options.pays === true ? findMixedCode(record) : undefined;
    if (mixedCode !== undefined)
      return refuse(line, 'code_unreadable', `it has more than a code in the cell of its code: “${mixedCode}”.`);
    const matches = findMatches(record, knownOrders);
    const strippedMatches = matches.length === 0 && mapping.zeros !== 'other' ? findStripped(record, knownOrders) : [];
    if (strippedMatches[0] && mapping.zeros === undefined) return askZeros(line, record, strippedMatches[0]);
    const [match, another] = [...matches, ...strippedMatches];
    if (!match) return isNew(line);
    if (another) return refuse(line, 'ambiguous', `several known orders have the number ${record.order_number}.`);
    const difference = describeDifference(match, record);
    return difference === undefined ? isKnown(line, match.id) : differs(line, match.id, difference);
  });
}

/** New unless the mapping says that zeros make no difference. */
const askZeros = (line: Line, record: OrderRecord, { id, orderId }: KnownOrder): Judged => ({
  ...isNew(line),
  kind: 'leading_zeros',
  message: `Line ${line.line}: is ${getId(record)} the known order ${orderId}? They differ only in the zeros before them.`,
  knownId: id,
});

const toDate = (text: string | null) => (text === null ? null : new Date(text));

function toFacts(record: OrderRecord, now: Date, pays: boolean): OrderFacts {
  const placedAt = new Date(record.placed_at);
  const refundedAt = toDate(record.refunded_at) ?? placedAt;
  const { amount, currency, refunded, codes, click_ids: clickIds } = record;
  return {
    orderId: getId(record),
    orderNumber: record.order_number,
    currency,
    baseMinor: amount,
    occurredAt: placedAt,
    paidAt: toDate(record.paid_at) ?? placedAt,
    cancelledAt: toDate(record.cancelled_at),
    updatedAt: now,
    customerEmail: record.customer_email,
    codes: pays ? codes : [],
    clickIds: pays ? clickIds : [],
    refunds: refunded === 0 ? [] : [{ refundId: 'import', amountMinor: refunded, at: refundedAt }],
    hasAllRefunds: false,
    isTest: false,
    kind: 'once',
    subscriptionId: null,
    previousSubscriptionId: null,
    customerId: null,
    country: null,
    dispute: null,
  };
}

/** Of a known order, a larger refund or a cancellation counts; everything else stays. */
function toUpdate(record: OrderRecord, knownOrder: KnownOrder, now: Date): OrderFacts | undefined {
  const isLarger = record.currency === knownOrder.currency && record.refunded > knownOrder.refundedMinor;
  const isCancelled = record.cancelled_at !== null && knownOrder.cancelledAt === null;
  if (!isLarger && !isCancelled) return undefined;
  const facts = toFacts({ ...record, currency: knownOrder.currency }, now, false);
  return {
    ...facts,
    orderId: knownOrder.orderId,
    orderNumber: record.order_number ?? knownOrder.orderNumber,
    baseMinor: knownOrder.baseMinor,
    occurredAt: knownOrder.occurredAt,
    paidAt: knownOrder.paidAt,
    cancelledAt: toDate(record.cancelled_at) ?? knownOrder.cancelledAt,
    customerEmail: null,
    refunds: isLarger ? facts.refunds : [],
  };
}

async function openShop({ db, now, brandId }: Work, { source }: ImportRow, currency: string) {
  return await upsertSource(db, { id: newId('int', now.getTime()), brandId, name: source, currency, createdAt: now });
}

/** Deletes orders that nothing touched since, with their refunds. Customers whom only they made known go with them. */
async function undo(work: Work, _row: ImportRow, writes: readonly { rowId: string }[]): Promise<number> {
  const { db, brandId } = work;
  const ids = writes.map(({ rowId }) => rowId);
  const { rows } = await sql<{ integrationId: string; orderId: string }>`
    delete from orders where brand_id = ${brandId} and id = any(${ids}::text[]) and ${isOrderUntouched}
    returning integration_id, order_id`.execute(db);
  if (rows.length === 0) return 0;
  const keys = sql`(integration_id, order_id) in (select * from unnest(
    ${rows.map(({ integrationId }) => integrationId)}::text[], ${rows.map(({ orderId }) => orderId)}::text[]))`;
  for (const table of ['order_refunds', 'order_items', 'order_clicks', 'order_disputes', 'order_heads'])
    await sql`delete from ${sql.table(table)} where brand_id = ${brandId} and ${keys}`.execute(db);
  // ClickHouse has no rows that say that an order is gone, so the figures of the brand are computed anew.
  await insertUnfolded(db, [brandId]);
  return rows.length;
}

export const ordersWriter: Writer = {
  judge,
  lock: async (work, row) => {
    const [sum] = row.reading?.sums ?? [];
    await openShop(work, row, sum?.currency ?? 'USD');
  },
  write: async (work, { secrets }, row, judgedLines) => {
    const { db, now, brandId } = work;
    const isUpdating = { ...row.stored, ...row.mapping }.known === 'update';
    const chosenLines = judgedLines.filter(({ outcome }) => outcome === 'new' || (isUpdating && outcome === 'differs'));
    const records = chosenLines.flatMap(({ line, outcome }) =>
      line.record?.kind === 'order' ? [{ record: line.record, isNew: outcome === 'new' }] : [],
    );
    const [first] = records;
    if (!first) return { written: 0, updated: 0 };
    const shop = await openShop(work, row, first.record.currency);
    const names = records.map(({ record }) => getId(record));
    const knownOrders = isUpdating ? await listKnown(db, brandId, shop.id, names) : [];
    const pays = row.options.pays === true;
    const facts = records.flatMap(({ record, isNew: isAdded }) => {
      const [match] = isAdded ? [] : [...findMatches(record, knownOrders), ...findStripped(record, knownOrders)];
      const one = isAdded ? toFacts(record, now, pays) : match && toUpdate(record, match, now);
      return one ? [{ one, isAdded }] : [];
    });
    const readings = facts.map(({ one }): OrderReading => ({ kind: 'order', facts: one, notes: [] }));
    await recordReadings(work, secrets, { ...shop, isHistory: !pays }, readings);
    const addedIds = facts.filter(({ isAdded }) => isAdded).map(({ one }) => one.orderId);
    const rows = await db
      .selectFrom('orders')
      .select('id')
      .where('brandId', '=', brandId)
      .where('integrationId', '=', shop.id)
      .where(sql<boolean>`order_id = any(${addedIds}::text[])`)
      .execute();
    await insertWrites(
      work,
      row,
      rows.map(({ id }) => ({ noun: 'order', rowId: id })),
    );
    return { written: addedIds.length, updated: facts.length - addedIds.length };
  },
  undo,
};
