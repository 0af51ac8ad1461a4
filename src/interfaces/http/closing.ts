import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A closing server waits this long for incomplete requests … */
const UNFINISHED_MS = 3_000;
/** … and this long for outstanding responses. */
const UNANSWERED_MS = 10_000;

function endWithAnswer(socket: Socket, response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
  else response.on('finish', () => socket.destroySoon());
}

/**
 * Closes connections when a server stops. Node closes only idle ones and keeps the others for a minute or more. The
 * returned function ends each connection with its last response, and finally those that get none. Call it before
 * `boundRequests`.
 */
export function openClosing(server: Server): () => void {
  /** The last outstanding response of each connection. */
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
