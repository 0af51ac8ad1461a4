import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import type { Mapping } from '../../src/platform/imports/reading/shapes.ts';
import { readWhole } from './imports-check.ts';
import { lines } from './imports-field.ts';

const HEADERS: Partial<Record<Kind, string>> = {
  commissions: 'Email,Paid at,Commission,Currency',
  payouts: 'Email,Paid at,Amount,Currency',
  orders: 'Order ID,Date,Amount,Currency',
  roster: 'Name,Email,Code',
};
const record = (of: Kind, i: number) =>
  of === 'roster'
    ? `Ana ${i},a${i}@c.example,C${i}`
    : `${of === 'orders' ? `o${i}` : `a${i}@c.example`},2026-02-1${i},1${i}.00,USD`;

/** The questions of a file, and its records that count as they stand. */
async function readSections(of: Kind, rows: readonly string[], mapping: Mapping = {}) {
  const { reading, lines: read } = await readWhole(of, lines(...rows), mapping);
  const kept = read.flatMap(({ record: each }): (number | string | null)[] => {
    if (each?.kind === 'order') return each.amount > each.refunded ? [each.amount] : [];
    if (each?.kind === 'paid') return [each.amount];
    return each?.kind === 'person' && each.status === 'active' ? [each.name] : [];
  });
  return { asks: reading.questions.map(({ id }) => id), kept, reading };
}

const KNOWN: readonly [of: Kind, headings: string][] = [
  ['commissions', 'Unpaid|Pending|On hold|Open|UNPAID:|Unpaid (2)|Unpaid 2026|Unpaid commissions|Declined'],
  ['payouts', 'Failed|Pending payouts|Returned|Status: failed'],
  ['orders', 'Cancelled|Test orders|Voided|Draft orders|Refunded|Refunded orders'],
  ['roster', 'Paused|Inactive|Rejected|Suspended creators'],
];
const ASKED: readonly [of: Kind, headings: string][] = [
  [
    'commissions',
    'Not yet paid|To be paid in December|To pay|In review|En attente de paiement|Offen|Impayé|Stornierte Provisionen|Commissions annulées|Pendientes',
  ],
  ['payouts', 'Bounced|Rückerstattung|Due next month|In attesa'],
  ['orders', 'Refunds|Returns|Erstattet|Retouren und Refunds|Samples'],
  ['roster', 'Former creators|Ehemalige|Pausiert|Applicants|Blacklist|No longer active'],
];
const spread = (cases: readonly [Kind, string][]) =>
  cases.flatMap(([of, headings]) => headings.split('|').map((heading) => ({ of, heading })));
const first = (of: Kind) => (of === 'roster' ? ['Ana 1'] : [1100]);

describe('a line of one cell that names a state', () => {
  test.each(spread(KNOWN))('of $of, “$heading”, is the status of the lines below', async ({ of, heading }) => {
    const bare = [HEADERS[of] ?? '', record(of, 1), '', heading, record(of, 2)];
    const again = [HEADERS[of] ?? '', record(of, 1), `${heading},,`, HEADERS[of] ?? '', record(of, 2)];
    for (const rows of [bare, again]) {
      const { asks, kept, reading } = await readSections(of, rows);
      expect({ asks, kept }).toEqual({ asks: [], kept: first(of) });
      expect(reading.warnings.find(({ code }) => code === 'headings')?.message).toContain(heading);
    }
  });

  test.each(spread(ASKED))('of $of, “$heading”, is asked about once', async ({ of, heading }) => {
    const rows = [HEADERS[of] ?? '', record(of, 1), `${heading},,`, record(of, 2), record(of, 3)];
    const { asks, kept } = await readSections(of, rows);
    expect({ asks: asks.length, kept }).toEqual({ asks: 1, kept: first(of) });
  });

  test('above the header says what the whole table is', async () => {
    const rows = ['Unpaid', '', HEADERS.commissions ?? '', record('commissions', 1)];
    expect((await readSections('commissions', rows)).kept).toEqual([]);
  });

  test('holds until the next heading, and a sum beside it changes nothing', async () => {
    const rows = [HEADERS.orders ?? '', 'Cancelled,,11.00,', record('orders', 1), 'Orders,,,', record('orders', 2)];
    expect(await readSections('orders', rows)).toMatchObject({ asks: [], kept: [1200] });
    const open = [HEADERS.commissions ?? '', 'Not yet paid,,11.00,', record('commissions', 1)];
    expect((await readSections('commissions', open)).kept).toEqual([]);
  });

  test.each(['', 'Total,,11.00,'])('holds until “%s”, below which lines are asked about', async (end) => {
    const header = HEADERS.commissions ?? '';
    const rows = [header, 'Unpaid,,,', record('commissions', 1), end, record('commissions', 2)];
    expect(await readSections('commissions', rows)).toMatchObject({ asks: ['status_meaning:'], kept: [] });
    const paid = [header, 'Paid,,,', record('commissions', 1), end, record('commissions', 2)];
    expect(await readSections('commissions', paid)).toMatchObject({ asks: [], kept: [1100, 1200] });
  });

  test('may be of another language, and is answered as a status is', async () => {
    const rows = [HEADERS.payouts ?? '', record('payouts', 1), 'Fehlgeschlagen,,,', record('payouts', 2)];
    const { reading } = await readSections('payouts', rows);
    const [question] = reading.questions;
    expect(question?.message).toBe('What does the status “fehlgeschlagen” mean?');
    for (const { mapping } of question?.options ?? [])
      expect((await readSections('payouts', rows, mapping)).asks).toEqual([]);
  });
});

describe('a line of one cell that names no state', () => {
  test.each(['March 2026', 'Instagram', '@unpaid', 'Commissions', 'Q1', 'Notes: see Drive'])(
    '“%s” asks nothing, and the lines below count',
    async (heading) => {
      const rows = [HEADERS.commissions ?? '', record('commissions', 1), `${heading},,,`, record('commissions', 2)];
      expect(await readSections('commissions', rows)).toMatchObject({ asks: [], kept: [1100, 1200] });
    },
  );

  test('as the id of an order is one', async () => {
    const rows = ['Order ID,Date,Amount', 'TEST-1,20260211,11.00', 'TEST-2,20260212,12.00'];
    expect((await readSections('orders', rows)).kept).toEqual([1100, 1200]);
    const { records } = await readWhole(
      'reconciliation',
      lines('Order ID,Amount,Currency', 'TEST-1,11.00,', 'o2,12.00,'),
    );
    expect(records).toHaveLength(2);
  });

  test('as an item of an order is a line of it', async () => {
    const rows = [
      'Order ID,Date,Amount,Currency,Lineitem name',
      'o1,2026-02-11,11.00,USD,Serum',
      ',,,,Test',
      'o2,2026-02-12,12.00,USD,',
    ];
    expect(await readSections('orders', rows)).toMatchObject({ asks: [], kept: [1100, 1200] });
  });
});
