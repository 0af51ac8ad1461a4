import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../operation.ts';
import { OLDER, openapiDocument } from './document.ts';
import { prebuild } from './prebuilt.ts';

/** Only our own scripts run; Swagger UI sets styles inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
  <text x="8" y="14" text-anchor="middle" font-family="sans-serif" font-weight="bold" font-size="16" fill="#3b4151">R</text>
</svg>`;

/** `/openapi.json`, and `/docs` where every operation can be tried with a key. */
export async function openapiRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  older: readonly Operation[],
): Promise<void> {
  const document = openapiDocument(operations);
  const send = prebuild(document);
  // A copy: the plugin may change what it is given.
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(JSON.stringify(document)) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CONTENT_SECURITY_POLICY,
    uiConfig: {
      layout: 'BaseLayout',
      persistAuthorization: false,
      tryItOutEnabled: true,
      displayRequestDuration: true,
    },
    theme: {
      title: 'Rollcall API',
      favicon: [{ filename: 'favicon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: FAVICON }],
    },
    // The plugin would write it anew for everybody who asks.
    uiHooks: {
      onRequest: (request, reply, done) => (/^\/docs\/(?:json|yaml)/.test(request.url) ? send(request, reply) : done()),
    },
    // Without one the plugin sends Fastify's.
    logo: { type: 'image/svg+xml', content: '' },
  });
  app.get('/openapi.json', send);
  app.get('/openapi-legacy.json', prebuild(openapiDocument(older, OLDER)));
}
