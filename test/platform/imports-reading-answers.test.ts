import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import { readWhole } from './imports-check.ts';
import { expectRead, type FieldCase, letters, lines, readCells } from './imports-field.ts';

const DAY = '2026-01-05';
const ANSWERED: readonly [of: Kind, header: string, cells: string[], left: unknown[]][] = [
  ['orders', 'Refunded?', ['❌', '✅'], [1050, 0]],
  ['orders', 'Paid', ['✔', '✘'], [1050, null]],
  ['orders', 'Paid', ['✔️', '✖️'], [1050, null]],
  ['orders', 'Cancelled?', ['☐', '☑'], [1050, null]],
  ['orders', 'Cancelled?', ['[ ]', '[x]'], [1050, null]],
  ['commissions', 'Payment sent', ['✅', '❌'], [1050, null]],
  ['commissions', 'paid', ['✅', '❌'], [1050, null]],
  ['commissions', 'paid', ['✓', '✗', '✓'], [1050, null, 3050]],
  ['commissions', 'paid', ['TRUE', 'FALSE', '☑'], [1050, null, 3050]],
  ['commissions', 'paid', ['VERO', 'FALSO'], [1050, null]],
  ['roster', 'Active', ['✅', '❌'], ['active', 'paused']],
  ['roster', 'Active', ['🟢', '🔴'], ['active', 'paused']],
  ['roster', 'active', ['t', 'f'], ['active', 'paused']],
  ['roster', 'Attivo', ['VERO', 'FALSO'], ['active', 'paused']],
  ['roster', 'Active', ['PRAWDA', 'FAŁSZ'], ['active', 'paused']],
  ['roster', 'Active', ['WAAR', 'ONWAAR'], ['active', 'paused']],
  ['roster', 'Active', ['ADEVĂRAT', 'FALS'], ['active', 'paused']],
  ['payouts', 'Failed', ['FALSO', 'VERDADERO'], [1050, null]],
  ['payouts', 'Failed', ['FALSO', 'VERDADEIRO'], [1050, null]],
  ['payouts', 'Failed', ['FALSKT', 'SANT'], [1050, null]],
  ['payouts', 'Failed', ['USANN', 'SANN'], [1050, null]],
  ['payouts', 'Failed', ['EPÄTOSI', 'TOSI'], [1050, null]],
  ['payouts', 'Failed', ['HAMIS', 'IGAZ'], [1050, null]],
  ['payouts', 'Failed', ['NEPRAVDA', 'PRAVDA'], [1050, null]],
  ['payouts', 'Failed', ['YANLIŞ', 'DOĞRU'], [1050, null]],
  ['payouts', 'Failed', ['ЛОЖЬ', 'ИСТИНА'], [1050, null]],
  ['reconciliation', 'Cancelled', ['FALSO', 'VERO'], [false, true]],
  ['orders', 'Refunded', ['0%', '100%'], [1050, 0]],
  ['orders', 'Refund', ['No', 'Yes'], [1050, 0]],
  ['orders', 'Cancelled', ['no', DAY], [1050, null]],
  // Counts of a person and sums beside an amount are no answers.
  ['roster', 'Returned', ['0', '2'], ['active', 'active']],
  ['roster', 'Left', ['0.00', '12.50'], ['active', 'active']],
];

const ASKED: readonly [of: Kind, header: string, cells: string[], asks: string[]][] = [
  ['orders', 'Refunded', ['no', 'partially'], ['Refunded: partially']],
  ['orders', 'Refunded', ['n/a', 'Full'], ['Refunded: Full']],
  ['orders', 'Refunded', ['no', '50%'], ['Refunded: 50%']],
  ['orders', 'Refunded', ['🟢', '🔴'], ['Refunded: 🟢', 'Refunded: 🔴']],
  ['orders', 'Refunded', ['', '!!'], ['Refunded: !!']],
  ['orders', 'Refunded', ['', '❌'], ['Refunded: ❌']],
  ['orders', 'Returned?', ['No', 'Partially'], ['Returned?: Partially']],
  ['orders', 'Paid', ['Yes', 'Partly'], ['Paid: Partly']],
  ['orders', 'Paid', ['Yes', 'No - bounced'], ['Paid: No - bounced']],
  ['commissions', 'Paid', ['ja', 'nein (Mahnung)'], ['neinmahnung']],
  ['commissions', 'Payment sent', ['ja', 'nein (Mahnung)'], ['Payment sent: nein (Mahnung)']],
  ['orders', 'Disputed', ['', 'lost'], ['Disputed: lost']],
  ['orders', 'Cancelled', ['', 'Customer changed mind'], ['Cancelled: Customer changed mind']],
  ['orders', 'Cancelled at', ['', 'Jan 9'], ['Cancelled at: Jan 9']],
  ['orders', 'Completed', ['Yes', 'Cancelled by customer'], ['Completed: Cancelled by customer']],
  ['roster', 'Banned', ['', 'fake followers'], ['Banned: fake followers']],
  ['roster', 'Unsubscribed', ['', 'since May'], ['Unsubscribed: since May']],
  ['payouts', 'Returned', ['', 'account closed'], ['Returned: account closed']],
  ['commissions', 'status', ['🟢', '🔴', ''], ['🟢', '🔴', '']],
  ['commissions', 'status', ['❌ Paid', '✅ Paid', 'Paid?'], ['paid❌', 'paid?']],
  ['commissions', 'paid', ['✓', ''], ['']],
];

describe('a column that asks for a yes or no', () => {
  test.each(ANSWERED)('of %s, “%s”, is read where its cells are %j', async (of, header, cells, left) => {
    expect(await readCells(of, header, cells)).toEqual({ asks: [], left });
  });

  test.each(ASKED)('of %s, “%s”, asks about each of %j that answers neither way', async (of, header, cells, values) => {
    const { asks } = await readCells(of, header, cells);
    expect(asks).toEqual(values.map((value) => `status_meaning:${value}`));
  });

  test('is what the answer says, and the other columns stay as they are', async () => {
    const content = lines(
      'Order,Date,Amount,Currency,Refunded,Cancelled',
      `A,${DAY},10.50,USD,No,No`,
      `B,${DAY},20.50,USD,Yes,No`,
      `C,${DAY},30.50,USD,No,Yes (fraud)`,
    );
    const { reading } = await readWhole('orders', content);
    expect(reading.questions.map(({ message }) => message)).toEqual([
      'What does the status “Cancelled: Yes (fraud)” mean?',
    ]);
    const answered = await readWhole('orders', content, { statuses: { 'Cancelled: Yes (fraud)': 'left_out' } });
    expect(answered.reading.questions).toEqual([]);
    expect(answered.lines.map(({ outcome }) => outcome)).toEqual(['read', 'read', 'left_out']);
    expect(answered.reading.statuses).toContainEqual(
      expect.objectContaining({ value: 'Cancelled: Yes (fraud)', means: 'left_out' }),
    );
  });

  test('asks once about many different reasons', async () => {
    const reasons = ['', ...letters.slice(1).map((letter) => `Reason ${letter}, or another`.replace(',', ''))];
    const { asks } = await readCells('orders', 'Cancelled', reasons);
    expect(asks).toEqual(['status_meaning:Cancelled: any other text']);
  });

  test('is read below the first rows, too, where these say nothing', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `A${i},${DAY},10.50,USD,${i === 250 ? 'Yes' : ''}`);
    const { reading } = await readWhole('orders', lines('Order,Date,Amount,Currency,Cancelled', ...rows));
    expect(reading.counts).toMatchObject({ read: 299, left_out: 1 });
  });

  test('has its own word, or the opposite, in cells beside a status', async () => {
    const content = lines(
      'Email,Status,Active',
      'a@c.example,approved,Active',
      'b@c.example,approved,Not active',
      'c@c.example,approved,Inactive',
    );
    const { reading, records } = await readWhole('roster', content);
    expect(reading.questions).toEqual([]);
    expect(records.map((record) => record.kind === 'person' && record.status)).toEqual(['active', 'paused', 'paused']);
  });
});

const UNSAID: readonly FieldCase[] = [
  {
    title: 'a discount in percent',
    of: 'orders',
    content: lines('Order,Date,Subtotal,Discount,Currency', `A,${DAY},100.00,10%,USD`, `B,${DAY},50.00,0%,USD`),
    asks: ['column_meaning:discount'],
    mapping: { columns: { discount: null } },
    records: [`A 10000 USD ${DAY}T12:00`, `B 5000 USD ${DAY}T12:00`],
  },
  {
    title: 'a refund that stands elsewhere',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Refund amount,Currency',
      `A,${DAY},100.00,,USD`,
      `B,${DAY},50.00,see credit note,USD`,
    ),
    asks: ['column_meaning:refunded'],
    mapping: { columns: { refunded: 'Refund amount' } },
    records: [`A 10000 USD ${DAY}T12:00`],
  },
  {
    title: 'money that came back, and how much stands elsewhere',
    of: 'payouts',
    content: lines('Email,Date,Amount,Currency,Clawback', `a@c.example,${DAY},10.00,USD,see note`),
    asks: ['column_meaning:refunded'],
    mapping: { columns: { refunded: 'Clawback' } },
    records: [],
  },
  {
    title: 'codes below a discount, which say of no amount',
    of: 'orders',
    content: lines('Order,Date,Subtotal,Discount,Currency', `A,${DAY},100.00,SUMMER10,USD`, `B,${DAY},50.00,,USD`),
    asks: [],
    mapping: {},
    records: [`A 10000 USD ${DAY}T12:00`, `B 5000 USD ${DAY}T12:00`],
  },
];

describe('a part of an amount that its cells do not say', () => {
  test.each(UNSAID)('with $title is asked about, or refused', async (made) => {
    await expectRead(made);
  });
});
