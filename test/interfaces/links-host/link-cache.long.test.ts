import { once } from 'node:events';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp, unique } from '../../harness/app.ts';
import { ownRedis } from '../../harness/database.ts';

const redis = ownRedis();
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ urls: { redis } });
});
afterAll(() => app?.close());

/** The real one, whatever a test left behind. */
const realNow = performance.now.bind(performance);
// Whoever shares this process would have them after a failure.
afterEach(() => void vi.restoreAllMocks());

const CONNECTIONS = 10;
const SLUGS = 100;
const MANY_MB = 40;
const PADDING = 'x'.repeat(7_000);

/** Asks for each link in turn on a connection of its own, each with a head of 7 kB; in vain, but that is not the point. */
async function openAsker(slugs: readonly string[]) {
  const socket = connect({ port: Number(new URL(app.links).port), host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return {
    askAll: async () => {
      for (const slug of slugs) {
        socket.write(`GET /r/${slug} HTTP/1.1\r\nHost: go.example\r\nX-Padding: ${PADDING}\r\n\r\n`);
        const [answer] = await once(socket, 'data');
        // A machine that is too busy to look says that it could not.
        expect(String(answer)).toMatch(/^HTTP\/1\.1 (404|503) /);
      }
    },
    end: () => socket.destroy(),
  };
}

/** What is held once nothing is left to collect. */
function heldMb(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 1_000_000;
}

describe('the cache of links', () => {
  it('does not grow through repeated requests, however rare and whatever else is requested', async () => {
    // Each time a second and more after the last, which is not waited for.
    let passedMs = 0;
    const time = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs);
    const askers = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => openAsker(Array.from({ length: SLUGS }, () => unique('never-made')))),
    );
    const askAll = async () => {
      await Promise.all(askers.map(({ askAll }) => askAll()));
      passedMs += 1_100;
    };
    await askAll();
    const before = heldMb();
    for (let i = 0; i < 15; i += 1) await askAll();
    expect(heldMb() - before).toBeLessThan(MANY_MB);
    for (const { end } of askers) end();
    time.mockRestore();
  });
});
