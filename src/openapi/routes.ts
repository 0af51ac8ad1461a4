import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../operation.ts';
import { openapiDocument } from './document.ts';

/** Only our own scripts run; Swagger UI sets styles inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** `/openapi.json`, and `/docs` where every operation can be tried with a key. */
export async function openapiRoutes(app: FastifyInstance, operations: readonly Operation[]): Promise<void> {
  const document = openapiDocument(operations);
  // A copy: the plugin may change what it is given.
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(JSON.stringify(document)) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CONTENT_SECURITY_POLICY,
    uiConfig: { layout: 'BaseLayout', persistAuthorization: true, tryItOutEnabled: true, displayRequestDuration: true },
    theme: { title: 'Rollcall API' },
  });
  app.get('/openapi.json', () => document);
}
