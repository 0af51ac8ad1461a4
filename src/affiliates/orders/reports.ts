import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { findNamedLines } from '../../kit/values/named-lines.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { findSource, upsertSource } from '../stores/connections/connections.ts';
import type { ItemFacts } from '../stores/formats/facts.ts';
import { findAmountProblem } from '../stores/formats/generic.shapes.ts';
import { toOrderFacts, toRefundedItems } from '../stores/formats/generic.ts';
import { hasAllLines } from '../stores/formats/items.ts';
import { toMinorUnits } from '../stores/formats/money.ts';
import { findItems } from './items.ts';
import { orders } from './orders.ts';
import { recordReadings, recordRefunds } from './record.ts';
import type { ReportedOrder, ReportedRefund } from './reports.shapes.ts';

/** Lists orders of a shop by their ids there. */
async function listReportedOrders(
  db: Db,
  { id, brandId }: { id: string; brandId: string },
  orderIds: readonly string[],
): Promise<{ id: string; order_id: string; attributed: boolean }[]> {
  const rows = await db
    .selectFrom('orders')
    .leftJoin('commissions', 'commissions.orderId', 'orders.id')
    .select(['orders.id', 'orders.orderId', sql<boolean>`commissions.id is not null`.as('attributed')])
    .where('orders.brandId', '=', brandId)
    .where('orders.integrationId', '=', id)
    .where('orders.orderId', '=', sql<string>`any(${orderIds})`)
    .orderBy('orders.orderId')
    .execute();
  return rows.map(({ orderId, ...row }) => ({ ...row, order_id: orderId }));
}

/** Records reports like deliveries of a generic store, shop by shop. Past orders are recorded only if unknown. */
export async function recordReportedOrders(
  work: Work,
  secrets: Secrets,
  reported: readonly ReportedOrder[],
  isHistory = false,
) {
  const { db, now, brandId } = work;
  const recordedOrders = [];
  // Sorted by name, so that two calls do not deadlock.
  const shops = [...Map.groupBy(reported, ({ source }) => source)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, some] of shops) {
    const [{ currency } = { currency: 'USD' }] = some;
    const row = { id: newId('int', now.getTime()), brandId, name, currency, createdAt: now };
    // The upsert locks the shop, so that nobody else records its orders in the meantime.
    const source = await upsertSource(db, row);
    const ids = [...new Set(some.map(({ order_id }) => order_id))];
    const knownIds = new Set(
      isHistory ? (await listReportedOrders(db, source, ids)).map(({ order_id }) => order_id) : [],
    );
    const readings = some
      .filter(({ order_id }) => !knownIds.has(order_id))
      .map((order) => ({ kind: 'order' as const, facts: toOrderFacts(order, now), notes: [] }));
    await recordReadings(work, secrets, { ...source, isHistory }, readings);
    recordedOrders.push(...(await listReportedOrders(db, source, ids)).map((order) => ({ ...order, source: name })));
  }
  return recordedOrders;
}

/** Lists the refunded lines that the order does not have. */
function listUnknownLines(
  lines: readonly ItemFacts[],
  items: readonly { sku?: string | undefined; line_id?: string | undefined }[],
): Problem[] {
  return items.flatMap(({ sku = '', line_id }, place) => {
    if (findNamedLines(lines, line_id ?? sku).length > 0) return [];
    const field = `items.${place}.${line_id === undefined ? 'sku' : 'line_id'}`;
    return [{ field, code: 'not_found', message: 'names no line of the order.' }];
  });
}

/** Records a refund of an order that an API key reported. */
export async function recordReportedRefund(
  work: Work,
  id: string,
  { refund_id, amount, at, items }: ReportedRefund,
): Promise<void> {
  const { db, now, brandId } = work;
  const { integrationId, orderId, currency, baseMinor } = await orders.get(db, brandId, id);
  const source = await findSource(db, brandId, integrationId);
  if (!source) throw new ApiError('CONFLICT', 'The store of this order is connected, and reports its refunds itself.');
  const wrongAmounts = [
    { amount, field: 'amount' },
    ...(items ?? []).map((item, place) => ({ amount: item.amount, field: `items.${place}.amount` })),
  ].flatMap(({ amount: one, field }) => {
    const message = findAmountProblem(one, currency);
    return message === undefined ? [] : [{ field, code: 'invalid', message }];
  });
  if (wrongAmounts.length > 0) throw validationError(wrongAmounts);
  const amountMinor = toMinorUnits(amount, currency);
  if (amountMinor === 0 || amountMinor > baseMinor) {
    const message = `must be more than 0 and at most the order's ${fromMinor(baseMinor, currency)} ${currency}.`;
    throw validationError([{ field: 'amount', code: 'invalid', message }]);
  }
  const { items: lines } = await findItems(db, { brandId, integrationId, orderId });
  const unknownLines = hasAllLines(lines) ? listUnknownLines(lines, items ?? []) : [];
  if (unknownLines.length > 0) throw validationError(unknownLines);
  const refunds = [{ refundId: refund_id, amountMinor, at, items: toRefundedItems(items, currency) }];
  await recordRefunds(work, source, { orderId, currency, refunds, updatedAt: now, hasAllRefunds: false });
}
