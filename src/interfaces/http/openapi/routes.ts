import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listSampleExamples } from '../../../affiliates/sample/sample.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { ApiError, ignoreFailure } from '../../../kit/values/errors.ts';
import { preferredType, prefersGzip } from '../accepted.ts';
import { type Interface, openapiDocument } from './document.ts';
import { llmsText } from './llms.ts';
import { prebuild } from './prebuilt.ts';

/** Only our own scripts run, without eval; the page uses inline styles. It makes no requests to other hosts. */
const contentSecurityPolicy = (scripts: readonly string[]) =>
  [
    "default-src 'self'",
    `script-src 'self' ${scripts.map((script) => `'sha256-${hash('sha256', script, 'base64')}'`).join(' ')}`,
    "img-src 'self' data:",
    "style-src 'self' 'unsafe-inline'",
    "object-src 'none'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

const INLINE_SCRIPT = /<script(?: type="text\/javascript")?>([\s\S]*?)<\/script>/g;
const FAVICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><text x="8" y="14" text-anchor="middle" ' +
    'font-family="sans-serif" font-weight="bold" font-size="16" fill="#3b4151">R</text></svg>',
)}`;

interface DocsPage {
  prefix: `/${string}`;
  title: string;
  document: string;
}

/** The pages as their package has them. It is five megabytes, so it is loaded for the first visitor and not at the start. */
async function openScalar(pages: readonly DocsPage[]): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  for (const { prefix, title, document } of pages) {
    await app.register(scalar, {
      routePrefix: prefix,
      configuration: {
        url: document,
        pageTitle: title,
        favicon: FAVICON,
        // Fonts, telemetry and assistants would call other hosts.
        withDefaultFonts: false,
        telemetry: false,
        agent: { disabled: true },
        mcp: { disabled: true },
        hideClientButton: true,
        showDeveloperTools: 'never',
        persistAuth: false,
        defaultOpenFirstTag: true,
        authentication: { preferredSecurityScheme: 'apiKey' },
      },
    });
  }
  return app;
}

/** A page for trying the operations of a document with a key. */
function docsPage(app: FastifyInstance, prefix: string, scalar: () => Promise<FastifyInstance>): void {
  let program: Promise<Buffer> | undefined;
  // The package builds a URL from the Host header, and fails if that is invalid.
  app.addHook('onRequest', async ({ protocol, host }) => {
    if (!URL.canParse(`${protocol}://${host}`))
      throw new ApiError('BAD_REQUEST', 'The Host header is not a valid host name.');
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string') return payload;
    if (!request.url.includes('/js/')) {
      const scripts = [...payload.matchAll(INLINE_SCRIPT)].map(([, script = '']) => script);
      reply.header('content-security-policy', contentSecurityPolicy(scripts));
      return payload.replace('<html>', '<html lang="en">');
    }
    // The package would send its five megabytes uncompressed and uncached.
    reply.headers({ vary: 'accept-encoding', 'cache-control': 'public, max-age=86400' });
    if (!prefersGzip(request.headers['accept-encoding'])) return payload;
    program ??= promisify(gzip)(payload);
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return await program;
  });
  for (const path of [`${prefix}/`, `${prefix}/js/scalar.js`]) {
    app.get(path, async ({ url }, reply) => {
      const { statusCode, headers, body } = await (await scalar()).inject({ url });
      const { 'content-type': type, location } = headers;
      if (location !== undefined) return await reply.redirect(location, statusCode);
      return await reply.type(`${type}`).send(body);
    });
  }
}

/** The document with examples that exist here, if a brand has the sample. */
const TRIABLE = '/openapi-examples.json';

const Operations = z.record(
  z.string(),
  z.record(
    z.string(),
    z.looseObject({ tags: z.array(z.string()), parameters: z.array(z.record(z.string(), z.unknown())) }),
  ),
);

/**
 * The page sends each example of a parameter that is not off. All filters of a list at once would find nothing, so they
 * are filled in, and off until the reader ticks them. Those of the directory find creators together.
 */
function withFiltersOff(document: Record<string, unknown>): Record<string, unknown> {
  const paths = Operations.parse(document.paths);
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const { tags, parameters } of operations) {
    if (tags.includes('Directory')) continue;
    for (const parameter of parameters) {
      const { example: value } = Object(parameter.schema);
      if (parameter.required !== false || value === undefined) continue;
      parameter.examples = { default: { value, 'x-disabled': true } };
    }
  }
  return { ...document, paths };
}

const ENTRANCES = {
  name: 'Rollcall API',
  docs: '/docs',
  manual: '/manual',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  clients: '/clients/',
  mcp: '/mcp',
  health: '/healthz',
  readiness: '/readyz',
};

const wantsPage = (accept: string | undefined) =>
  preferredType(accept, ['application/json', 'text/html']) === 'text/html';

interface ServedInterfaces {
  current: Interface;
  older: Interface;
  /** A browser that opens the root is redirected here. */
  home: string;
}

/** Serves `/`, `/openapi.json`, `/docs`, `/llms.txt`, and the document and page of the older API. */
export async function openapiRoutes(
  app: FastifyInstance,
  { postgres: { db } }: Pick<Context, 'postgres'>,
  { current, older, home }: ServedInterfaces,
): Promise<void> {
  const toText = (its: Interface) => JSON.stringify(openapiDocument(its));
  const send = (its: Interface) => prebuild('application/json', () => toText(its));
  app.get('/openapi.json', send(current));
  let triable: string | undefined;
  app.get(TRIABLE, async (_request, reply) => {
    triable ??= JSON.stringify(withFiltersOff(openapiDocument(current)));
    const examples = await listSampleExamples(db).catch(ignoreFailure('the page shows the examples of the document'));
    const own = new Map(examples?.map((one) => [one.example, one.own]));
    const text = triable.replace(/"((?:[a-z]{3}_)?[\w@.]+)"/g, (_whole, example: string) =>
      JSON.stringify(own.get(example) ?? example),
    );
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(text);
  });
  app.get('/openapi-legacy.json', send(older));
  app.get(
    '/llms.txt',
    prebuild('text/plain', () => llmsText(current.operations)),
  );
  // Browsers are redirected; programs get a list of documents.
  app.get('/', (request, reply) =>
    wantsPage(request.headers.accept) ? reply.redirect(home) : reply.send({ data: ENTRANCES }),
  );
  const pages: DocsPage[] = [
    { prefix: '/docs', title: 'Rollcall API', document: TRIABLE },
    { prefix: '/docs/legacy', title: 'Rollcall API, older interface', document: '/openapi-legacy.json' },
  ];
  let scalar: Promise<FastifyInstance> | undefined;
  const open = () => {
    scalar ??= openScalar(pages);
    return scalar;
  };
  for (const { prefix } of pages) await app.register(async (scope) => docsPage(scope, prefix, open));
}
