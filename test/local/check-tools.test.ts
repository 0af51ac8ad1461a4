import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { problemsOfCompose } from '../check/compose.ts';
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

describe('the compose file', () => {
  const compose = () => readFile('docker-compose.yml', 'utf8');

  it('refers only to things that exist', async () => {
    expect(problemsOfCompose(await compose())).toEqual([]);
  });

  it.each([
    [
      'a service',
      '      api:\n        condition',
      '      apis:\n        condition',
      'worker refers to the service apis',
    ],
    ['a volume', '      - redis:/data', '      - valkey:/data', 'redis refers to the volume valkey'],
    ['a network', '      - outer\n    stop', '      - outside\n    stop', 'refers to the network outside'],
    ['a secret', '    shm_size', '    secrets: [password]\n    shm_size', 'postgres refers to the secret password'],
    [
      'a config',
      '    shm_size',
      '    configs: [{ source: tuned }]\n    shm_size',
      'postgres refers to the config tuned',
    ],
    [
      'a volume, the long way',
      '      - redis:/data',
      '      - type: volume\n        source: valkey\n        target: /data',
      'redis refers to the volume valkey',
    ],
  ])('that refers to a missing %s is reported', async (_what, was, is, said) => {
    const text = await compose();
    expect(text).toContain(was);
    const [problem] = problemsOfCompose(text.replace(was, is));
    expect(problem).toContain(said);
  });

  const Services = z.object({
    services: z.record(
      z.string(),
      z.looseObject({
        environment: z.record(z.string(), z.string()).optional(),
        networks: z.array(z.string()),
        volumes: z.array(z.string()).optional(),
      }),
    ),
  });
  const services = async () => Services.parse(parse(await compose(), { merge: true })).services;

  it('gives api and worker a valid configuration with only the required variables set', async () => {
    const { api, worker } = await services();
    const filled = (value: string) =>
      value
        // A default may have one within.
        .replaceAll(/\$\{\w+:-([^{}]*)\}/g, '$1')
        .replaceAll(/\$\{\w+:-([^{}]*)\}/g, '$1')
        .replaceAll(/\$\{ROLLCALL_SECRET:\?[^}]*\}/g, '0'.repeat(64))
        .replaceAll(/\$\{\w+:\?[^}]*\}/g, 'secret');
    for (const service of [api, worker]) {
      const environment = Object.entries(service?.environment ?? {}).map(([name, value]) => [name, filled(value)]);
      expect(readConfig(Object.fromEntries(environment))).toMatchObject({
        directoryAlias: 'creators',
        creatorLookupCredits: 0,
        workerLostAfterMs: 10_000,
        outboundAllow: [],
        unknownLinkUrl: undefined,
        clickhouseCluster: undefined,
      });
    }
  });

  it('lets the worker reach other hosts, and the files that the API received', async () => {
    const { api, worker } = await services();
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
    const children = async () => (await run('pgrep', ['-P', String(child.pid), '-f', 'indexer/main'])).out.trim();
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
      expect([code, out.trim().split('\n').at(-1)]).toEqual([0, '16 passed, 0 failed']);
      expect(err).toContain('No Chromium, and only root can install one, with apt-get');
      expect(err).toContain('No PHP, and only root can install one, with apt-get');
    }
  });

  it('shows why an install failed, which is a failure if CI=true was set', async () => {
    const commands = { id: 'echo 0', 'apt-get': 'echo no route to the mirror >&2; exit 1' };
    const own = await runOn(commands);
    expect([own.code, own.out.trim().split('\n').at(-1)]).toEqual([0, '16 passed, 0 failed']);
    expect(own.err).toMatch(/no route to the mirror\n.*could not be installed/);
    const server = await runOn(commands, 'true');
    expect([server.code, server.out.trim().split('\n').at(-1)]).toEqual([1, '16 passed, 2 failed']);
  });

  it('installs nothing if Chromium and PHP are present', async () => {
    const { code, err } = await runOn({ chromium: 'true', php: 'true', id: 'echo 0', 'apt-get': 'exit 1' }, 'true');
    expect([code, err]).toEqual([0, '']);
  });
});
