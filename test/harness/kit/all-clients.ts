import { vi } from 'vitest';
import { openClickHouse } from '../../../src/kit/engines/clickhouse/open.ts';
import { openElastic } from '../../../src/kit/engines/elastic/open.ts';
import { openPostgres } from '../../../src/kit/engines/postgres/open.ts';
import { openRedis } from '../../../src/kit/engines/redis/open.ts';
import { deadlineMs } from '../../run/deadline.ts';
import type { TestEngines } from '../engines.ts';

/** The official clients of four engines, for as long as they are used. */
export async function withClients<T>(
  urls: TestEngines,
  use: (clients: ReturnType<typeof openAll>) => Promise<T>,
): Promise<T> {
  const clients = openAll(urls);
  try {
    await vi.waitFor(() => clients.redis.ping(), { timeout: deadlineMs });
    return await use(clients);
  } finally {
    await Promise.all(Object.values(clients).map((client) => client.close()));
  }
}

function openAll(urls: TestEngines) {
  return {
    postgres: openPostgres(urls.postgres, { max: 1 }),
    redis: openRedis(urls.redis),
    elastic: openElastic(urls.elasticsearch),
    clickhouse: openClickHouse(urls.clickhouse),
  };
}
