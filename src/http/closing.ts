import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A head or a body that has begun to come is waited for so long, and all that is still to be answered this long. */
const UNFINISHED_MS = 3_000;
const UNANSWERED_MS = 10_000;

function endWithAnswer(socket: Socket, response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
  else response.on('finish', () => socket.destroySoon());
}

/**
 * Node ends only idle connections when a server is closed, and keeps the others for a minute and more. What this gives ends
 * each with its last answer, and at last those that get none. To be called before `boundRequests`.
 */
export function openClosing(server: Server): () => void {
  /** What is still to be answered last on each. */
  const connections = new Map<Socket, ServerResponse | undefined>();

  function endUnfinished(): void {
    for (const [socket, response] of connections) if (!response?.req.complete) socket.destroy();
  }

  function endAll(): void {
    for (const socket of connections.keys()) socket.destroy();
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined);
    socket.on('close', () => connections.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    connections.set(socket, response);
    response.on('close', () => {
      if (connections.get(socket) === response) connections.set(socket, undefined);
    });
  });

  return () => {
    for (const [socket, response] of connections) if (response) endWithAnswer(socket, response);
    setTimeout(endUnfinished, UNFINISHED_MS).unref();
    setTimeout(endAll, UNANSWERED_MS).unref();
  };
}
