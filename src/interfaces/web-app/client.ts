import { readFile } from 'node:fs/promises';
import path from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { FileStore } from '../../kit/engines/files/store.ts';
import { html } from '../../kit/html/html.ts';
import { pageHeaders, page as publicPage } from '../../kit/html/page.ts';
import type { Context } from '../../kit/operation/context.ts';
import { ignoreFailure, notFound } from '../../kit/values/errors.ts';
import { readKept } from './releases.ts';

/** Allows only our own files, brands' files and https images of creators; nothing inline. */
function contentPolicy(linksUrl: string): string {
  const files = new URL(linksUrl).origin;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob: https: ${files}`,
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    `media-src 'self' blob: https: ${files}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const FOR_EVER = 'public, max-age=31536000, immutable';

/** The files of this build, and those of other releases that run at the same time or ran before it. */
async function assetRoutes(app: FastifyInstance, folder: string, store: FileStore): Promise<void> {
  app.setNotFoundHandler(async (request, reply) => {
    const cachedFile = await readKept(store, path.basename(request.url.split('?', 1)[0] ?? ''));
    if (!cachedFile) throw notFound('file of the web app');
    return reply.header('cache-control', FOR_EVER).type(cachedFile.type).send(cachedFile.bytes);
  });
  await app.register(files, {
    root: path.join(folder, 'assets'),
    decorateReply: false,
    // The first start has not built it yet.
    suppressWarning: true,
    index: false,
    cacheControl: false,
    preCompressed: true,
    setHeaders: (response) => {
      response.header('cache-control', FOR_EVER);
    },
  });
}

const ASK_AGAIN_S = 3;

const UNBUILT = publicPage(
  'Starting up',
  html`<h1>Starting up</h1>
<p>This takes a minute or two; the page will open on its own.</p>`,
);

/**
 * Serves the built client under /app, as soon as it is in `folder`. Assets have digests and are cached for ever; the page
 * is revalidated. Brands' files are on the links host.
 */
export async function clientRoutes(
  app: FastifyInstance,
  folder: string,
  { config: { linksUrl }, files: store }: Pick<Context, 'config' | 'files'>,
): Promise<void> {
  const policy = contentPolicy(linksUrl);
  let indexPage: Buffer | undefined;
  await app.register(async (scope) => assetRoutes(scope, folder, store), { prefix: '/app/assets' });
  const send = async (_request: unknown, reply: FastifyReply) => {
    indexPage ??= await readFile(path.join(folder, 'index.html')).catch(ignoreFailure('it is not built yet'));
    reply.type('text/html; charset=utf-8');
    if (!indexPage) {
      const again = { 'retry-after': ASK_AGAIN_S, refresh: ASK_AGAIN_S, 'cache-control': 'no-store' };
      return reply
        .code(503)
        .headers({ ...pageHeaders(), ...again })
        .send(UNBUILT);
    }
    return reply
      .headers({
        'content-security-policy': policy,
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
        'cache-control': 'no-cache',
      })
      .send(indexPage);
  };
  for (const url of ['/app', '/app/*']) app.get(url, send);
}
