import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../../kit/operation/context.ts';
import { readOwnClick, splitClicks } from '../../../kit/values/click-token.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { prefersGzip } from '../../http/accepted.ts';

/** The promises of the script to shops that include it. A change that breaks one of them is another version. */
const SCRIPT_VERSION = '1';
const SCRIPT_PATH = '/r.js';
/** A shop's visitors have a new script within an hour. */
const CACHED_SECONDS = 3_600;

/** Any shop may load it, also with `crossorigin`. */
const CORS = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

const noSuchVersion = new ApiError('NOT_FOUND', `Only version ${SCRIPT_VERSION} of the script exists: use ?v=1.`);

/** More than a shop keeps, in an address. */
const MOST_ASKED_LENGTH = 1_000;

/**
 * The script that a shop includes to keep the clicks of its visitors. `genuine=` answers those of some clicks that we gave
 * out, in their order.
 */
export function scriptRoutes(app: FastifyInstance, { secrets }: Pick<Context, 'secrets'>): void {
  // Minified from r.js by `npm run check -- --write`.
  const text = readFileSync(new URL('./r.min.js', import.meta.url), 'utf8');
  const gzipText = gzipSync(text, { level: 9 });
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 20)}"`;
  const headers = {
    etag,
    vary: 'accept-encoding',
    'cache-control': `public, max-age=${CACHED_SECONDS}, stale-while-revalidate=86400`,
    ...CORS,
  };
  app.route<{ Querystring: { v?: string; genuine?: string } }>({
    method: ['GET', 'HEAD'],
    url: SCRIPT_PATH,
    handler: (request, reply) => {
      if ((request.query.v ?? SCRIPT_VERSION) !== SCRIPT_VERSION) throw noSuchVersion;
      const { genuine: asked } = request.query;
      if (asked !== undefined) {
        const clicks = splitClicks(String(asked).slice(0, MOST_ASKED_LENGTH));
        const ownClicks = clicks.filter((click) => readOwnClick(secrets, click) !== undefined);
        return reply
          .headers({ ...CORS, 'cache-control': 'no-store' })
          .type('text/plain; charset=utf-8')
          .send(ownClicks.join('.'));
      }
      reply.headers(headers);
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
      reply.type('text/javascript; charset=utf-8');
      const isCompressed = prefersGzip(request.headers['accept-encoding']);
      return isCompressed ? reply.header('content-encoding', 'gzip').send(gzipText) : reply.send(text);
    },
  });
}
