import { readConfig } from '../src/config.ts';
import type { DirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { openElastic } from '../src/kit/engines/elastic/open.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import { openPostgres } from '../src/kit/engines/postgres/open.ts';
import { systemClock } from '../src/kit/values/clock.ts';
import { readSecrets } from '../src/kit/values/secrets.ts';
import { resolveEngines } from '../src/local/engines/running.ts';
import { noteSize } from '../src/local/sample.ts';
import { report } from '../src/local/terminal.ts';
import { around } from '../src/process/commands/around.ts';

/** A bulk request may take long while Elasticsearch merges. */
const TIMEOUT_MS = 60_000;
/** Enough for a directory of a million, if Elasticsearch is started for this command. */
const HEAP_MB = 1_024;

export type IndexerEngines = DirectoryEngines & { redisUrl: string | undefined };

/** Runs a command on the configured engines, a running server's, or ones started and stopped for it. */
export async function withDirectory<T>(
  command: (engines: IndexerEngines) => Promise<T>,
  options: { needsRedis?: boolean } = {},
): Promise<T> {
  const config = readConfig(around().env);
  const names = ['postgres', 'elasticsearch', ...(options.needsRedis ? (['redis'] as const) : [])] as const;
  const resolved = await resolveEngines(config, names, {
    elasticsearchHeapMb: HEAP_MB,
    report,
  });
  try {
    const { postgres: postgresUrl, elasticsearch, redis } = resolved.urls;
    if (!postgresUrl || !elasticsearch) throw new Error('This needs PostgreSQL and Elasticsearch.');
    const postgres = openPostgres(postgresUrl, { max: 4 });
    const elastic = openElastic(elasticsearch, { connections: 8, timeoutMs: TIMEOUT_MS });
    try {
      await migratePostgres(postgres.db);
      return await command({
        elastic,
        db: postgres.db,
        clock: systemClock,
        alias: config.directoryAlias,
        layout: config.directoryLayout,
        secrets: () => readSecrets(config),
        redisUrl: redis,
      });
    } finally {
      await noteSize(config, elastic);
      await Promise.all([elastic.close(), postgres.close()]);
    }
  } finally {
    await resolved.stop();
  }
}
