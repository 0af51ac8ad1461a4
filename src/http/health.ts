import type { FastifyInstance } from 'fastify';
import type { Context } from '../operation/context.ts';
import type { Metrics } from '../values/metrics.ts';
import { RELEASE } from '../values/release.ts';
import type { Door } from './gate.ts';

const PING_MS = 1_500;
const WRITE_EVERY_MS = 5_000;

interface EngineState {
  /** `not_writable`: it answers and refuses writes, such as on a full disk or a standby. */
  status: 'up' | 'not_writable' | 'down';
  latency_ms: number;
}

/** Whether it is done well and in time. */
async function isDone(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, PING_MS, new Error('late'));
  });
  const done = await Promise.race([work, late]).then(
    () => true,
    () => false,
  );
  clearTimeout(timer);
  return done;
}

/** One write at a time, and none within five seconds of the last: until then its outcome stands. */
function openWriteCheck(tryWrite: () => Promise<void>): () => Promise<void> {
  let writing: Promise<void> | undefined;
  let nextAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (writing === undefined || performance.now() > nextAt) {
      nextAt = Number.POSITIVE_INFINITY;
      writing = tryWrite().finally(() => {
        nextAt = performance.now() + WRITE_EVERY_MS;
      });
    }
    return writing;
  };
}

/** The state of an engine by its ping and, where the API writes to it, by a write, which only an engine that answers is sent. */
function openEngineCheck(ping: () => Promise<unknown>, tryWrite?: () => Promise<void>): () => Promise<EngineState> {
  const write = tryWrite && openWriteCheck(tryWrite);
  return async () => {
    const from = performance.now();
    const answers = await isDone(ping());
    const latency_ms = Math.round((performance.now() - from) * 10) / 10;
    if (!answers) return { status: 'down', latency_ms };
    const takesWrites = write === undefined || (await isDone(write()));
    return { status: takesWrites ? 'up' : 'not_writable', latency_ms };
  };
}

/** Doors that are not the API: whether the process lives, what it can serve, and its figures. */
export function healthRoutes(app: FastifyInstance, context: Context, door: Door, metrics: Metrics): void {
  const checks = {
    postgres: openEngineCheck(context.postgres.ping, context.postgres.tryWrite),
    // Redis refuses a ping, too, when it cannot write to its disk.
    redis: openEngineCheck(context.redis.ping),
    elasticsearch: openEngineCheck(context.elastic.ping),
    clickhouse: openEngineCheck(context.clickhouse.ping, context.clickhouse.tryWrite),
  };

  app.get('/healthz', () => ({ status: 'ok', version: RELEASE }));

  app.get('/readyz', async (_request, reply) => {
    const [postgres, redis, elasticsearch, clickhouse] = await Promise.all([
      checks.postgres(),
      checks.redis(),
      checks.elasticsearch(),
      checks.clickhouse(),
    ]);
    const engines = { postgres, redis, elasticsearch, clickhouse };
    const allUp = Object.values(engines).every((engine) => engine.status === 'up');
    // Without Postgres a key that was read within the last minute still works; without any, nothing does.
    const canServe = postgres.status !== 'down' || door.keys.hasUsable();
    const status = allUp ? 'ready' : canServe ? 'degraded' : 'unavailable';
    return reply.code(canServe ? 200 : 503).send({ status, engines });
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
