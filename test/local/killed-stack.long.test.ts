import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { isPidAlive } from '../../src/local/engines/alive.ts';
import { ENGINE_NAMES, type EngineName } from '../../src/local/engines/engine.ts';
import { type EmbeddedEngines, type EmbeddedOptions, startEmbedded } from '../../src/local/engines/start.ts';
import { startApp, unique } from '../harness/app.ts';
import { growAcrossRestart } from '../harness/directory/growing-directory.ts';
import type { TestEngines } from '../harness/engines.ts';
import { withClients } from '../harness/kit/all-clients.ts';
import { ENGINE_PATIENCE, removeEngineData } from '../harness/kit/own-engines.ts';
import { startProxy } from '../harness/kit/proxy.ts';
import { deadlineMs, longDeadlineMs } from '../run/deadline.ts';

const { directory, java } = readConfig();
const dataNames: string[] = [];

function ownDataName(purpose: string): string {
  const name = `test-${process.pid}-${purpose}`;
  dataNames.push(name);
  return name;
}

const options = (dataName: string, only: readonly EngineName[] = ENGINE_NAMES): EmbeddedOptions => ({
  ...{ directory, java, dataName, only, elasticsearchHeapMb: 512, patience: ENGINE_PATIENCE, report: () => undefined },
});

afterAll(async () => {
  for (const name of dataNames) await removeEngineData(name);
});
const AllUrls = z.object({ postgres: z.url(), redis: z.url(), elasticsearch: z.url(), clickhouse: z.url() });
const StartedStack = z.object({ urls: z.record(z.string(), z.url()), pids: z.record(z.string(), z.number()) });

/** Puts one acknowledged thing into each engine. */
function write(urls: TestEngines): Promise<void> {
  return withClients(urls, async ({ postgres, redis, elastic, clickhouse }) => {
    await sql`create table kept (word text)`.execute(postgres.db);
    await sql`insert into kept values ('postgres')`.execute(postgres.db);
    await redis.client.set('kept', 'redis');
    await elastic.client.index({ index: 'kept', id: '1', document: { word: 'elasticsearch' } });
    await clickhouse.client.command({ query: 'create table kept (word String) engine = MergeTree order by word' });
    await clickhouse.client.insert({ table: 'kept', values: [{ word: 'clickhouse' }], format: 'JSONEachRow' });
  });
}

function read(urls: TestEngines): Promise<unknown[]> {
  return withClients(urls, async ({ postgres, redis, elastic, clickhouse }) => {
    const rows = await sql<{ word: string }>`select word from kept`.execute(postgres.db);
    const answer = await clickhouse.client.query({ query: 'select word from kept', format: 'JSONEachRow' });
    const document = await elastic.client.get<{ word: string }>({ index: 'kept', id: '1' });
    return [rows.rows, await redis.client.get('kept'), document._source, await answer.json()];
  });
}

const WRITTEN = [[{ word: 'postgres' }], 'redis', { word: 'elasticsearch' }, [{ word: 'clickhouse' }]];

describe('killing the process that owns a stack', () => {
  let parent: ChildProcess | undefined;
  let restarted: EmbeddedEngines | undefined;
  afterEach(async () => {
    parent?.kill('SIGKILL');
    await restarted?.stop();
  });

  async function startParent(dataName: string, engines: readonly EngineName[]) {
    parent = fork(path.join(import.meta.dirname, '../harness/local/stack-parent.ts'), [dataName, ...engines], {
      execArgv: [],
    });
    const [message] = await once(parent, 'message');
    return StartedStack.parse(message);
  }

  it(
    'leaves no engine behind in a folder whose name has spaces and letters that are not ASCII; the next start has what was acknowledged, and an API that kept running continues with it',
    async () => {
      const dataName = ownDataName('killed Prüf Ordner');
      const { urls, pids } = await startParent(dataName, ENGINE_NAMES);
      expect(Object.values(pids).filter(isPidAlive)).toHaveLength(4);
      await write(AllUrls.parse(urls));
      const proxy = await startProxy(AllUrls.parse(urls).elasticsearch);
      const alias = unique('killed');
      const app = await startApp({ alias, urls: { elasticsearch: proxy.url } });

      await growAcrossRestart(app, alias, async () => {
        parent?.kill('SIGKILL');
        await vi.waitFor(() => expect(Object.values(pids).filter(isPidAlive)).toEqual([]), { timeout: deadlineMs });
        restarted = await startEmbedded(options(dataName));
        proxy.leadTo(AllUrls.parse(restarted.urls).elasticsearch);
      });
      expect(await read(AllUrls.parse(restarted?.urls))).toEqual(WRITTEN);
      await app.close();
      await proxy.close();
    },
    longDeadlineMs,
  );

  it('does not hinder a start at the same moment', async () => {
    const dataName = ownDataName('killed-at-once');
    const only = ['postgres', 'redis', 'clickhouse'] as const;
    await startParent(dataName, only);
    parent?.kill('SIGKILL');
    restarted = await startEmbedded(options(dataName, only));
    expect(Object.keys(restarted.urls).sort()).toEqual([...only].sort());
  });
});
