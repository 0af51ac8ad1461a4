import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Variant } from '../../outbox/events.ts';
import { preferred } from '../http/accepted.ts';
import type { Operation } from '../operation.ts';
import { openapiDocument } from './document.ts';
import { llmsText } from './llms.ts';
import { prebuild, type SendPrebuilt } from './prebuilt.ts';

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

interface DocsPage {
  prefix: string;
  title: string;
  operations: readonly Operation[];
  variant: Variant;
}

/** A page where every operation of a document can be tried with a key; answers how the document itself is sent. */
async function docsPage(app: FastifyInstance, { prefix, title, operations, variant }: DocsPage): Promise<SendPrebuilt> {
  const send = prebuild('application/json', () => JSON.stringify(openapiDocument(operations, variant)));
  // The page asks for the document itself, which is sent by us; the plugin only wants to have one.
  const none = { openapi: '3.1.0' as const, info: { title, version: '1' }, paths: {} };
  await app.register(swagger, { mode: 'static', specification: { document: none } });
  await app.register(swaggerUi, {
    routePrefix: prefix,
    staticCSP: CONTENT_SECURITY_POLICY,
    uiConfig: {
      layout: 'BaseLayout',
      persistAuthorization: false,
      tryItOutEnabled: true,
      displayRequestDuration: true,
    },
    theme: {
      title,
      favicon: [{ filename: 'favicon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: FAVICON }],
    },
    // The plugin would write it anew for everybody who asks.
    uiHooks: {
      onRequest: (request, reply, done) => {
        const isDocument = ['/json', '/yaml'].some((end) => request.url.startsWith(`${prefix}${end}`));
        return isDocument ? send(request, reply) : done();
      },
    },
    // Without one the plugin sends Fastify's.
    logo: { type: 'image/svg+xml', content: '' },
  });
  return send;
}

const FORMS = [
  { form: 'json', names: ['application/json', 'application/*', '*/*'] },
  { form: 'page', names: ['text/html', 'text/*', '*/*'] },
] as const;

const wantsPage = (accept: string | undefined) => accept !== undefined && preferred(accept, FORMS) === 'page';

/** `/openapi.json` with `/docs`, `/llms.txt`, and the older interface's document and page beside them. */
export async function openapiRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  older: readonly Operation[],
): Promise<void> {
  const page = { prefix: '/docs', title: 'Rollcall API', operations, variant: 'current' } as const;
  app.get('/openapi.json', await docsPage(app, page));
  app.get(
    '/llms.txt',
    prebuild('text/plain', () => llmsText(operations)),
  );
  // A browser that was given the bare address is led to the reference; programs are told that there is nothing.
  app.get('/', (request, reply) =>
    wantsPage(request.headers.accept) ? reply.redirect('/docs') : reply.callNotFound(),
  );
  // In a scope of its own: the plugins hold one document each.
  await app.register(async (scope) => {
    const title = 'Rollcall API, older interface';
    const send = await docsPage(scope, { prefix: '/docs/legacy', title, operations: older, variant: 'legacy' });
    scope.get('/openapi-legacy.json', send);
  });
}
