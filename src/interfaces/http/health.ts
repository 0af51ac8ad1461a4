import type { FastifyInstance } from 'fastify';
import type { Context } from '../../kit/operation/context.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { RELEASE } from '../../kit/values/release.ts';
import { within } from '../../kit/values/within.ts';
import type { Door } from './gate.ts';

const PING_MS = 1_500;
const WRITE_EVERY_MS = 5_000;

interface EngineState {
  /** `not_writable`: it responds but rejects writes, for example on a full disk or a standby. */
  status: 'up' | 'not_writable' | 'down';
  latency_ms: number;
}

/** True if the work succeeds in time. */
const isDone = (work: Promise<unknown>): Promise<boolean> =>
  within(PING_MS, work).then(
    () => true,
    () => false,
  );

/** Runs one write at a time, at most every five seconds; in between, the last result is reused. */
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

/** Checks an engine by a ping and, if the API writes to it and the ping succeeds, by a write. */
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

/** Set once all engines of this installation were up. */
const ONCE_READY = 'readiness:once';

/** Returns false until all engines of the installation were up once. If Redis does not tell, they are taken to have been. */
function openFirstStart({ redis }: Context): (allUp: boolean) => Promise<boolean> {
  let wasReady = false;
  return async (allUp) => {
    if (wasReady) return true;
    if (allUp) await isDone(redis.client.set(ONCE_READY, '1'));
    wasReady = allUp || (await within(PING_MS, redis.client.get(ONCE_READY)).catch(() => 'unknown')) !== null;
    return wasReady;
  };
}

/** The operational endpoints: liveness, readiness and metrics. */
export function healthRoutes(app: FastifyInstance, context: Context, door: Door, metrics: Metrics): void {
  const checks = {
    postgres: openEngineCheck(context.postgres.ping, context.postgres.tryWrite),
    // Redis also rejects a ping when it cannot write to its disk.
    redis: openEngineCheck(context.redis.ping),
    elasticsearch: openEngineCheck(context.elastic.ping),
    clickhouse: openEngineCheck(context.clickhouse.ping, context.clickhouse.tryWrite),
  };

  const wasEverReady = openFirstStart(context);

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
    if (!(await wasEverReady(allUp))) {
      const waiting_for = Object.entries(engines).flatMap(([name, { status }]) => (status === 'up' ? [] : [name]));
      return reply.code(503).send({ status: 'starting', waiting_for, engines });
    }
    // Without Postgres, keys that were read within the last minute still work. If there are none, no request can succeed.
    const canServe = postgres.status !== 'down' || door.keys.hasUsable();
    const status = allUp ? 'ready' : canServe ? 'degraded' : 'unavailable';
    return reply.code(canServe ? 200 : 503).send({ status, engines });
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
