import { z } from 'zod';
import { read } from '../../kit/operation/kit.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { listSchema, timestamp, toPage, toPagination } from '../../kit/values/page.ts';
import { storeOrderId } from '../commissions/commissions.shapes.ts';
import { orderNumber } from '../orders/order-names.ts';
import { payeeName } from '../payouts/payouts.shapes.ts';
import { awaitFilter } from './as-of.ts';
import { LedgerFilter } from './ledger.shapes.ts';
import { ITEM_TYPES, listOpenItems, type OpenItem, sumOpenItems } from './open-items.ts';

/** An amount in major units of the adjacent `currency`. */
const money = z.number();

const OpenItemRow = z
  .object({
    type: z
      .enum(ITEM_TYPES)
      .describe(
        '`pending`, `approved`: a commission that is not paid. `unallocated`: money of a payout that paid no commission yet. `owed_back`: refunds of paid commissions that no payout netted, as one sum.',
      )
      .meta({ example: 'approved' }),
    creator_id: idField('crt', 'Creator whose account has the item.'),
    creator_email: creatorEmail,
    creator_name: payeeName,
    currency: currencyField,
    amount: money
      .describe('What you owe the creator for it, in major units; negative: what the creator owes you.')
      .meta({ example: 12.55 }),
    since: timestamp
      .describe('When the order was placed, the payout was paid, or the first refund happened.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    commission_id: z
      .string()
      .nullable()
      .describe('Commission that is open; null for other items.')
      .meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
    payout_id: z
      .string()
      .nullable()
      .describe('Payout whose money is left; null for other items.')
      .meta({ example: null }),
    order_id: storeOrderId,
    order_number: orderNumber,
  })
  .meta({ id: 'OpenItem' });

const sum = (what: string) => money.describe(`Sum of the ${what} items, in major units.`).meta({ example: 0 });

const OpenItems = listSchema(OpenItemRow).extend({
  summary: z
    .object({
      as_of: timestamp.describe('Last moment that is included.').meta({ example: '2026-03-31T23:59:59.999Z' }),
      by_currency: z
        .array(
          z.object({
            currency: currencyField,
            pending: sum('`pending`'),
            approved: sum('`approved`'),
            unallocated: sum('`unallocated`'),
            owed_back: sum('`owed_back`'),
            total: money.describe('Sum of all items, in major units.').meta({ example: 412.5 }),
          }),
        )
        .describe('Sums over all matching items, one row per currency.'),
    })
    .describe('Sums over all matching items, not just this page.'),
});

const toItem = ({ amountMinor, since, ...item }: OpenItem): z.input<typeof OpenItemRow> => ({
  type: item.type,
  creator_id: item.creatorId,
  creator_email: item.creatorEmail,
  creator_name: item.creatorName,
  currency: item.currency,
  amount: fromMinor(amountMinor, item.currency),
  since: since.toISOString(),
  commission_id: item.commissionId,
  payout_id: item.payoutId,
  order_id: item.orderId,
  order_number: item.orderNumber,
});

function toSums(sums: Awaited<ReturnType<typeof sumOpenItems>>) {
  return [...Map.groupBy(sums, ({ currency }) => currency)].map(([currency, own]) => {
    const add = (types: readonly OpenItem['type'][]) => {
      const minor = own.reduce((all, one) => all + (types.includes(one.type) ? one.amountMinor : 0), 0);
      return fromMinor(minor, currency);
    };
    return {
      currency,
      pending: add(['pending']),
      approved: add(['approved']),
      unallocated: add(['unallocated']),
      owed_back: add(['owed_back']),
      total: add(ITEM_TYPES),
    };
  });
}

export const listOpenItemsOperation = read({
  id: 'list_open_items',
  path: '/v1/payouts/open-items',
  tag: 'Payouts',
  summary: "List creators' open items at any day",
  description:
    'What was owed to creators at the end of `as_of`, commission by commission, with the rest of payouts and what is owed back. ' +
    'It is read from the ledger, so the same day always has the same items. Commissions of unpaid orders are not in it.',
  forAgents: {
    isListed: false,
    description: 'What was owed to creators at the end of a day, item by item, from the ledger.',
    example: { as_of: '2026-03-31' },
  },
  query: LedgerFilter,
  response: OpenItems,
  handler: async (context, { caller: { brandId }, query }) => {
    const { db } = context.postgres;
    const page = toPage(query);
    const where = await awaitFilter(context, brandId, query);
    const [{ rows, total }, sums] = await Promise.all([
      listOpenItems(db, brandId, where, page),
      sumOpenItems(db, brandId, where),
    ]);
    const items = rows.length > 0 ? total : sums.reduce((all, one) => all + one.items, 0);
    const as_of = new Date(where.until.getTime() - 1).toISOString();
    return {
      data: rows.map(toItem),
      pagination: toPagination(page, items),
      summary: { as_of, by_currency: toSums(sums) },
    };
  },
  csv: {
    item: OpenItemRow,
    rows: async function* (context, { caller: { brandId }, query }) {
      const where = await awaitFilter(context, brandId, query);
      const { rows } = await listOpenItems(context.postgres.db, brandId, where, { limit: null, offset: 0 });
      yield* rows.map(toItem);
    },
  },
});
