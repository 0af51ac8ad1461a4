import path from 'node:path';
import { pino } from 'pino';
import { openAdmission } from '../directory/search/admission.ts';
import { openDirectory } from '../directory/search/directory.ts';
import { olderItem } from '../interfaces/legacy/events.ts';
import { openPageLinks } from '../kit/access/page-tokens.ts';
import { openClickHouse } from '../kit/engines/clickhouse/open.ts';
import { openLiveIndex } from '../kit/engines/elastic/live-index.ts';
import { openElastic } from '../kit/engines/elastic/open.ts';
import { openFiles } from '../kit/engines/files/open.ts';
import { openMailer } from '../kit/engines/mail.ts';
import { openPostgres } from '../kit/engines/postgres/open.ts';
import { openRedis } from '../kit/engines/redis/open.ts';
import type { Context } from '../kit/operation/context.ts';
import { type Clock, systemClock } from '../kit/values/clock.ts';
import type { Config } from '../kit/values/config.ts';
import { type Log, toReason } from '../kit/values/log.ts';
import { openRepeatedFailures } from '../kit/values/repeated-failures.ts';
import { readSecrets } from '../kit/values/secrets.ts';
import { startTracing } from '../kit/values/tracing.ts';
import { clearLastLine } from '../local/last-line.ts';
import { openCallRecord } from '../platform/requests/call-record.ts';
import type { EngineUrls } from './engine-urls.ts';
import { openSandboxClock } from './sandbox-clock.ts';

/** Logs an engine's connection errors as a warning once a minute, not at every retry. */
function quietly(log: Log, engine: string): (error: Error) => void {
  let next = 0;
  return (error) => {
    if (Date.now() < next) return;
    next = Date.now() + 60_000;
    log.warn({ reason: toReason(error) }, `${engine} does not answer`);
  };
}

const mailOptions = ({ smtpUrl, mailFrom, directory }: Config) => ({
  smtpUrl,
  from: mailFrom,
  folder: path.join(directory, 'mail'),
});

/**
 * Connects to the engines, none of which has to be up. `readClock` reads a sandbox's time after PostgreSQL is migrated;
 * `close` closes in reverse order. `redisTimeoutMs` is how long a command waits for Redis, where it is not a second.
 */
export function openContext(
  config: Config,
  urls: EngineUrls,
  clock?: Clock,
  redisTimeoutMs?: number,
): { context: Context; readClock(): Promise<void>; close(): Promise<void> } {
  const log = pino({
    level: config.logLevel,
    redact: ['req.headers.authorization', 'headers.authorization'],
    hooks: {
      streamWrite: (line) => {
        clearLastLine();
        return line;
      },
    },
  });
  const stopTracing = startTracing(config.tracing);
  const secrets = readSecrets(config);
  const postgres = openPostgres(urls.postgres, {
    max: config.databasePool,
    readUrl: config.databaseReadUrl,
    onError: quietly(log, 'PostgreSQL'),
  });
  const sandbox = clock === undefined && config.isSandbox ? openSandboxClock(postgres.db) : undefined;
  const ofRedis = redisTimeoutMs === undefined ? {} : { timeoutMs: redisTimeoutMs };
  const redis = openRedis(urls.redis, { onError: quietly(log, 'Redis'), ...ofRedis });
  const clicksRedis = config.clicksRedisUrl
    ? openRedis(config.clicksRedisUrl, { onError: quietly(log, 'Redis of clicks'), ...ofRedis })
    : redis;
  const elastic = openElastic(urls.elasticsearch);
  const clickhouse = openClickHouse(urls.clickhouse, { cluster: config.clickhouseCluster });
  const files = openFiles(config, postgres.db);
  const live = openLiveIndex(elastic, config.directoryAlias);
  const directory = openDirectory({ elastic, live, db: postgres.db, redis, admission: openAdmission(log) });
  const mailer = openMailer(mailOptions(config));
  const pageLinks = openPageLinks(config, secrets);
  const failures = openRepeatedFailures(log, systemClock);
  const now = clock ?? sandbox?.clock ?? systemClock;
  const calls = openCallRecord({ clickhouse, clock: now, secrets, failures });
  return {
    context: {
      config,
      log,
      failures,
      clock: now,
      postgres,
      redis,
      clicksRedis,
      elastic,
      directory,
      clickhouse,
      secrets,
      files,
      mailer,
      pageLinks,
      olderItem,
      calls,
      stopping: new AbortController(),
    },
    readClock: async () => await sandbox?.refresh(),
    close: async () => {
      live.close();
      sandbox?.stop();
      mailer.close();
      await calls.close();
      await Promise.all([elastic.close(), clickhouse.close(), redis.close(), clicksRedis.close(), postgres.close()]);
      await stopTracing();
    },
  };
}
