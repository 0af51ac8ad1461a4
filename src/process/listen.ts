import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';

const NEXT_PORTS = 50;

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

const taken = (host: string, port: number) =>
  new Error(`Port ${port} on ${host} is taken; choose another with --port or PORT.`);

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  } finally {
    server.close();
  }
}

/**
 * The port to listen on, known before anything that names it is opened. One that was asked for and is taken is an error;
 * the default moves on to the next free one, said aloud.
 */
export async function choosePort(config: Config, requested: number | undefined): Promise<number> {
  const { host } = config;
  const first = requested ?? config.port;
  const isFixed = requested !== undefined || config.portIsSet;
  for (let port = first; port < first + NEXT_PORTS; port += 1) {
    if (port === 0 || (await isFree(host, port))) {
      if (port !== first) process.stderr.write(`Port ${first} is taken; listening on ${port}.\n`);
      return port;
    }
    if (isFixed) throw taken(host, port);
  }
  throw new Error(`The ports ${first} to ${first + NEXT_PORTS - 1} on ${host} are all taken; choose one with --port.`);
}

/** The same with links on this port, where no `LINKS_URL` says otherwise. */
export function withLinksOn(config: Config, port: number): Config {
  return config.linksUrlIsSet ? config : { ...config, linksUrl: `http://${config.host}:${port}` };
}

/** Listens and returns the URL. */
export async function listen(fastify: FastifyInstance, { host }: Config, port: number): Promise<string> {
  try {
    return await fastify.listen({ host, port });
  } catch (error) {
    throw isTaken(error) ? taken(host, port) : error;
  }
}
