import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgres, type Postgres } from '../../../src/kit/engines/postgres/open.ts';
import { transact } from '../../../src/kit/engines/postgres/transaction.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
let postgres: Postgres;

beforeAll(async () => {
  database = await makeDatabase('prepared');
  // One connection, so that each statement meets what it prepared before.
  postgres = openPostgres(database.url, { max: 1 });
  await sql`create table things (id int primary key, name text)`.execute(postgres.db);
});
afterAll(async () => {
  await postgres?.close();
  await database?.drop();
});

/** Runs a change as every writing operation does; returns its row, and how often it was begun. */
async function insert(id: number): Promise<{ row: unknown; attempts: number }> {
  let attempts = 0;
  const row = await transact(postgres.db, async (trx) => {
    attempts += 1;
    const { rows } = await sql`insert into things (id, name) values (${id}, ${`thing ${id}`}) returning *`.execute(trx);
    return rows[0];
  });
  return { row, attempts };
}

async function listPrepared(): Promise<unknown[]> {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(postgres.db);
  return rows.map(({ statement }) => statement);
}

test('a transaction’s statements are prepared once, and lists outside transactions never', async () => {
  await insert(1);
  await insert(2);
  await sql`select * from things where id > ${0}`.execute(postgres.db);
  expect(await listPrepared()).toEqual(['insert into things (id, name) values ($1, $2) returning *']);
});

test('a column that a newer release adds meanwhile causes no error: the transaction is run again', async () => {
  await insert(3);
  await sql`alter table things add column more int default 7`.execute(postgres.db);
  expect(await insert(4)).toEqual({ row: { id: 4, name: 'thing 4', more: 7 }, attempts: 2 });
  expect(await insert(5)).toEqual({ row: { id: 5, name: 'thing 5', more: 7 }, attempts: 1 });
  const { rows } = await sql`select id from things order by id`.execute(postgres.db);
  expect(rows).toEqual([1, 2, 3, 4, 5].map((id) => ({ id })));
});
