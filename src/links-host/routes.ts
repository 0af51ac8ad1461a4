import type { FastifyInstance } from 'fastify';
import { ingestRoutes } from '../ingest/routes.ts';
import type { Context } from '../operation/context.ts';
import { applyRoutes } from '../pages/apply/routes.ts';
import { fileRoutes } from '../pages/files/routes.ts';
import { pageRoutes } from '../pages/serve.ts';
import { shareRoutes } from '../pages/share/routes.ts';
import type { Metrics } from '../values/metrics.ts';
import { REDIRECTS, type Redirect } from './redirect.ts';

/** All that is on the links host's address: short links, creators' pages, brands' files, and stores' deliveries. */
export async function linkRoutes(
  app: FastifyInstance,
  context: Context,
  metrics: Metrics,
  redirect: Redirect,
): Promise<void> {
  // Fastify's router takes the last slash off: without a slug, the path is `/r`.
  for (const path of [REDIRECTS.slice(0, -1), `${REDIRECTS}*`]) {
    app.all(path, (request, reply) => {
      reply.hijack();
      redirect(request.raw, reply.raw);
    });
  }
  applyRoutes(app, context, metrics);
  fileRoutes(app, context, metrics);
  await pageRoutes(app, context, metrics);
  shareRoutes(app, context);
  ingestRoutes(app, context, metrics);
}
