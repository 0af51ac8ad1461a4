import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { cutStalledReaders } from '../../../src/interfaces/http/stalled-readers.ts';
import { until } from '../../harness/app.ts';

/** More than the buffers of two sockets hold. */
const ANSWER = Buffer.alloc(16 * 1024 * 1024, 'x');
const SLOW = 8;

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});

async function ask(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  return socket;
}

it('Answers that wait for slow readers have bounded bytes together: the slowest are cut, and a reader that takes its answer is not', async () => {
  const most = 3 * ANSWER.length;
  const held = new Set<Socket>();
  server = createServer((_request, response) => response.end(ANSWER));
  server.on('connection', (socket) => void held.add(socket.once('close', () => held.delete(socket))));
  cutStalledReaders(server, most);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const slow = await Promise.all(Array.from({ length: SLOW }, () => ask(port)));
  for (const socket of slow) socket.pause();
  await until('all answers to wait', () => held.size === SLOW);
  await until('the slowest to be cut', () => {
    const waiting = [...held].reduce((sum, { writableLength }) => sum + writableLength, 0);
    return held.size < SLOW && waiting <= most;
  });
  expect(held.size).toBeGreaterThan(0);
  const fast = await ask(port);
  let size = 0;
  for await (const chunk of fast) size += chunk.length;
  expect(size).toBeGreaterThan(ANSWER.length);
});
