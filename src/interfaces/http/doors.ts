import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../kit/values/metrics.ts';

/** Doors other than the API's operations, by path prefix, with their metric labels. */
const DOORS: readonly (readonly [path: string, door: string])[] = [
  ['/ingest/', 'ingest'],
  ['/apply/', 'page_apply'],
  ['/s/', 'page_share'],
  ['/r.js', 'shop_script'],
  ['/plugin/', 'shop_plugin'],
  ['/enter/', 'page_enter'],
  ['/files/', 'files'],
  ['/app/session', 'app_session'],
  ['/app', 'app'],
  ['/docs', 'docs'],
  ['/openapi', 'openapi'],
  ['/llms.txt', 'docs'],
  ['/manual', 'manual'],
  ['/clients', 'clients'],
  ['/v1', 'api'],
  ['/api/', 'api'],
  ['/mcp', 'mcp'],
];

/** The door that a path belongs to. */
export const getDoor = (url: string): string => DOORS.find(([path]) => url.startsWith(path))?.[1] ?? 'other';

/** Counts the requests of doors that have no counter of their own. */
export function meterDoors(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onRoute', (route) => {
    const operation = getDoor(route.url);
    if (route.onResponse || operation === 'other' || operation === 'api') return;
    route.onResponse = (_request, reply, done) => {
      metrics.requests.observe({ operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
      done();
    };
  });
}
