import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, makeBrand, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('stalled');
/** More than the buffers of two sockets hold. */
const CREATORS = 12_000;
const BIOGRAPHY = 'Long runs and muddy trails. '.repeat(70);
const CUT_WITHIN_MS = 75_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ alias });
  const rows = Array.from({ length: CREATORS }, (_, i) => creator(i + 1, { biography: BIOGRAPHY }));
  await putDirectory(app.context.elastic, alias, rows);
});
afterAll(() => app?.close());

/** Asks for a walk, and reads nothing but its head. */
async function stall(key: string, accept: string): Promise<{ socket: Socket; status: string }> {
  const { hostname, port } = new URL(app.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = ['GET /v1/creators/search?walk=true HTTP/1.1', `host: ${hostname}:${port}`];
  socket.write(`${[...head, `authorization: Bearer ${key}`, `accept: ${accept}`].join('\r\n')}\r\n\r\n`);
  const [first] = await once(socket, 'data');
  socket.pause();
  return { socket, status: String(first).slice(9, 12) };
}

/** Both places of the brand are free: two walks that stay open get them. */
async function hasBothPlaces(key: string): Promise<boolean> {
  const opened = await Promise.all([1, 2].map(() => stall(key, 'application/x-ndjson')));
  for (const { socket } of opened) socket.destroy();
  return opened.every(({ status }) => status === '200');
}

test('Walks whose readers stand still keep their two places of the brand, and are cut after a minute', async () => {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000_000 });
  const key = await brand.key('data');
  const from = performance.now();
  const stalled = await Promise.all([1, 2].map(() => stall(key, 'application/x-ndjson')));
  expect(stalled.map(({ status }) => status)).toEqual(['200', '200']);
  const walk = () =>
    call(`${app.url}/v1/creators/search?walk=true&category=none`, key, { headers: { accept: 'text/csv' } });
  // Longer than a place lasts that nobody keeps.
  await until('twenty seconds', () => performance.now() - from > 20_000);
  expect((await walk()).status).toBe(429);
  await until('both places', () => hasBothPlaces(key), CUT_WITHIN_MS);
  for (const { socket } of stalled) {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
    expect(Buffer.concat(chunks).includes('"complete"')).toBe(false);
  }
}, 200_000);

test('A CSV whose reader stands still ends sooner, because it holds a snapshot of the rows', async () => {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000_000 });
  const key = await brand.key('data');
  const { socket } = await stall(key, 'text/csv');
  await until('both places', () => hasBothPlaces(key), CUT_WITHIN_MS);
  socket.destroy();
}, 200_000);
