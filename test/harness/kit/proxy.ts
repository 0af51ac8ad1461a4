import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { findFreePort } from '../../../src/local/engines/port.ts';

export interface EngineProxy {
  /** The engine's URL, through the proxy. */
  url: string;
  /** Breaks every connection and refuses new ones, as a killed engine does. */
  cut(): Promise<void>;
  /** Keeps connections open and lets nothing through, as a hanging engine does. */
  freeze(): void;
  /** Lets requests through and no answer back. */
  freezeAnswers(): void;
  /** The next commit of a transaction with this text reaches the engine, and its connection breaks before the answer. */
  loseCommitWith(text: string): void;
  restore(): Promise<void>;
  /** New connections go to this engine from now on: one that started again on another port. */
  leadTo(target: string): void;
  close(): Promise<void>;
}

/** A TCP proxy before one engine, so that a test can fail it for itself alone while others use it. */
export async function startProxy(target: string): Promise<EngineProxy> {
  let to = new URL(target);
  const sockets = new Set<Socket>();
  let frozen = false;
  let mute = false;
  let losing: string | undefined;

  const server = createServer((client) => {
    const engine = connect(Number(to.port), to.hostname);
    let isMarked = false;
    client.on('data', (chunk: Buffer) => {
      isMarked ||= losing !== undefined && chunk.includes(losing);
      if (!isMarked || !chunk.includes('commit')) return;
      losing = undefined;
      engine.prependOnceListener('data', () => client.destroy());
    });
    for (const [from, into] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => void (frozen || (mute && from === engine) || into.write(chunk)));
      from.on('error', () => into.destroy());
      from.on('close', () => {
        sockets.delete(from);
        into.destroy();
      });
    }
  });

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  async function cut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  // A cut proxy releases its port, which nothing else may get in the meantime.
  const port = await findFreePort();
  await listen(port);
  const url = new URL(target);
  url.port = String(port);
  return {
    url: url.toString(),
    cut,
    freeze: () => {
      frozen = true;
    },
    freezeAnswers: () => {
      mute = true;
    },
    loseCommitWith: (text) => {
      losing = text;
    },
    restore: async () => {
      // What was held back is lost: a connection that missed bytes cannot go on.
      if (frozen || mute) for (const socket of sockets) socket.destroy();
      frozen = false;
      mute = false;
      if (!server.listening) await listen(port);
    },
    leadTo: (next) => {
      to = new URL(next);
    },
    close: cut,
  };
}
