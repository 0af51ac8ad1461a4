import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import type { Door } from '../gate.ts';
import type { Metrics } from '../metrics.ts';

const PING_MS = 1_500;

interface EngineState {
  status: 'up' | 'down';
  latency_ms: number;
}

async function stateOf(ping: () => Promise<unknown>): Promise<EngineState> {
  const from = performance.now();
  const late = new Promise<never>((_, reject) => setTimeout(reject, PING_MS, new Error('late')).unref());
  const up = await Promise.race([ping(), late]).then(
    () => true,
    () => false,
  );
  return { status: up ? 'up' : 'down', latency_ms: Math.round((performance.now() - from) * 10) / 10 };
}

/** Doors that are not the API: whether the process lives, what it can serve, and its figures. */
export function healthRoutes(app: FastifyInstance, context: Context, door: Door, metrics: Metrics): void {
  app.get('/healthz', () => ({ status: 'ok' }));

  app.get('/readyz', async (_request, reply) => {
    const [postgres, redis, elasticsearch, clickhouse] = await Promise.all([
      stateOf(context.postgres.ping),
      stateOf(context.redis.ping),
      stateOf(context.elastic.ping),
      stateOf(context.clickhouse.ping),
    ]);
    const engines = { postgres, redis, elasticsearch, clickhouse };
    const allUp = Object.values(engines).every((engine) => engine.status === 'up');
    // Without Postgres a key that was read within the last minute still works; without any, nothing does.
    const canServe = postgres.status === 'up' || door.keys.hasUsable();
    const status = allUp ? 'ready' : canServe ? 'degraded' : 'unavailable';
    return reply.code(canServe ? 200 : 503).send({ status, engines });
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
