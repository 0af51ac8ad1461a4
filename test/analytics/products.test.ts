import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EntryAmounts, type OrderLines, productParts } from '../../src/analytics/figures/products.ts';

const SOLD_AT = 1_000;
const cents = fc.integer({ min: 0, max: 1_000_000 });
const item = fc.record({
  lineId: fc.constantFrom('1', '2', '3', '4'),
  sku: fc.constantFrom('A', 'B', null),
  title: fc.constantFrom('A', 'Cream', null),
  quantity: fc.integer({ min: 0, max: 5 }),
  amountMinor: cents,
});
const lines: fc.Arbitrary<OrderLines> = fc.record({
  baseMinor: cents,
  items: fc.array(item, { maxLength: 5 }),
  refunds: fc.array(
    fc.record({
      at: fc.integer({ min: 1, max: 4 }),
      items: fc.array(fc.record({ lineId: fc.constantFrom('1', '2', '9'), amountMinor: cents }), { maxLength: 3 }),
    }),
    { maxLength: 4 },
  ),
});
const signed = fc.integer({ min: -1_000_000, max: 1_000_000 });
const laterRow: fc.Arbitrary<EntryAmounts> = fc.record({
  ...{
    at: fc.integer({ min: 1, max: 5 }),
    isSale: fc.constant(false),
    sales: signed,
    refunds: signed,
    commission: signed,
  },
});
const saleRow: fc.Arbitrary<EntryAmounts> = fc.record({
  ...{ at: fc.constant(SOLD_AT), isSale: fc.constant(true), sales: cents, refunds: fc.constant(0), commission: cents },
});

test('Products never have more of a row than it has, nor the other way round, and each once', () => {
  fc.assert(
    fc.property(lines, fc.array(fc.oneof(saleRow, laterRow), { maxLength: 4 }), (order, rows) => {
      const divided = productParts(order, rows);
      expect(divided).toHaveLength(rows.length);
      for (const [place, row] of rows.entries()) {
        const parts = divided[place] ?? [];
        expect(new Set(parts.map(({ product }) => product)).size).toBe(parts.length);
        for (const name of ['sales', 'refunds', 'commission'] as const) {
          const total = parts.reduce((sum, part) => sum + part[name], 0);
          const isOneWay = parts.every((part) => part[name] === 0 || Math.sign(part[name]) === Math.sign(row[name]));
          expect([isOneWay, Math.abs(total) <= Math.abs(row[name])], name).toEqual([true, true]);
        }
      }
    }),
  );
});

test('A cancelled order leaves nothing of any product, whatever was refunded before and named', () => {
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 5, maxLength: 5 }),
      (given, percents) => {
        const items = given.map((one, i) => ({ ...one, lineId: String(i) }));
        const baseMinor = items.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
        const refunded = items.map(({ lineId, amountMinor }, i) => ({
          ...{ lineId, amountMinor: Math.floor((amountMinor * (percents[i] ?? 0)) / 100) },
        }));
        const first = refunded.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
        const none = { isSale: false, sales: 0, commission: 0 };
        const rows = [
          { at: SOLD_AT, isSale: true, sales: baseMinor, refunds: 0, commission: 0 },
          { ...none, at: SOLD_AT + 1, refunds: first },
          { ...none, at: SOLD_AT + 2, refunds: baseMinor - first },
        ];
        const divided = productParts({ baseMinor, items, refunds: [{ at: SOLD_AT + 1, items: refunded }] }, rows);
        const left = new Map<string, number>();
        for (const { product, sales, refunds } of divided.flat()) {
          left.set(product, (left.get(product) ?? 0) + sales - refunds);
        }
        expect([...left.values()].every((minor) => minor === 0)).toBe(true);
      },
    ),
  );
});
