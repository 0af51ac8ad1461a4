import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateClickHouse } from '../../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import { startApp, type TestApp } from '../harness/app.ts';
import { makeEmptyDatabase, type TestDatabase } from '../harness/database.ts';

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeEmptyDatabase('upgrade');
  app = await startApp({ urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** Every column, index, constraint, trigger and function. */
async function schemaOf(): Promise<unknown[]> {
  const client = await database.open();
  const { rows } = await client.query(`
    select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable as fact
      from information_schema.columns where table_schema = 'public'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    order by 1`);
  await client.end();
  return rows;
}

const filesOf = async (folder: string) => (await readdir(folder)).sort().map((file) => file.replace(/\.sql$/, ''));

test('The migrations of PostgreSQL apply to an empty database in order, and change nothing when they run again', async () => {
  const { db } = app.context.postgres;
  expect(await migratePostgres(db)).toEqual(await filesOf('sql/postgres'));
  const schema = await schemaOf();
  expect(schema.length).toBeGreaterThan(500);
  expect(await migratePostgres(db)).toEqual([]);
  expect(await schemaOf()).toEqual(schema);
});

test('The migrations of ClickHouse change nothing when they run again', async () => {
  await migrateClickHouse(app.context.clickhouse);
  expect(await migrateClickHouse(app.context.clickhouse)).toEqual([]);
});
