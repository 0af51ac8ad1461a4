import { describe, expect, it } from 'vitest';
import { measureRoom } from '../../src/affiliates/terms/room.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';
import { commissionOn, line, priceSale } from './priced.ts';

/** The worked orders that the description of terms promises to the cent. */
const SERUMS = {
  rate: { percent: 10 },
  rules: [{ name: 'Serums', when: { product: ['SERUM'] }, rate: { percent: 15 } }],
};

describe('the ten worked orders', () => {
  it('1: rounds a plain percentage once an order, not once a line.', () => {
    const lines = [line('A', 0.15), line('B', 0.15), line('C', 0.15)];
    expect(commissionOn({ rate: { percent: 10 } }, { amount: 0.45, lines })).toBe(0.04);
  });

  it('2: pays serums at their own rate and takes refunds off the lines that they name first.', () => {
    const sale = { amount: 43.28, lines: [line('SERUM', 33.33), line('BALM', 9.95)] };
    const { commissionMinor, parts } = priceSale(SERUMS, sale);
    expect(commissionMinor).toBe(600);
    expect(parts.map((part) => [part.rule, part.name, part.commissionMinor])).toEqual([
      [0, 'Serums', 500],
      [null, null, 100],
    ]);
    expect(commissionOn(SERUMS, { ...sale, refunds: [{ amount: 5, items: { BALM: 5 } }] })).toBe(5.5);
    const mixed = priceSale(SERUMS, { ...sale, refunds: [{ amount: 8, items: { BALM: 5 } }] });
    expect(mixed.commissionMinor).toBe(507);
    expect(mixed.lines.map(({ refundedMinor }) => refundedMinor)).toEqual([261, 539]);
    expect(commissionOn(SERUMS, { ...sale, refunds: [{ amount: 9.95, items: { BALM: 9.95 } }] })).toBe(5);
  });

  it('3: pays a flat amount for new customers, in the currencies that it names.', () => {
    const terms = {
      rate: { percent: 10 },
      rules: [{ name: 'New', when: { customer: 'new' }, rate: { flat: { USD: 5 }, per: 'order' } }],
    };
    const facts = { customer: 'new' as const };
    expect(commissionOn(terms, { amount: 40, facts })).toBe(5);
    expect(commissionOn(terms, { amount: 40, facts, refunds: [{ amount: 10 }] })).toBe(3.75);
    expect(commissionOn(terms, { amount: 40, facts: { customer: 'returning' } })).toBe(4);
    expect(commissionOn(terms, { amount: 40, facts, currency: 'EUR' })).toBe(0);
    expect(commissionOn(terms, { amount: 0, facts })).toBe(0);
  });

  it('4: pays a flat amount for each item that was sold for more than 0.00.', () => {
    const terms = { rate: { flat: { USD: 1.25 }, per: 'item' } };
    const lines = [line('A', 60, { quantity: 3 }), line('B', 30, { quantity: 2 }), line('GIFT', 0)];
    expect(commissionOn(terms, { amount: 90, lines })).toBe(6.25);
    expect(commissionOn(terms, { amount: 90, lines, refunds: [{ amount: 30, items: { B: 30 } }] })).toBe(4.17);
    expect(commissionOn(terms, { amount: 90 })).toBe(1.25);
  });

  it('5: divides an order among lines that come to more, and pays the base rate for what they lack.', () => {
    const lines = [line('SERUM', 60), line('BALM', 60)];
    expect(commissionOn(SERUMS, { amount: 100, lines })).toBe(12.5);
    const { commissionMinor, lines: priced } = priceSale(SERUMS, { amount: 150, lines });
    expect(commissionMinor).toBe(1800);
    expect(priced.map(({ lineId, commissionMinor: own }) => [lineId, own])).toEqual([
      ['SERUM', 900],
      ['BALM', 600],
      [null, 300],
    ]);
  });

  it('6: pays nothing for lines that a rule of 0 % excludes.', () => {
    const terms = {
      rate: { percent: 10 },
      rules: [{ name: 'Gift sets', when: { product: ['SET'] }, rate: { percent: 0 } }],
    };
    expect(commissionOn(terms, { amount: 98.95, lines: [line('SET', 89), line('BALM', 9.95)] })).toBe(1);
  });

  it('7: divides what the cap of an order leaves among its parts.', () => {
    const terms = { ...SERUMS, caps: { order: { USD: 5 } } };
    const sale = { amount: 43.28, lines: [line('SERUM', 33.33), line('BALM', 9.95)] };
    const capped = priceSale(terms, sale);
    expect(capped).toMatchObject({
      commissionMinor: 500,
      uncappedMinor: 600,
      capped: { by: 'order', limitMinor: 500, cutMinor: 100 },
    });
    expect(capped.parts.map(({ commissionMinor }) => commissionMinor)).toEqual([417, 83]);
    const refunds = [{ amount: 15, items: { SERUM: 15 } }];
    expect(commissionOn(terms, { ...sale, refunds })).toBe(3.75);
  });

  it('8: pays 15 % of a first order, its renewal and its upgrade; the others are decisions about the customer.', () => {
    const terms = { rate: { percent: 15 }, covers: 'subscription', payments: 3 };
    expect(commissionOn(terms, { amount: 100, facts: { payment: 1, kind: 'first' } })).toBe(15);
    expect(commissionOn(terms, { amount: 100, facts: { payment: 2, kind: 'renewal', by: 'customer' } })).toBe(15);
    expect(commissionOn(terms, { amount: 30, facts: { payment: 3, kind: 'upgrade', by: 'customer' } })).toBe(4.5);
    expect(commissionOn({ rate: { percent: 20 } }, { amount: 100 })).toBe(20);
  });

  it('9: pays nothing for a trial and 10 % of its first charge.', () => {
    expect(commissionOn({ rate: { percent: 10 } }, { amount: 0, facts: { kind: 'first' } })).toBe(0);
    expect(commissionOn({ rate: { percent: 10 } }, { amount: 49, facts: { kind: 'renewal', by: 'customer' } })).toBe(
      4.9,
    );
  });

  it('10: leaves room for 50.00 a month, which a refund gives back to later orders only.', () => {
    const body = { rate: { percent: 10 }, caps: { month: { USD: 50 } } };
    const terms = Terms.parse(body);
    const paid: number[] = [];
    const sell = (amount: number) => {
      const monthMinor = paid.reduce((sum, minor) => sum + minor, 0);
      const payable = priceSale(body, { amount }).commissionMinor;
      const room = measureRoom(terms, 'USD', { customerMinor: 0, monthMinor, budgetMinor: 0 }, payable);
      paid.push(priceSale(body, { amount, room }).commissionMinor);
      return room;
    };
    const first = sell(300);
    sell(150);
    const third = sell(200);
    expect(paid).toEqual([3000, 1500, 500]);
    paid[0] = priceSale(body, { amount: 300, room: first, refunds: [{ amount: 100 }] }).commissionMinor;
    expect(paid[0]).toBe(2000);
    expect(priceSale(body, { amount: 200, room: third })).toMatchObject({
      commissionMinor: 500,
      capped: { by: 'month', limitMinor: 5000, cutMinor: 1500 },
    });
    sell(200);
    expect(paid[3]).toBe(1000);
  });
});
