import { readFileSync } from 'node:fs';
import path from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

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

/**
 * Serves the built client under /app. Assets have digests and are cached for ever; the page is revalidated. Brands'
 * files are on the links host.
 */
export async function clientRoutes(app: FastifyInstance, folder: string, linksUrl: string): Promise<void> {
  const policy = contentPolicy(linksUrl);
  const page = readFileSync(path.join(folder, 'index.html'));
  await app.register(files, {
    root: path.join(folder, 'assets'),
    prefix: '/app/assets/',
    decorateReply: false,
    index: false,
    cacheControl: false,
    preCompressed: true,
    setHeaders: (response) => {
      response.header('cache-control', 'public, max-age=31536000, immutable');
    },
  });
  const send = (_request: unknown, reply: FastifyReply) =>
    reply
      .headers({
        'content-security-policy': policy,
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
        'cache-control': 'no-cache',
      })
      .type('text/html; charset=utf-8')
      .send(page);
  for (const url of ['/app', '/app/*']) app.get(url, send);
}
