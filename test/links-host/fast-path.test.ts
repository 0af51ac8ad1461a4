import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openFastPath } from '../../src/links-host/fast-path.ts';
import { findFreePort } from '../../src/local/engines/port.ts';
import { until } from '../harness/app.ts';

const REQUEST = 'GET /r/spring HTTP/1.1\r\nHost: go.example\r\n\r\n';
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Door {
  open(): Promise<Socket>;
  answered(): number;
  /** Connections that it has ended. */
  ended(): number;
}

/** Answers short links with so many bytes; its idle connections end within two of `keepAliveTimeoutMs`. */
async function serve(keepAliveTimeoutMs: number, bytes: number): Promise<Door> {
  let answered = 0;
  let ended = 0;
  const body = 'x'.repeat(bytes);
  const fastPath = openFastPath({
    keepAliveTimeoutMs,
    redirect: (_request, send) => {
      send(200, `Content-Length: ${bytes}\r\n`, body);
      answered += 1;
    },
  });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('close', () => {
      ended += 1;
    });
    fastPath.serve(socket, () => socket.destroy());
  });
  const port = await findFreePort();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  ends.push(fastPath.close, () => server.close());
  return {
    open: async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => undefined);
      ends.push(() => socket.destroy());
      await once(socket, 'connect');
      return socket;
    },
    answered: () => answered,
    ended: () => ended,
  };
}

describe('a connection for short links', () => {
  it('ends when nothing is requests on it, whether or not anything ever was; one in use stays', async () => {
    const door = await serve(500, 10);
    const [silent, idle, used] = [await door.open(), await door.open(), await door.open()];
    for (const socket of [silent, idle, used]) socket.resume();
    idle.write(REQUEST);
    const asking = setInterval(() => used.write(REQUEST), 20);
    await until('idle connections to end', () => silent.closed && idle.closed);
    const before = door.answered();
    await until('another answer', () => door.answered() > before);
    clearInterval(asking);
    expect([door.ended(), used.destroyed]).toEqual([2, false]);
  });

  it('ends when its visitor reads none of the answers; others are answered', async () => {
    const door = await serve(60_000, 60_000);
    const [deaf, other] = [await door.open(), await door.open()];
    other.resume();
    deaf.pause();
    // Answers fill the system's buffers first, some megabytes of them.
    for (let requests = 0; door.ended() === 0; requests += 1) {
      expect(requests).toBeLessThan(1_000);
      const before = door.answered();
      deaf.write(REQUEST);
      await until('the answer, or the end', () => door.ended() > 0 || door.answered() > before);
    }
    const before = door.answered();
    other.write(REQUEST);
    await until('the answer of another', () => door.answered() > before);
    expect([door.ended(), other.destroyed]).toEqual([1, false]);
  });
});
