import type { FastifyInstance } from 'fastify';
import type { Config } from './config.ts';

const NEXT_PORTS = 50;

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

/**
 * Listens and returns the URL. A port that was asked for and is taken is an error; the default moves on to the
 * next free one, said aloud.
 */
export async function listen(fastify: FastifyInstance, config: Config, asked: number | undefined): Promise<string> {
  const { host } = config;
  const first = asked ?? config.port;
  const fixed = asked !== undefined || config.portIsSet;
  for (let port = first; port < first + NEXT_PORTS; port += 1) {
    try {
      const address = await fastify.listen({ host, port });
      if (port !== first) process.stderr.write(`Port ${first} is taken; listening on ${port}.\n`);
      return address;
    } catch (error) {
      if (!isTaken(error)) throw error;
      if (fixed) throw new Error(`Port ${first} on ${host} is taken; choose another with --port or PORT.`);
    }
  }
  throw new Error(`The ports ${first} to ${first + NEXT_PORTS - 1} on ${host} are all taken; choose one with --port.`);
}
