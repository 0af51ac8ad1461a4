import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ledgerOf, makeBrand, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { CHILD_ENV } from '../harness/process/child.ts';
import { runCli } from '../harness/process/cli.ts';

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
  const misspelt = await runCli(['search', 'contry=CA', 'city= ', '--walk', '--out', `${out}.2`, '--data-key'], env);
  expect([misspelt.status, misspelt.said]).toEqual([
    1,
    expect.stringMatching(/^contry is not .*Did you mean country\?\ncity is blank/m),
  ]);
  const { status, out: printed, said } = await runCli(args, env);
  expect(said).toMatch(/^Continuing after \d,000 creators\.$/m);
  expect([status, JSON.parse(printed)]).toMatchObject([0, { creators: CREATORS, credits: 920 }]);
  const lines = (await readFile(out, 'utf8')).trimEnd().split('\n');
  const pks = lines.map((line) => JSON.parse(line).pk).toSorted((one, two) => one - two);
  expect(pks).toEqual(Array.from({ length: CREATORS }, (_, i) => i + 1));
  expect((await ledgerOf(app.context, brand)).charged).toBe(920);
  expect(await readdir(folder)).toEqual(['creators.ndjson']);
});

it('a walk that finds nobody says what does, and a parameter that is named twice is refused', async () => {
  const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: await (await makeBrand(app.context)).key('brand') };
  const run = (...filters: string[]) =>
    runCli(['search', ...filters, '--walk', '--out', path.join(folder, 'nobody')], env);
  const nobody = await run('category=Fitnes');
  expect([nobody.status, nobody.said]).toEqual([
    0,
    expect.stringContaining('Nobody is found; category=fitness finds 9,150.'),
  ]);
  const twice = await run('country=US', 'country=DE');
  expect([twice.status, twice.said]).toEqual([2, expect.stringContaining('names country twice')]);
  await rm(path.join(folder, 'nobody'));
});

it('a walk that Ctrl-C stops says how to go on, and that command continues it', async () => {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
  const env = { ROLLCALL_URL: app.url, ROLLCALL_DATA_KEY: await brand.key('data') };
  const out = path.join(folder, 'stopped here.ndjson');
  const args = ['search', 'country=US', '--walk', '--out', out, '--data-key'];
  const stopped = spawn(process.execPath, ['src/cli.ts', ...args], { env: { ...CHILD_ENV, ...env } });
  const said = text(stopped.stderr);
  const saved = async () => JSON.parse(await readFile(`${out}.walk`, 'utf8').catch(() => '{}'));
  await until('a cursor in the middle', async () => (await saved()).creators >= 1_000);
  stopped.kill('SIGINT');
  await once(stopped, 'exit');
  expect(stopped.exitCode).toBe(130);
  expect(await said).toContain(`cli -- search country=US --walk --out '${out}' --data-key\n`);
  const { status, out: printed, said: again } = await runCli(args, env);
  expect([status, printed]).toEqual([0, `${CREATORS}\n`]);
  expect(again).toMatch(/^Continuing after \d,000 creators\.$/m);
  expect((await ledgerOf(app.context, brand)).charged).toBe(920);
});

it('a walk into a folder that is not there is refused in plain words', async () => {
  const { status, said } = await runCli(['search', '--walk', '--out', '/nowhere/x'], {});
  expect([status, said]).toEqual([1, 'There is no folder /nowhere, so /nowhere/x cannot be written.\n']);
});
