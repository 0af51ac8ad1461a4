import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock } from '../../../src/kit/values/clock.ts';
import { runJobs } from '../analytics/exporting.ts';
import { type Answer, call, makeBrand, send, startApp, type TestApp, until } from '../app.ts';
import { makeDatabase } from '../database.ts';
import { file } from './uploading.ts';

export const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/imports/${name}`, import.meta.url), 'utf8');

/** An app on a database of its own, because turns are taken of all jobs there are; processes with its `env` share both. */
export async function startImporting(clock: Clock): Promise<TestApp & { env: NodeJS.ProcessEnv }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-importing-'));
  const database = await makeDatabase('importing');
  const app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_DIR: folder }, clock });
  return {
    ...app,
    env: { DATABASE_URL: database.url, ROLLCALL_DIR: folder },
    close: async () => {
      await app.close();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A brand with a key, what it reads, and how it adds creators to its roster. */
export async function makeImporter(app: TestApp, currency = 'EUR') {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { currency } });
  const get = async (path: string) => (await send(`${app.url}/v1${path}`, key, 'GET')).body;
  const add = (creator_email: string) => send(`${app.url}/v1/roster`, key, 'POST', { creator_email });
  return { brand, key, get, add };
}

/** Answers questions of an import, and returns it once it is read again. */
export async function answerImport(app: TestApp, key: string, { id }: { id: string }, mapping: object) {
  await send(`${app.url}/v1/imports/${id}`, key, 'PATCH', { mapping });
  await runJobs(app);
  return await getImport(app, key, id);
}

/** Sends a file as the form of the web app does. */
export async function sendImport(
  { url }: TestApp,
  key: string,
  of: string,
  content: string | Uint8Array<ArrayBuffer>,
  { name = 'file.csv', ...fields }: Record<string, string> = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ of, ...fields })) form.append(field, value);
  form.append('file', file(content, name));
  return await call(`${url}/v1/imports`, key, { method: 'POST', body: form });
}

export async function getImport({ url }: TestApp, key: string, id: string): Promise<Answer['body']> {
  const { status, body } = await send(`${url}/v1/imports/${id}`, key, 'GET');
  if (status !== 200) throw new Error(`GET /v1/imports/${id} answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

const BUSY = ['reading', 'running', 'undoing'];

/** Does what is due until no worker has to do with the import; a turn that a busy machine failed is taken again. */
async function finish(app: TestApp, key: string, id: string): Promise<Answer['body']> {
  const { postgres, clock } = app.context;
  let current: Answer['body'];
  await until('the import is at rest', async () => {
    const waiting = postgres.db.updateTable('jobs').where('claim', 'is', null).where('status', '=', 'running');
    await waiting.set({ dueAt: clock.now() }).execute();
    await runJobs(app);
    current = await getImport(app, key, id);
    return !BUSY.includes(current.status);
  });
  return current;
}

/** Sends a file, and returns its import once a worker has read it. */
export async function readImport(
  app: TestApp,
  key: string,
  ...file: [of: string, content: string | Uint8Array<ArrayBuffer>, fields?: Record<string, string>]
) {
  const { status, body } = await sendImport(app, key, ...file);
  if (status !== 202) throw new Error(`POST /v1/imports answered ${status}: ${JSON.stringify(body)}`);
  return await finish(app, key, body.data.id);
}

/** Confirms what was read, and returns the import once it is written. */
export async function confirmRead(app: TestApp, key: string, { id, reading_id }: Answer['body']) {
  const { status, body } = await send(`${app.url}/v1/imports/${id}/confirm`, key, 'POST', { reading_id });
  if (status !== 202) throw new Error(`The confirmation was answered ${status}: ${JSON.stringify(body)}`);
  return await finish(app, key, id);
}

/** Sends a file, and records what it has without a question. */
export const importFile = async (app: TestApp, key: string, ...file: [string, string, Record<string, string>?]) =>
  await confirmRead(app, key, await readImport(app, key, ...file));
