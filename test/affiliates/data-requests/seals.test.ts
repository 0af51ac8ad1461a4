import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { carryOutDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { makeMoneyStory, type Story } from '../../harness/affiliates/money-story.ts';
import type { Payer } from '../../harness/affiliates/paying.ts';
import { send, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { findTraces } from '../../harness/platform/traces.ts';

const SQL = path.join(import.meta.dirname, '../../../sql/postgres');

/** The functions of a migration by these names, as they stand in it. */
function readFunctions(file: string, names: readonly string[]): string {
  const text = readFileSync(path.join(SQL, file), 'utf8');
  return names
    .map((name) => {
      const start = text.search(new RegExp(`CREATE (?:OR REPLACE )?FUNCTION ${name}\\(`));
      const end = text.indexOf('$$;', text.indexOf('$$', start) + 2);
      return text.slice(start, end + 3).replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');
    })
    .join('\n');
}

let app: TestApp;
let database: TestDatabase;
let owner: Payer;
let story: Story;

/** A brand whose history was sealed by the release before, which sealed in clear text. */
beforeAll(async () => {
  database = await makeDatabase('clear');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() } });
  const { db } = app.context.postgres;
  await sql.raw(readFunctions('0061_sealed_settings.sql', ['note_written'])).execute(db);
  const inClear = 'CREATE OR REPLACE FUNCTION commit_facts(table_name text, facts jsonb, salt uuid) RETURNS jsonb';
  await sql.raw(`${inClear} LANGUAGE sql IMMUTABLE AS $$ SELECT facts $$`).execute(db);
  ({ owner, story } = await makeMoneyStory(app));
  await sql.raw(readFunctions('0118_seals_of_people.sql', ['note_written', 'commit_facts'])).execute(db);
  await sql`insert into clear_seals values (${owner.brand.id})`.execute(db);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const verify = async () => await verifyRecords(app.context.postgres.db, owner.brand.id);
const request = (body: object) => send(`${app.url}/v1/data-requests`, owner.key, 'POST', body);

class Undone extends Error {}

/** What verify finds after an edit by who owns the database, which is then undone. */
async function foundAfter(statement: string, isQuiet: boolean): Promise<string[]> {
  let problems: string[] = [];
  const run = app.context.postgres.db.transaction().execute(async (trx) => {
    if (isQuiet) await sql`set local session_replication_role = replica`.execute(trx);
    await sql.raw(statement).execute(trx);
    problems = (await verifyRecords(trx, owner.brand.id)).problems;
    throw new Undone();
  });
  await expect(run).rejects.toThrow(Undone);
  return problems;
}

const EDITED = [
  `update payouts set wallet_email = 'thief@mail.example' where id = '$wallet'`,
  `update payouts set wallet_email = null where id = '$wallet'`,
  `update creators set email = null, name = null, erased_by = 'drq_0hand' where id = '$ann'`,
  `update creators set email = null where id = '$ann'; update sealed_rows set salt = null where table_name = 'creators'`,
  `update orders set customer_email = null, customer_hash = sha256('x'), erased_by = 'drq_0hand' where id = '$dueOrder'`,
  `update sealed_rows set salt = null where table_name = 'payouts' and key = array['$wallet']`,
  `update sealed_rows set salt = gen_random_uuid() where table_name = 'payouts' and key = array['$wallet']`,
];

/** Runs statements without a trigger. */
async function runQuietly(statement: string): Promise<void> {
  await app.context.postgres.db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql.raw(statement).execute(trx);
  });
}

const stateOf = async (id: string) =>
  (await app.context.postgres.db.selectFrom('dataRequests').select('state').where('id', '=', id).executeTakeFirst())
    ?.state;

describe('seals from before there were commitments', () => {
  it('are verified as they are, and with what is written now', async () => {
    const { db } = app.context.postgres;
    expect((await verify()).problems).toEqual([]);
    expect(await findTraces(db, [owner.ann.email])).toContain(`sealed_rows: ${owner.ann.email}`);
    const paid = await send(`${app.url}/v1/payouts/${story.open}`, owner.key, 'PATCH', { status: 'paid', note: 'now' });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
    const verified = await verify();
    expect([verified.problems, verified.notes]).toEqual([[], []]);
  });

  it('are not converted, and nobody is erased, while the ledger has an edit', async () => {
    await runQuietly(`update payouts set reference = 'edited' where id = '${story.settled}'`);
    const { body } = await request({ kind: 'erasure', customer_email: 'nobody@shop.example' });
    expect(body.data, JSON.stringify(body)).toMatchObject({ state: 'running' });
    await carryOutDataRequests.run(app.context);
    expect(await stateOf(body.data.id)).toBe('running');
    expect(await app.context.postgres.db.selectFrom('sealConversions').selectAll().execute()).toEqual([]);
    await runQuietly(`update payouts set reference = 'SEPA 9' where id = '${story.settled}'`);
  });

  it('are converted once before the first erasure, whose verification is clean and names the head before', async () => {
    const { db } = app.context.postgres;
    const email = 'late@creators.example';
    await send(`${app.url}/v1/roster`, owner.key, 'POST', { creator_email: email });
    const late = await request({ kind: 'erasure', creator_email: email });
    expect(late.body.data, JSON.stringify(late.body)).toMatchObject({ state: 'running' });
    const earned = { creator_email: email, amount: 25 };
    const { status } = await send(`${app.url}/v1/commissions/manual`, owner.key, 'POST', earned);
    expect(status).toBe(201);
    const before = await verify();
    const { body } = await request({ kind: 'erasure', customer_email: 'nobody@shop.example' });
    await carryOutDataRequests.run(app.context);
    expect(await stateOf(body.data.id)).toBe('done');
    const after = await verify();
    expect([before.problems, after.problems]).toEqual([[], []]);
    expect(after.notes).toEqual([
      expect.stringMatching(/^seals 1 to \d+ were hashed again on .*; the last one was [0-9a-f]{64}$/),
    ]);
    expect(await findTraces(db, [owner.ann.email])).not.toContain(`sealed_rows: ${owner.ann.email}`);
    expect(await stateOf(late.body.data.id)).toBe('open');
    const carryOut = (input: object) =>
      send(`${app.url}/v1/data-requests/${late.body.data.id}/carry-out`, owner.key, 'POST', input);
    expect(await carryOut({})).toMatchObject({ status: 409, body: { code: 'MONEY_DUE' } });
    expect((await carryOut({ forfeit: true })).body.data).toMatchObject({ state: 'done', removed: { creators: 1 } });
    expect((await carryOut({})).body.data).toMatchObject({ state: 'done', removed: { creators: 1 } });
    expect((await verify()).problems).toEqual([]);
    const again = await request({ kind: 'erasure', customer_email: 'nobody@shop.example' });
    expect(again.body.data.state).toBe('done');
  });

  it.each(EDITED)('find an edit of commitments and of what they cover: %s', async (statement) => {
    const filled = statement.replaceAll(/\$(\w+)/g, (_, name: string) => story[name] ?? name);
    expect(await foundAfter(filled, true)).not.toEqual([]);
    if (!filled.includes('gen_random_uuid')) expect(await foundAfter(filled, false)).not.toEqual([]);
  });

  it('stay whole when a creator is erased, and find that one was erased by hand', async () => {
    const body = { kind: 'erasure', creator_id: story.ann, forfeit: true };
    const { data } = (await request(body)).body;
    expect(data).toMatchObject({ state: 'done' });
    const { problems, notes } = await verify();
    expect(problems).toEqual([]);
    expect(notes.at(-1)).toMatch(new RegExp(`^\\d+ rows erased by ${data.id}$`));
    const byHand = `update creators set email = null, name = null, erased_by = '${data.id}' where id = '${story.bo}'`;
    for (const isQuiet of [true, false]) {
      const found = await foundAfter(byHand, isQuiet);
      expect(found).toContainEqual(expect.stringMatching(new RegExp(`^creator ${story.bo}: .*email is nothing`)));
    }
    const back = `update creators set email = 'thief@mail.example' where id = '${story.ann}'`;
    expect(await foundAfter(back, true)).toContainEqual(expect.stringMatching(/email is "thief@mail.example"/));
  });
});
