import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCsv } from '../../src/directory/imports/indexing/csv.ts';
import { openFiles, type RowKind, type SourceRecord } from '../../src/directory/imports/indexing/source.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rollcall-sources-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(name: string, content: string | Buffer, kind?: RowKind): Promise<SourceRecord[]> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  const source = await openFiles([file], kind);
  const records: SourceRecord[] = [];
  for await (const some of source.read()) records.push(...some);
  return records;
}

const valuesOf = (records: SourceRecord[]) => records.map(({ value }) => value);
const problemsOf = (records: SourceRecord[]) =>
  records.flatMap(({ line, lines, problem }) => (problem ? [{ line, lines, code: problem.code }] : []));

/** So many rows that each part is more than one chunk. */
const many = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `{"pk":${from + i},"username":"${'x'.repeat(100)}"}\n`).join('');
const pksOf = (records: SourceRecord[]) => records.map(({ value }) => Object(value).pk);
const upTo = (end: number) => Array.from({ length: end }, (_, i) => i);

/** A zstd frame without content, as `pzstd` writes one before each other frame. */
const SKIPPABLE = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);

describe('a compressed file', () => {
  const parts = [many(0, 5_000), many(5_000, 5_001), many(5_001, 9_000)];

  it.each([
    ['gzip members', Buffer.concat(parts.map((part) => gzipSync(part)))],
    ['zstd frames', Buffer.concat(parts.map((part) => zstdCompressSync(part)))],
    ['zstd frames of pzstd', Buffer.concat(parts.flatMap((part) => [SKIPPABLE, zstdCompressSync(part)]))],
    ['members with padding', Buffer.concat(parts.flatMap((part) => [gzipSync(part), Buffer.alloc(600_000)]))],
  ])('of several %s is read completely', async (name, content) => {
    expect(pksOf(await read(name, content))).toEqual(upTo(9_000));
  });

  it.each([
    ['a zstd frame cut off', Buffer.concat([zstdCompressSync(many(0, 10)), zstdCompressSync(many(10, 20))]), -5],
    ['a zstd frame cut in its header', Buffer.concat([zstdCompressSync('{}\n'), zstdCompressSync('{}')]), -12],
    ['a gzip member cut off', Buffer.concat([gzipSync(many(0, 10)), gzipSync(many(10, 20))]), -5],
    ['other bytes after zstd', Buffer.concat([zstdCompressSync(many(0, 10)), Buffer.from('and more')]), undefined],
    ['other bytes after gzip', Buffer.concat([gzipSync(many(0, 10)), Buffer.from('and more')]), undefined],
  ])('with %s is an error, not a shorter file', async (name, content, end) => {
    await expect(read(name, content.subarray(0, end))).rejects.toThrow(`${name} could not be read completely`);
  });
});

describe('NDJSON', () => {
  it.each([
    ['a byte order mark', '\ufeff{"pk":1}\n{"pk":2}\n'],
    ['CRLF', '{"pk":1}\r\n\r\n{"pk":2}\r\n'],
    ['both', '\ufeff{"pk":1}\r\n{"pk":2}'],
  ])('may have %s', async (name, content) => {
    expect(valuesOf(await read(`${name}.data`, content))).toEqual([{ pk: 1 }, { pk: 2 }]);
  });

  it('loses only the line that is too long, wherever chunks end', async () => {
    const long = `{"pk":2,"biography":"${'x'.repeat(5 << 20)}"}`;
    const records = await read('long.ndjson', `{"pk":1}\n${long}\n{"pk":3}\n${long}`);
    expect(pksOf(records)).toEqual([1, undefined, 3, undefined]);
    expect(problemsOf(records)).toEqual([
      { line: 2, code: 'too_long' },
      { line: 4, code: 'too_long' },
    ]);
    expect(records[1]?.text).toMatch(/^\{"pk":2,"biography":"x{900,1100}$/);
  });

  it('is recognized by the file name even if the first line is not JSON', async () => {
    for (const name of ['bad.ndjson', 'bad.JSONL', 'bad.json']) {
      const records = await read(name, 'oops\n{"pk":1}\n');
      expect(problemsOf(records)).toEqual([{ line: 1, code: 'invalid_json' }]);
      expect(pksOf(records)).toEqual([undefined, 1]);
    }
    expect(pksOf(await read('bad.ndjson.gz', gzipSync('oops\n{"pk":1}\n')))).toEqual([undefined, 1]);
  });
});

describe('CSV', () => {
  it.each([
    ['a byte order mark', '\ufeffpk,username\n1,ana\n2,bo\n'],
    ['CRLF', 'pk,username\r\n1,ana\r\n2,bo\r\n'],
    ['both', '\ufeff"pk",username\r\n1,ana\r\n2,bo'],
    ['several kinds of line ends', 'pk,username\r\n1,ana\n2,bo\r\n'],
  ])('may have %s', async (name, content) => {
    const rows = [
      { pk: 1, username: 'ana' },
      { pk: 2, username: 'bo' },
    ];
    expect(valuesOf(await read(`${name}.data`, content))).toEqual(rows);
  });

  it.each(['\n', '\r\n'])(
    'names the line where each row starts, past empty lines and cells of several (%j)',
    async (end) => {
      const lines = [
        'pk,username,full_name',
        '1,ana,',
        '',
        '2,"b',
        'o","Bo',
        '',
        'B"',
        '3,cy,',
        '',
        '',
        '4,di,"D',
        'i"',
        '5,ed,',
      ];
      const records = await read('lines.csv', lines.join(end));
      expect(records.map(({ line, lines: count }) => [line, count])).toEqual([
        [2, 1],
        [4, 4],
        [8, 1],
        [11, 2],
        [13, 1],
      ]);
    },
  );

  it('reads the same in chunks of any size', async () => {
    const text = '\ufeffpk,username\r\n1,"a\r\n""b"\r\n\r\n2,Zoë ✨\r\n3,c"d\r\n4,ed\r\n';
    async function* cut(length: number): AsyncGenerator<Buffer> {
      const bytes = Buffer.from(text);
      for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length);
    }
    for (let length = 1; length < 40; length += 1) {
      const records: SourceRecord[] = [];
      for await (const some of readCsv('cut.csv', cut(length), { required: ['pk'] })) records.push(...some);
      expect(records.map(({ line, value }) => [line, Object(value).username])).toEqual([
        [2, 'a\r\n"b'],
        [5, 'Zoë ✨'],
        [6, undefined],
        [7, 'ed'],
      ]);
    }
  });

  it('rejects a row with a misplaced quote once and keeps its neighbours in order', async () => {
    const records = await read(
      'quotes.csv',
      'pk,username,full_name\n1,ana,\n2,bo,the "real" Bo\n3,cy,"An "old" friend"\n4,di,\n\n5,ed,5" tall\n6,flo,\n',
    );
    expect(records.map(({ line, value }) => [line, Object(value).pk])).toEqual([
      [2, 1],
      [3, undefined],
      [4, undefined],
      [5, 4],
      [7, undefined],
      [8, 6],
    ]);
    expect(new Set(problemsOf(records).map(({ code }) => code))).toEqual(new Set(['invalid_csv']));
  });

  it('counts the rows swallowed by a stray quote', async () => {
    const rows = (from: number, to: number) =>
      upTo(to)
        .slice(from)
        .map((pk) => `${pk},name${pk},\n`);
    const swallowed = rows(10, 800).join('');
    const closed = await read('closed.csv', `pk,username,full_name\n1,"ana,\n${swallowed}800,bo",\n801,cy,\n`);
    expect(closed.map(({ line, lines }) => [line, lines])).toEqual([
      [2, 792],
      [794, 1],
    ]);
    const misplaced = await read(
      'misplaced.csv',
      `pk,username,full_name\n1,"ana,\n${swallowed}800,"bo"x,\n801,"cy",\n`,
    );
    expect(problemsOf(misplaced).reduce((sum, { lines = 1 }) => sum + lines, 0)).toBeGreaterThan(790);
  });

  it('is an error that names the line when a quote is never closed or a row never ends', async () => {
    const unclosed = `pk,username\n1,ana\n\n2,"bo\n3,cy\n4,di\n`;
    await expect(read('unclosed.csv', unclosed)).rejects.toThrow('line 4 opens a quote that is never closed');
    const endless = `pk,username\n1,ana\n2,"bo\n${'3,cy\n'.repeat(300_000)}4,"di"\n`;
    await expect(read('endless.csv', endless)).rejects.toThrow('line 3 is longer than 1048576 characters');
  });

  it('reports why a file was read as CSV if it is not CSV', async () => {
    await expect(read('creators.csv', '{"pk":1,"username":"ana"}\n')).rejects.toThrow(
      'read as CSV because of its name',
    );
    await expect(read('creators.txt', 'oops\n{"pk":1}\n')).rejects.toThrow('because it does not start with {');
  });
});

describe('a list of creators to delete', () => {
  it.each([
    ['one pk a line', 'ids', '1\n2\n', [1, 2]],
    ['a CSV with nothing but pks', 'gone.csv', 'pk\n1\n2\n', [{ pk: 1 }, { pk: 2 }]],
    ['a CSV without a telling name', 'gone', 'pk\r\n1\r\n2\r\n', [{ pk: 1 }, { pk: 2 }]],
    ['a CSV with more', 'more.csv', 'username,pk\nana,1\n', [{ username: 'ana', pk: 1 }]],
    ['NDJSON', 'gone.ndjson', '{"pk":1}\n2\n', [{ pk: 1 }, 2]],
  ])('may be %s', async (_what, name, content, values) => {
    expect(valuesOf(await read(name, content, 'pks'))).toEqual(values);
  });

  it('needs a pk in every row', async () => {
    await expect(read('names.csv', 'username\nana\n', 'pks')).rejects.toThrow('no column pk. Columns');
  });
});
