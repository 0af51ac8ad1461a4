import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import { readTable } from '../../src/platform/imports/reading/read-table.ts';
import type { Mapping, ReadRecord, Request } from '../../src/platform/imports/reading/shapes.ts';
import { BRAND, collectRecords, makeSource } from './imports-check.ts';
import { makeWorkbook, type SheetCell } from './imports-workbook.ts';

const NOW = new Date('2026-11-27T18:00:00Z');
const TABLE = 'Affiliate email,Commission,Currency,Date\na@x.example,1.50,USD,2026-03-03\n';

const request = (of: Kind, mapping: Mapping = {}): Request => ({ of, mapping, brand: BRAND, now: NOW });
const readBytes = async (bytes: Uint8Array, of: Kind = 'commissions', mapping: Mapping = {}) =>
  (await readTable(makeSource('file', bytes), request(of, mapping))).reading;
const amounts = (records: readonly ReadRecord[]) =>
  records.map((record) => (record.kind === 'order' || record.kind === 'paid' ? record.amount : null));

describe('a file', () => {
  test.each([
    ['gzip', new Uint8Array(gzipSync(TABLE))],
    ['zip', zipSync({ 'export/orders.csv': strToU8(TABLE), '__MACOSX/._orders.csv': strToU8('x') })],
    ['stored zip', zipSync({ 'orders.csv': strToU8(TABLE) }, { level: 0 })],
  ])('in %s is read as the table that it contains', async (_, bytes) => {
    expect(amounts(await collectRecords(makeSource('file', bytes), request('commissions')))).toEqual([150]);
  });

  test('that is an archive with several tables or none is refused, and the refusal names them', async () => {
    const several = await readBytes(zipSync({ 'a.csv': strToU8(TABLE), 'b.csv': strToU8(TABLE) }));
    expect(several.refusals).toMatchObject([
      { kind: 'several_tables', message: expect.stringContaining('a.csv, b.csv') },
    ]);
    await expect(readBytes(zipSync({ 'a.png': strToU8('x') }))).rejects.toMatchObject({ kind: 'zip' });
  });

  test.each([
    ['xls', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['pdf', Buffer.from('%PDF-1.7\n')],
    ['html', Buffer.from('\n<html><body><table><tr><td>1</td></tr></table>')],
    [
      'ods',
      Buffer.from(
        zipSync({
          mimetype: strToU8('application/vnd.oasis.opendocument.spreadsheet'),
          'content.xml': strToU8('<x/>'),
        }),
      ),
    ],
  ])('of the kind %s is refused with advice to save a CSV', async (kind, bytes) => {
    await expect(readBytes(bytes)).rejects.toMatchObject({ kind, message: expect.stringMatching(/CSV/) });
  });

  test('that is an archive and was cut short is refused as damaged', async () => {
    const cut = gzipSync(TABLE.repeat(50)).subarray(0, 60);
    expect((await readBytes(cut)).refusals).toMatchObject([{ kind: 'damaged_file' }]);
  });
});

describe('a workbook', () => {
  const number = (digits: string): SheetCell => ({ number: digits });
  const header: SheetCell[] = [
    'Name',
    'Id',
    'Financial Status',
    'Currency',
    'Subtotal',
    'Shipping',
    'Taxes',
    'Total',
    'Created at',
    'Lineitem quantity',
  ];
  const order = (name: string, id: string, subtotal: string, total: string): SheetCell[] => [
    ...[name, number(id), 'paid', 'USD', number(subtotal), number('10'), number('0'), number(total)],
    ...[{ serial: 46300.5 }, number('1')],
  ];
  const rows = [
    header,
    order('#1001', '5840850000002', '1.255', '11.255'),
    order('#1002', '5.8408500000030000E+12', '12.549999999999999', '22.55'),
    order('#1003', '5840850000004', '1234.5', '1244.5'),
  ];

  test('has whole ids, days as dates, and numbers with their decimals whatever the country', async () => {
    const bytes = makeWorkbook({ Notes: [['Exported']], Orders: rows });
    const records = await collectRecords(makeSource('orders.xlsx', bytes), request('orders'));
    expect(
      records.map((record) => record.kind === 'order' && [record.order_id, record.amount, record.placed_at]),
    ).toEqual([
      ['5840850000003', 1_255, '2026-10-05T12:00:00.000Z'],
      ['5840850000004', 123_450, '2026-10-05T12:00:00.000Z'],
    ]);
    const reading = await readBytes(bytes, 'orders');
    expect(reading.text).toMatchObject({ sheet: 'Orders', sheets: ['Notes', 'Orders'], header_line: 1 });
    expect(reading.refusals).toMatchObject([{ kind: 'too_many_decimals', first_lines: [2] }]);
  });

  test('is read from the sheet that was chosen, which must be there, and refused if it is damaged', async () => {
    const bytes = makeWorkbook({ Old: rows.slice(0, 2), New: rows });
    expect((await readBytes(bytes, 'orders', { sheet: 'New' })).counts.lines).toBe(3);
    await expect(readBytes(bytes, 'orders', { sheet: 'Other' })).rejects.toMatchObject({ field: 'mapping.sheet' });
    const broken = zipSync({ 'xl/workbook.xml': strToU8('<workbook') });
    expect((await readBytes(broken, 'orders')).refusals).toMatchObject([{ kind: 'damaged_file' }]);
  });

  test('that unpacks to more than 70 MB is refused before it is unpacked', async () => {
    const bytes = zipSync({
      'xl/workbook.xml': strToU8('<x/>'),
      'xl/worksheets/sheet1.xml': new Uint8Array(71 * 1024 * 1024),
    });
    expect((await readBytes(bytes, 'orders')).refusals).toMatchObject([{ kind: 'too_large' }]);
  });
});
