import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import type { Mapping } from '../../src/platform/imports/reading/shapes.ts';
import { readWhole } from './imports-check.ts';
import { lines } from './imports-field.ts';

const HEADER = 'Email,Date,Commission,Currency';
const ANA = 'ana@c.example,2026-11-13,10.00,USD';
const CAT = 'cat@c.example,2026-11-14,11.00,USD';

async function readRows(of: Kind, rows: readonly string[], mapping: Mapping = {}) {
  const { reading, records, lines: read } = await readWhole(of, lines(...rows), mapping);
  const asks = reading.questions.map(({ message }) => message);
  const refused = read.filter(({ outcome }) => outcome === 'refused').length;
  return { asks, refused, records: records.length, reading };
}

describe('a heading with more than one filled cell', () => {
  test.each([
    'Unpaid,,11.00,USD',
    'Unpaid,2026-11-30,,',
    'Unpaid,1,11.00,',
    'Unpaid: 1 creator,,11.00,USD',
    'Unpaid,Unpaid,Unpaid,Unpaid',
    'UNPAID COMMISSIONS,UNPAID COMMISSIONS,,',
  ])('is the status of the lines below: %s', async (heading) => {
    expect(await readRows('commissions', [HEADER, ANA, heading, CAT])).toMatchObject({
      asks: [],
      refused: 0,
      records: 1,
    });
  });

  test('is none where a record can be read from it, or where another table begins', async () => {
    const names = ['Name,Date,Commission,Currency', 'Unpaid,2026-11-13,10.00,USD', 'Ana,2026-11-13,10.00,USD'];
    expect((await readRows('commissions', names)).asks).toContain('Who is Unpaid?');
    const tables = [HEADER, ANA, '', 'Refund,Date,Commission,Currency', CAT];
    expect((await readRows('commissions', tables)).reading.status).not.toBe('ready');
  });

  test('ends at a heading that names no state', async () => {
    const rows = [HEADER, 'October,,,', ANA, 'Unpaid,,,', CAT, 'November,,,', 'ben@c.example,2026-11-14,12.00,USD'];
    expect((await readRows('commissions', rows)).asks).toEqual(['What does an empty status mean?']);
  });
});

describe('a state outside of the table', () => {
  test.each([
    ['commissions', 'Status,Unpaid'],
    ['commissions', 'Status:,Pending'],
    ['commissions', 'Filter: Status,Pending'],
    ['commissions', 'Report type,Unpaid commissions'],
    ['commissions', 'Unpaid commissions,,,Printed 2026-03-01'],
    ['commissions', 'Unpaid commissions,2026-02-28'],
    ['commissions', 'Unpaid commissions,Total:,20.00'],
    ['payouts', 'Batch,B1,Status,Failed'],
    ['payouts', 'Mass payout file - draft'],
  ] as const)('above the header of %s is that of all lines: %s', async (of, title) => {
    const header = of === 'payouts' ? 'Email,Date,Amount,Currency' : HEADER;
    expect((await readRows(of, ['Report,Commissions', title, '', header, ANA])).records).toBe(0);
  });

  test.each(['Total unpaid,20.00', 'Status,All', 'Creator,,Payment,'])('is none in “%s”', async (title) => {
    expect(await readRows('commissions', [title, '', HEADER, ANA])).toMatchObject({ asks: [], records: 1 });
  });

  test('says nothing where a column says more', async () => {
    const rows = ['Account status,On hold', '', `${HEADER},Status`, `${ANA},paid`, `${CAT},unpaid`];
    expect(await readRows('commissions', rows)).toMatchObject({ asks: [], records: 1 });
  });

  test.each(['Status: Unpaid,,,', 'All of these are still unpaid,,,'])('below all lines is asked: %s', async (last) => {
    const rows = [HEADER, ANA, CAT, last];
    const { asks, reading } = await readRows('commissions', rows);
    expect(asks).toEqual([`What are the lines above “${last.replaceAll(',', '')}”?`]);
    for (const { mapping } of reading.questions[0]?.options ?? [])
      expect((await readRows('commissions', rows, mapping)).asks).toEqual([]);
  });

  test('below all lines, with another heading above, heads nothing', async () => {
    const rows = [HEADER, 'Paid,,,', ANA, 'Unpaid,,,'];
    expect(await readRows('commissions', rows)).toMatchObject({ asks: [], records: 1 });
  });
});

const NOTES = [
  'Prepared by Kim,,,',
  '* excludes returns,,,',
  'Exported on 2026-03-01,,,',
  'End of report,,,',
  'Count: 2,,,',
  'Page 1 of 1,,,',
  'Average,,11.00,',
  ',,0.00,USD',
];

describe('a note', () => {
  test.each(NOTES)('asks nothing and refuses nothing, with or without a status: %s', async (note) => {
    const none = [HEADER, ANA, note, CAT, note];
    const some = [`${HEADER},Status`, `${ANA},paid`, `${note},`, `${CAT},paid`, `${note},`];
    for (const rows of [none, some]) {
      const read = await readRows('commissions', rows);
      expect(read).toMatchObject({ asks: [], refused: 0, records: 2 });
      expect(read.reading.counts).toMatchObject({ lines: 4, left_out: 2 });
    }
  });

  test.each(['October 2026|November 2026', 'Ana Lopez|Cat Kim', 'EUROPE|USA', 'A|C'])(
    'that heads a group of lines asks nothing: %s',
    async (headings) => {
      const [first = '', second = ''] = headings.split('|');
      const paid = [HEADER, `${first},,,`, ANA, `${second},,,`, CAT];
      expect(await readRows('commissions', paid)).toMatchObject({ asks: [], refused: 0, records: 2 });
      const people = ['Name,Email,Code', `${first},,`, 'Ana,ana@c.example,A1', `${second},,`, 'Cat,cat@c.example,C1'];
      expect(await readRows('roster', people)).toMatchObject({ asks: [], refused: 0, records: 2 });
    },
  );

  test('between the lines of an order leaves them together', async () => {
    const rows = [
      'Order ID,Date,Amount,Currency,Lineitem name',
      'o1,2026-11-13,10.00,USD,Serum',
      '* a note,,,,',
      ',,,,Cream',
      'o2,2026-11-13,11.00,USD,Serum',
    ];
    const { records } = await readWhole('orders', lines(...rows));
    expect(records).toMatchObject([{ items: [{ title: 'Serum' }, { title: 'Cream' }] }, { order_id: 'o2' }]);
  });

  test('is none where a record stands, however little of it', async () => {
    expect((await readRows('commissions', [HEADER, ANA, 'Kim,,11.00,'])).refused).toBe(1);
    expect((await readRows('commissions', [HEADER, ANA, 'cat@c.example,,,'])).refused).toBe(1);
    expect((await readRows('roster', ['Instagram,Name', 'ana,', 'cat,'])).records).toBe(2);
  });
});

describe('a lone text in the midst of records', () => {
  test.each(['Needs invoice', 'Below minimum threshold', 'Zurückgestellt', 'К оплате', '未払い分', 'Left Coast Media'])(
    'is asked about once: %s',
    async (text) => {
      const rows = [HEADER, ANA, `${text},,,`, CAT, 'ben@c.example,2026-11-14,12.00,USD'];
      const { asks, reading } = await readRows('commissions', rows);
      expect(asks).toHaveLength(1);
      for (const { mapping } of reading.questions[0]?.options ?? [])
        expect((await readRows('commissions', rows, mapping)).asks).toEqual([]);
    },
  );

  test('asks nothing if it is somebody in a column of names', async () => {
    const rows = ['Name,Email,Code', 'Ana,ana@c.example,A1', 'Ben Kim,,', 'Cat,cat@c.example,C1'];
    expect(await readRows('roster', rows)).toMatchObject({ asks: [], refused: 0, records: 2 });
    expect(
      (
        await readRows(
          'roster',
          rows.map((row) => row.replace('Ben Kim', 'Needs invoice')),
        )
      ).asks,
    ).toHaveLength(1);
  });

  test('asks nothing if it is a month, or names whom the line below is of', async () => {
    for (const text of ['November', '2026', 'Cat Kim'])
      expect(await readRows('commissions', [HEADER, ANA, `${text},,,`, CAT])).toMatchObject({ asks: [], records: 2 });
  });
});

describe('a table whose rows are each one cell', () => {
  test.each([
    ['payment_details', '"Email,PayPal email"', '"a@c.example,pa@c.example"'],
    ['roster', '"Name,Email,Code"', '"Ana,a@c.example,A1"'],
    ['roster', '"Email\tStatus"', '"a@c.example\tPaused"'],
    ['roster', 'Email  Status', 'a@c.example  Paused'],
  ] as const)('is refused: %s %s', async (of, header, row) => {
    const { reading } = await readRows(of, [header, row]);
    expect(reading.refusals[0]?.message).toContain('Everything stands in one column');
  });
});
