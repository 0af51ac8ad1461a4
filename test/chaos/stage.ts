import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../src/api/context.ts';
import { readConfig } from '../../src/config.ts';
import { migrateClickHouse } from '../../src/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../../src/engines/postgres/migrate.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { findFreePort } from '../../src/local/engines/port.ts';
import { type EmbeddedEngines, startEmbedded } from '../../src/local/engines/start.ts';
import { openContext } from '../../src/process/open-context.ts';
import { SECRET, until } from '../harness/app.ts';
import { type Supervised, supervise } from './supervised.ts';

export const VICTIMS = ['api', 'worker', 'redis', 'postgres', 'clickhouse'] as const;
export type Victim = (typeof VICTIMS)[number];

const ENGINES = ['postgres', 'redis', 'clickhouse'] as const;
const NOWHERE = 'http://127.0.0.1:9';

/** API, worker and engines of their own, each a process to kill. */
export interface Stage {
  /** Of the API, the same after each start. */
  url: string;
  /** Of its links host. */
  links: string;
  context: Context;
  /** `kill -9`. */
  kill(victim: Victim): Promise<void>;
  /** Starts an engine again after `downMs`; the API and the worker have their supervisor. Resolves when it is back. */
  revive(victim: Victim, downMs: number): Promise<void>;
  /** What ended without being killed. */
  falls(): string[];
  close(): Promise<void>;
}

async function isUp(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/healthz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok ?? false;
}

function killerOf(engines: EmbeddedEngines, ours: { api: Supervised; worker: Supervised }) {
  return async (victim: Victim): Promise<void> => {
    if (victim === 'api' || victim === 'worker') await ours[victim].kill();
    else process.kill(engines.pids[victim] ?? Number.NaN, 'SIGKILL');
  };
}

function reviverOf(engines: EmbeddedEngines, url: string) {
  return async (victim: Victim, downMs: number): Promise<void> => {
    if (victim === 'worker') return;
    if (victim === 'api') return await until('the API to be back', () => isUp(url), 60_000);
    await pause(downMs);
    await engines.restart(victim);
  };
}

/** `dataName`: the folder of the engines' data, removed at the end. `cert`: a file of what the worker trusts, too. */
export async function openStage({ dataName, cert }: { dataName: string; cert: string }): Promise<Stage> {
  const { directory, java } = readConfig();
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const links = `http://127.0.0.1:${await findFreePort()}`;
  const report = () => undefined;
  const engines = await startEmbedded({ directory, dataName, only: ENGINES, elasticsearchHeapMb: 512, java, report });
  const { postgres = '', redis = '', clickhouse = '' } = engines.urls;
  const settings = {
    ...{ LOG_LEVEL: 'error', ROLLCALL_SECRET: SECRET, LINKS_URL: links },
    // Visitors tell their addresses.
    ...{ OUTBOUND_ALLOW: '127.0.0.1', TRUSTED_PROXIES: '127.0.0.1' },
  };
  const config = readConfig({ ...settings, LOG_LEVEL: 'silent' });
  const { context, close } = openContext(config, { postgres, redis, clickhouse, elasticsearch: NOWHERE });
  await context.redis.ready();
  await migratePostgres(context.postgres.db);
  await migrateClickHouse(context.clickhouse);
  const env = {
    ...{ PATH: java.searchPath, ROLLCALL_DIR: directory, ...settings },
    ...{ PORT: new URL(url).port, LINKS_PORT: new URL(links).port },
    ...{ DATABASE_URL: postgres, REDIS_URL: redis, CLICKHOUSE_URL: clickhouse, ELASTICSEARCH_URL: NOWHERE },
  };
  const ours = {
    api: supervise('src/server.ts', env),
    worker: supervise('src/worker.ts', { ...env, NODE_EXTRA_CA_CERTS: cert }),
  };
  const stop = async () => {
    await Promise.all([ours.api.stop(), ours.worker.stop()]);
    await close();
    await engines.stop();
    await rm(path.join(engineFolder(directory), dataName), { recursive: true, force: true });
  };
  try {
    await until('the API to be up', () => isUp(url), 120_000);
  } catch (error) {
    await stop();
    throw error;
  }
  const falls = () => [...ours.api.falls, ...ours.worker.falls];
  const kill = killerOf(engines, ours);
  return { url, links, context, kill, revive: reviverOf(engines, url), falls, close: stop };
}
