import type { FastifyInstance } from 'fastify';
import type { Context } from '../api/context.ts';
import { openDoor } from '../api/gate.ts';
import { buildApi, type Shared } from '../api/http/app.ts';
import { type BodyLimits, openBodies } from '../api/http/bodies.ts';
import { buildLinksHost } from '../links-host/listener.ts';
import { openRedirect } from '../links-host/redirect.ts';
import { openProcessMetrics } from './metrics.ts';

export interface Apps {
  api: FastifyInstance;
  links: FastifyInstance;
  close(): Promise<void>;
}

/** Both servers of a process, not listening yet. `webApp`: the folder of the web app's built client. */
export async function buildApps(
  context: Context,
  options: { webApp?: string; bodyLimits?: BodyLimits } = {},
): Promise<Apps> {
  const metrics = openProcessMetrics(context);
  const shared: Shared = {
    ...{ door: openDoor(context, metrics), metrics, redirect: openRedirect(context, metrics) },
    bodies: openBodies(options.bodyLimits),
  };
  const api = await buildApi(context, shared, options);
  const links = await buildLinksHost(context, shared);
  return { api, links, close: async () => void (await Promise.all([api.close(), links.close()])) };
}
