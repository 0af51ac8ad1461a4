import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import type { AccessEngines } from '../credits/access.ts';
import { resolveEngines } from '../engines/embedded/running.ts';
import { migratePostgres } from '../engines/postgres/migrate.ts';
import { openPostgres } from '../engines/postgres/open.ts';
import { openRedis } from '../engines/redis/open.ts';

/** Runs a command on PostgreSQL and Redis: the configured ones, a running server's, or started for it and stopped. */
export async function withEngines(command: (engines: AccessEngines) => Promise<void>): Promise<void> {
  const config = readConfig();
  const resolved = await resolveEngines(config, ['postgres', 'redis'], {
    elasticsearchHeapMb: 512,
    report: (line) => process.stderr.write(`${line}\n`),
  });
  try {
    if (!resolved.urls.postgres || !resolved.urls.redis) throw new Error('PostgreSQL and Redis are needed.');
    const postgres = openPostgres(resolved.urls.postgres, { max: 2 });
    const redis = openRedis(resolved.urls.redis);
    try {
      await redis.ready();
      await migratePostgres(postgres.db);
      await command({ db: postgres.db, redis, clock: systemClock });
    } finally {
      await Promise.all([redis.close(), postgres.close()]);
    }
  } finally {
    await resolved.stop();
  }
}
