import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openElastic } from '../../src/kit/engines/elastic/open.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { announceRunning } from '../../src/local/engines/running.ts';
import { heapMbFor, noteSize, sampleSize } from '../../src/local/sample.ts';
import { signedDelivery, startStore } from '../harness/affiliates/store.ts';
import { engineUrls, SECRET, startScript, unique, until } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { linkClient } from '../harness/kit/offered.ts';
import { runCommand } from '../harness/process/command.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'rollcall-start-'));
});
afterEach(async () => {
  const folders = new Set([directory, engineFolder(directory)]);
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

const kept = async () => JSON.parse(await readFile(path.join(directory, 'sample.json'), 'utf8'));

/** A script on the test's own folder. */
const run = (script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runCommand(script, args, { ROLLCALL_DIR: directory, ...env });

describe('a start that cannot succeed', () => {
  it('because its port is taken starts no engine', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = typeof address === 'object' && address ? String(address.port) : '';
    const more = 'Read more in docs/operating.md, or at /manual/operating of a running server.\n';
    const said = `Port ${port} on 127.0.0.1 is taken; choose another with --port or PORT.\n${more}`;
    expect(await run('src/server.ts', ['--port', port])).toEqual({ status: 1, out: '', said });
    expect(await run('src/server.ts', [], { PORT: port })).toEqual({ status: 1, out: '', said });
    const ofLinks = {
      status: 1,
      out: '',
      said: `Port ${port} on 127.0.0.1, of the links host, is taken; choose another with LINKS_PORT.\n${more}`,
    };
    expect(await run('src/server.ts', ['--port', '0'], { LINKS_PORT: port })).toEqual(ofLinks);
    expect(await readdir(directory)).toEqual([]);
    holder.close();
  });

  it('because the secret of a database is missing is refused with possible fixes, and starts and creates nothing', async () => {
    await mkdir(path.join(engineFolder(directory), 'data', 'postgres', 'cluster'), { recursive: true });
    const before = await readdir(directory);
    for (const script of ['src/server.ts', 'src/cli.ts']) {
      const { status, said } = await run(script, script === 'src/cli.ts' ? ['brand', 'list'] : ['--port', '0']);
      expect(status).toBe(1);
      expect(said).toContain(
        `${path.join(directory, 'secret.hex')}, is missing, but its database exists. Restore the file`,
      );
      expect(said).toMatch(/ROLLCALL_SECRET[\s\S]*openssl rand[\s\S]*To start over, remove/);
      expect(said).not.toContain('PostgreSQL started');
    }
    expect(await readdir(directory)).toEqual(before);
  });

  it('stops the engines that it had started, and withdraws their announcement', async () => {
    const { redis, elasticsearch, clickhouse } = engineUrls();
    await linkClient(directory);
    // Where the demo's keys are written: the last step, with everything running.
    await mkdir(path.join(directory, 'demo.env'));
    const { status, said } = await run('src/server.ts', ['--port', '0'], {
      REDIS_URL: redis,
      ELASTICSEARCH_URL: elasticsearch,
      CLICKHOUSE_URL: clickhouse,
      DIRECTORY_ALIAS: unique('none'),
    });
    expect(said).toMatch(/PostgreSQL started[\s\S]*Migrating[\s\S]*EISDIR/);
    expect(said).not.toMatch(/ended by itself|\n\s+at /);
    expect(status).toBe(1);
    expect(existsSync(path.join(directory, 'engines.json'))).toBe(false);
    const data = path.join(engineFolder(directory), 'data');
    expect(existsSync(path.join(data, 'stack.json'))).toBe(false);
    // A server that was stopped in order leaves no process file behind.
    expect(existsSync(path.join(data, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
  });
});

describe('a start that is stopped by Ctrl-C', () => {
  it('stops what it had started in order', async () => {
    // A ClickHouse that takes connections and says nothing: the start waits for it.
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { redis, elasticsearch } = engineUrls();
    const env = { REDIS_URL: redis, ELASTICSEARCH_URL: elasticsearch, CLICKHOUSE_URL: `http://127.0.0.1:${port}` };
    const connected = once(holder, 'connection');
    await linkClient(directory);
    const server = startScript('src/server.ts', { ...env, DATABASE_URL: '', ROLLCALL_DIR: directory }, [
      '--port',
      '0',
      '--empty',
    ]);
    const ended = once(server.child, 'exit');
    await connected;
    expect(existsSync(path.join(directory, 'engines.json'))).toBe(true);
    server.child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    holder.close();
    expect(server.said()).toContain('PostgreSQL started');
    expect(server.said()).toMatch(/\nStopped\.\n$/);
    expect(server.said()).not.toMatch(/ended by itself|\n\s+at |Error/);
    expect(existsSync(path.join(directory, 'engines.json'))).toBe(false);
    const data = path.join(engineFolder(directory), 'data');
    expect(existsSync(path.join(data, 'stack.json'))).toBe(false);
    expect(existsSync(path.join(data, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
  });
});

describe('a running server', () => {
  it('gives stores a webhook address that leads to it, unless LINKS_URL is set', async () => {
    await linkClient(directory);
    // Its jobs would move other tests' clicks and charges: it has engines of its own but for the directory.
    const own = { DATABASE_URL: '', REDIS_URL: '', CLICKHOUSE_URL: '', ROLLCALL_DIR: directory };
    const server = startScript('src/server.ts', { ...own, DIRECTORY_ALIAS: unique('none') }, [
      '--port',
      '0',
      '--empty',
    ]);
    const file = path.join(directory, 'demo.env');
    await until('the demo’s keys', () => existsSync(file));
    const demo = await readFile(file, 'utf8');
    const [url, links] = ['URL', 'LINKS_URL'].map((name) => new RegExp(`^ROLLCALL_${name}=(.*)$`, 'm').exec(demo)?.[1]);
    expect(links).not.toBe(url);
    expect(demo).toContain(`\nROLLCALL_LEGACY_URL=${url}/api/v1\n`);
    const store = await startStore('generic');
    const secrets = path.join(directory, 'store.txt');
    await writeFile(secrets, store.token);
    const connect = async (env: NodeJS.ProcessEnv) => {
      const requested = ['--brand', 'demo', '--provider', 'generic', '--url', store.url];
      const files = ['--token-file', secrets, '--webhook-secret-file', secrets];
      const more = { OUTBOUND_ALLOW: '127.0.0.1', ROLLCALL_SECRET: SECRET, ...env };
      return (await run('src/cli.ts', ['integration', 'connect', ...requested, ...files], more)).said;
    };
    const said = await connect({});
    const address = /^to (.*)$/m.exec(said)?.[1] ?? said;
    expect(address.startsWith(`${links}/ingest/generic/int_`), said).toBe(true);
    const delivery = signedDelivery('generic', store.token, 'order.unknown', {});
    expect((await fetch(address, { method: 'POST', ...delivery })).status).toBe(200);
    // The address that it was before the links host had a port of its own.
    const former = `${url}${new URL(address).pathname}`;
    expect((await fetch(former, { method: 'POST', ...delivery })).status).toBe(200);
    expect(await connect({ LINKS_URL: 'https://go.example' })).toContain('to https://go.example/ingest/generic/int_');
    await store.close();
    await server.stop();
  });
});

describe('the recorded size of the directory', () => {
  const config = () => readConfig({ ROLLCALL_DIR: directory, DIRECTORY_ALIAS: unique('kept') });

  it.each(['', '{"crea', '[]', 'null', '{"creators":"many"}'])(
    'counts as missing when it cannot be read: %j',
    async (content) => {
      await writeFile(path.join(directory, 'sample.json'), content);
      expect(await sampleSize({ directory })).toBeUndefined();
      expect(await heapMbFor({ directory }, 20_000)).toBe(512);
    },
  );

  it('gives Elasticsearch 1 GB above 200,000 creators, whether requested now or already there', async () => {
    expect(await heapMbFor({ directory }, 200_000)).toBe(512);
    expect(await heapMbFor({ directory }, 200_001)).toBe(1_024);
    await writeFile(path.join(directory, 'sample.json'), '{"creators":20000}');
    expect(await heapMbFor({ directory }, 20_000)).toBe(512);
    await writeFile(path.join(directory, 'sample.json'), '{"creators":20000,"live":200001}');
    expect(await heapMbFor({ directory }, 20_000)).toBe(1_024);
    expect(await sampleSize({ directory })).toBe(20_000);
  });

  it('is the size of the live directory next to the sample’s, replaced atomically', async () => {
    const elastic = openElastic(engineUrls().elasticsearch);
    const own = config();
    await noteSize(own, elastic);
    expect(await readdir(directory)).toEqual([]);
    await putDirectory(elastic, own.directoryAlias, [creator(1), creator(2), creator(3)]);
    await noteSize({ ...own, urls: { ...own.urls, elasticsearch: 'http://configured' } }, elastic);
    expect(await readdir(directory)).toEqual([]);
    await writeFile(path.join(directory, 'sample.json'), '{"creators":20000}');
    await noteSize(own, elastic);
    expect(await kept()).toEqual({ creators: 20_000, live: 3 });
    expect(await readdir(directory)).toEqual(['sample.json']);
    await elastic.close();
  });

  it('is recorded by the indexer after an import into a running server’s Elasticsearch', async () => {
    const withdraw = await announceRunning(directory, { urls: engineUrls() });
    const file = path.join(directory, 'creators.ndjson');
    await writeFile(file, `${JSON.stringify(creator(1))}\n${JSON.stringify(creator(2))}\n`);
    const { status, said } = await run('indexer/main.ts', ['import', file], { DIRECTORY_ALIAS: unique('noted') });
    expect([status, said]).toEqual([0, expect.stringContaining('2 creators live')]);
    expect(await kept()).toEqual({ live: 2 });
    await withdraw();
  });
});
