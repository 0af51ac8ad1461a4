import { readFileSync } from 'node:fs';
import path from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Our own files alone; nothing inline, nothing from elsewhere. Creators' pictures come over https. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob: https:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "media-src 'self' blob: https:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The built client under /app: assets by their digests for ever, the page itself asked for anew. */
export async function clientRoutes(app: FastifyInstance, folder: string): Promise<void> {
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
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
        'cache-control': 'no-cache',
      })
      .type('text/html; charset=utf-8')
      .send(page);
  for (const url of ['/app', '/app/*']) app.get(url, send);
}
