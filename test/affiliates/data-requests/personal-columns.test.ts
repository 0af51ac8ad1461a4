import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  IDENTITIES,
  MENTIONS,
  NOT_PERSONAL,
  OF_CREATORS,
  OF_CUSTOMERS,
  OWN_WORDS,
} from '../../../src/affiliates/data-requests/personal-columns.ts';
import { startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const PERSONAL = [OF_CREATORS, OF_CUSTOMERS].flatMap((tables) =>
  Object.entries(tables).flatMap(([table, { columns }]) => Object.keys(columns).map((name) => `${table}.${name}`)),
);
const named = (tables: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(tables).flatMap(([table, columns]) => columns.map((name) => `${table}.${name}`));
const LISTED = [...PERSONAL, ...named(MENTIONS), ...named(OWN_WORDS), ...named(NOT_PERSONAL)];

describe('the list of personal columns', () => {
  it('says of every column of text, JSON or bytes once whether it is personal', async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and table_name not like 'credit\\_entries\\_%' and table_name <> 'migrations'
        and data_type in ('text', 'json', 'jsonb', 'bytea', 'ARRAY', 'uuid')
        and column_name <> 'id' and column_name not like '%\\_id' and column_name not like '%\\_ids'
      order by 1`.execute(app.context.postgres.db);
    const columns = rows.map(({ name }) => name);
    const listed = LISTED.filter((name) => !/\.\w+_ids$/.test(name));
    expect(columns.filter((name) => !listed.includes(name))).toEqual([]);
    expect(listed.filter((name) => !columns.includes(name))).toEqual([]);
    expect(listed.filter((name, i) => listed.indexOf(name) !== i)).toEqual([]);
  });

  it('has the columns by which others are known, and none else stays of others', () => {
    expect(named(IDENTITIES).filter((name) => !PERSONAL.includes(name))).toEqual([]);
  });

  it('is what the seals have as commitments', async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns, personal_columns(table_name) as personal
      where table_schema = 'public' and column_name = any(personal) order by 1`.execute(app.context.postgres.db);
    const { rows: sealed } = await sql<{ name: string }>`
      select distinct event_object_table || '.' || column_name as name
      from information_schema.triggers join information_schema.columns on table_name = event_object_table
      where trigger_name = 'note_written' and (sealed_columns(table_name) is null or column_name = any(sealed_columns(table_name)))`.execute(
      app.context.postgres.db,
    );
    const personal = [...PERSONAL, ...named(MENTIONS)];
    // A key tells its hash, and a name of the carrier's or the store's own is nobody's.
    const keys = ['customer_keys.key'];
    const wanted = sealed.map(({ name }) => name).filter((name) => personal.includes(name) && !keys.includes(name));
    expect(rows.map(({ name }) => name)).toEqual(wanted.sort());
  });
});
