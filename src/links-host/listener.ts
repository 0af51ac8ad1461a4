import type { FastifyInstance } from 'fastify';
import type { Shared } from '../http/app.ts';
import { openBase } from '../http/base.ts';
import { isUnroutable, unreadable } from '../http/request.ts';
import type { Context } from '../operation/context.ts';
import { ApiError, toApiError } from '../values/errors.ts';
import { entranceRoute } from '../web-app/routes.ts';
import { linkRoutes } from './routes.ts';

const noSuchPath = new ApiError('NOT_FOUND', 'No such path on the links host.');

/** The server of the links host's own port. */
export async function buildLinksHost(context: Context, { door, metrics, redirect }: Shared): Promise<FastifyInstance> {
  const { config } = context;
  const refusalOf = async (error: unknown) => toApiError(isUnroutable(error) ? noSuchPath : unreadable(error));
  const app = openBase(context, { metrics, addresses: door.addresses, refusalOf });
  app.setNotFoundHandler(() => {
    throw noSuchPath;
  });
  app.get('/healthz', () => ({ status: 'ok' }));
  await linkRoutes(app, context, metrics, redirect);
  // Mails' links are on this host, and the web app is on the API's: without `API_URL`, on its port under the same name.
  entranceRoute(app, ({ hostname }) => config.apiUrl ?? `http://${hostname}:${config.port}`);
  return app;
}
