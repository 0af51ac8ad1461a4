import type { FastifyInstance } from 'fastify';
import { contentPolicy } from '../../kit/html/page.ts';
import type { Context } from '../../kit/operation/context.ts';
import { ApiError, toApiError } from '../../kit/values/errors.ts';
import type { Shared } from '../http/app.ts';
import { openBase } from '../http/base.ts';
import { isUnroutable, unreadable } from '../http/request.ts';
import { unknownLinkPage } from './unknown-link-page.ts';

const noSuchPath = new ApiError('NOT_FOUND', 'No such path on the links host.');

/** The server of the links host's own port. */
export function buildLinksHost(context: Context, { door, metrics, bodies }: Shared): FastifyInstance {
  const toRefusal = async (error: unknown) => toApiError(isUnroutable(error) ? noSuchPath : unreadable(error));
  const app = openBase(context, { metrics, bodies, addresses: door.addresses, toRefusal: toRefusal });
  app.setNotFoundHandler((request, reply) => {
    if (request.headers.accept?.includes('text/html') !== true) throw noSuchPath;
    return reply
      .code(404)
      .header('content-security-policy', contentPolicy())
      .type('text/html; charset=utf-8')
      .send(unknownLinkPage());
  });
  app.get('/healthz', () => ({ status: 'ok' }));
  return app;
}
