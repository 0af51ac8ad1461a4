import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A head or a body that has begun to come is waited for so long, and all that is still to be answered this long. */
const UNFINISHED_MS = 3_000;
const UNANSWERED_MS = 10_000;

export interface Connections {
  add(socket: Socket): void;
  /** What was asked last on its connection. */
  asked(response: ServerResponse): void;
  /** Ends each with its last answer, and at last those that get none: Node itself would keep them for a minute and more. */
  close(): void;
}

/** The connections of Node's own server, which ends only those that are idle when it is closed. */
export function openConnections(): Connections {
  /** What is still to be answered last on each. */
  const connections = new Map<Socket, ServerResponse | undefined>();

  function endWithAnswer(socket: Socket, response: ServerResponse): void {
    if (!response.headersSent) response.setHeader('connection', 'close');
    else response.on('finish', () => socket.destroySoon());
  }

  function endUnfinished(): void {
    for (const [socket, response] of connections) if (!response?.req.complete) socket.destroy();
  }

  function endAll(): void {
    for (const socket of connections.keys()) socket.destroy();
  }

  return {
    add: (socket) => {
      connections.set(socket, undefined);
      socket.on('close', () => connections.delete(socket));
    },
    asked: (response) => {
      const { socket } = response.req;
      connections.set(socket, response);
      response.on('close', () => {
        if (connections.get(socket) === response) connections.set(socket, undefined);
      });
    },
    close: () => {
      for (const [socket, response] of connections) if (response) endWithAnswer(socket, response);
      setTimeout(endUnfinished, UNFINISHED_MS).unref();
      setTimeout(endAll, UNANSWERED_MS).unref();
    },
  };
}
