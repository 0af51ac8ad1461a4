import { expect, test } from 'vitest';
import { ImportMapping, toMapping } from '../../src/platform/imports/imports.shapes.ts';
import { readTable } from '../../src/platform/imports/reading/read-table.ts';
import { makeSource } from './imports-check.ts';

const FILE = 'email,amount,currency,paid_at,reference\nana@example.com,12.50,EUR,03/04/2026,1\n';

async function readWith(mapping: unknown) {
  const source = makeSource('paid.csv', Buffer.from(FILE));
  const brand = { currency: 'EUR', timeZone: 'UTC', stores: [] };
  const now = new Date('2026-11-27T18:00:00Z');
  return await readTable(source, { of: 'commissions', mapping: toMapping(ImportMapping.parse(mapping)), brand, now });
}

test('The order of day and month is asked where a file leaves it open, and the mapping of a caller answers it', async () => {
  const { reading } = await readWith({});
  expect(reading.questions.map(({ code }) => code)).toEqual(['date_order']);
  const answered = await readWith({ dates: 'dmy' });
  expect(answered.reading.status).toBe('ready');
});

test.each([
  [{ columns: { amonut: 'Commission' } }, 'columns'],
  [{ dates: 'myd' }, 'dates'],
  [{ header: 1 }, ''],
  [{ constants: { curency: 'USD' } }, 'constants'],
  [{ constants: { currency: 'XXQ' } }, 'constants'],
  [{ constants: { currency: 'DEM' } }, 'constants'],
  [{ constants: { currency: 'Dollar' } }, 'constants'],
  [{ constants: { currency: '' } }, 'constants'],
  [{ constants: { swapped_dates: 'maybe' } }, 'constants'],
  [{ symbols: { $: 'FOO' } }, 'symbols'],
  [{ time_zone: 'Mars/Base' }, 'time_zone'],
  [{ time_zone: '+05:30' }, 'time_zone'],
  [{ time_zone: '' }, 'time_zone'],
])('A mapping that the reading does not know is refused: %j', (mapping, field) => {
  const { error } = ImportMapping.safeParse(mapping);
  expect(error?.issues.map(({ path }) => path[0] ?? '')).toEqual([field]);
});

test('A currency that is said in small letters is the currency', () => {
  expect(ImportMapping.parse({ constants: { currency: 'usd' }, symbols: { $: 'cad' } })).toEqual({
    constants: { currency: 'USD' },
    symbols: { $: 'CAD' },
  });
});

test('A stored mapping with a zone or a currency that is none is read without them', async () => {
  const source = makeSource('paid.csv', Buffer.from('email,amount,paid_at\nana@example.com,$12.50,2026-03-04 10:00\n'));
  const brand = { currency: 'EUR', timeZone: 'UTC', stores: [] };
  const stored = { time_zone: 'Mars/Base', constants: { currency: 'XXQ' }, symbols: { $: 'FOO' } };
  const { reading } = await readTable(source, {
    of: 'commissions',
    stored,
    brand,
    now: new Date('2026-11-27T18:00:00Z'),
  });
  expect(reading.questions.map(({ code }) => code)).toEqual(['currency_sign']);
  expect(reading.readings.time_zone).toBe('UTC');
});
