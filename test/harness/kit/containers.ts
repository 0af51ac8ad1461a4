import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import type { StartedEngines } from '../engines.ts';
import { REDIS_DATABASES } from './redis-databases.ts';

const CLICKHOUSE_LOGIN = 'rollcall';

/** The images that docker-compose.yml runs, with the same settings; any container runtime that testcontainers finds. */
function containers(): Record<keyof StartedEngines['urls'], GenericContainer> {
  return {
    postgres: new GenericContainer('postgres:18')
      .withEnvironment({ POSTGRES_DB: 'rollcall', POSTGRES_HOST_AUTH_METHOD: 'trust' })
      .withCommand(['postgres', '-c', 'max_connections=200'])
      .withExposedPorts(5432)
      // The image's first server only makes the database.
      .withWaitStrategy(Wait.forLogMessage('database system is ready to accept connections', 2)),
    redis: new GenericContainer('valkey/valkey:9')
      .withCommand([
        'valkey-server',
        '--appendonly',
        'yes',
        '--appendfsync',
        'always',
        '--save',
        '',
        '--databases',
        String(REDIS_DATABASES),
      ])
      .withExposedPorts(6379)
      .withWaitStrategy(Wait.forLogMessage('Ready to accept connections')),
    elasticsearch: new GenericContainer('elasticsearch:9.4.3')
      .withEnvironment({
        'discovery.type': 'single-node',
        'xpack.security.enabled': 'false',
        'cluster.routing.allocation.disk.threshold_enabled': 'false',
        ES_JAVA_OPTS: '-Xms512m -Xmx512m',
      })
      .withExposedPorts(9200)
      .withWaitStrategy(Wait.forHttp('/_cluster/health?wait_for_status=yellow&timeout=1s', 9200)),
    clickhouse: new GenericContainer('clickhouse/clickhouse-server')
      .withEnvironment({ CLICKHOUSE_USER: CLICKHOUSE_LOGIN, CLICKHOUSE_PASSWORD: CLICKHOUSE_LOGIN })
      .withExposedPorts(8123)
      .withWaitStrategy(Wait.forHttp('/ping', 8123)),
  };
}

function address(container: StartedTestContainer): string {
  return `${container.getHost()}:${container.getFirstMappedPort()}`;
}

export async function startContainers(): Promise<StartedEngines> {
  const wanted = containers();
  const [postgres, redis, elasticsearch, clickhouse] = await Promise.all([
    wanted.postgres.start(),
    wanted.redis.start(),
    wanted.elasticsearch.start(),
    wanted.clickhouse.start(),
  ]);
  return {
    urls: {
      postgres: `postgres://postgres@${address(postgres)}/rollcall`,
      redis: `redis://${address(redis)}/0`,
      elasticsearch: `http://${address(elasticsearch)}`,
      clickhouse: `http://${CLICKHOUSE_LOGIN}:${CLICKHOUSE_LOGIN}@${address(clickhouse)}`,
    },
    stop: async () => {
      await Promise.all([postgres, redis, elasticsearch, clickhouse].map((container) => container.stop()));
    },
  };
}
