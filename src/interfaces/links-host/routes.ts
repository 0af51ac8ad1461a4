import type { FastifyInstance } from 'fastify';
import { REDIRECTS, type Redirect } from './redirect.ts';

/** Short links. */
export function redirectRoutes(app: FastifyInstance, redirect: Redirect): void {
  // Fastify's router takes the last slash off: without a slug, the path is `/r`.
  for (const path of [REDIRECTS.slice(0, -1), `${REDIRECTS}*`]) {
    app.all(path, (request, reply) => {
      reply.hijack();
      redirect(request.raw, reply.raw);
    });
  }
}
