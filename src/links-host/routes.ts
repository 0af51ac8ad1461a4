import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../api/context.ts';
import type { Metrics } from '../api/metrics.ts';
import { applyRoutes } from '../pages/apply/routes.ts';
import { fileRoutes } from '../pages/files/routes.ts';
import { pageRoutes } from '../pages/serve.ts';
import { shareRoutes } from '../pages/share/routes.ts';
import { ingestRoutes } from '../stores/ingest.ts';
import { REDIRECTS, type Redirect, type Send } from './redirect.ts';

/** Writes an answer as one of Node's own. */
const sendOn =
  (response: ServerResponse): Send =>
  (status, fields, body) => {
    const headers = fields.split('\r\n').flatMap((line) => (line === '' ? [] : line.split(/: (.*)/, 2)));
    response.writeHead(status, headers).end(body);
  };

/** All that is on the links host's address: short links, creators' pages, brands' files, and stores' deliveries. */
export async function linkRoutes(
  app: FastifyInstance,
  context: Context,
  metrics: Metrics,
  redirect: Redirect,
): Promise<void> {
  app.all(`${REDIRECTS}*`, (request, reply) => {
    reply.hijack();
    redirect(request.raw, sendOn(reply.raw));
  });
  applyRoutes(app, context, metrics);
  fileRoutes(app, context, metrics);
  await pageRoutes(app, context, metrics);
  shareRoutes(app, context);
  ingestRoutes(app, context, metrics);
}
