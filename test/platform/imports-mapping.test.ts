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
])('A mapping that the reading does not know is refused: %j', (mapping, field) => {
  const { error } = ImportMapping.safeParse(mapping);
  expect(error?.issues.map(({ path }) => path[0] ?? '')).toEqual([field]);
});
