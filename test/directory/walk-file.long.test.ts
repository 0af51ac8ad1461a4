import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ledgerOf, makeBrand, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { CHILD_ENV } from '../harness/child.ts';
import { runCli } from '../harness/cli.ts';
import { creator, putDirectory } from '../harness/directory.ts';

const CREATORS = 9_150;
const alias = unique('walkfile');
let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await startApp({ alias });
  const creators = Array.from({ length: CREATORS }, (_, i) =>
    creator(i + 1, { biography: 'Zoë runs. '.repeat(i % 9) }),
  );
  await putDirectory(app.context.elastic, alias, creators);
  folder = await mkdtemp(path.join(tmpdir(), 'walk-'));
});
afterAll(async () => {
  await app?.close();
  await rm(folder, { recursive: true, force: true });
});

it('a walk into a file that is killed continues with the same command, has every creator once, and is paid once', async () => {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
  const env = { ROLLCALL_URL: app.url, ROLLCALL_DATA_KEY: await brand.key('data') };
  const out = path.join(folder, 'creators.ndjson');
  const args = ['search', '--walk', '--out', out, '--data-key', '--json'];
  const killed = spawn(process.execPath, ['src/cli.ts', ...args], { env: { ...CHILD_ENV, ...env }, stdio: 'ignore' });
  const saved = async () => JSON.parse(await readFile(`${out}.walk`, 'utf8').catch(() => '{}'));
  await until('a cursor in the middle', async () => (await saved()).creators >= 1_000);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const other = await runCli(['search', 'country=CA', '--walk', '--out', out, '--data-key'], env);
  expect([other.status, other.said]).toEqual([1, expect.stringContaining('other filters')]);
  const { status, out: printed, said } = await runCli(args, env);
  expect(said).toMatch(/^Continuing after \d,000 creators\.$/m);
  expect([status, JSON.parse(printed)]).toMatchObject([0, { creators: CREATORS, credits: 920 }]);
  const lines = (await readFile(out, 'utf8')).trimEnd().split('\n');
  const pks = lines.map((line) => JSON.parse(line).pk).toSorted((one, two) => one - two);
  expect(pks).toEqual(Array.from({ length: CREATORS }, (_, i) => i + 1));
  expect((await ledgerOf(app.context, brand)).charged).toBe(920);
  expect(await readdir(folder)).toEqual(['creators.ndjson']);
});
