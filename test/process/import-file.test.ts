import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJobs } from '../harness/analytics/exporting.ts';
import { makeBrand, send, startApp, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { runCli } from '../harness/process/cli.ts';

const NOW = new Date('2026-11-27T18:00:00Z');
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-import-'));
let database: TestDatabase;
let app: TestApp;
let key: string;
beforeAll(async () => {
  // Turns are taken of all jobs there are.
  database = await makeDatabase('importfile');
  app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_DIR: folder }, clock: { now: () => NOW } });
  key = await (await makeBrand(app.context)).key('brand');
  await send(`${app.url}/v1/roster`, key, 'POST', { creator_email: 'ana@creators.example' });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const fixture = (name: string) => path.join(import.meta.dirname, '../fixtures/imports', name);
const get = async (where: string) => (await send(`${app.url}/v1${where}`, key, 'GET')).body;

/** `rollcall import …`, while a worker does what is due. */
async function importFile(...args: string[]) {
  let isOver = false;
  const working = until('the command has ended', async () => {
    await runJobs(app);
    return isOver;
  });
  const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: key };
  const answer = await runCli(['import', ...args], env).finally(() => {
    isOver = true;
  });
  await working;
  return answer;
}

describe('rollcall import', () => {
  it('prints what a file has, and records it only if it is told to', async () => {
    const file = fixture('01-past-orders-shopify.csv');
    const read = await importFile(file, '--of', 'orders');
    expect(read.status).toBe(0);
    expect(read.out).toContain('new: 4 records, 5300 USD net, 7000 refunded');
    expect((await get('/orders')).pagination.total).toBe(0);
    const done = await importFile(file, '--of', 'orders', '--yes');
    expect([done.status, done.out.trim().split('\n').at(-1)]).toEqual([0, 'done: 4 written, 0 known']);
    expect((await get('/orders')).pagination.total).toBe(4);
  });

  it('ends with 3 and the settings that answer each question, and with 4 if lines were refused', async () => {
    const file = path.join(folder, 'open.csv');
    writeFileSync(file, 'email,amount,currency,date\nana@creators.example,20.00,GBP,03/04/2026\n');
    const asked = await importFile(file, '--of', 'commissions', '--yes');
    expect(asked.status).toBe(3);
    expect(asked.out).toContain("--set 'dates=dmy'");
    const answered = await importFile(file, '--of', 'commissions', '--yes', '--set', 'dates=dmy');
    expect(answered.status).toBe(0);
    expect((await get('/past-commissions')).data[0].paid_at).toMatch(/^2026-04-03/);
    writeFileSync(
      file,
      'email,amount,currency,paid_at,status\na@x.example,2.00,EUR,2026-04-03,\nb@x.example,1.00,EUR,2026-04-03,paid\n',
    );
    const empty = await importFile(file, '--of', 'commissions');
    expect([empty.status, empty.out]).toEqual([3, expect.stringContaining("It is paid: --set 'statuses.=paid'")]);
    const said = ['--set', 'statuses.=paid', '--option', 'add_creators', '--yes'];
    expect((await importFile(file, '--of', 'commissions', ...said)).out).toContain('done: 2 written');
    const some = await importFile(fixture('11-past-commissions-symbols.csv'), '--of', 'commissions', '--yes');
    expect([some.status, some.out]).toEqual([4, expect.stringContaining('Refused (lines 6)')]);
  });

  it('ends with 2 without a file, and with 1 if the file is refused', async () => {
    expect((await importFile('--of', 'orders')).status).toBe(2);
    const empty = path.join(folder, 'empty.csv');
    writeFileSync(empty, 'email,name\n');
    expect((await importFile(empty, '--of', 'roster')).status).toBe(1);
  });
});
