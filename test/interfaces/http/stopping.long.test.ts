import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockBrandRoster } from '../../../src/workflow/creators/creators.ts';
import {
  call,
  makeBrand,
  startApp,
  startServer,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../../harness/app.ts';

let app: TestApp;
let brand: TestBrand;
const sockets: Socket[] = [];

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await app?.close();
});

/** Who is on the brand's roster can be changed by nobody else until `release`. */
async function lockRoster() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const done = app.context.postgres.db.transaction().execute(async (db) => {
    await lockBrandRoster(db, brand.id);
    hold();
    await released;
  });
  await held;
  return async () => {
    release();
    await done;
  };
}

/** Whether somebody waits for it. */
async function isAwaited(): Promise<boolean> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*)::int as waiting from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%brands%' and datname = current_database()
  `.execute(app.context.postgres.db);
  return (rows[0]?.waiting ?? 0) > 0;
}

async function open(url: string, text: string) {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let said = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  await once(socket, 'connect');
  socket.write(text);
  return { socket, said: () => said };
}

const post = (key: string, body: string, length = body.length) =>
  `${[
    'POST /v1/roster HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
  ].join('\r\n')}\r\n\r\n${body}`;

describe('a server that is stopped', () => {
  it('answers requests in progress, closes incomplete ones, and exits cleanly, even if it gets the signal twice', async () => {
    const key = await brand.key('brand');
    const server = await startServer(unique('none'));
    const ended = once(server.child, 'exit');
    const release = await lockRoster();
    const creator_email = `${unique('ana')}@example.com`;
    const underWay = await open(server.url, post(key, JSON.stringify({ creator_email })));
    await until('it to wait for the roster', isAwaited);
    const unrequested = await open(server.url, 'GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n');
    await until('its answer', () => unrequested.said().includes(' 200 '));
    const unfinished = [unrequested, await open(server.url, 'G'), await open(server.url, post(key, '{', 9))];
    server.child.kill('SIGTERM');
    await until('it to take no more', () =>
      fetch(`${server.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    expect(underWay.said()).toBe('');
    // npm hands on a signal that the terminal has sent as well.
    server.child.kill('SIGTERM');
    await release();
    await until('the answer', () => underWay.socket.readableEnded);
    expect(underWay.said()).toMatch(/^HTTP\/1\.1 201 [\s\S]*\r\nconnection: close\r\n/);
    expect(await ended).toEqual([0, null]);
    await until('their ends', () => unfinished.every(({ socket }) => socket.closed || socket.readableEnded));
    const roster = await call(`${app.url}/v1/roster`, key);
    expect(roster.body.data).toMatchObject([{ creator_email }]);
  });
});
