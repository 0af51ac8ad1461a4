import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { migrateClickHouse } from '../../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../../src/kit/operation/context.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { findFreePort } from '../../src/local/engines/port.ts';
import { type EmbeddedEngines, startEmbedded } from '../../src/local/engines/start.ts';
import { openContext } from '../../src/process/open-context.ts';
import { SECRET, until } from '../harness/app.ts';
import { ENGINE_PATIENCE } from '../harness/kit/own-engines.ts';
import { type RedisCluster, startRedisCluster } from '../harness/kit/redis-cluster.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { type Supervised, supervise } from './supervised.ts';

export const VICTIMS = ['api', 'worker', 'redis', 'postgres', 'clickhouse'] as const;
export type Victim = (typeof VICTIMS)[number];

const ENGINES = ['postgres', 'redis', 'clickhouse'] as const;
type EngineName = (typeof ENGINES)[number];

/** Disks that are filled up; the embedded stack starts what ends of it again by itself. */
export const DISKS = ['postgres-disk', 'redis-disk', 'clickhouse-disk'] as const;
export type Disk = (typeof DISKS)[number];
const ENGINE_ON: Record<Disk, EngineName> = {
  'postgres-disk': 'postgres',
  'redis-disk': 'redis',
  'clickhouse-disk': 'clickhouse',
};
/** Room for what a run writes, and for a write-ahead log that is not cut short meanwhile. */
const DISK_MB: Record<EngineName, number> = { postgres: 640, redis: 96, clickhouse: 320 };
const STAYS_FULL_MS = 4_000;

export const isDisk = (victim: Victim | Disk): victim is Disk => DISKS.some((disk) => disk === victim);

const Ready = z.object({ engines: z.record(z.string(), z.object({ status: z.string() })) });
const NOWHERE = 'http://127.0.0.1:9';

/** API, worker and engines of their own, each a process to kill. */
export interface Stage {
  /** Of the API, the same after each start. */
  url: string;
  /** Of its links host. */
  links: string;
  context: Context;
  /** `kill -9`; or fills a disk up, until `/readyz` says so. */
  strike(victim: Victim | Disk): Promise<void>;
  /**
   * Starts an engine again after `downMs`; the API and the worker have their supervisor, and a stack that was given room
   * again has itself. Resolves when it is back.
   */
  recover(victim: Victim | Disk, downMs: number): Promise<void>;
  /** What ended without being killed. */
  falls(): string[];
  close(): Promise<void>;
}

async function isUp(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/healthz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok ?? false;
}

/** An engine, or a node of one. */
interface Killable {
  kill(): void;
  restart(): Promise<void>;
}

const engineOf = (engines: EmbeddedEngines, name: EngineName): Killable => ({
  kill: () => void process.kill(engines.pids[name] ?? Number.NaN, 'SIGKILL'),
  restart: () => engines.restart(name),
});

/** The nodes of a cluster as one engine: the next node each time. */
function inTurn({ nodes }: RedisCluster): Killable {
  let turn = -1;
  return {
    kill: () => {
      turn = (turn + 1) % nodes.length;
      nodes[turn]?.kill();
    },
    restart: async () => await nodes[turn]?.restart(),
  };
}

function killerOf(engines: Record<EngineName, Killable>, ours: { api: Supervised; worker: Supervised }) {
  return async (victim: Victim): Promise<void> => {
    if (victim === 'api' || victim === 'worker') await ours[victim].kill();
    else engines[victim].kill();
  };
}

/** Whether this process has its own connections back, after those to a killed engine broke. */
async function isReached({ redis, postgres, clickhouse }: Context): Promise<boolean> {
  const pings = await Promise.allSettled([redis.ping(), postgres.ping(), clickhouse.ping()]);
  return pings.every(({ status }) => status === 'fulfilled');
}

function reviverOf(engines: Record<EngineName, Killable>, url: string) {
  return async (victim: Victim, downMs: number): Promise<void> => {
    if (victim === 'worker') return;
    if (victim === 'api') return await until('the API to be back', () => isUp(url));
    await pause(downMs);
    await engines[victim].restart();
  };
}

/** The disks as something to fill and to make room on. */
function diskHandlerOf(disks: ReadonlyMap<EngineName, SmallDisk>, url: string) {
  const statusOf = async (engine: EngineName) => {
    const answer = await fetch(`${url}/readyz`);
    return Ready.parse(await answer.json()).engines[engine]?.status;
  };
  const isUp = async (engine: EngineName) => (await statusOf(engine)) === 'up';
  return {
    strike: async (disk: Disk) => {
      const engine = ENGINE_ON[disk];
      await disks.get(engine)?.fill();
      await until(`/readyz to see that ${engine} takes no writes`, async () => !(await isUp(engine)));
    },
    recover: async (disk: Disk, downMs: number) => {
      const engine = ENGINE_ON[disk];
      await pause(STAYS_FULL_MS + downMs);
      await disks.get(engine)?.makeRoom();
      await until(`${engine} to be back`, () => isUp(engine));
    },
  };
}

async function mountDisks(folder: string): Promise<Map<EngineName, SmallDisk>> {
  const disks = new Map<EngineName, SmallDisk>();
  for (const engine of ENGINES) {
    disks.set(engine, await mountSmallDisk(path.join(folder, engine), DISK_MB[engine]));
  }
  return disks;
}

export interface StageOptions {
  /** The folder of the engines' data, removed at the end. */
  dataName: string;
  /** A file of what the worker trusts, too. */
  cert: string;
  /** Gives each engine a small disk of its own, and has the stack start its engines again. */
  hasSmallDisks: boolean;
  /** Redis is a cluster of three primaries. None has a replica, so that what a killed one acknowledged is there again after its restart. */
  hasRedisCluster: boolean;
}

export async function openStage({ dataName, cert, hasSmallDisks, hasRedisCluster }: StageOptions): Promise<Stage> {
  const { directory, java } = readConfig();
  const data = path.join(engineFolder(directory), dataName);
  const disks = hasSmallDisks ? await mountDisks(data) : new Map<EngineName, SmallDisk>();
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const links = `http://127.0.0.1:${await findFreePort()}`;
  const report = () => undefined;
  const cluster = hasRedisCluster ? await startRedisCluster({ replicas: 0 }) : undefined;
  const only = ENGINES.filter((name) => !(cluster && name === 'redis'));
  const engines = await startEmbedded({
    ...{ directory, dataName, only, elasticsearchHeapMb: 512, java, report, revives: hasSmallDisks },
    patience: ENGINE_PATIENCE,
  });
  const { postgres = '', redis = cluster?.url ?? '', clickhouse = '' } = engines.urls;
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
    ...{ PORT: new URL(url).port, LINKS_PORT: new URL(links).port, ASSETS_URL: 'local', SMTP_URL: 'local' },
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
    await cluster?.stop();
    for (const disk of disks.values()) await disk.close();
    await rm(data, { recursive: true, force: true });
  };
  try {
    await until('the API to be up', () => isUp(url));
  } catch (error) {
    await stop();
    throw error;
  }
  const falls = () => [...ours.api.falls, ...ours.worker.falls];
  const killable = {
    postgres: engineOf(engines, 'postgres'),
    redis: cluster ? inTurn(cluster) : engineOf(engines, 'redis'),
    clickhouse: engineOf(engines, 'clickhouse'),
  };
  const [kill, revive, onDisk] = [killerOf(killable, ours), reviverOf(killable, url), diskHandlerOf(disks, url)];
  return {
    ...{ url, links, context, falls, close: stop },
    strike: (victim) => (isDisk(victim) ? onDisk.strike(victim) : kill(victim)),
    recover: async (victim, downMs) => {
      await (isDisk(victim) ? onDisk.recover(victim, downMs) : revive(victim, downMs));
      await until('the engines to be reached again', () => isReached(context));
    },
  };
}
