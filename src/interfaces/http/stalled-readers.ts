import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A reader that takes nothing of an answer for so long is gone, and holds memory, a slot or a snapshot of rows. */
const STALLED_MS = 60_000;

/**
 * Ends connections whose readers stand still: Node's timer of a socket starts anew with every byte that leaves. An answer
 * that is still being made has all the time it needs.
 */
export function cutStalledReaders(server: Server): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.setTimeout(STALLED_MS);
  server.prependListener('request', ({ socket }, response) => void answers.set(socket, response));
  server.on('timeout', (socket: Socket) => {
    const answer = answers.get(socket);
    // Between two requests the same timer ends a connection that is kept alive.
    const isBetween = !answer || answer.closed || answer.writableFinished;
    if (isBetween || socket.writableLength > 0) socket.destroy();
  });
}
