import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listBrokenRollups } from '../../../src/analytics/figures/rollups.ts';
import { insertOnce } from '../../../src/kit/engines/clickhouse/insert.ts';
import { migrateClickHouse, onCluster, splitStatements } from '../../../src/kit/engines/clickhouse/migrate.ts';
import { type ClickHouse, openClickHouse } from '../../../src/kit/engines/clickhouse/open.ts';
import { command, integer, query } from '../../../src/kit/engines/clickhouse/query.ts';
import { tsvText, tsvTime } from '../../../src/kit/engines/clickhouse/tsv.ts';
import { ApiError } from '../../../src/kit/values/errors.ts';
import { engineUrls, unique } from '../../harness/app.ts';

let clickhouse: ClickHouse;

beforeAll(async () => {
  clickhouse = openClickHouse(engineUrls().clickhouse);
  await migrateClickHouse(clickhouse);
});

afterAll(() => clickhouse.close());

const CLICK = ['click_id', 'brand_id', 'link_id', 'creator_id', 'currency', 'at', 'kind', 'visitor', 'country'];

const clickOf = (brand: string, id: number, at: string, kind = 'counted') =>
  `${[`c${id}`, brand, `l${id % 3}`, `k${id % 2}`, 'USD', at, kind, '18446744073709551615', 'DE'].join('\t')}\n`;

const Counts = z.object({ raw: integer, daily: integer, life: integer, brand: integer });

async function countsOf(brand: string) {
  const [counts] = await query(
    clickhouse,
    Counts,
    `SELECT (SELECT count() FROM clicks_v1 WHERE brand_id = {b:String}) AS raw,
      (SELECT sum(clicks) FROM link_daily_v1 WHERE brand_id = {b:String}) AS daily,
      (SELECT sum(clicks) FROM link_life_v1 WHERE brand_id = {b:String}) AS life,
      (SELECT sum(clicks) FROM brand_daily_v1 WHERE brand_id = {b:String}) AS brand`,
    { b: brand },
  );
  return counts;
}

describe('ClickHouse migrations', () => {
  it('are applied once, even by processes that start together', async () => {
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrateClickHouse(clickhouse)));
    expect(applied.flat()).toEqual([]);
  });

  it('refuse a statement that cannot be repeated', () => {
    expect(() => splitStatements('CREATE TABLE a (x Int8) ENGINE = MergeTree ORDER BY x;\n')).toThrow(/repeatable/);
  });

  it('create replicated tables on a cluster', () => {
    const [table = '', view = ''] = splitStatements(`-- a comment;
CREATE TABLE IF NOT EXISTS t (a Int8, b Int8)
ENGINE = SummingMergeTree((a, b)) ORDER BY a
SETTINGS non_replicated_deduplication_window = 10000;
CREATE MATERIALIZED VIEW IF NOT EXISTS v TO t AS SELECT 1 AS a;
`);
    expect(onCluster(table, undefined)).toBe(table);
    expect(onCluster(table, 'main')).toBe(`CREATE TABLE IF NOT EXISTS t ON CLUSTER 'main' (a Int8, b Int8)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', (a, b)) ORDER BY a
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800`);
    expect(onCluster(view, 'main')).toMatch(/^CREATE MATERIALIZED VIEW IF NOT EXISTS v ON CLUSTER 'main' TO t AS/);
    expect(onCluster('CREATE TABLE IF NOT EXISTS t (a Int8) ENGINE = MergeTree ORDER BY a', 'main')).toContain(
      "ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}') ORDER BY a",
    );
  });
});

describe('insertOnce', () => {
  it('counts a repeated batch once, in the table and in every rollup, across months', async () => {
    const brand = unique('brand');
    const rows = Array.from({ length: 240 }, (_, i) =>
      clickOf(brand, i, `20${10 + (i % 12)}-0${1 + (i % 9)}-03 10:00:00.000`),
    ).join('');
    for (let i = 0; i < 3; i++) await insertOnce(clickhouse, 'clicks_v1', CLICK, rows, `${brand}:1`);
    expect(await countsOf(brand)).toEqual({ raw: 240, daily: 240, life: 240, brand: 240 });
  });

  it('completes an insert that was interrupted between a table and its rollups', async () => {
    const [raw, flag, sums] = [unique('raw'), unique('flag'), unique('sums')].map((name) => name.replace('-', '_'));
    const kept = 'SETTINGS non_replicated_deduplication_window = 100';
    for (const statement of [
      `CREATE TABLE ${raw} (id Int64) ENGINE = MergeTree ORDER BY id ${kept}`,
      `CREATE TABLE ${flag} (broken UInt8) ENGINE = MergeTree ORDER BY broken`,
      `CREATE TABLE ${sums} (id Int64, count UInt64) ENGINE = SummingMergeTree ORDER BY id ${kept}`,
      `CREATE MATERIALIZED VIEW ${sums}_mv TO ${sums} AS
        SELECT id, count() + throwIf((SELECT max(broken) FROM ${flag}) = 1) AS count FROM ${raw} GROUP BY id`,
      `INSERT INTO ${flag} VALUES (1)`,
    ]) {
      await command(clickhouse, statement);
    }
    const insert = () => insertOnce(clickhouse, raw ?? '', ['id'], '1\n2\n3\n', 'batch');
    await expect(insert()).rejects.toThrow();
    await command(clickhouse, `TRUNCATE TABLE ${flag}`);
    for (let i = 0; i < 3; i++) await insert();
    const Found = z.object({ raw: integer, sums: integer });
    const sql = `SELECT (SELECT count() FROM ${raw}) AS raw, (SELECT sum(count) FROM ${sums}) AS sums`;
    expect(await query(clickhouse, Found, sql)).toEqual([{ raw: 3, sums: 3 }]);
    for (const name of [`${sums}_mv`, sums, flag, raw]) await command(clickhouse, `DROP TABLE ${name}`);
  });

  it('counts another batch with the same rows', async () => {
    const brand = unique('brand');
    const rows = clickOf(brand, 1, '2026-01-01 00:00:00.000');
    for (const token of ['a', 'b', 'a', 'b'])
      await insertOnce(clickhouse, 'clicks_v1', CLICK, rows, `${brand}:${token}`);
    expect(await countsOf(brand)).toEqual({ raw: 2, daily: 2, life: 2, brand: 2 });
  });

  it('applies the token only to its own insert', async () => {
    const brand = unique('brand');
    const rows = clickOf(brand, 1, '2026-01-01 00:00:00.000');
    await insertOnce(clickhouse, 'clicks_v1', CLICK, rows, `${brand}:x`);
    const insert = `INSERT INTO clicks_v1 (${CLICK.join(', ')}) VALUES ('c', '${brand}', 'l', 'k', 'USD', '2026-01-01 00:00:00.000', 'counted', 1, 'DE')`;
    await command(clickhouse, insert);
    await command(clickhouse, insert.replace("'c'", "'d'"));
    expect(await countsOf(brand)).toEqual({ raw: 3, daily: 3, life: 3, brand: 3 });
  });

  it('keeps uncounted clicks separate, and unusual text and times intact', async () => {
    const brand = unique('brand');
    const kinds = ['counted', 'repeat', 'bot', 'prefetch', 'head'];
    const rows = kinds
      .map((kind, i) => clickOf(brand, i, tsvTime(new Date('2026-01-01T10:11:12.345Z')), kind))
      .join('');
    const odd = 'tab\t line\n back\\slash \r \u{1f600}';
    const more = `${[tsvText(odd), brand, 'l', 'k', 'USD', tsvTime(new Date(Date.UTC(1500, 0, 1))), 'bot', '0', ''].join('\t')}\n`;
    await insertOnce(clickhouse, 'clicks_v1', CLICK, rows + more, `${brand}:1`);
    expect(await countsOf(brand)).toEqual({ raw: 6, daily: 1, life: 1, brand: 1 });
    const Row = z.object({ click_id: z.string(), at: z.string() });
    const found = await query(
      clickhouse,
      Row,
      'SELECT click_id, at FROM clicks_v1 WHERE brand_id = {b:String} ORDER BY at, click_id LIMIT 2',
      { b: brand },
    );
    expect(found).toEqual([
      { click_id: odd, at: '1970-01-01 00:00:00.000' },
      { click_id: 'c0', at: '2026-01-01 10:11:12.345' },
    ]);
  });
});

describe('the sums by dimension', () => {
  it('are those of their clicks also where the number of visitors depends on the order of clicks', async () => {
    const brand = unique('brand');
    // As many visitors as are counted exactly: one of them again makes it an estimate, where nothing was summed before.
    const rows = (from: number) =>
      Array.from({ length: 129 }, (_, i) => {
        const id = `c${from + i}`.padStart(5, '0');
        const visitor = from + (i % 128);
        return `${[id, brand, 'l', 'k', 'USD', '1999-01-01 00:00:00.000', 'counted', visitor, 'DE'].join('\t')}\n`;
      }).join('');
    for (const from of [1_000, 1_200]) {
      await insertOnce(clickhouse, 'clicks_v1', CLICK, rows(from), `${brand}:${from}`);
    }
    await command(clickhouse, 'OPTIMIZE TABLE clicks_v1 PARTITION 199901 FINAL');
    const Visitors = z.object({ ofClicks: integer, summed: integer });
    const visitors = `SELECT (SELECT uniqCombined(12)(visitor) FROM clicks_v1 WHERE brand_id = {b:String}) AS ofClicks,
      (SELECT uniqCombinedMerge(12)(visitors) FROM dimension_daily_v1
        WHERE brand_id = {b:String} AND dimension = 'link') AS summed`;
    const [{ ofClicks, summed } = { ofClicks: 0, summed: 0 }] = await query(clickhouse, Visitors, visitors, {
      b: brand,
    });
    expect(summed).toBe(256);
    expect(ofClicks).not.toBe(256);
    expect(await listBrokenRollups(clickhouse, brand)).toEqual([]);
    await command(
      clickhouse,
      `INSERT INTO dimension_daily_v1 (brand_id, dimension, day, key, currency, visitors)
        SELECT {b:String}, 'link', '1999-01-01', 'l', 'USD', uniqCombinedState(12)(number) FROM numbers(30)`,
      { b: brand },
    );
    expect(await listBrokenRollups(clickhouse, brand)).toEqual([{ table: 'dimension_daily_v1', rows: 1 }]);
  });
});

describe('query', () => {
  const Value = z.object({ value: integer });

  it('reads 64-bit integers exactly, or fails', async () => {
    const read = (sql: string) => query(clickhouse, Value, `SELECT ${sql} AS value`);
    expect(await read('toInt64(9007199254740991)')).toEqual([{ value: 9_007_199_254_740_991 }]);
    expect(await read('toInt64(-42)')).toEqual([{ value: -42 }]);
    await expect(read('toInt64(9007199254740993)')).rejects.toBeInstanceOf(z.ZodError);
  });

  it('passes parameters as values, whatever they contain', async () => {
    const Row = z.object({ text: z.string(), many: z.array(z.string()) });
    const text = "it's \\ \t \n {x:String} '; DROP TABLE clicks_v1";
    const sql = 'SELECT {text:String} AS text, {many:Array(String)} AS many';
    expect(await query(clickhouse, Row, sql, { text, many: [text, ''] })).toEqual([{ text, many: [text, ''] }]);
  });

  it('throws 503 when ClickHouse does not answer, and reports our own mistakes as such', async () => {
    const gone = openClickHouse('http://127.0.0.1:1');
    const failure = await query(gone, Value, 'SELECT 1 AS value').catch((error: unknown) => error);
    await gone.close();
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', engine: 'ClickHouse' });
    await expect(query(clickhouse, Value, 'SELECT nonsense')).rejects.not.toBeInstanceOf(ApiError);
  });
});
