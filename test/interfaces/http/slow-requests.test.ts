import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp, until } from '../../harness/app.ts';

vi.mock('../../../src/interfaces/http/request.ts', async (original) => ({
  ...(await original<typeof import('../../../src/interfaces/http/request.ts')>()),
  HEAD_WITHIN_MS: 1_000,
  REQUEST_WITHIN_MS: 1_500,
}));

const sockets: Socket[] = [];
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ isOwn: true });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await app?.close();
});

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const FORM = 'POST /apply/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n';

describe.concurrent.each([
  ['the API', () => app.url],
  ['the links host', () => app.links],
])('an incomplete request to %s', (_what, urlOf) => {
  it.each([
    ['a letter', 'G', []],
    ['the head of a short link', 'GET /r/spring HTTP/1.1\r\nHost: x\r\n', []],
    ['the head of another', 'POST /v1/roster HTTP/1.1\r\nHost: x', []],
    ['the next head', `${HEALTH}GET /r/spring HTTP/1.1\r\n`, [200]],
    ['a body', `${FORM}Content-Length: 9\r\n\r\nname=`, []],
  ])('is answered after a while, and its connection closed: with %s %j', async (_what, text, before) => {
    let said = '';
    const socket = connect({ port: Number(new URL(urlOf()).port), host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    let isReset = false;
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    socket.on('error', () => {
      isReset = true;
    });
    socket.write(text);
    await until('the end', () => socket.readableEnded);
    expect([...said.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))).toEqual([...before, 408]);
    // Whoever does not close it either is not waited for.
    await until('the connection to be gone', () => {
      socket.write('x');
      return isReset;
    });
  });
});
