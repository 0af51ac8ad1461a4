import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * Below the range of ephemeral ports. Otherwise a client that keeps trying to reach a stopped engine could be given the
 * engine's port and connect to itself.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Each process prefers its own range, because a port that it was given stays free until an engine listens on it. */
const OWN = 400;
const lowestOfOwn = LOWEST + (process.pid % ((HIGHEST - LOWEST) / OWN)) * OWN;

const givenPorts = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A free loopback port that this process has not returned before. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const port = attempt < OWN ? randomInt(lowestOfOwn, lowestOfOwn + OWN) : randomInt(LOWEST, HIGHEST);
    if (givenPorts.has(port)) continue;
    givenPorts.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${LOWEST} and ${HIGHEST} on 127.0.0.1.`);
}

/**
 * Sends bytes and returns the first bytes of the answer. Rejects if nothing listens or answers within half a second.
 */
export function askTcp(port: number, question: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(question));
    socket.setTimeout(500, () => socket.destroy(new Error('no answer')));
    socket.once('data', (answer) => {
      resolve(answer);
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an answer')));
  });
}
