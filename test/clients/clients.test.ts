import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPython, buildTypescript, documentHash, installPython } from '../../clients/build.ts';
import { call, makeBrand, startApp, type TestApp } from '../harness/app.ts';
import { startFlaky } from '../harness/flaky.ts';

const run = promisify(execFile);
/** A build generates some hundred files and compiles them. */
const BUILD_MS = 600_000;
const DIRECTORY = '.rollcall/clients';

let app: TestApp;
let flaky: Awaited<ReturnType<typeof startFlaky>>;

beforeAll(async () => {
  app = await startApp();
  flaky = await startFlaky(app.url);
});
afterAll(async () => {
  flaky?.close();
  await app?.close();
});

const SECRET = `whsec_${Buffer.from('a secret of thirty bytes......').toString('base64')}`;
const PAYLOAD = JSON.stringify({ event: 'payout.created' });

function signed(): string {
  const at = new Date();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('msg_1', at, PAYLOAD),
  };
  return JSON.stringify(headers);
}

/** What a user's own program saw, and what the brand has after it. */
async function runAsUser(command: string, args: (url: string, key: string) => string[], cwd: string) {
  const key = await (await makeBrand(app.context)).key('brand');
  const { stdout } = await run(command, [...args(flaky.url, key), SECRET, PAYLOAD, signed()], { cwd });
  const { body } = await call(`${app.url}/v1/campaigns`, key);
  return { seen: JSON.parse(stdout), total: body.pagination.total };
}

/** Every answer was lost once: nothing was made twice, and nobody noticed. */
const EXPECTED = {
  seen: { titles: ['Three', 'Two', 'One'], code: 'NOT_FOUND', isSigned: true, isForged: false },
  total: 3,
};

test(
  'The TypeScript client, packed and installed as by a user, pages through lists, retries without repeating changes, types errors and verifies webhooks',
  async () => {
    const packed = await buildTypescript(DIRECTORY);
    const home = await mkdtemp(path.join(tmpdir(), 'rollcall-user-'));
    await writeFile(path.join(home, 'package.json'), '{"private":true,"type":"module"}');
    await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', packed], { cwd: home });
    await copyFile('test/clients/user.mjs.txt', path.join(home, 'user.mjs'));
    const stamp = await readFile(path.join(home, 'node_modules/@rollcall/client/dist/document.json'), 'utf8');
    expect(JSON.parse(stamp)).toEqual({ openapi_sha256: await documentHash() });
    expect(await runAsUser(process.execPath, (url, key) => ['user.mjs', url, key], home)).toEqual(EXPECTED);
  },
  BUILD_MS,
);

test(
  'The Python client, installed as a wheel, does the same',
  async () => {
    const python = await installPython(DIRECTORY);
    const wheel = await buildPython(DIRECTORY);
    const home = await mkdtemp(path.join(tmpdir(), 'rollcall-user-'));
    const site = path.join(home, 'site');
    const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index', '--target', site, wheel];
    await run('python3', install);
    await copyFile('test/clients/user.py', path.join(home, 'user.py'));
    const stamp = await readFile(path.join(site, 'rollcall/document.json'), 'utf8');
    expect(JSON.parse(stamp)).toEqual({ openapi_sha256: await documentHash() });
    expect(await runAsUser(python, (url, key) => ['user.py', site, url, key], home)).toEqual(EXPECTED);
  },
  BUILD_MS,
);
