import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import { readWhole } from './imports-check.ts';
import { lines } from './imports-field.ts';

/** A file with a status that counts and a further column, whose first cell is good. */
function makeFile(of: Kind, header: string, cells: readonly string[], status: string | null): string {
  const head = status === null ? [] : ['Status'];
  const rows = cells.map((cell, i) => {
    const said = status === null ? [] : [status];
    const who = of === 'orders' ? `o${i + 1}` : `a${i + 1}@c.example`;
    const rest = of === 'roster' ? [`C${i + 1}`] : [`2026-02-1${i}`, `1${i}.50`, 'USD'];
    return [who, ...rest, ...said, cell].join(',');
  });
  const first = of === 'orders' ? 'Order ID' : 'Email';
  const names = of === 'roster' ? ['Code'] : ['Date', of === 'commissions' ? 'Commission' : 'Amount', 'Currency'];
  return lines([first, ...names, ...head, header].join(','), ...rows);
}

async function readBeside(of: Kind, header: string, cells: readonly string[], status: string | null) {
  const { reading, records } = await readWhole(of, makeFile(of, header, cells, status));
  return { asks: reading.questions.map(({ id }) => id), records: records.length };
}

const LOST: readonly [of: Kind, header: string, good: string, lost: string][] = [
  ['commissions', 'Payment', 'sent', 'failed'],
  ['commissions', 'Item status', 'Shipped', 'Returned'],
  ['commissions', 'Transfer status', 'sent', 'reversed'],
  ['commissions', 'Commission state', 'fine', 'void'],
  ['commissions', 'Review', 'fine', 'rejected'],
  ['payouts', 'Transfer state', 'fine', 'bounced back'],
  ['payouts', 'Payout result', 'fine', 'unclaimed'],
  ['orders', 'Order State', 'Complete', 'Canceled'],
  ['orders', 'Fulfillment status', 'unfulfilled', 'cancelled'],
  ['orders', 'Fulfillment status', 'fulfilled', 'restocked'],
  ['orders', 'Delivery status', 'delivered', 'returned to sender'],
  ['orders', 'Capture status', 'captured', 'uncaptured'],
  ['orders', 'Fraud status', 'fine', 'fraud'],
  ['orders', 'Environment', 'live', 'sandbox'],
  ['orders', 'Refunded quantity', '0', '1'],
  ['roster', 'Application', 'approved', 'rejected'],
];
const KEPT: readonly [of: Kind, header: string, cells: string[]][] = [
  ['orders', 'Fulfillment status', ['unfulfilled', 'pending', 'partial', 'shipped']],
  ['orders', 'Channel', ['Online', 'POS']],
  ['orders', 'Shipping state', ['NY', 'CA']],
  ['orders', 'Email status', ['sent', 'bounced']],
  ['orders', 'Subscription status', ['active', 'cancelled']],
  ['orders', 'Product', ['Test kit', 'Cream', 'Serum', 'Void pen']],
  ['orders', 'Review', ['not rejected', 'fine']],
  ['payouts', 'Method', ['Credit', 'Debit']],
  ['payouts', 'Method', ['Transfer', 'PayPal']],
  ['roster', 'Newsletter status', ['subscribed', 'unsubscribed']],
];

describe('a column beside the status', () => {
  test.each(LOST)('of %s, “%s”, is asked about where it says not “%s” but “%s”', async (of, header, good, lost) => {
    const status = of === 'roster' ? 'active' : 'paid';
    const { asks, records } = await readBeside(of, header, [good, lost], status);
    expect({ asks, records }).toEqual({ asks: [`status_meaning:${header}: ${lost}`], records: 1 });
  });

  test('is looked through to its end', async () => {
    const cells = ['live', 'live', 'live', 'live', 'live', 'live', 'live', 'sandbox'];
    const many = Array.from({ length: 240 }, () => 'live');
    expect((await readBeside('orders', 'Environment', cells, 'paid')).records).toBe(7);
    const file = makeFile('orders', 'Environment', [...many, 'sandbox'], 'paid').replace(/2026-02-1\d+/g, '2026-02-10');
    const { reading } = await readWhole('orders', file);
    expect(reading.questions.map(({ id }) => id)).toContain('status_meaning:Environment: sandbox');
  });

  test.each(KEPT)('of %s, “%s” over %j, asks nothing', async (of, header, cells) => {
    const status = of === 'roster' ? 'active' : 'paid';
    expect(await readBeside(of, header, cells, status)).toEqual({ asks: [], records: cells.length });
  });
});

const TYPES =
  'Transaction|Movement|Operation|Sale or return|Reason|Description|Transaction kind|Lineitem name|Anything';
const KINDS: readonly [of: Kind, main: string, others: string][] = [
  ['orders', 'Sale', 'Refund|Return|Exchange|Gift card|Shipping'],
  ['commissions', 'Sale', 'Refund|Reversal'],
  ['payouts', 'Payment', 'Reversal|Refund'],
];

describe('cells that say what their lines are', () => {
  test.each(
    KINDS.flatMap(([of, main, others]) =>
      others.split('|').flatMap((other) => TYPES.split('|').map((header) => ({ of, main, other, header }))),
    ),
  )('of $of, “$main” and “$other” below “$header”, are asked about', async ({ of, main, other, header }) => {
    const { asks, records } = await readBeside(of, header, [main, other, main], null);
    expect({ asks: asks.length, records }).toEqual({ asks: 1, records: 2 });
  });
});

describe('an empty column that its header names', () => {
  test.each(['Status', 'Payment status'])('hides no filled one: “%s” beside states', async (header) => {
    const heads = `Reward key,Partner email,Amount (USD),Paid at,Reward status${header === '' ? '' : `,${header}`}`;
    const rows = ['r1,a@c.example,10.00,2026-08-01,paid,', 'r2,b@c.example,20.00,2026-08-01,declined,'];
    const { reading, records } = await readWhole('commissions', lines(heads, ...rows));
    expect(records).toMatchObject([{ amount: 1000 }]);
    expect(reading.questions.map(({ id }) => id)).toEqual(['column_meaning:status']);
  });

  test.each([
    ['commissions', 'Email,Contact,Commission,Currency,Paid at', ',a@c.example,10.00,USD,2026-08-01'],
    ['commissions', 'Email,Affiliate email,Commission,Currency,Paid at', ',a@c.example,10.00,USD,2026-08-01'],
    ['commissions', 'Email,Commission,Earned,Currency,Paid at', 'a@c.example,,10.00,USD,2026-08-01'],
    ['orders', 'Order ID,Order,Date,Amount,Currency', ',1001,2026-08-01,10.50,USD'],
    ['roster', 'Name,Email,E-mail address,Code', 'Ana,,a@c.example,ANA10'],
    ['roster', 'Name,Email,Instagram,IG handle,Code', 'Ana,a@c.example,,ana.x,ANA10'],
  ] as const)('of %s is none: %s', async (of, header, row) => {
    const { records } = await readWhole(of, lines(header, row));
    expect(records).toHaveLength(1);
    expect(JSON.stringify(records[0])).toMatch(/a@c\.example|1001/);
  });

  test('is asked about with the other where a later line fills it', async () => {
    const rows = Array.from(
      { length: 230 },
      (_, i) => `a${i}@c.example,10.50,USD,2026-08-01,paid,${i > 220 ? 'sent' : ''}`,
    );
    const { reading } = await readWhole('commissions', lines('Email,Commission,Currency,Date,Stage,Status', ...rows));
    expect(reading.questions.map(({ id }) => id)).toContain('column_meaning:status');
  });
});

describe('pieces below zero', () => {
  test.each('Quantity|Qty|Units|Items|Net quantity|Lineitem quantity|Net items sold|Menge'.split('|'))(
    'beside an amount above are no sale: %s',
    async (header) => {
      const rows = ['o1,2026-02-01,2,60.00,USD', 'o2,2026-02-05,-1,30.00,USD', 'o3,2026-02-05,-1,-30.00,USD'];
      const { records, reading } = await readWhole('orders', lines(`Order ID,Date,${header},Amount,Currency`, ...rows));
      expect(records).toMatchObject([{ order_id: 'o1' }]);
      expect(reading.refusals.map(({ kind }) => kind)).toEqual(['negative_quantity', 'negative_amount']);
    },
  );
});
