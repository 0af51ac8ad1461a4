import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
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

test.each([
  ['0001_create_access', /^PostgreSQL has data of a version before 1\.0\.0, .*start with empty engines/],
  ['0999_later', /^PostgreSQL has data of a newer version \(its migration 0999_later is unknown here\)/],
])('A database with the migration %s is refused in one sentence', async (name, sentence) => {
  const { db } = app.context.postgres;
  await migratePostgres(db);
  await sql`insert into kysely_migration (name, timestamp) values (${name}, '2026-01-01')`.execute(db);
  await expect(migratePostgres(db)).rejects.toThrow(sentence);
  await sql`delete from kysely_migration where name = ${name}`.execute(db);
});

test('The migrations of ClickHouse change nothing when they run again', async () => {
  await migrateClickHouse(app.context.clickhouse);
  expect(await migrateClickHouse(app.context.clickhouse)).toEqual([]);
});
