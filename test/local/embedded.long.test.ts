import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, inject, it, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openPostgres } from '../../src/kit/engines/postgres/open.ts';
import { openRedis } from '../../src/kit/engines/redis/open.ts';
import { isPidAlive } from '../../src/local/engines/alive.ts';
import { elasticsearch } from '../../src/local/engines/elasticsearch.ts';
import type { Engine } from '../../src/local/engines/engine.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { findJava } from '../../src/local/engines/java.mjs';
import { announceRunning, findRunning, resolveEngines } from '../../src/local/engines/running.ts';
import { type EmbeddedEngines, type EmbeddedOptions, startEmbedded } from '../../src/local/engines/start.ts';
import { valkey } from '../../src/local/engines/valkey.ts';
import { withClients } from '../harness/kit/all-clients.ts';
import { ENGINE_PATIENCE } from '../harness/kit/own-engines.ts';
import { deadlineMs } from '../run/deadline.ts';

const config = readConfig();
const { directory, java } = config;

/** A user of no other process. */
const SOMEBODY = 12_345;

const dataNames: string[] = [];

/** A data folder of this test's own, beside a running server's and other tests'. */
function ownDataName(purpose: string): string {
  const name = `test-${process.pid}-${purpose}`;
  dataNames.push(name);
  return name;
}

function options(dataName: string, more: Partial<EmbeddedOptions> = {}): EmbeddedOptions {
  return { directory, dataName, elasticsearchHeapMb: 512, java, patience: ENGINE_PATIENCE, report: () => {}, ...more };
}

afterAll(() => {
  for (const name of dataNames) {
    rmSync(path.join(engineFolder(directory), name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
});

describe('the engines of a test run', () => {
  it('are real and answer through their official clients', async () => {
    await withClients(inject('engines'), async ({ postgres, redis, elastic, clickhouse }) => {
      const version = await sql<{ version: string }>`select version()`.execute(postgres.db);
      expect(version.rows[0]?.version).toMatch(/^PostgreSQL 18/);
      expect(await redis.client.info('server')).toMatch(/(valkey|redis)_version:/);
      expect((await elastic.client.info()).version.number).toMatch(/^9\./);
      const answer = await clickhouse.client.query({ query: 'select 6 * 7 as product', format: 'JSONEachRow' });
      expect(await answer.json()).toEqual([{ product: 42 }]);
    });
  });

  it('apply ClickHouse settings and parameters to one request only, even concurrently', async () => {
    await withClients(inject('engines'), async ({ clickhouse }) => {
      const ask = async (threads: number) => {
        const answer = await clickhouse.client.query({
          query: "select toUInt32(getSetting('max_threads')) as threads, {word:String} as word",
          clickhouse_settings: { max_threads: threads },
          query_params: { word: `it's \\ ${threads}` },
          format: 'JSONEachRow',
        });
        return answer.json();
      };
      const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(ask));
      expect(answers).toEqual([1, 2, 3, 4, 5, 6].map((threads) => [{ threads, word: `it's \\ ${threads}` }]));
    });
  });
});

describe('a stack', () => {
  it('keeps what Redis acknowledges on disk before the answer', async () => {
    const engines = await startEmbedded(options(ownDataName('kept'), { only: ['redis'] }));
    const redis = openRedis(engines.urls.redis ?? '');
    await redis.ready();
    expect(await redis.client.config('GET', 'append*')).toEqual(
      expect.arrayContaining(['appendonly', 'yes', 'appendfsync', 'always']),
    );
    await redis.close();
    await engines.stop();
  });

  let started: EmbeddedEngines | undefined;
  afterEach(() => started?.stop());

  // Of root, the engines are another user's; here the process that starts them is, too.
  it.runIf(process.getuid?.() === 0 && engineFolder(process.cwd()) === process.cwd())(
    'starts Elasticsearch below a folder whose name has spaces and letters that are not ASCII for a user who is not root and has no locale',
    async () => {
      const base = mkdtempSync(path.join(tmpdir(), 'rollcall-user-'));
      const folder = path.join(base, 'Mein Prüf Ordner');
      try {
        chmodSync(base, 0o755);
        const program = elasticsearch.installation?.folder ?? '';
        cpSync(path.join(engineFolder(directory), program), path.join(folder, program), { recursive: true });
        chownSync(folder, SOMEBODY, SOMEBODY);
        const script = `
          import { startEmbedded } from ${JSON.stringify(pathToFileURL(path.resolve('src/local/engines/start.ts')).href)};
          const engines = await startEmbedded({ directory: ${JSON.stringify(folder)}, dataName: 'data', only: ['elasticsearch'],
            elasticsearchHeapMb: 512, java: ${JSON.stringify(java)}, patience: ${ENGINE_PATIENCE}, report: () => {} });
          const { status } = await fetch(engines.urls.elasticsearch + '/_cluster/health');
          console.log(process.getuid(), status);
          await engines.stop();`;
        const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
          ...{ uid: SOMEBODY, gid: SOMEBODY, cwd: folder },
          env: { HOME: folder, LC_ALL: 'C' },
        });
        expect(stdout.trim()).toBe(`${SOMEBODY} 200`);
      } finally {
        rmSync(base, { recursive: true, force: true });
      }
    },
  );

  it('is the only one on its data folder: a second start names the process that has it', async () => {
    const dataName = ownDataName('twice');
    started = await startEmbedded(options(dataName, { only: ['redis'] }));
    await expect(startEmbedded(options(dataName, { only: ['redis'] }))).rejects.toThrow(
      new RegExp(`already runs on .*${dataName}: process ${process.pid}`),
    );
  });

  it('reports when an engine ends by itself, and restarts it on the same port and data', async () => {
    const report = vi.fn();
    started = await startEmbedded(options(ownDataName('restart'), { only: ['postgres'], report }));
    const url = started.urls.postgres ?? '';
    const postgres = openPostgres(url, { max: 1 });
    await sql`create table kept (word text)`.execute(postgres.db);
    process.kill(started.pids.postgres ?? 0, 'SIGKILL');
    const hasEnded = () => expect(report).toHaveBeenCalledWith(expect.stringMatching(/PostgreSQL ended.*SIGKILL.*log/));
    await vi.waitFor(hasEnded, { timeout: deadlineMs });

    await started.restart('postgres');
    expect(started.urls.postgres).toBe(url);
    await vi.waitFor(() => sql`insert into kept values ('again')`.execute(postgres.db), { timeout: deadlineMs });
    await postgres.close();
  });

  it('only accepts PostgreSQL logins with its folder’s password, even if it once let everyone in', async () => {
    const dataName = ownDataName('password');
    const said: string[] = [];
    const report = (line: string) => void said.push(line);
    const start = async () => {
      started = await startEmbedded(options(dataName, { only: ['postgres'], report }));
      return started.urls.postgres ?? '';
    };
    const enter = async (url: string) => {
      const postgres = openPostgres(url, { max: 1 });
      const entered = await sql`select 1`.execute(postgres.db).then(
        () => 'entered',
        (error: unknown) => String(error),
      );
      await postgres.close();
      return entered;
    };
    const withPassword = (url: string, password: string) => Object.assign(new URL(url), { password }).href;
    const url = await start();
    const file = path.join(engineFolder(directory), dataName, 'postgres.password');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(new URL(url).password).toBe(readFileSync(file, 'utf8'));
    expect([await enter(url), await enter(withPassword(url, ''))]).toEqual([
      'entered',
      expect.stringMatching(/password/i),
    ]);
    await started?.stop();

    rmSync(file);
    const access = path.join(engineFolder(directory), dataName, 'postgres/cluster/pg_hba.conf');
    writeFileSync(access, 'host all all 127.0.0.1/32 trust\n');
    const next = await start();
    expect(new URL(next).password).not.toBe(new URL(url).password);
    expect([
      await enter(next),
      await enter(withPassword(next, '')),
      await enter(withPassword(next, new URL(url).password)),
    ]).toEqual(['entered', expect.stringMatching(/password/i), expect.stringMatching(/password/i)]);
    expect(said.join('\n')).not.toContain(new URL(next).password);
  });

  it('that is stopped while an engine is starting leaves nothing of it running', async () => {
    const dataName = ownDataName('stopped');
    const children = path.join(engineFolder(directory), dataName, 'redis', 'child');
    /** As Elasticsearch's launcher does: its server is a process of its own, which a signal to the launcher does not reach. */
    const slow: Engine = {
      ...valkey,
      program: ({ data }) => ({
        command: '/bin/sh',
        args: ['-c', 'setsid sleep 600 & echo $! > child.new && mv child.new child; wait'],
        cwd: data,
        env: {},
        deathSignal: 'TERM',
      }),
      isReady: async () => false,
    };
    const report = vi.fn();
    const more = { only: ['redis'], later: ['redis'], engines: { redis: slow }, revives: true, report } as const;
    started = await startEmbedded(options(dataName, more));
    await vi.waitFor(() => readFileSync(children), { timeout: deadlineMs });
    const child = Number(readFileSync(children, 'utf8'));
    expect(isPidAlive(child)).toBe(true);
    await started.stop();
    await vi.waitFor(() => expect(isPidAlive(child)).toBe(false), { timeout: deadlineMs });
    await expect(started.started('redis')).rejects.toThrow();
    expect(report).not.toHaveBeenCalledWith(expect.stringContaining('started again'));
    expect(readFileSync(children, 'utf8')).toBe(`${child}\n`);
  });

  it('names the log and the variable to set when an engine cannot start', async () => {
    const dataName = ownDataName('broken');
    const folder = path.join(engineFolder(directory), dataName, 'postgres', 'cluster');
    mkdirSync(folder, { recursive: true });
    const error = await startEmbedded(options(dataName, { only: ['postgres'] })).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/PostgreSQL ended while starting[\s\S]*DATABASE_URL[\s\S]*postgres\.log/);
  });

  it('says that an engine is late, not that it ended by itself', async () => {
    const sleeps = { command: 'sleep', args: ['60'], cwd: '/', env: {}, deathSignal: 'TERM' } as const;
    const late: Engine = { ...valkey, program: () => ({ ...sleeps, args: [...sleeps.args] }), readyWithinMs: 100 };
    const more = { only: ['redis'], engines: { redis: late } } as const;
    const error = await startEmbedded(options(ownDataName('late'), more)).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/did not become ready in time[\s\S]*REDIS_URL/);
  });
});

describe('Java for Elasticsearch', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-jdks-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function makeJdk(name: string, release: string): string {
    const home = path.join(folder, name);
    mkdirSync(path.join(home, 'bin'), { recursive: true });
    writeFileSync(path.join(home, 'bin/java'), '');
    chmodSync(path.join(home, 'bin/java'), 0o755);
    writeFileSync(path.join(home, 'release'), release);
    return home;
  }

  it('is reported with suitable versions, the places searched and the variable to set if it is missing', async () => {
    const old = makeJdk('jdk-17', 'JAVA_VERSION="17.0.2"\nMODULES="java.base jdk.attach jdk.jdi jdk.jlink"\n');
    const jre = makeJdk('jre-25', 'JAVA_VERSION="25"\nMODULES="java.base jdk.attach"\n');
    const nothing = { homes: ['/nowhere/jdk'], searchPath: '' };
    const start = startEmbedded(
      options(ownDataName('java'), { only: ['elasticsearch'], java: nothing, javaFolders: [folder] }),
    );
    const message = String(await start.catch((thrown: unknown) => thrown));
    expect(message).toContain('version 21 or newer');
    expect(message).toContain('/nowhere/jdk (has no bin/java)');
    expect(message).toContain(`${old} (has Java 17, which is too old)`);
    expect(message).toContain(`${jre} (has Java 25, but not a full JDK: it lacks jdk.jdi, jdk.jlink)`);
    expect(message).toContain('EMBEDDED_JAVA_HOME');
    expect(message).toContain('ELASTICSEARCH_URL');
  });

  it('is taken from the first place that has a full JDK', () => {
    const good = makeJdk('jdk-21', 'JAVA_VERSION="21.0.1"\nMODULES="java.base jdk.attach jdk.jdi jdk.jlink"\n');
    expect(findJava({ homes: [], searchPath: '' }, [folder]).found).toEqual({ home: good });
  });
});

describe('the file that lets commands find a running server', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-running-'));
  const file = path.join(folder, 'engines.json');
  const urls = { postgres: 'postgres://postgres@127.0.0.1:1/rollcall', redis: 'redis://127.0.0.1:2/0' };
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is private, found while its server is running, and gone once withdrawn', async () => {
    const withdraw = await announceRunning(folder, { urls });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await findRunning(folder)).toEqual({ urls });
    await announceRunning(folder, { urls, url: 'http://127.0.0.1:3' });
    expect(await findRunning(folder)).toEqual({ urls, url: 'http://127.0.0.1:3' });
    await withdraw();
    expect(await findRunning(folder)).toBeUndefined();
  });

  it('is ignored when its process has ended, even if another one now has its number', async () => {
    writeFileSync(file, JSON.stringify({ server: { pid: process.pid, startedAt: '1' }, urls }));
    expect(await findRunning(folder)).toBeUndefined();
  });

  it('is ignored when it is invalid', async () => {
    writeFileSync(file, '{"urls"');
    expect(await findRunning(folder)).toBeUndefined();
  });
});

describe('the engines that a command needs', () => {
  const none = { postgres: undefined, redis: undefined, elasticsearch: undefined, clickhouse: undefined };
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-resolve-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are the configured ones first, then a running server’s, and then nothing is started', async () => {
    const running = { postgres: 'postgres://running/x', redis: 'redis://running' };
    await announceRunning(folder, { urls: running, url: 'http://running' });
    const resolve = (urls: typeof config.urls) =>
      resolveEngines({ ...config, urls, directory: folder }, ['postgres', 'redis'], { report: () => {} });
    const engines = await resolve({ ...none, postgres: 'postgres://configured/x' });
    expect(engines.embedded).toBeUndefined();
    expect(engines.urls).toEqual({ ...none, postgres: 'postgres://configured/x', redis: 'redis://running' });
    expect(engines.serverUrl, 'the server of another PostgreSQL').toBeUndefined();
    expect(await resolve(none)).toMatchObject({ urls: running, serverUrl: 'http://running' });
  });

  it('are started if none is running, only those needed, and stopped again', async () => {
    const engines = await resolveEngines({ ...config, urls: none }, ['redis'], {
      dataName: ownDataName('resolve'),
      reuseRunning: false,
      report: () => {},
    });
    expect(Object.keys(engines.embedded?.urls ?? {})).toEqual(['redis']);
    const pid = engines.embedded?.pids.redis ?? 0;
    expect(isPidAlive(pid)).toBe(true);
    await engines.stop();
    expect(isPidAlive(pid)).toBe(false);
  });
});
