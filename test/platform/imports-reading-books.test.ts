import { describe, expect, test } from 'vitest';
import { readWhole } from './imports-check.ts';
import { expectRead, type FieldCase } from './imports-field.ts';
import { makeWorkbook } from './imports-workbook.ts';

const BOOKS: readonly FieldCase[] = [
  {
    title: 'Shopify, with whole amounts and whole ids',
    of: 'orders',
    content: makeWorkbook({
      orders: [
        [
          'Name',
          'Financial Status',
          'Currency',
          'Subtotal',
          'Shipping',
          'Taxes',
          'Total',
          'Created at',
          'Lineitem quantity',
          'Id',
        ],
        [
          '#1001',
          'paid',
          'USD',
          { number: '100' },
          { number: '10' },
          { number: '0' },
          { number: '110' },
          '2026-10-05 11:01:12 +0200',
          { number: '1' },
          { number: '5840850000002' },
        ],
      ],
    }),
    asks: [],
    mapping: {},
    records: ['#1001 10000 USD 2026-10-05T09:01'],
  },
  {
    title: 'a time of day in a column of its own',
    of: 'orders',
    content: makeWorkbook({
      R: [
        ['Order', 'Date', 'Time', 'Subtotal', 'Shipping', 'Total', 'Currency'],
        [
          'A1',
          { serial: 46_300 },
          { serial: 0.423_611_111_1 },
          { number: '100.5' },
          { number: '10' },
          { number: '110.5' },
          'EUR',
        ],
      ],
    }),
    asks: [],
    mapping: {},
    records: ['A1 10050 EUR 2026-10-05T10:10'],
  },
  {
    title: 'dates that a spreadsheet made of a part of the texts, day and month swapped',
    of: 'commissions',
    content: makeWorkbook({
      A: [
        ['email', 'amount', 'currency', 'date'],
        ['ana@creators.example', { number: '10.5' }, 'USD', { serial: 46_115 }],
        ['ana@creators.example', { number: '20.5' }, 'USD', '03/25/2026'],
      ],
    }),
    asks: ['date_order:swapped_dates'],
    mapping: { constants: { swapped_dates: 'yes' } },
    records: ['ana@creators.example 1050 USD 2026-03-04', 'ana@creators.example 2050 USD 2026-03-25'],
  },
  {
    title: 'a hidden sheet before the one that is shown',
    of: 'payouts',
    content: makeWorkbook(
      {
        Old: [
          ['Email', 'Amount', 'Currency', 'Paid at'],
          ['old@creators.example', { number: '1.5' }, 'USD', { serial: 46_000 }],
        ],
        Now: [
          ['Email', 'Amount', 'Currency', 'Paid at'],
          ['ana@creators.example', { number: '20.5' }, 'USD', { serial: 46_163 }],
        ],
      },
      ['Old'],
    ),
    asks: [],
    mapping: {},
    records: ['ana@creators.example 2050 USD 2026-05-21'],
  },
  {
    title: 'a summary on a sheet before the list',
    of: 'commissions',
    content: makeWorkbook({
      Summary: [
        ['Month', 'Amount'],
        ['October', { number: '1250.5' }],
      ],
      Payments: [
        ['Email', 'Amount', 'Currency', 'Date'],
        ['ana@creators.example', { number: '1250.5' }, 'EUR', { serial: 46_300 }],
      ],
    }),
    asks: [],
    mapping: {},
    records: ['ana@creators.example 125050 EUR 2026-10-05'],
  },
  {
    title: 'ids above 2^53, of which a workbook keeps only the beginning',
    of: 'orders',
    content: makeWorkbook({
      R: [
        ['Order ID', 'Order number', 'Created', 'Amount', 'Currency'],
        [{ number: '5.8408500000001234E+17' }, 'N1', { serial: 46_300 }, { number: '100.5' }, 'EUR'],
        [{ number: '5.8408500000001299E+17' }, 'N2', { serial: 46_301 }, { number: '200.5' }, 'EUR'],
      ],
    }),
    asks: [],
    mapping: {},
    records: ['N1 10050 EUR 2026-10-05T12:00', 'N2 20050 EUR 2026-10-06T12:00'],
  },
  {
    title: 'percentages beside numbers, and a code with zeros before it',
    of: 'roster',
    content: makeWorkbook({
      R: [
        ['Email', 'Code', 'Rate'],
        ['ana@c.example', { number: '123', format: '00000' }, { number: '0.1', format: '0%' }],
        ['ben@c.example', 'BEN', { number: '12.5' }],
        ['cy@c.example', 'CY', { number: '7.0000000000000007E-2', format: '0.00%;[Red]-0.00%' }],
      ],
    }),
    asks: [],
    mapping: {},
    records: [
      'ana@c.example ig=null tt=null 00123 100000',
      'ben@c.example ig=null tt=null BEN 125000',
      'cy@c.example ig=null tt=null CY 70000',
    ],
  },
  {
    title: 'a percentage that its cell shows without its decimals',
    of: 'roster',
    content: makeWorkbook({
      R: [
        ['Email', 'Code', 'Rate'],
        ['ana@c.example', 'ANA', { number: '0.125', format: '0%' }],
      ],
    }),
    asks: [],
    mapping: {},
    records: ['ana@c.example ig=null tt=null ANA 125000'],
  },
  {
    title: 'currencies and letters that only the formats of the cells say',
    of: 'orders',
    content: makeWorkbook({
      R: [
        ['Order', 'Date', 'Amount'],
        [{ number: '123', format: '00000' }, { serial: 46_300 }, { number: '10', format: '[$€-2]\\ #,##0.00' }],
        [{ number: '7', format: '"ORD-"0' }, { serial: 46_300 }, { number: '20.5', format: '[$£-809]#,##0.00' }],
        [
          { number: '123456', format: '000-000' },
          { serial: 46_300 },
          { number: '1234.5', format: '_-* #,##0.00\\ "zł"_-;\\-* #,##0.00\\ "zł"_-;_-* "-"??\\ "zł"_-;_-@_-' },
        ],
        ['A4', { serial: 46_300 }, { number: '1250', format: '"£"0.0,"k"' }],
      ],
    }),
    asks: [],
    mapping: {},
    records: [
      '00123 1000 EUR 2026-10-05T12:00',
      'ORD-7 2050 GBP 2026-10-05T12:00',
      '123-456 123450 PLN 2026-10-05T12:00',
      'A4 125000 GBP 2026-10-05T12:00',
    ],
  },
  {
    title: 'negative amounts in brackets of their format, and signs that several currencies share',
    of: 'payouts',
    content: makeWorkbook({
      R: [
        ['Email', 'Paid at', 'Amount'],
        ['ana@c.example', { serial: 46_300 }, { number: '10', format: '$#,##0.00_);($#,##0.00)' }],
        ['ben@c.example', { serial: 46_300 }, { number: '-20', format: '$#,##0.00_);($#,##0.00)' }],
      ],
    }),
    asks: ['currency_sign:currency'],
    mapping: { symbols: { $: 'CAD' } },
    records: ['ana@c.example 1000 CAD 2026-10-05'],
  },
  {
    title: 'a discount in percent, which only its format says',
    of: 'orders',
    content: makeWorkbook({
      R: [
        ['Order', 'Date', 'Subtotal', 'Discount', 'Currency'],
        ['A1', { serial: 46_300 }, { number: '100.5' }, { number: '0.1', format: '0%' }, 'EUR'],
      ],
    }),
    asks: ['column_meaning:discount'],
    mapping: { columns: { discount: null } },
    records: ['A1 10050 EUR 2026-10-05T12:00'],
  },
  {
    title: 'signs for answers',
    of: 'orders',
    content: makeWorkbook({
      R: [
        ['Order', 'Date', 'Amount', 'Currency', 'Refunded?'],
        ['A1', { serial: 46_300 }, { number: '10.5' }, 'EUR', '❌'],
        ['A2', { serial: 46_300 }, { number: '20.5' }, 'EUR', '✅'],
      ],
    }),
    asks: [],
    mapping: {},
    records: ['A1 1050 EUR 2026-10-05T12:00', 'A2 0 EUR 2026-10-05T12:00'],
  },
];

describe('a workbook of the field', () => {
  test.each(BOOKS)('with $title is read as it was meant, or asks', async (made) => {
    await expectRead(made);
  });

  test('of several tables says which of them are not read, and uses no number that lost its end as an id', async () => {
    const [, , , hidden, , ids] = BOOKS;
    const several = await readWhole('payouts', hidden?.content ?? '');
    expect(several.reading.text.sheet).toBe('Now');
    expect(several.reading.warnings.map(({ code }) => code)).toContain('other_sheets');
    const damaged = await readWhole('orders', ids?.content ?? '');
    expect(damaged.reading.warnings.map(({ code }) => code)).toContain('damaged_ids');
  });
});

test('Days without a format are counted from 1904 where the workbook says so, and from 1900 elsewhere', async () => {
  const rows = {
    R: [
      ['Order', 'Date', 'Amount', 'Currency'],
      ['A1', { number: '44604' }, { number: '10.5' }, 'EUR'],
    ],
  };
  const days = async (is1904: boolean) =>
    (await readWhole('orders', makeWorkbook(rows, [], is1904))).records.map(
      (record) => record.kind === 'order' && record.placed_at.slice(0, 10),
    );
  expect(await days(true)).toEqual(['2026-02-13']);
  expect(await days(false)).toEqual(['2022-02-12']);
});
