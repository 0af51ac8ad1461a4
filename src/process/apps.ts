import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildApi } from '../interfaces/http/app.ts';
import { type BodyLimits, openBodies } from '../interfaces/http/bodies.ts';
import { openDoor } from '../interfaces/http/gate.ts';
import { openapiRoutes } from '../interfaces/http/openapi/routes.ts';
import { packageRoutes } from '../interfaces/http/packages.ts';
import { clickRoutes } from '../interfaces/ingest/clicks.ts';
import { storeKeysRoutes } from '../interfaces/ingest/keys.ts';
import { ingestRoutes } from '../interfaces/ingest/routes.ts';
import { olderInterface } from '../interfaces/legacy/hosts.ts';
import { buildLinksHost } from '../interfaces/links-host/listener.ts';
import { pluginRoutes } from '../interfaces/links-host/plugin/routes.ts';
import { openRedirect } from '../interfaces/links-host/redirect.ts';
import { redirectRoutes } from '../interfaces/links-host/routes.ts';
import { scriptRoutes } from '../interfaces/links-host/shop-script/routes.ts';
import { manualRoutes } from '../interfaces/manual/routes.ts';
import { mcpRoutes } from '../interfaces/mcp/routes.ts';
import { sessionOperations } from '../interfaces/nouns.ts';
import { applyRoutes } from '../interfaces/pages/apply/routes.ts';
import { fileRoutes } from '../interfaces/pages/files.ts';
import { forgetRoutes } from '../interfaces/pages/forget-routes.ts';
import { meRoutes } from '../interfaces/pages/me/routes.ts';
import { pageRoutes } from '../interfaces/pages/serve.ts';
import { shareRoutes } from '../interfaces/pages/share.ts';
import { clientRoutes } from '../interfaces/web-app/client.ts';
import { appRedirect, entranceRoute, webAppRoutes } from '../interfaces/web-app/routes.ts';
import type { Context } from '../kit/operation/context.ts';
import { clientBuilder } from '../local/client-packages.ts';
import { interfaces } from './interfaces.ts';
import { openProcessMetrics } from './metrics/open.ts';

export interface Apps {
  api: FastifyInstance;
  links: FastifyInstance;
  close(): Promise<void>;
}

/**
 * Builds both servers of a process with all their doors; they do not listen yet. `webApp` is the folder of the built
 * web app.
 */
export async function buildApps(
  context: Context,
  { webApp, bodyLimits }: { webApp?: string; bodyLimits?: BodyLimits } = {},
): Promise<Apps> {
  const { config, clock } = context;
  const metrics = openProcessMetrics(context);
  const redirect = openRedirect(context, metrics);
  const door = openDoor(context, metrics);
  const sharedParts = { door, metrics, bodies: openBodies(bodyLimits) };

  /** Everything on the links host: short links, creators' pages, brands' files and stores' deliveries. */
  async function serveLinks(app: FastifyInstance): Promise<void> {
    redirectRoutes(app, redirect);
    scriptRoutes(app, context);
    pluginRoutes(app, context, metrics);
    applyRoutes(app, context, metrics);
    forgetRoutes(app, context, metrics);
    meRoutes(app, context, metrics);
    fileRoutes(app, context, metrics);
    await pageRoutes(app, context, metrics);
    shareRoutes(app, context);
    clickRoutes(app, context, metrics);
    ingestRoutes(app, context, metrics);
    storeKeysRoutes(app, context, metrics);
  }

  const { current, older } = interfaces(() => clock.now());
  const api = await buildApi(context, sharedParts, {
    operations: [...current.operations, ...older.operations, ...sessionOperations],
    ...olderInterface(config),
  });
  // The API's port serves the links host's paths too.
  await serveLinks(api);
  entranceRoute(api, () => config.apiUrl ?? '');
  webAppRoutes(api, context, metrics);
  if (webApp !== undefined) await clientRoutes(api, webApp, context);
  mcpRoutes(api, context, { door, metrics, operations: current.operations });
  await openapiRoutes(api, context, { current, older, home: webApp === undefined ? '/docs/' : '/app' });
  manualRoutes(api);
  const packages = path.join(config.directory, 'clients');
  // On a machine that runs everything itself, nobody else has built them.
  packageRoutes(api, packages, config.urls.postgres === undefined ? clientBuilder(packages) : undefined);

  const links = buildLinksHost(context, sharedParts);
  await serveLinks(links);
  // Links in mails are on this host, and the web app is on the API's: at `API_URL`, or at the same host name with the
  // API's port.
  const toOrigin = ({ hostname }: { hostname: string }) => config.apiUrl ?? `http://${hostname}:${config.port}`;
  entranceRoute(links, toOrigin);
  appRedirect(links, toOrigin);
  return { api, links, close: async () => void (await Promise.all([api.close(), links.close()])) };
}
