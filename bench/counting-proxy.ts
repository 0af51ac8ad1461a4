import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Messages of PostgreSQL's protocol that run a statement: a simple query, and an execute. */
const ASKS = new Set(['Q', 'E']);
const HEAD_BYTES = 5;

/** Counts the statements in a client's stream, however its bytes are split. */
function openCounter(count: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      // Only the first message has no type before its length.
      const lengthAt = isStarted ? 1 : 0;
      if (rest.length < HEAD_BYTES) return;
      const bytes = lengthAt + rest.readUInt32BE(lengthAt);
      if (rest.length < bytes) return;
      if (isStarted && ASKS.has(String.fromCharCode(rest[0] ?? 0))) count();
      isStarted = true;
      rest = rest.subarray(bytes);
    }
  };
}

export interface CountingProxy {
  url: string;
  statements(): number;
  close(): void;
}

/** A proxy in front of PostgreSQL that counts statements. */
export async function countStatements(target: string): Promise<CountingProxy> {
  const to = new URL(target);
  const sockets = new Set<Socket>();
  let statements = 0;
  const server = createServer((client) => {
    const engine = connect(Number(to.port), to.hostname);
    for (const socket of [client, engine]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    const counter = openCounter(() => {
      statements += 1;
    });
    client.on('data', counter).pipe(engine).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(target);
  url.port = String(typeof address === 'object' && address ? address.port : 0);
  return {
    ...{ url: url.href, statements: () => statements },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
