import type { FastifyInstance } from 'fastify';
import type { Context } from '../api/context.ts';
import type { Shared } from '../api/http/app.ts';
import { KEEP_ALIVE_TIMEOUT_MS, openBase } from '../api/http/base.ts';
import { isUnroutable, unreadable } from '../api/http/request.ts';
import { ApiError, toApiError } from '../values/errors.ts';
import { entranceRoute } from '../web-app/routes.ts';
import { openFastPath, putBefore } from './fast-path.ts';
import { linkRoutes } from './routes.ts';

const noSuchPath = new ApiError('NOT_FOUND', 'No such path on the links host.');

/** The server of the links host's own port. */
export async function buildLinksHost(
  context: Context,
  { door, metrics, redirect, bodies }: Shared,
): Promise<FastifyInstance> {
  const { config } = context;
  const refusalOf = async (error: unknown) => toApiError(isUnroutable(error) ? noSuchPath : unreadable(error));
  const app = openBase(context, { metrics, bodies, addresses: door.addresses, refusalOf });
  app.setNotFoundHandler(() => {
    throw noSuchPath;
  });
  app.get('/healthz', () => ({ status: 'ok' }));
  await linkRoutes(app, context, metrics, redirect);
  // Mails' links are on this host, and the web app is on the API's: without `API_URL`, on its port under the same name.
  entranceRoute(app, ({ hostname }) => config.apiUrl ?? `http://${hostname}:${config.port}`);
  if (config.linksFastPath) {
    const fastPath = openFastPath({ keepAliveTimeoutMs: KEEP_ALIVE_TIMEOUT_MS, redirect });
    putBefore(app.server, fastPath);
    app.addHook('preClose', async () => fastPath.close());
  }
  return app;
}
