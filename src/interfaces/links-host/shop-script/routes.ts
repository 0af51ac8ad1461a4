import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../kit/values/errors.ts';
import { prefersGzip } from '../../http/accepted.ts';

/** The promises of the script to shops that include it. A change that breaks one of them is another version. */
const SCRIPT_VERSION = '1';
const SCRIPT_PATH = '/r.js';
/** A shop's visitors have a new script within an hour. */
const CACHED_SECONDS = 3_600;

const isCode = (line: string) => line !== '' && !line.startsWith('//');

/** Without comments and indentation. Lines stay, so that what ends a statement still does. */
const buildScript = (source: string): string =>
  source
    .split('\n')
    .map((line) => line.trim())
    .filter(isCode)
    .join('\n');

const noSuchVersion = new ApiError('NOT_FOUND', `Only version ${SCRIPT_VERSION} of the script exists: use ?v=1.`);

/** The script that a shop includes to keep the clicks of its visitors. */
export function scriptRoutes(app: FastifyInstance): void {
  const text = buildScript(readFileSync(new URL('./r.js', import.meta.url), 'utf8'));
  const compressed = gzipSync(text, { level: 9 });
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 20)}"`;
  const headers = {
    etag,
    vary: 'accept-encoding',
    'cache-control': `public, max-age=${CACHED_SECONDS}, stale-while-revalidate=86400`,
    // Any shop may load it, also with `crossorigin`.
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  };
  app.route<{ Querystring: { v?: string } }>({
    method: ['GET', 'HEAD'],
    url: SCRIPT_PATH,
    handler: (request, reply) => {
      if ((request.query.v ?? SCRIPT_VERSION) !== SCRIPT_VERSION) throw noSuchVersion;
      reply.headers(headers);
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
      reply.type('text/javascript; charset=utf-8');
      const isCompressed = prefersGzip(request.headers['accept-encoding']);
      return isCompressed ? reply.header('content-encoding', 'gzip').send(compressed) : reply.send(text);
    },
  });
}
