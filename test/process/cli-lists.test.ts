import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runIndexer } from '../../indexer/run.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, unique, until } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { runCli } from '../harness/process/cli.ts';
import { runHere } from '../harness/process/command.ts';

const alias = unique('lists');
let app: TestApp;
let brand: TestBrand;

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
  brand = await makeBrand(app.context);
});
afterAll(() => app?.close());

async function cli(...args: string[]) {
  const { status, out, said } = await runCli(args);
  expect([args, status, said]).toEqual([args, 0, expect.any(String)]);
  return { out, said, json: () => JSON.parse(out) };
}
const usage = (key: string) => call(`${app.url}/v1/usage`, key).then(({ status }) => status);

describe('lists of the command line', () => {
  it('print their columns on stderr, so that stdout only has rows, and are arrays with --json', async () => {
    await brand.key('data');
    for (const args of [
      ['brand', 'list'],
      ['key', 'list', '--brand', brand.id],
      ['integration', 'list', '--brand', brand.id],
      ['mail', 'list'],
      ['import', 'history'],
      ['jobs', 'list'],
      ['credits', 'show', '--brand', brand.id],
    ]) {
      const { out, said } = await cli(...args);
      const columns = said.trim().split('\t');
      expect([args, columns.length > 4]).toEqual([args, true]);
      for (const line of out.split('\n').filter(Boolean)) expect(line.split('\t')).toHaveLength(columns.length);
      const listed = await cli(...args, '--json');
      const items = listed.json();
      expect([args, Array.isArray(items), listed.said]).toEqual([args, true, '']);
      const names = columns.map((column) => column.toLowerCase().replaceAll(' ', '_'));
      for (const item of items) expect(Object.keys(item)).toEqual(expect.arrayContaining(names));
    }
  });

  it('show brands with their plans and the number of working keys', async () => {
    const { json } = await cli('brand', 'list', '--json');
    const found = json().find(({ id }: { id: string }) => id === brand.id);
    expect(found).toMatchObject({ brand_plan: 'growth (active)', data_plan: 'growth (active)' });
    const shown = (await cli('brand', 'show', brand.id, '--json')).json();
    expect(shown).toMatchObject({ id: brand.id, plan: 'growth', subscriptions: [{ kind: 'brand' }, { kind: 'data' }] });
    expect(shown.keys).toBeGreaterThan(0);
    expect((await cli('brand', 'show', brand.id)).out).toContain(`id\t${brand.id}\n`);
    expect((await runCli(['brand', 'show', 'nobody-s-brand'])).said).toContain('No brand "nobody-s-brand"');
  });

  it('count the last call in credits show', async () => {
    const own = await makeBrand(app.context, { credits: 100 });
    const key = await own.key('data');
    expect((await call(`${app.url}/v1/creators/search`, key)).status).toBe(200);
    const [balance] = (await cli('credits', 'show', '--brand', own.id, '--json')).json();
    expect(balance).toMatchObject({ granted: 100, charged: 10, refunded: 0, remaining: 90, plan: 'growth' });
  });

  it('include past imports: what was imported and written, when, and how long it took', async () => {
    const { db } = app.context.postgres;
    const at = (second: number) => new Date(Date.UTC(2027, 0, 1, 0, 0, second));
    const base = { alias, files: ['a.ndjson', 'b.ndjson'], maxRejects: '1%', rejectsFile: 'r', enqueued: false };
    const facts = { ...base, indexName: null, identity: null, progress: null, documents: 90, retiredAt: null };
    await db
      .insertInto('directoryImports')
      .values([
        {
          ...{ ...facts, id: unique('imp'), state: 'live', position: 100, accepted: 90, rejected: 10, failure: null },
          ...{ startedAt: at(0), updatedAt: at(9), swappedAt: at(8) },
        },
        {
          ...{
            ...facts,
            id: unique('imp'),
            state: 'failed',
            position: 5,
            accepted: 0,
            rejected: 5,
            failure: 'too many',
          },
          ...{ startedAt: at(20), updatedAt: at(21), swappedAt: null },
        },
      ])
      .execute();
    const write = { alias, indexName: 'i', file: 'c.csv', rows: 7, lastVersion: 1, startedAt: at(10) };
    await db
      .insertInto('directoryWrites')
      .values({ ...write, id: unique('wri'), kind: 'upsert', finishedAt: at(11) })
      .execute();
    const { json } = await cli('import', 'history', '--alias', alias, '--json');
    expect(json()).toMatchObject([
      { what: 'import', state: 'failed', rows: 5, rejects: 5, seconds: 1, failure: 'too many' },
      { what: 'upsert', state: 'done', rows: 7, rejects: null, seconds: 1, files: 'c.csv' },
      { what: 'import', state: 'live', rows: 100, rejects: 10, seconds: 8, files: 'a.ndjson, b.ndjson' },
    ]);
  });
});

describe('key rotate', () => {
  it('creates a new key with the same name, and the old one works until the overlap ends', async () => {
    const old = (await cli('key', 'create', '--brand', brand.id, '--type', 'brand', '--name', 'job')).out.trim();
    expect(await usage(old)).toBe(200);
    const { out, said } = await runCli(['key', 'rotate', '-', '--overlap', '2h'], {}, old);
    expect(out).toMatch(/^svk_\w{40}\n$/);
    expect(said).toContain('works for another 2h');
    expect([await usage(old), await usage(out.trim())]).toEqual([200, 200]);
    const keys = (await cli('key', 'list', '--brand', brand.id, '--json')).json();
    const jobs = keys.filter(({ name }: { name: string }) => name === 'job');
    expect(jobs.map(({ expires_at }: { expires_at: string | null }) => expires_at === null).sort()).toEqual([
      false,
      true,
    ]);
    const ends = jobs.map((row: { expires_at: string | null }) => row.expires_at).find(Boolean);
    expect(Math.abs(Date.parse(ends) - Date.now() - 2 * 3_600_000)).toBeLessThan(60_000);

    await runCli(['key', 'rotate', '-', '--overlap', '0'], {}, out);
    await until('the key without an overlap is refused', async () => (await usage(out.trim())) === 401);
    const again = await runCli(['key', 'rotate', '-'], {}, out);
    expect([again.status, again.said]).toEqual([1, expect.stringContaining('no longer works')]);
  });
});

describe('the command line', () => {
  it('marks required arguments in its help', async () => {
    const { out } = await runCli(['key', 'create', '--help']);
    expect(out.replace(/\s+/g, ' ')).toMatch(/--type <type> .*? \(required\)/);
    expect(out).not.toMatch(/--(?:name|brand)[^\n]*required/);
  });

  it('explains in plain words what is wrong with a file', async () => {
    const connect = [
      'integration',
      'connect',
      '--brand',
      brand.id,
      '--provider',
      'generic',
      '--url',
      'https://a.example',
    ];
    const missing = path.join(tmpdir(), unique('missing'));
    const cases: [string, string][] = [
      [missing, `There is no file ${missing}.`],
      [tmpdir(), `This is a folder, not a file: ${tmpdir()}.`],
    ];
    for (const [file, words] of cases) {
      const { status, said } = await runCli([...connect, '--token-file', file, '--webhook-secret-file', file]);
      expect([status, said]).toEqual([1, `${words}\n`]);
    }
    const imported = await runHere(() => runIndexer(['import', missing]), { ROLLCALL_DIR: '/dev/null/none' });
    expect([imported.status, imported.said]).toEqual([1, `${missing} is not a file that can be read.\n`]);
  });
});
