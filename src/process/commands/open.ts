import { readConfig } from '../../config.ts';
import type { DirectoryEngines } from '../../directory/imports/indexing/writer.ts';
import type { AccessEngines } from '../../kit/access/credits/access.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { migratePostgres } from '../../kit/engines/postgres/migrate.ts';
import { type Db, openPostgres, type Postgres } from '../../kit/engines/postgres/open.ts';
import { readClockOffset } from '../../kit/engines/postgres/sandbox-clock.ts';
import { openRedis, type Redis } from '../../kit/engines/redis/open.ts';
import { type Clock, systemClock } from '../../kit/values/clock.ts';
import type { Config } from '../../kit/values/config.ts';
import { readSecrets, type Secrets } from '../../kit/values/secrets.ts';
import { resolveEngines } from '../../local/engines/running.ts';
import { report } from '../../local/terminal.ts';
import { clockAhead } from '../sandbox-clock.ts';
import { around } from './around.ts';

export interface CommandEngines extends AccessEngines {
  /** Links are on the running server, unless `LINKS_URL` is set. */
  config: Config;
  /** The web app's address: the running server's, or else `API_URL` or the configured port. */
  serverUrl: string;
  /** A server that is known to run on these engines: found on this machine, or named by the environment. */
  knownServerUrl: string | undefined;
  /** Read on demand, because most commands do not need the installation's secret. */
  secrets(): Secrets;
}

/** The real time; in a sandbox, advanced by its offset. */
async function openClock(config: Config, db: Db): Promise<Clock> {
  if (!config.isSandbox) return systemClock;
  const offsetMs = await readClockOffset(db);
  return clockAhead(() => offsetMs);
}

/**
 * Runs a command on PostgreSQL and Redis: the configured ones, a running server's, or ones started and stopped for it.
 */
export async function withEngines(command: (engines: CommandEngines) => Promise<void>): Promise<void> {
  const config = readConfig(around().env);
  const engines = await resolveEngines(config, ['postgres', 'redis'], {
    elasticsearchHeapMb: 512,
    report,
  });
  try {
    if (!engines.urls.postgres || !engines.urls.redis) throw new Error('This needs PostgreSQL and Redis.');
    const postgres = openPostgres(engines.urls.postgres, { max: 3 });
    const redis = openRedis(engines.urls.redis);
    try {
      await redis.ready();
      await migratePostgres(postgres.db);
      const secrets = () => readSecrets(config);
      const linksUrl = (config.linksUrlIsSet ? undefined : engines.linksUrl) ?? config.linksUrl;
      const configuredUrl = `http://${config.host}:${config.port}`;
      const knownServerUrl = engines.serverUrl ?? config.rest.url ?? (config.portIsSet ? configuredUrl : undefined);
      const serverUrl = engines.serverUrl ?? config.apiUrl ?? configuredUrl;
      const base = { db: postgres.db, redis, clock: await openClock(config, postgres.db) };
      await command({ ...base, config: { ...config, linksUrl }, serverUrl, knownServerUrl, secrets });
    } finally {
      await Promise.all([redis.close(), postgres.close()]);
    }
  } finally {
    await engines.stop();
  }
}

export interface FigureEngines {
  postgres: Postgres;
  clicksRedis: Redis;
  clickhouse: ClickHouse;
  clock: Clock;
}

/** Like `withEngines`, with ClickHouse too; its client is loaded only for these commands. */
export async function withFigures(command: (engines: FigureEngines) => Promise<void>): Promise<void> {
  const { openClickHouse } = await import('../../kit/engines/clickhouse/open.ts');
  const { migrateClickHouse } = await import('../../kit/engines/clickhouse/migrate.ts');
  const config = readConfig(around().env);
  const { urls, stop } = await resolveEngines(config, ['postgres', 'redis', 'clickhouse'], {
    elasticsearchHeapMb: 512,
    report,
  });
  try {
    if (!urls.postgres || !urls.redis || !urls.clickhouse)
      throw new Error('This needs PostgreSQL, Redis and ClickHouse.');
    const postgres = openPostgres(urls.postgres, { max: 3, readUrl: config.databaseReadUrl });
    const clicksRedis = openRedis(config.clicksRedisUrl ?? urls.redis);
    const clickhouse = openClickHouse(urls.clickhouse, { cluster: config.clickhouseCluster });
    try {
      await clicksRedis.ready();
      await migratePostgres(postgres.db);
      await migrateClickHouse(clickhouse);
      await command({ postgres, clicksRedis, clickhouse, clock: await openClock(config, postgres.db) });
    } finally {
      await Promise.all([clickhouse.close(), clicksRedis.close(), postgres.close()]);
    }
  } finally {
    await stop();
  }
}

/** Runs a command on PostgreSQL and Elasticsearch, whose client is loaded only for those that change the directory. */
export async function withDirectory(command: (engines: DirectoryEngines) => Promise<void>): Promise<void> {
  const { openElastic } = await import('../../kit/engines/elastic/open.ts');
  const config = readConfig(around().env);
  const { urls, stop } = await resolveEngines(config, ['postgres', 'elasticsearch'], {
    elasticsearchHeapMb: 512,
    report,
  });
  try {
    if (!urls.postgres || !urls.elasticsearch) throw new Error('This needs PostgreSQL and Elasticsearch.');
    const postgres = openPostgres(urls.postgres, { max: 3 });
    const elastic = openElastic(urls.elasticsearch, { connections: 4, timeoutMs: 30_000 });
    try {
      await migratePostgres(postgres.db);
      const base = { db: postgres.db, elastic, clock: await openClock(config, postgres.db) };
      const { directoryAlias: alias, directoryLayout: layout } = config;
      await command({ ...base, alias, layout, secrets: () => readSecrets(config) });
    } finally {
      await Promise.all([elastic.close(), postgres.close()]);
    }
  } finally {
    await stop();
  }
}
