import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import { createKey } from '../../src/platform/keys/keys.ts';
import { call, startApp, type TestApp } from '../harness/app.ts';
import { makeEmptyDatabase, type TestDatabase } from '../harness/database.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BASELINE = 7;

const Head = z.object({
  at: z.coerce.date(),
  brand: z.string(),
  sequences: z.array(z.object({ name: z.string(), value: z.string() })),
});
const Line = z.union([
  z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) }),
  z.object({ path: z.string(), answer: z.record(z.string(), z.unknown()) }),
]);

/** What release 1.0.0 stored of a brand with a long history, row by row, and how it answered at that time. */
const [first = '', ...others] = readFileSync(path.join(ROOT, 'test/fixtures/release-1.0.0.ndjson'), 'utf8')
  .trim()
  .split('\n');
const head = Head.parse(JSON.parse(first));
const lines = others.map((line) => Line.parse(JSON.parse(line)));
/** Without the time at which the ledger was read; metrics of posts are null until they are read, since 1.1.0. */
const answers = lines.filter((line) => 'path' in line);

let database: TestDatabase;
let app: TestApp;
let key: string;

/** The tables of 1.0.0 with the rows that it stored. */
async function restore(): Promise<void> {
  const client = await database.open();
  const folder = path.join(ROOT, 'sql/postgres');
  for (const file of readdirSync(folder).sort().slice(0, BASELINE)) {
    await client.query(readFileSync(path.join(folder, file), 'utf8'));
  }
  await client.query('create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)');
  // What triggers and references do when rows are written, was done.
  await client.query('set session_replication_role = replica');
  for (const line of lines) {
    if (!('table' in line)) continue;
    const into = `"${line.table}" overriding system value`;
    await client.query(`insert into ${into} select * from jsonb_populate_record(null::"${line.table}", $1)`, [
      line.row,
    ]);
  }
  for (const { name, value } of head.sequences) await client.query('select setval($1, $2)', [name, value]);
  await client.end();
}

beforeAll(async () => {
  database = await makeEmptyDatabase('upgraded');
  await restore();
  app = await startApp({ urls: { postgres: database.url }, clock: { now: () => head.at } });
  const { db } = app.context.postgres;
  await migratePostgres(db);
  const { subscription } = await db
    .selectFrom('subscriptions')
    .select('id as subscription')
    .where('brandId', '=', head.brand)
    .where('kind', '=', 'brand')
    .executeTakeFirstOrThrow();
  const request = { brandId: head.brand, subscriptionId: subscription, kind: 'brand', name: 'upgrade' } as const;
  key = (await createKey(db, app.context.clock, request)).key;
  await rebuildFigures(app.context, head.brand);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

describe('A brand of 1.0.0, after the upgrade,', () => {
  it.each(answers)('is answered as before at $path', async (line) => {
    const { status, body } = await call(`${app.url}/v1${line.path}`, key);
    expect(status).toBe(200);
    expect(body).toMatchObject(line.answer);
  });

  it('has the ledger that it had, and its chain is whole', async () => {
    const { entries, hash, problems } = await verifyLedger(app.context, head.brand);
    expect(problems).toEqual([]);
    const kept = lines.flatMap((line) => ('table' in line && line.table === 'ledger_entries' ? [line.row] : []));
    const last = kept.toSorted((one, other) => Number(one.seq) - Number(other.seq)).at(-1);
    expect([entries, `\\x${hash}`]).toEqual([kept.length, last?.hash]);
  });
});
