import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { COMPOSE_FILES, problemsOfCompose, problemsOfVersions } from '../check/compose.ts';
import { until } from '../harness/app.ts';

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

async function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const child = execFile(command, args, options);
  let out = '';
  let err = '';
  child.stdout?.on('data', (text: string) => {
    out += text;
  });
  child.stderr?.on('data', (text: string) => {
    err += text;
  });
  await once(child, 'close');
  return { code: child.exitCode, out, err };
}

const config = () => readFile('src/config.ts', 'utf8');
const ONE_NODE = 'docker-compose.yml';
const CLUSTER = 'docker-compose.cluster.yml';

const Services = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      environment: z.record(z.string(), z.string()).optional(),
      networks: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]),
      volumes: z.array(z.string()).optional(),
    }),
  ),
});
const servicesOf = async (file: string) =>
  Services.parse(parse(await readFile(file, 'utf8'), { merge: true })).services;

/** A value as Compose fills it in if only the required variables are set. */
const filled = (value: string) =>
  value
    .replaceAll(/\$\{\w+:\+[^{}]*\}/g, '')
    // A default may have one within.
    .replaceAll(/\$\{\w+:-([^{}]*)\}/g, '$1')
    .replaceAll(/\$\{\w+:-([^{}]*)\}/g, '$1')
    .replaceAll(/\$\{ROLLCALL_SECRET:\?[^}]*\}/g, '0'.repeat(64))
    .replaceAll(/\$\{\w+:\?[^}]*\}/g, 'secret');

describe('Each compose file', () => {
  it.each(COMPOSE_FILES)('refers only to things that exist: %s', async (file) => {
    expect(problemsOfCompose(await readFile(file, 'utf8'), await config())).toEqual([]);
  });

  it('runs the same versions of the same images', async () => {
    const files = await Promise.all(COMPOSE_FILES.map((file) => readFile(file, 'utf8')));
    expect(problemsOfVersions(files)).toEqual([]);
    const [one = '', several = ''] = files;
    expect(problemsOfVersions([one, several.replaceAll('postgres:18', 'postgres:17')])).toEqual([
      'The image postgres has several versions: 18, 17.',
    ]);
    expect(problemsOfVersions([one, several.replaceAll('haproxy:3.2', 'haproxy')])).toEqual([
      'The image haproxy has no version.',
    ]);
  });

  it.each([
    [
      ONE_NODE,
      'service',
      '      api:\n        condition',
      '      apis:\n        condition',
      'worker refers to the service apis',
    ],
    [ONE_NODE, 'volume', '      - redis:/data', '      - valkey:/data', 'redis refers to the volume valkey'],
    [ONE_NODE, 'network', '      - outer\n    stop', '      - outside\n    stop', 'refers to the network outside'],
    [
      ONE_NODE,
      'secret',
      '    shm_size',
      '    secrets: [password]\n    shm_size',
      'postgres refers to the secret password',
    ],
    [
      ONE_NODE,
      'config',
      '    shm_size',
      '    configs: [{ source: tuned }]\n    shm_size',
      'postgres refers to the config tuned',
    ],
    [
      ONE_NODE,
      'volume, the long way',
      '      - redis:/data',
      '      - type: volume\n        source: valkey\n        target: /data',
      'redis refers to the volume valkey',
    ],
    [CLUSTER, 'variable', '    DIRECTORY_SHARDS', '    DIRECTORY_SHARD', 'api sets DIRECTORY_SHARD, which'],
    [
      CLUSTER,
      'host of a list',
      'elasticsearch-3:9200',
      'elasticsearch-4:9200',
      'The host elasticsearch-4 is no service',
    ],
    [
      CLUSTER,
      'host of a database',
      '@pgbouncer-standby:6432',
      '@pgbouncer-2:6432',
      'The host pgbouncer-2 is no service',
    ],
    [CLUSTER, 'server of the balancer', 'links 10 apis:8081', 'links 10 doors:8081', 'The host doors is no service'],
    [CLUSTER, 'server of Keeper', '<host>keeper-3<', '<host>keeper-4<', 'The host keeper-4 is no service'],
  ])('%s that refers to a missing %s is reported', async (file, _what, was, is, said) => {
    const text = await readFile(file, 'utf8');
    expect(text).toContain(was);
    expect(problemsOfCompose(text.replace(was, is), await config()).join('\n')).toContain(said);
  });

  it.each([
    [
      ONE_NODE,
      { clickhouseCluster: undefined, directoryLayout: { shards: 1, replicas: 0 }, databaseReadUrl: undefined },
    ],
    [CLUSTER, { clickhouseCluster: 'rollcall', directoryLayout: { shards: 3, replicas: 1 }, unsharedStorage: [] }],
  ])('gives api and worker a valid configuration with only the required variables set: %s', async (file, its) => {
    const { api, worker } = await servicesOf(file);
    for (const service of [api, worker]) {
      const environment = Object.entries(service?.environment ?? {}).map(([name, value]) => [name, filled(value)]);
      expect(readConfig(Object.fromEntries(environment))).toMatchObject({
        directoryAlias: 'creators',
        creatorLookupCredits: 0,
        workerLostAfterMs: 10_000,
        outboundAllow: [],
        unknownLinkUrl: undefined,
        ...its,
      });
    }
  });

  it('passes on the same settings of the operator', async () => {
    const passedOn = async (file: string) =>
      Object.entries((await servicesOf(file)).api?.environment ?? {})
        .filter(([, value]) => value.startsWith('${'))
        .map(([name]) => name);
    const inCluster = new Set([
      ...(await passedOn(CLUSTER)),
      'AWS_ACCESS_KEY_ID',
      'ASSETS_URL',
      'CLICKHOUSE_CLUSTER',
      'TRUSTED_PROXIES',
    ]);
    expect((await passedOn(ONE_NODE)).filter((name) => !inCluster.has(name))).toEqual([]);
  });

  it.each(COMPOSE_FILES)('lets the worker reach other hosts, and the files that the API received: %s', async (file) => {
    const { api, worker } = await servicesOf(file);
    expect(worker?.networks).toEqual(expect.arrayContaining(['inner', 'outer']));
    expect(worker?.volumes).toEqual(api?.volumes);
    expect(worker?.volumes).toEqual(['rollcall:/app/.rollcall', 'imports:/imports']);
  });
});

describe.each(['test/check/main.ts', 'test/fuzz/main.ts'])('%s', (tool) => {
  it('shows its usage with --help, and refuses unknown arguments with exit code 2', async () => {
    const [help, bogus] = await Promise.all([run('node', [tool, '--help']), run('node', [tool, '--bogus'])]);
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('npm run'), err: '' });
    expect(bogus).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/'--bogus'[\s\S]+npm run/) });
    expect(bogus.err).not.toContain('    at ');
  });
});

describe('a long-running script of package.json', () => {
  it('is npm’s direct child, so a signal to npm ends it', async () => {
    const args = ['run', 'indexer', '--', 'generate', '--count', '999999999', '--out', '/dev/null'];
    const child = spawn('npm', args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    // The command itself: before it, npm's child is a shell of the same words.
    const children = async () =>
      (await run('pgrep', ['-P', String(child.pid), '-f', '^node .*indexer/main'])).out.trim();
    // With the last process that holds its error output.
    let isClosed = false;
    child.once('close', () => {
      isClosed = true;
    });
    try {
      await until('the command to run', async () => (await children()) !== '');
      child.kill('SIGTERM');
      await until('every process of it to end', () => isClosed);
    } finally {
      if (!isClosed && child.pid) process.kill(-child.pid, 'SIGKILL');
    }
  });
});

describe('.ci/run', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'rollcall-ci-'));
    await mkdir(path.join(folder, '.ci'));
    await copyFile('.ci/run', path.join(folder, '.ci', 'run'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Runs it on a machine that has these commands and a few usual ones. */
  async function runOn(commands: Record<string, string>, ci?: string): Promise<Ended> {
    const bin = await mkdtemp(path.join(folder, 'bin-'));
    for (const name of [
      'awk',
      'bash',
      'cat',
      'dirname',
      'grep',
      'mktemp',
      'nice',
      'rm',
      'sed',
      'tail',
      'tee',
      'timeout',
    ]) {
      await symlink((await run('which', [name])).out.trim(), path.join(bin, name));
    }
    for (const [name, script] of Object.entries({ npm: 'echo 7 passed, 0 failed', ...commands })) {
      const file = path.join(bin, name);
      await writeFile(file, `#!${path.join(bin, 'bash')}\n${script}\n`);
      await chmod(file, 0o755);
    }
    const env = { PATH: bin, ...(ci === undefined ? {} : { CI: ci }) };
    return await run(path.join(bin, 'bash'), [path.join(folder, '.ci', 'run')], { env });
  }

  it('explains on standard error why there is no Chromium and no PHP, and continues', async () => {
    for (const commands of [{ id: 'echo 1000', 'apt-get': 'true' }, { id: 'echo 0' }]) {
      const { code, out, err } = await runOn(commands, 'true');
      expect([code, out.trim().split('\n').at(-1)]).toEqual([0, '9 passed, 0 failed']);
      expect(err).toContain('No Chromium, and only root can install one, with apt-get');
      expect(err).toContain('No PHP, and only root can install one, with apt-get');
    }
  });

  it('shows why an install failed, which is a failure if CI=true was set', async () => {
    const commands = { id: 'echo 0', 'apt-get': 'echo no route to the mirror >&2; exit 1' };
    const own = await runOn(commands);
    expect([own.code, own.out.trim().split('\n').at(-1)]).toEqual([0, '9 passed, 0 failed']);
    expect(own.err).toMatch(/no route to the mirror\n.*could not be installed/);
    const server = await runOn(commands, 'true');
    expect([server.code, server.out.trim().split('\n').at(-1)]).toEqual([1, '9 passed, 2 failed']);
  });

  it('installs nothing if Chromium and PHP are present', async () => {
    const { code, err } = await runOn({ chromium: 'true', php: 'true', id: 'echo 0', 'apt-get': 'exit 1' }, 'true');
    expect([code, err]).toEqual([0, '']);
  });
});
