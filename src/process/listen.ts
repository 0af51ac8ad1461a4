import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../kit/values/config.ts';
import type { Apps } from './apps.ts';

const NEXT_PORTS = 50;

export interface Ports {
  port: number;
  linksPort: number;
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

const portTaken = (host: string, port: number, { name, setBy }: Listener) =>
  new Error(`Port ${port} on ${host}${name} is taken; choose another with ${setBy}.`);

interface Listener {
  /** Names the listener in errors. */
  name: string;
  setBy: string;
}
const API: Listener = { name: '', setBy: '--port or PORT' };
const LINKS: Listener = { name: ', of the links host,', setBy: 'LINKS_PORT' };

/** The port if it is free; any free one for 0. */
async function freePort(host: string, port: number): Promise<number | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' ? address?.port : undefined;
  } catch (error) {
    if (isTaken(error)) return undefined;
    throw error;
  } finally {
    server.close();
  }
}

/** A requested port that is taken is an error. A default port moves to the next free one and says so. */
async function choose(
  host: string,
  listener: Listener,
  { first, isFixed, besides }: { first: number; isFixed: boolean; besides?: number },
): Promise<number> {
  for (let port = first; port < first + NEXT_PORTS; port += 1) {
    const nextPort = port === besides ? undefined : await freePort(host, port);
    if (nextPort !== undefined) {
      if (port !== first && first !== 0) {
        process.stderr.write(`Port ${first}${listener.name} is taken; listening on ${port}.\n`);
      }
      return nextPort;
    }
    if (isFixed) throw portTaken(host, port, listener);
  }
  throw new Error(
    `The ports ${first} to ${first + NEXT_PORTS - 1} on ${host} are all taken; choose one with ${listener.setBy}.`,
  );
}

/** Chooses the ports before anything that mentions them is opened. The links host's default is the next port. */
export async function choosePorts(config: Config, requested: number | undefined): Promise<Ports> {
  const { host, portIsSet, linksPortIsSet } = config;
  const first = requested ?? config.port;
  const port = await choose(host, API, { first, isFixed: requested !== undefined || portIsSet });
  const next = first === 0 ? 0 : port + 1;
  const firstOfLinks = linksPortIsSet ? config.linksPort : next;
  const linksPort = await choose(host, LINKS, { first: firstOfLinks, isFixed: linksPortIsSet, besides: port });
  return { port, linksPort };
}

/** The configuration with these ports, and with links on theirs unless `LINKS_URL` is set. */
export function onPorts(config: Config, ports: Ports): Config {
  const linksUrl = config.linksUrlIsSet ? config.linksUrl : `http://${config.host}:${ports.linksPort}`;
  return { ...config, ...ports, linksUrl };
}

/** Listens on both ports and returns their URLs. */
export async function listen(
  { api, links }: Apps,
  { host, port, linksPort }: Config,
): Promise<{ url: string; linksUrl: string }> {
  // For `localhost` Fastify would listen on every address, all but the first without our limits.
  const address = host === 'localhost' ? (await lookup(host)).address : host;
  const listenOn = async (app: Apps['api'], on: number, listener: Listener) => {
    try {
      return await app.listen({ host: address, port: on });
    } catch (error) {
      throw isTaken(error) ? portTaken(host, on, listener) : error;
    }
  };
  const linksUrl = await listenOn(links, linksPort, LINKS);
  return { linksUrl, url: await listenOn(api, port, API) };
}
