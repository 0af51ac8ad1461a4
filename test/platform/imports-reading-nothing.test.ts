import { describe, expect, test } from 'vitest';
import { readWhole } from './imports-check.ts';
import { lines } from './imports-field.ts';

const NO_TIMES = ['-', '–', 'N/A', 'NULL', 'none', '#N/A', 'never', '0000-00-00', '0000-00-00 00:00:00', '00/00/0000'];

describe('a cell of a time that says that there is none', () => {
  test.each(['Cancelled at', 'Refunded at', 'Paid at'])('is empty below “%s”', async (header) => {
    const cells = [...NO_TIMES, '', '2026-02-03'];
    const rows = cells.map((cell, i) => `k${i},2026-02-01,60.50,USD,${cell}`);
    const { records, reading } = await readWhole('orders', lines(`Order ID,Date,Amount,Currency,${header}`, ...rows));
    expect(reading.refusals).toEqual([]);
    const orders = records.flatMap((record) => (record.kind === 'order' ? [record] : []));
    const at = orders.map((order) => {
      if (header === 'Paid at') return order.paid_at;
      return header === 'Refunded at' ? order.refunded_at : order.cancelled_at;
    });
    expect(at.slice(0, -1)).toEqual(at.slice(0, -1).map(() => null));
    expect(at.at(-1)).toContain('2026-02-03');
    expect(orders.slice(0, -1).every(({ refunded }) => refunded === 0)).toBe(true);
  });

  test.each(['0000-00-00 00:00:00', '-'])(
    'makes no order of another store’s file a cancelled one: %s',
    async (cell) => {
      const file = lines('Order ID,Date,Amount,Currency,Cancelled at', `k1,2026-02-01,60.50,USD,${cell}`);
      expect((await readWhole('reconciliation', file)).records).toMatchObject([{ is_cancelled: false }]);
    },
  );

  test('of the order itself is still missing', async () => {
    const { reading } = await readWhole(
      'orders',
      lines('Order ID,Date,Amount,Currency', 'k1,-,60.50,USD', 'k2,2026-02-01,60.50,USD'),
    );
    expect(reading.refusals.map(({ kind }) => kind)).toEqual(['time_missing']);
  });
});

const NO_HANDLES =
  'unknown|No|undefined|private|Pending|same|none yet|0|x|TBD|null|-|n/a|deleted|not yet|no handle|unbekannt|Instagram'.split(
    '|',
  );

describe('a word in place of a handle', () => {
  test.each(NO_HANDLES)('is none: %s', async (word) => {
    const file = lines('Name,Handle,Code', `Cat,${word},C1`, `Dan,${word},D1`, 'Eve,eve.x,E1');
    const { records, reading } = await readWhole('roster', file);
    expect(records).toMatchObject([{ instagram: 'eve.x' }]);
    expect(reading.refusals.map(({ kind }) => kind)).toEqual(['no_person']);
    const mailed = lines('Name,Email,Handle,Code', `Cat,c@c.example,${word},C1`, `Dan,d@c.example,${word},D1`);
    const both = (await readWhole('roster', mailed)).records;
    expect(both).toMatchObject([
      { email: 'c@c.example', instagram: null },
      { email: 'd@c.example', instagram: null },
    ]);
  });

  test.each(['@unknown', 'some.other.word'])(
    'or a handle of two people, whose names share no word, is refused: %s',
    async (word) => {
      const file = lines('Name,Handle,Code', `Cat,${word},C1`, `Dan,${word},D1`, 'Eve,eve.x,E1');
      const { records, reading } = await readWhole('roster', file);
      expect(records).toMatchObject([{ instagram: 'eve.x' }]);
      expect(reading.refusals.map(({ kind }) => kind)).toEqual(['contradicting_lines']);
    },
  );

  test('is somebody’s where a sign stands before it, and one person may be named in two ways', async () => {
    const file = lines('Name,Handle,Code', 'Cat,@private,C1', 'Eve Lee,eve.x,E1', 'eve,eve.x,E2');
    expect((await readWhole('roster', file)).records).toMatchObject([
      { instagram: 'private' },
      { instagram: 'eve.x', codes: [{ code: 'E1' }, { code: 'E2' }] },
    ]);
  });
});

describe('codes and addresses as plugins and tools write them', () => {
  test.each([
    ['code:ANA10|amount:5.00', ['ANA10']],
    ['code:ANA10|amount:5.00;code:BEN5|amount:2.00', ['ANA10', 'BEN5']],
    ['"ANA10, BEN5"', ['ANA10', 'BEN5']],
  ])('%s has the codes %j', async (cell, codes) => {
    const file = lines('Order ID,Date,Amount,Currency,Coupons', `o1,2026-02-01,60.50,USD,${cell}`);
    expect((await readWhole('orders', file)).records).toMatchObject([{ codes }]);
  });

  test.each(['User email', 'Purchase Email', 'Buyer Email,Purchase Email'])(
    'the customer’s is below “%s”',
    async (header) => {
      const cells = `${header.includes(',') ? ',' : ''}a@c.example`;
      const file = lines(`Order ID,Date,Amount,Currency,${header}`, `o1,2026-02-01,60.50,USD,${cells}`);
      expect((await readWhole('orders', file)).records).toMatchObject([{ customer_email: 'a@c.example' }]);
    },
  );

  test.each(['%', 'Percent', 'Percentage'])('a percentage beside a code is asked about: %s', async (header) => {
    const file = lines(`Email,Code,${header}`, 'a@c.example,A10,12%', 'b@c.example,B10,15%');
    expect((await readWhole('roster', file)).reading.questions.map(({ id }) => id)).toEqual(['column_meaning:rate']);
  });
});
