import type { FastifyInstance } from 'fastify';
import { buildApi, type Shared } from '../http/app.ts';
import { openDoor } from '../http/gate.ts';
import { buildLinksHost } from '../links-host/listener.ts';
import { openRedirect } from '../links-host/redirect.ts';
import type { Context } from '../operation/context.ts';
import { openProcessMetrics } from './metrics/open.ts';

export interface Apps {
  api: FastifyInstance;
  links: FastifyInstance;
  close(): Promise<void>;
}

/** Both servers of a process, not listening yet. `webApp`: the folder of the web app's built client. */
export async function buildApps(context: Context, options: { webApp?: string } = {}): Promise<Apps> {
  const metrics = openProcessMetrics(context);
  const shared: Shared = { door: openDoor(context, metrics), metrics, redirect: openRedirect(context, metrics) };
  const api = await buildApi(context, shared, options);
  const links = await buildLinksHost(context, shared);
  return { api, links, close: async () => void (await Promise.all([api.close(), links.close()])) };
}
