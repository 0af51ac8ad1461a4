import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPython, installPython, typescriptTools } from '../../../clients/build.ts';
import { documentHash } from '../../../clients/document.ts';
import { installCheckers } from '../../../clients/python-tools.ts';
import { ignoreFailure } from '../../../src/kit/values/errors.ts';
import { findFreePort } from '../../../src/local/engines/port.ts';
import { call, makeBrand, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { startFlaky } from '../../harness/kit/flaky.ts';
import { run as runChild } from '../../harness/process/child.ts';
import { longDeadlineMs } from '../../run/deadline.ts';

const execute = promisify(execFile);
/** A checker says on stdout what it found. */
async function run(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  try {
    return await execute(command, args, options);
  } catch (error) {
    throw new Error(`${String(error)}\n${String(Object(error).stdout)}`, { cause: error });
  }
}
/** A build generates some hundred files and compiles them. */
const DIRECTORY = '.rollcall/clients';

const alias = unique('clients');
let app: TestApp;
let flaky: Awaited<ReturnType<typeof startFlaky>>;

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(
    app.context.elastic,
    alias,
    Array.from({ length: 1_500 }, (_, i) => creator(i + 1, i === 0 ? { city: 'New York' } : {})),
  );
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
  seen: {
    made: ['One active', 'Two active', 'Three active'],
    changes: expect.arrayContaining([expect.stringContaining('resource_id')]),
    titles: ['Three', 'Two', 'One'],
    found: [true, true],
    code: 'NOT_FOUND',
    isWalked: true,
    isSigned: [true, true],
    isForged: false,
  },
  total: 3,
};

const packages = async (ending: string) =>
  ((await readdir(DIRECTORY).catch(ignoreFailure('nothing is built yet'))) ?? []).filter((name) =>
    name.endsWith(ending),
  );

async function stampOf(file: string) {
  const release = JSON.parse(await readFile('package.json', 'utf8')).version;
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    ...{ api: '/v1', version: release },
    openapi_sha256: await documentHash(),
  });
  return release;
}

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--ignoreConfig'];
const MODERN = ['--target', 'es2022', '--module', 'nodenext', '--types', 'node'];

/** Installs the package from the API, which builds it, into a user's folder. */
async function installTypescript() {
  for (const name of await packages('.tgz')) await rm(path.join(DIRECTORY, name));
  // One that was built before the API changed is not served.
  const earlier = path.join(DIRECTORY, 'rollcall-client-0.9.0.tgz');
  await mkdir(DIRECTORY, { recursive: true });
  await writeFile(earlier, 'of an earlier API');
  await utimes(earlier, 0, 0);
  const before = await call(`${app.url}/clients/`, undefined);
  expect(before.body.built_on_request).toContain('/clients/typescript.tgz');
  // Two requests at once build it once.
  const again = fetch(`${app.url}/clients/typescript.tgz`);
  const home = await mkdtemp(path.join(tmpdir(), 'rollcall-user-'));
  await writeFile(path.join(home, 'package.json'), '{"private":true,"type":"module"}');
  const served = `${app.url}/clients/typescript.tgz`;
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', served], { cwd: home });
  await rm(earlier);
  const [name = ''] = await packages('.tgz');
  const packed = path.resolve(DIRECTORY, name);
  expect(Buffer.from(await (await again).arrayBuffer())).toEqual(await readFile(packed));
  await mkdir(path.join(home, 'node_modules/@types'));
  await symlink(path.resolve('node_modules/@types/node'), path.join(home, 'node_modules/@types/node'));
  return { home, packed };
}

/** Compiles both programs at once: the compiler reads the client's types once. */
async function compilePrograms(home: string) {
  const programs = ['user.ts', 'day.ts'];
  for (const name of programs) await copyFile(`test/interfaces/clients/${name}.txt`, path.join(home, name));
  await run(path.resolve('node_modules/.bin/tsc'), [...STRICT, ...MODERN, ...programs], { cwd: home });
}

async function installWheel() {
  const [python, checkers, wheel] = await Promise.all([
    installPython(DIRECTORY),
    installCheckers(),
    buildPython(DIRECTORY),
  ]);
  const home = await mkdtemp(path.join(tmpdir(), 'rollcall-user-'));
  const site = path.join(home, 'site');
  const served = `${app.url}/clients/${path.basename(wheel)}`;
  const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index', '--target', site, served];
  await run('python3', install);
  return { python, checkers, wheel, home, site };
}

/** Copies the programs to their user's folder and checks them. The package is read as sources, so that its types are checked as well. */
async function checkTypes({ home, site, python, checkers }: Awaited<ReturnType<typeof installWheel>>) {
  const programs = ['user.py', 'day.py'];
  for (const name of programs) await copyFile(`test/interfaces/clients/${name}`, path.join(home, name));
  const strict = ['-m', 'mypy', '--strict', '--python-executable', python, ...programs];
  await run('env', [`MYPYPATH=${site}`, checkers, ...strict], { cwd: home });
}

/** Runs a program that receives events while `listen` sends it those of its brand, signed. */
async function runAsReceiver(command: string, args: string[], cwd: string) {
  const key = await (await makeBrand(app.context)).key('brand');
  const port = await findFreePort();
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-listen-'));
  const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: key, ROLLCALL_DIR: folder };
  const to = ['listen', '--forward-to', `http://127.0.0.1:${port}/`, '--events', 'commission.created'];
  const listening = runChild([process.execPath, 'src/cli.ts', ...to], env);
  try {
    await until('listen', () => listening.said().includes('Listening'));
    const secret = /whsec_\S+/.exec(listening.said())?.[0] ?? '';
    const { stdout } = await run(command, [...args, app.url, key, secret, String(port)], { cwd });
    return JSON.parse(stdout);
  } finally {
    listening.child.kill('SIGKILL');
  }
}

/** An event with its type, and three failures as one class: a forged delivery, a refusal with its field, no server. */
const EXPECTED_DAY = {
  ...{ order: 'D-1', commission: 12 },
  failures: [
    [0, 'WEBHOOK_SIGNATURE', [], false, true],
    [422, 'VALIDATION_ERROR', ['creator_email'], true, true],
    [0, 'NETWORK_ERROR', [], true, true],
  ],
};

test('The programs of a day have forty lines or fewer, without imports', async () => {
  for (const program of ['day.ts.txt', 'day.py']) {
    const text = await readFile(`test/interfaces/clients/${program}`, 'utf8');
    const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^(?:import |from |\/\/|""")/.test(line));
    expect(lines.length, program).toBeLessThanOrEqual(40);
  }
});

test(
  'The TypeScript client, which the API builds when it is first installed, compiles strictly with users’ programs, pages through lists, plans, retries without repeating changes, types errors and events, and verifies webhooks',
  async () => {
    const { home, packed } = await installTypescript();
    await compilePrograms(home);
    const installed = path.join(home, 'node_modules/@rollcall/client');
    const release = await stampOf(path.join(installed, 'dist/document.json'));
    expect(JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')).version).toBe(release);
    expect(await runAsUser(process.execPath, (url, key) => ['user.js', url, key], home)).toEqual(EXPECTED);
    expect(await runAsReceiver(process.execPath, ['day.js'], home)).toEqual(EXPECTED_DAY);
    // What a registry, bundlers and editors hold against a package.
    const bin = await typescriptTools();
    await run(path.join(bin, 'publint'), ['run', packed, '--strict']);
    await run(path.join(bin, 'attw'), [packed, '--profile', 'esm-only']);
    const { stdout } = await run('npm', ['publish', '--dry-run', '--offline', '--json', packed], { cwd: home });
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'dist/rollcall.d.ts']) expect(stdout).toContain(file);
  },
  longDeadlineMs,
);

test(
  'The Python client, installed as a wheel from the API, passes mypy --strict with users’ programs and does the same, also with asyncio',
  async () => {
    const installed = await installWheel();
    const { python, checkers, wheel, home, site } = installed;
    await checkTypes(installed);
    const release = await stampOf(path.join(site, 'rollcall/document.json'));
    expect(path.basename(wheel)).toBe(`rollcall_client-${release}-py3-none-any.whl`);
    const program = (name: string) => [`PYTHONPATH=${site}`, python, name];
    const { seen, total } = await runAsUser('env', (url, key) => [...program('user.py'), url, key], home);
    expect({ seen, total }).toEqual({ ...EXPECTED, seen: { ...EXPECTED.seen, isSameAsync: true } });
    expect(await runAsReceiver('env', program('day.py'), home)).toEqual(EXPECTED_DAY);
    const source = path.join(path.dirname(wheel), `rollcall_client-${release}.tar.gz`);
    await run(checkers, ['-m', 'twine', 'check', '--strict', wheel, source]);
  },
  longDeadlineMs,
);

test('The API lists the packages it serves with their digests, serves the newest under a name without a version, and answers 404 for any other name', async () => {
  const { body } = await call(`${app.url}/clients/`, undefined);
  for (const { url, sha256 } of body.data) {
    const bytes = Buffer.from(await (await fetch(`${app.url}${url}`)).arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  }
  expect(body.data.map(({ url }: { url: string }) => path.extname(url))).toEqual(['.tgz', '.whl', '.gz']);
  for (const [alias, ending] of [
    ['typescript.tgz', '.tgz'],
    ['python.whl', '.whl'],
  ] as const) {
    const { sha256, url } = body.data.find(({ url }: { url: string }) => url.endsWith(ending));
    const answer = await fetch(`${app.url}/clients/${alias}`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${path.basename(url)}"`);
  }
  for (const name of ['openapi-python.json', '..%2fdemo.env', 'clients-venv', 'rollcall-client-9.9.9.tgz']) {
    expect((await fetch(`${app.url}/clients/${name}`)).status).toBe(404);
  }
});
