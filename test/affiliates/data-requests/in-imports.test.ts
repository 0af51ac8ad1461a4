import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { expireImports } from '../../../src/affiliates/imports/imports.jobs.ts';
import { runTurns } from '../../../src/platform/jobs/turns.ts';
import { runJobs } from '../../harness/analytics/exporting.ts';
import { send, type TestApp, unique, until } from '../../harness/app.ts';
import {
  confirmRead,
  getImport,
  importFile,
  makeImporter,
  readImport,
  sendImport,
  startImporting,
} from '../../harness/platform/importing.ts';
import { findTraces } from '../../harness/platform/traces.ts';

const clock = { at: Date.parse('2026-11-27T18:00:00Z'), now: () => new Date(clock.at) };
let app: TestApp;
beforeAll(async () => {
  app = await startImporting(clock);
});
afterAll(() => app?.close());

const REASON = 'It named somebody who was erased. The file was removed; send it again without them.';
const KEEP = { mapping: '{"known":"keep"}' };
const HEAD = 'Name,Email,Instagram,Notes\n';
const traces = (...texts: string[]) => findTraces(app.context.postgres.db, texts);

async function open() {
  const importer = await makeImporter(app);
  const post = (path: string, body: object) => send(`${app.url}/v1${path}`, importer.key, 'POST', body);
  const ask = async (kind: string, who: object) => {
    const { status, body } = await post('/data-requests', { kind, ...who });
    expect([status, body.data?.state], JSON.stringify(body)).toEqual([201, 'done']);
    return body.data;
  };
  const confirm = ({ id, reading_id }: { id: string; reading_id: string }) =>
    post(`/imports/${id}/confirm`, { reading_id });
  const end = async () => {
    await endDataRequests.run(app.context);
    await expireImports.run(app.context);
  };
  return { ...importer, post, ask, confirm, end };
}

/** A file of which the person's line is in the second batch. */
const manyLines = (who: string, line: string) =>
  HEAD +
  Array.from({ length: 901 }, (_, i) => (i === 700 ? line : `Many ${who} ${i},many${i}@${who}.example,,`)).join('\n');

describe('an erasure and imports', () => {
  it('keeps away who is named in a file that is being recorded: the line is refused with the reason, and the file goes', async () => {
    const { key, get, add, ask, confirm, end } = await open();
    const who = unique('runs').toLowerCase();
    const email = `y@${who}.example`;
    await add(email);
    const line = `Ypsilon Runninova,${email},ypsilonruns,likes ypsilonnuts`;
    const read = await readImport(app, key, 'roster', manyLines(who, line), KEEP);
    expect((await confirm(read)).status).toBe(202);
    const closing = new AbortController();
    const turn = runTurns.run({ ...app.context, stopping: closing }, 1);
    const position = app.context.postgres.db.selectFrom('imports').select('handled').where('id', '=', read.id);
    await until('a batch is written', async () => ((await position.executeTakeFirst())?.handled ?? 0) > 0);
    closing.abort();
    await turn;
    await ask('erasure', { creator_email: email });
    clock.at += 1_000;
    await runJobs(app);
    const done = await getImport(app, key, read.id);
    expect(done).toMatchObject({ status: 'done', handled: 901 });
    expect((await get(`/roster?creator_email=${email}`)).data).toEqual([]);
    expect(done.result.written).toBe(900);
    // The erasure came before the second batch, or waited for it.
    const { data } = await get(`/imports/${read.id}/lines?outcome=refused`);
    expect(data).toHaveLength(done.result.refused);
    for (const one of data)
      expect(one).toMatchObject({ kind: 'erased', record: null, message: expect.stringContaining('was erased') });
    await end();
    expect(await traces(email, 'Ypsilon Runninova', 'ypsilonruns', 'ypsilonnuts')).toEqual([]);
    const row = app.context.postgres.db.selectFrom('imports').select('storageKey').where('id', '=', read.id);
    expect(await row.executeTakeFirst()).toEqual({ storageKey: null });

    // A file that is sent later is the brand's own decision.
    await importFile(app, key, 'roster', `${HEAD}${line}\n`);
    expect((await get(`/roster?creator_email=${email}`)).data).toHaveLength(1);
  });

  it('keeps away who is named in a confirmed file of which nothing is recorded yet, by address or by handle alone', async () => {
    const { key, get, add, ask, confirm, post } = await open();
    const who = unique('waits').toLowerCase();
    await add(`y@${who}.example`);
    await post('/roster/add', { ig_handle: `@${who}` });
    const csv = `${HEAD}Ypsilon Waitova,y@${who}.example,,\nHandle Waitova,,${who},\nOther,other@${who}.example,,\n`;
    const read = await readImport(app, key, 'roster', csv, KEEP);
    expect((await confirm(read)).status).toBe(202);
    await ask('erasure', { creator_email: `Y@${who}.example` });
    await ask('erasure', { creator_handle: who });
    await runJobs(app);
    expect(await getImport(app, key, read.id)).toMatchObject({ status: 'done', result: { written: 1, refused: 2 } });
    expect((await get('/roster')).data.map((one: { creator_email: string }) => one.creator_email)).toEqual([
      `other@${who}.example`,
    ]);
  });

  it.each(['in nothing else', 'as a creator, too'])(
    'records an order of a file without its buyer, who was erased meanwhile and stands %s',
    async (standing) => {
      const { key, get, add, ask, confirm } = await open();
      const email = `${unique('buyer').toLowerCase()}@mail.example`;
      if (standing === 'as a creator, too') await add(email);
      const csv = `order_id,placed_at,amount,currency,customer_email\nA1,2026-03-02T10:00:00Z,5.00,EUR,${email}\n`;
      const read = await readImport(app, key, 'orders', csv);
      expect((await confirm(read)).status).toBe(202);
      await ask('erasure', { customer_email: email });
      await runJobs(app);
      expect(await getImport(app, key, read.id)).toMatchObject({ status: 'done', result: { written: 1 } });
      const [order] = (await get('/orders')).data;
      expect(order).toMatchObject({ order_id: 'A1', amount: 5 });
      const row = app.context.postgres.db.selectFrom('orders').select(['customerEmail', 'customerHash']);
      expect(await row.where('id', '=', order.id).executeTakeFirst()).toEqual({
        customerEmail: null,
        customerHash: null,
      });
    },
  );

  it('ends an import at once that was not confirmed, with the reason, also with open questions', async () => {
    const { key, add, ask, confirm, post } = await open();
    const who = unique('asked').toLowerCase();
    const email = `y@${who}.example`;
    await add(email);
    const ready = await readImport(app, key, 'roster', `${HEAD}Ypsilon Readyova,${email},,\n`, KEEP);
    const paid = 'email,amount,currency,date\n';
    const rows = ['03/04/2026', '04/05/2026'].map((day) => `${email},20.00,GBP,${day}\n`);
    const asked = await readImport(app, key, 'commissions', paid + rows.join(''));
    expect([ready.status, asked.status]).toEqual(['ready', 'needs_answers']);
    await ask('erasure', { creator_email: email });
    for (const { id } of [ready, asked]) {
      const now = await getImport(app, key, id);
      expect(now).toMatchObject({ status: 'failed', error: REASON });
      expect(JSON.stringify(now)).not.toContain(email);
    }
    const refused = await confirm(ready);
    expect([refused.status, refused.body.error ?? refused.body.message]).toEqual([
      409,
      expect.stringContaining(REASON),
    ]);
    const patched = await send(`${app.url}/v1/imports/${asked.id}`, key, 'PATCH', { mapping: { dates: 'dmy' } });
    expect(patched.status).toBe(409);
    expect((await post(`/imports/${asked.id}/confirm`, { reading_id: 'rdg_other' })).status).toBe(409);
    expect(await traces(email)).toEqual([]);
  });

  it('ends an import that is read only after the erasure', async () => {
    const { key, ask, add, end } = await open();
    const email = `${unique('unread').toLowerCase()}@mail.example`;
    await add(email);
    const { body } = await sendImport(app, key, 'roster', `${HEAD}Ypsilon Unreadova,${email},,\n`);
    await ask('erasure', { creator_email: email });
    await runJobs(app);
    expect(await getImport(app, key, body.data.id)).toMatchObject({ status: 'failed', error: REASON });
    await end();
    expect(await traces(email, 'Ypsilon Unreadova')).toEqual([]);
  });

  it('tells and takes who stands in nothing but an import that waits', async () => {
    const { key, ask, get } = await open();
    const email = `${unique('only').toLowerCase()}@mail.example`;
    const read = await readImport(app, key, 'roster', `${HEAD}Onlya Importova,${email},onlyahandle,likes onlynuts\n`);
    const access = await ask('access', { creator_email: email });
    expect(access.removed).toEqual({ imports: 1, import_lines: 1 });
    const { data: told } = await get(`/data-requests/${access.id}/file`);
    const { tables, received_by } = told ?? (await get(`/data-requests/${access.id}/file`));
    expect(tables.imports).toMatchObject([{ id: read.id, of: 'roster', file_name: 'file.csv' }]);
    expect(JSON.stringify(tables.import_lines)).toContain(email);
    expect(received_by).toEqual([]);
    expect((await ask('erasure', { creator_email: email })).removed).toMatchObject({ imports: 1, import_lines: 1 });
    expect(await traces(email, 'Onlya Importova', 'onlyahandle', 'onlynuts')).toEqual([]);
    expect((await ask('erasure', { creator_email: email })).removed).toEqual({});
    expect(await getImport(app, key, read.id)).toMatchObject({ status: 'failed' });
  });

  it('leaves a file that names others alone', async () => {
    const { key, add, ask } = await open();
    const who = unique('others').toLowerCase();
    await add(`y@${who}.example`);
    const read = await readImport(app, key, 'roster', `${HEAD}Other Otherova,other@${who}.example,,\n`);
    await ask('erasure', { creator_email: `y@${who}.example` });
    expect(await confirmRead(app, key, read)).toMatchObject({ status: 'done', result: { written: 1, refused: 0 } });
  });
});
