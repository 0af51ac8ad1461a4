import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EntryAmounts, type OrderLines, productParts } from '../../src/analytics/figures/products.ts';
import { price } from '../../src/analytics/pricing/price.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';

const SOLD_AT = 1_000;
const TERMS = Terms.parse({
  rate: { percent: 10 },
  rules: [
    { name: 'A', when: { product: ['A'] }, rate: { percent: 20 } },
    { name: 'B', when: { product: ['B'] }, rate: { flat: { USD: 1 }, per: 'item' } },
  ],
  covers: 'order',
});
const cents = fc.integer({ min: 0, max: 1_000_000 });
const lines = fc.array(
  fc.record({
    ...{ sku: fc.constantFrom('A', 'B', null), title: fc.constantFrom('A', 'Cream', null), amountMinor: cents },
    ...{ quantity: fc.integer({ min: 0, max: 5 }), productId: fc.constant(null), variantId: fc.constant(null) },
    ...{ lineId: fc.constantFrom('1', '2', '3', '4'), categories: fc.constant(null), onSale: fc.constant(null) },
  }),
  { maxLength: 5 },
);
const refunds = fc.array(
  fc.record({
    refundId: fc.uuid(),
    amountMinor: cents,
    at: fc.integer({ min: 1_001, max: 1_004 }).map((ms) => new Date(ms)),
    items: fc.array(fc.record({ lineId: fc.constantFrom('1', '2', '9'), amountMinor: cents }), { maxLength: 3 }),
  }),
  { maxLength: 4 },
);
const orders: fc.Arbitrary<OrderLines> = fc
  .record({ baseMinor: cents, lines, refunds, endedAt: fc.constantFrom(null, new Date(1_005)), isTest: fc.boolean() })
  .map(({ baseMinor, ...order }) => ({
    ...{ order: { currency: 'USD', amountMinor: baseMinor, placedAt: new Date(SOLD_AT) } },
    ...{ terms: TERMS, facts: null, room: null },
    ...order,
  }));
const signed = fc.integer({ min: -1_000_000, max: 1_000_000 });
const laterRow: fc.Arbitrary<EntryAmounts> = fc.record({
  ...{ at: fc.integer({ min: 1_000, max: 1_006 }), isSale: fc.constant(false) },
  ...{ sales: signed, refunds: signed, commission: signed },
});
const saleRow: fc.Arbitrary<EntryAmounts> = fc.record({
  ...{ at: fc.constant(SOLD_AT), isSale: fc.constant(true), sales: cents, refunds: fc.constant(0), commission: cents },
});

test('Products never have more of a row than it has, and each once', () => {
  fc.assert(
    fc.property(orders, fc.array(fc.oneof(saleRow, laterRow), { maxLength: 4 }), (order, rows) => {
      const divided = productParts(order, rows);
      expect(divided).toHaveLength(rows.length);
      for (const [place, row] of rows.entries()) {
        const parts = divided[place] ?? [];
        expect(new Set(parts.map(({ product }) => product)).size).toBe(parts.length);
        for (const name of ['sales', 'refunds', 'commission'] as const) {
          const total = parts.reduce((sum, part) => sum + part[name], 0);
          expect(Math.abs(total), name).toBeLessThanOrEqual(Math.abs(row[name]));
        }
      }
    }),
  );
});

/**
 * The entries of an order as the ledger posts them: its sale, and what refunds and its end take at each time. A commission
 * that is not paid yet changes at the time of the sale.
 */
function toEntries(order: OrderLines, isPaid: boolean): EntryAmounts[][] {
  const { endedAt } = order;
  const stateAt = (ms: number, isSale: boolean) => {
    const known = isSale ? [] : order.refunds.filter(({ at }) => at.getTime() <= ms);
    const isEnded = !isSale && endedAt !== null && endedAt.getTime() <= ms;
    const { lines: priced, commissionMinor } = price({ ...order, refunds: known, isEnded });
    return { refunded: priced.reduce((sum, line) => sum + line.refundedMinor, 0), commissionMinor };
  };
  let before = stateAt(SOLD_AT, true);
  const sale = { at: SOLD_AT, sales: order.order.amountMinor, refunds: 0, commission: before.commissionMinor };
  const entries: EntryAmounts[][] = [[{ ...sale, isSale: true }]];
  for (const at of [1_001, 1_002, 1_003, 1_004, 1_005]) {
    const after = stateAt(at, false);
    const [taken, commission] = [after.refunded - before.refunded, after.commissionMinor - before.commissionMinor];
    before = after;
    if (taken === 0) continue;
    const row = { at, isSale: false, sales: 0, refunds: taken, commission: isPaid ? commission : 0 };
    entries.push(isPaid ? [row] : [{ ...row, at: SOLD_AT, refunds: 0, commission }, row]);
  }
  return entries;
}

test('Products have what their lines were refunded and earn, to the cent', () => {
  fc.assert(
    fc.property(orders, fc.boolean(), (given, isPaid) => {
      const order = { ...given, isTest: false };
      const parts = toEntries(order, isPaid).flatMap((rows) => productParts(order, rows).flat());
      const sums = new Map<string, number[]>();
      for (const { product, sales, refunds: back, commission } of parts) {
        const [a = 0, b = 0, c = 0] = sums.get(product) ?? [];
        sums.set(product, [a + sales, b + back, c + commission]);
      }
      const expected = new Map<string, number[]>();
      const { lines: priced } = price({ ...order, isEnded: order.endedAt !== null });
      for (const [place, line] of order.lines.entries()) {
        const { amountMinor = 0, refundedMinor = 0, commissionMinor = 0 } = priced[place] ?? {};
        const product = line.sku ?? line.title ?? '';
        const [a = 0, b = 0, c = 0] = expected.get(product) ?? [];
        if (product !== '') expected.set(product, [a + amountMinor, b + refundedMinor, c + commissionMinor]);
      }
      expect(Object.fromEntries(sums)).toEqual(Object.fromEntries(expected));
    }),
  );
});
