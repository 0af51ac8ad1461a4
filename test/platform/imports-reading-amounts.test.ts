import { describe, expect, test } from 'vitest';
import { readWhole } from './imports-check.ts';
import { expectRead, type FieldCase, lines } from './imports-field.ts';

const ANALYTICS = 'Date,Order #,N. Revenue (formatted),Status,Net Sales';
const PAID = 'Email,Commission,Currency,Exchange rate,Paid amount,Paid currency,Date';
const SETTLED = 'Order,Date,Amount,Currency,Settlement amount,Settlement currency';
const PRESENTED = 'Order,Date,Total,Currency,Presentment total,Presentment currency';
const TIKTOK =
  'Order ID,Order Status,SKU Subtotal After Discount,Shipping Fee After Discount,Taxes,Order Amount,Created Time,Currency';
const order = '577000000000000001,Completed,25.50,3.00,2.00,30.50,2026-01-15 10:22:33,USD';

const PAIRS: readonly FieldCase[] = [
  {
    title: 'the amount that was paid, in another currency than the commission',
    of: 'commissions',
    content: lines(PAID, 'ana@c.example,10.50,USD,0.92,9.66,EUR,2026-01-05'),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Paid amount' } },
    records: ['ana@c.example 966 EUR 2026-01-05'],
  },
  {
    title: 'the commission beside the amount that was paid',
    of: 'commissions',
    content: lines(PAID, 'ana@c.example,10.50,USD,0.92,9.66,EUR,2026-01-05'),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Commission' } },
    records: ['ana@c.example 1050 USD 2026-01-05'],
  },
  {
    title: 'a commission and a sale with a currency each, written as programs write names',
    of: 'commissions',
    content: lines(
      'email,commissionAmount,commissionCurrency,saleAmount,saleCurrency,paid_at',
      'ana@c.example,5.50,GBP,55.00,USD,2026-01-05',
    ),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'commissionAmount' } },
    records: ['ana@c.example 550 GBP 2026-01-05'],
  },
  {
    title: 'an amount and a payout, each with its currency',
    of: 'commissions',
    content: lines(
      'Email,Amount,Currency,Payout amount,Payout currency,Date',
      'ana@c.example,10.50,USD,9.66,EUR,2026-01-05',
    ),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Payout amount' } },
    records: ['ana@c.example 966 EUR 2026-01-05'],
  },
  {
    title: 'the currency that somebody says, whatever stands beside the amount',
    of: 'commissions',
    content: lines(PAID, 'ana@c.example,10.50,USD,0.92,9.66,EUR,2026-01-05'),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Paid amount', currency: 'Currency' } },
    records: ['ana@c.example 966 USD 2026-01-05'],
  },
  {
    title: 'a settlement in another currency than the order',
    of: 'orders',
    content: lines(SETTLED, 'A,2026-01-05,105.50,USD,97.06,EUR'),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Settlement amount' } },
    records: ['A 9706 EUR 2026-01-05T12:00'],
  },
  {
    title: 'a total in the currency that the buyer saw',
    of: 'orders',
    content: lines(PRESENTED, 'A,2026-01-05,105.50,USD,97.06,EUR'),
    asks: ['amount_meaning:amount'],
    mapping: { columns: { total: 'Presentment total' }, goods: 'total' },
    records: ['A 9706 EUR 2026-01-05T12:00'],
  },
];

const LINE_TOTALS: readonly FieldCase[] = [
  {
    title: 'proved by quantity and price, and added',
    of: 'orders',
    content: lines(
      'Order,Date,SKU,Qty,Price,Line total,Currency',
      'A,2026-01-05,S1,3,10.50,31.50,USD',
      'A,2026-01-05,S2,1,5.00,5.00,USD',
      'B,2026-01-06,S1,1,20.50,20.50,USD',
    ),
    asks: [],
    mapping: {},
    records: ['A 3650 USD 2026-01-05T12:00', 'B 2050 USD 2026-01-06T12:00'],
  },
  {
    title: 'in German, with commas before decimals and points between thousands',
    of: 'orders',
    content: lines(
      'Bestellung;Datum;Menge;Einzelpreis;Gesamtpreis;Währung',
      'A;13.01.2026;3;1.010,50;3.031,50;EUR',
      'B;06.01.2026;1;20,50;20,50;EUR',
    ),
    asks: [],
    mapping: {},
    records: ['A 303150 EUR 2026-01-13T12:00', 'B 2050 EUR 2026-01-06T12:00'],
  },
  {
    title: 'that no row proves, offered beside the price',
    of: 'orders',
    content: lines(
      'Order,Date,Qty,Price,Row total,Currency',
      'A,2026-01-05,3,10.50,30.00,USD',
      'B,2026-01-06,1,20.50,20.50,USD',
    ),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Row total' } },
    records: ['A 3000 USD 2026-01-05T12:00', 'B 2050 USD 2026-01-06T12:00'],
  },
  {
    title: 'beside another amount, which may be after something',
    of: 'orders',
    content: lines(
      'Order,Date,Qty,Price,Line total,Charged,Currency',
      'A,2026-01-05,3,10.50,31.50,30.00,USD',
      'B,2026-01-06,1,20.50,20.50,20.00,USD',
    ),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Charged' } },
    records: ['A 3000 USD 2026-01-05T12:00', 'B 2000 USD 2026-01-06T12:00'],
  },
  {
    title: 'before a discount that stands beside them',
    of: 'orders',
    content: lines(
      'Order,Date,Qty,Price,Discount,Line total,Currency',
      'A,2026-01-05,3,10.50,1.50,31.50,USD',
      'B,2026-01-06,1,20.50,0.50,20.50,USD',
    ),
    asks: ['amount_meaning:amount'],
    mapping: { goods: 'subtotal_less_discount' },
    records: ['A 3000 USD 2026-01-05T12:00', 'B 2000 USD 2026-01-06T12:00'],
  },
  {
    title: 'beside a shipping that each line may repeat',
    of: 'orders',
    content: lines(
      'Order,Date,Qty,Price,Line total,Shipping,Currency',
      'A,2026-01-05,3,10.50,31.50,5.00,USD',
      'A,2026-01-05,1,10.00,10.00,5.00,USD',
    ),
    asks: ['amount_meaning:amount', 'amount_meaning:repeated_amounts'],
    mapping: { goods: 'amount', constants: { repeated_amounts: 'lines' } },
    records: ['A 4150 USD 2026-01-05T12:00'],
  },
];

describe('a currency column is that of the amount whose words it has:', () => {
  for (const each of PAIRS) test(`${each.title}.`, async () => void (await expectRead(each)));
});

describe('amounts of lines,', () => {
  for (const each of LINE_TOTALS) test(`${each.title}.`, async () => void (await expectRead(each)));

  test('of a line that stands twice count once, and that is said.', async () => {
    const line = 'A,2026-01-05,3,10.50,31.50,USD';
    const { reading } = await readWhole('orders', lines('Order,Date,Qty,Price,Line total,Currency', line, line));
    expect(reading.sums).toMatchObject([{ currency: 'USD', amount: 3150 }]);
    expect(reading.warnings.map(({ code }) => code)).toContain('amounts_repeat');
  });
});

describe('WooCommerce Analytics', () => {
  const BRAND = { currency: 'USD', timeZone: 'UTC', stores: [{ platform: 'woocommerce', currency: 'USD' }] };
  const read = (formatted: string, brand = BRAND) =>
    readWhole('orders', lines(ANALYTICS, `2026-01-05 22:05:00,101,"${formatted}",completed,1100.5`), {}, brand);
  const currencyIn = async (formatted: string) => {
    const { reading, records } = await read(formatted);
    return reading.status === 'ready' && records[0]?.kind === 'order' ? records[0].currency : reading.questions[0]?.id;
  };

  test.each([
    ['€1,100.50', 'EUR'],
    ['1.100,50 zł', 'PLN'],
    ['&euro;1,100.50', 'EUR'],
    ['&#36;1,100.50', 'USD'],
    ['$1,100.50', 'USD'],
    ['1,100.50', 'USD'],
    ['1 100,50 kr', 'currency_missing:currency'],
  ])('says its currency by a sign before the store does: %s is %s.', async (formatted, currency) => {
    expect(await currencyIn(formatted)).toBe(currency);
  });

  test('takes a sign that several currencies share as the connected store does.', async () => {
    const brand = { ...BRAND, stores: [{ platform: 'woocommerce', currency: 'CAD' }] };
    expect((await read('$1,100.50', brand)).reading.sums).toMatchObject([{ currency: 'CAD', amount: 110_050 }]);
    expect((await read('$1,100.50', { ...brand, stores: [] })).reading.questions).toMatchObject([
      { id: 'currency_missing:currency' },
    ]);
  });

  test('says the currency of a refund, which is a row of its own.', async () => {
    const { records } = await readWhole(
      'orders',
      lines(
        ANALYTICS,
        '2026-01-05 22:05:00,101,"€1,100.50",completed,1100.5',
        '2026-01-06 22:05:00,101,-€100.50,refunded,-100.5',
      ),
      {},
      BRAND,
    );
    expect(records).toMatchObject([{ currency: 'EUR', amount: 110_050, refunded: 10_050 }]);
  });
});

describe('a line below the header that describes the columns', () => {
  test.each([
    [
      'orders',
      [
        TIKTOK,
        'Platform unique order ID.,Current status.,After discount.,Fee.,Taxes.,Order amount.,Created time.,ISO',
        order,
      ],
    ],
    ['orders', ['order_id,placed_at,amount,currency', '(text),(date),(number),(ISO)', 'A,2026-01-05,10.50,USD']],
    [
      'orders',
      ['Order,Date,Total,Currency', 'The number,When it was placed,What they paid,Code', 'A,2026-01-05,10.50,USD'],
    ],
    [
      'commissions',
      ['Email,Amount,Currency,Date', 'Their address,What they earned,ISO,Day', 'ana@c.example,5.50,USD,2026-01-05'],
    ],
  ] as const)('of %s is left out, and the file is read.', async (of, rows) => {
    const { reading, lines: all } = await readWhole(of, lines(...rows));
    expect(reading.status).not.toBe('refused');
    expect(all.map(({ line, outcome, kind }) => [line, outcome, kind])).toEqual([
      [2, 'left_out', 'description'],
      [3, 'read', null],
    ]);
    expect(reading.counts).toMatchObject({ lines: 2, read: 1, left_out: 1 });
    expect(reading.warnings.map(({ code }) => code)).toContain('description_line');
  });

  test.each([
    [lines('Order,Date,Total,Currency', 'A,n/a,-,USD', 'B,2026-01-05,10.50,USD')],
    [lines('Order,Date,Total,Currency', 'A,tbd,12.00,USD', 'B,2026-01-05,10.50,USD')],
    [lines('Email,Code,Instagram', 'ask Ana,ANA,none', 'ben@c.example,BEN,@ben')],
  ])('is no line that has a value, or none.', async (content) => {
    const of = content.startsWith('Email') ? 'roster' : 'orders';
    const { lines: all } = await readWhole(of, content);
    expect(all.map(({ kind }) => kind)).not.toContain('description');
  });

  test('is no header of another table.', async () => {
    const content = lines('Order,Date,Total,Currency', 'Date,Order,Currency,Total', '2026-01-05,A,USD,10.50');
    const { lines: all } = await readWhole('orders', content);
    expect(all.map(({ kind }) => kind)).not.toContain('description');
  });
});

test('An amount after a discount is no discount: it may be the goods.', async () => {
  const { reading } = await readWhole('orders', lines(TIKTOK, order));
  expect(reading.columns.map(({ field }) => field)).not.toContain('discount');
  const options = reading.questions.flatMap(({ options: all }) => all.flatMap(({ sums }) => sums[0]?.amount ?? []));
  expect(options).toEqual(expect.arrayContaining([3050, 2550]));
});

describe('lines that add up those of one order or person', () => {
  test.each([
    ['commissions', 'Email', ['ana@c.example', 'ana@c.example Total', 'Summe ana@c.example', 'Total: ana@c.example']],
    ['orders', 'Order', ['1001', '1001 Total', 'Totale 1001', '1001 Ergebnis', 'Total for 1001']],
  ] as const)('of %s are left out wherever they stand.', async (of, header, [who, ...totals]) => {
    const rows = [who, ...totals].map((cell) => `${cell},10.50,USD,2026-01-05`);
    const { lines: all } = await readWhole(
      of,
      lines(`${header},Amount,Currency,Date`, ...rows, `${who}2,3.00,USD,2026-01-05`),
    );
    expect(all.map(({ kind }) => kind)).toEqual([null, ...totals.map(() => 'totals'), null]);
  });

  test('agree with the grand total below.', async () => {
    const { reading } = await readWhole(
      'commissions',
      lines(
        'Email,Amount,Currency,Date',
        'ana@c.example,10.50,USD,2026-01-05',
        'ana@c.example Total,10.50,USD,2026-01-05',
        'ben@c.example,5.50,USD,2026-01-06',
        'ben@c.example Total,5.50,,',
        'Grand Total,16.00,,',
      ),
    );
    expect(reading).toMatchObject({ status: 'ready', counts: { read: 2, left_out: 3, refused: 0 } });
    expect(reading.sums).toEqual([expect.objectContaining({ outcome: 'read', amount: 1600 })]);
  });
});

test('A currency that has ended is refused with the one that took its place.', async () => {
  const content = lines(
    'Order,Date,Amount,Currency',
    'A,2022-01-05,10.50,HRK',
    'B,2024-01-06,20.50,BGN',
    'C,2024-01-06,1.50,QQQ',
  );
  const { lines: all } = await readWhole('orders', content);
  expect(all.map(({ kind }) => kind)).toEqual(['currency_ended', 'currency_ended', 'currency_unknown']);
  expect(all[0]?.message).toContain('the amount in EUR, which took the place of HRK in 2023: 7.5345 HRK are 1 EUR.');
});

test.each([
  ['2026年1月5日 23:05', '2026-01-05T23:05'],
  ['2026年1月5日 9:05', '2026-01-05T09:05'],
  ['2026年1月5日(月) 9:05', '2026-01-05T09:05'],
  ['2026年1月5日下午3:05', '2026-01-05T15:05'],
  ['2026年1月5日 午前0時30分', '2026-01-05T00:30'],
  ['2026년 1월 5일 23:05', '2026-01-05T23:05'],
  ['2026년 1월 5일 오후 12:05:30', '2026-01-05T12:05'],
  ['2026/1/5 9:05', '2026-01-05T09:05'],
])('A day of one digit before a clock is read: %s.', async (text, at) => {
  const { records } = await readWhole('orders', lines('Order,Date,Amount,Currency', `A,${text},1.50,USD`));
  expect(records).toMatchObject([
    { placed_at: `${at}${text.includes('30') && text.includes('12') ? ':30' : ':00'}.000Z` },
  ]);
});
