import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ClickHouse, openClickHouse } from '../../../src/kit/engines/clickhouse/open.ts';
import { command, integer, query } from '../../../src/kit/engines/clickhouse/query.ts';
import { engineUrls, unique } from '../../harness/app.ts';

const url = engineUrls().clickhouse;
const table = unique('rows').replace('-', '_');
let clickhouse: ClickHouse;

beforeAll(async () => {
  clickhouse = openClickHouse(url);
  await command(clickhouse, `CREATE TABLE ${table} (id UInt64, word String) ENGINE = MergeTree ORDER BY id`);
});
afterAll(async () => {
  await command(clickhouse, `DROP TABLE ${table}`);
  await clickhouse.close();
});

async function idsOf(word: string): Promise<number[]> {
  const sql = `SELECT id FROM ${table} WHERE word = {word:String} ORDER BY id`;
  return (await query(clickhouse, z.object({ id: integer }), sql, { word })).map(({ id }) => id);
}

describe('an insert over the embedded HTTP interface', () => {
  it.each([
    ['TabSeparated', '1\ttsv\n2\ttsv\n', 'tsv'],
    ['TabSeparated', '1\tlast\n2\tlast', 'last'],
    ['CSV', '1,"csv"\n2,csv\n', 'csv'],
    ['JSONEachRow', '{"id":1,"word":"json"}\n{"id":2,"word":"json"}\n', 'json'],
    ['Values', "(1, 'values'), (2, 'values')", 'values'],
  ])('stores the rows of its body, %s: %j', async (format, body, word) => {
    for (const sql of [`INSERT INTO ${table}`, `insert into table ${table} (id, word) settings async_insert = 0`]) {
      const into = `${url}/?query=${encodeURIComponent(`${sql} FORMAT ${format}`)}`;
      expect((await fetch(into, { method: 'POST', body })).status).toBe(200);
    }
    expect(await idsOf(word)).toEqual([1, 1, 2, 2]);
  });

  it('reports which rows are invalid, and stores none of them', async () => {
    const into = `${url}/?query=${encodeURIComponent(`INSERT INTO ${table} FORMAT TabSeparated`)}`;
    const answer = await fetch(into, { method: 'POST', body: '1\twrong\nx\twrong\n' });
    expect([answer.status, answer.headers.get('x-clickhouse-exception-code')]).toEqual([400, '27']);
    expect(await answer.text()).toContain('(at row 2)');
    expect(await idsOf('wrong')).toEqual([]);
  });

  it('stores no rows when its body is incomplete', async () => {
    const { port, hostname } = new URL(url);
    const path = `/?query=${encodeURIComponent(`INSERT INTO ${table} FORMAT TabSeparated`)}`;
    const broken = request({ host: hostname, port, method: 'POST', path, headers: { 'content-length': 100_000 } });
    const closed = new Promise((resolve) => broken.on('error', () => undefined).on('close', resolve));
    broken.write('1\tbroken\n'.repeat(5_000), () => broken.destroy());
    await closed;
    expect((await fetch(`${url}${path}`, { method: 'POST', body: '2\tbroken\n' })).status).toBe(200);
    expect(await idsOf('broken')).toEqual([2]);
  });
});
