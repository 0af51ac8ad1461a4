import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of one connection: requests that are handled side by side, and how many may come before the first is answered. */
const AT_ONCE = 10;
const MAX_UNANSWERED = 100;

interface Requested {
  request: IncomingMessage;
  response: ServerResponse;
}

interface Connection {
  underWay: Set<IncomingMessage>;
  waiting: Requested[];
  /** Asked for more than anybody may: what is accepted is answered, and then it ends. */
  isFull: boolean;
  onIdle: (() => void)[];
}

/** A request that has not come whole, the last one of its connection, may never be. */
const isAnswered = ({ underWay, waiting }: Connection) =>
  waiting.length === 0 && [...underWay].every((request) => !request.complete);

export interface BoundedRequests {
  /** Calls when everything that was asked in full on the connection is answered; at once when nothing is under way. */
  whenAnswered(socket: Socket, then: () => void): void;
}

/**
 * Bounds what one connection has under way on an HTTP server, whoever listens to it: Node itself hands on every request of
 * a chunk at once, and a chunk of 64 kB holds thousands. To be called once its request listeners are there.
 */
export function boundRequests(server: Server): BoundedRequests {
  const connections = new WeakMap<Socket, Connection>();
  const listeners = server.listeners('request');

  function start(connection: Connection, { request, response }: Requested): void {
    connection.underWay.add(request);
    response.once('close', () => finish(connection, request));
    for (const listener of listeners) listener.call(server, request, response);
  }

  function finish(connection: Connection, request: IncomingMessage): void {
    connection.underWay.delete(request);
    const next = connection.waiting.shift();
    if (next) start(connection, next);
    else if (isAnswered(connection)) for (const then of connection.onIdle.splice(0)) then();
  }

  /** The last that is accepted ends the connection; what comes after it is not even read. */
  function fill(connection: Connection, socket: Socket): void {
    connection.isFull = true;
    connection.waiting.at(-1)?.response.setHeader('connection', 'close');
    socket.pause();
  }

  function open(socket: Socket): Connection {
    const connection = { underWay: new Set<IncomingMessage>(), waiting: [], isFull: false, onIdle: [] };
    connections.set(socket, connection);
    return connection;
  }

  server.removeAllListeners('request').on('request', (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket) ?? open(socket);
    if (connection.isFull) return;
    if (connection.underWay.size < AT_ONCE) return start(connection, { request, response });
    connection.waiting.push({ request, response });
    if (connection.underWay.size + connection.waiting.length >= MAX_UNANSWERED) fill(connection, socket);
  });

  return {
    whenAnswered: (socket, then) => {
      const connection = connections.get(socket);
      if (!connection || isAnswered(connection)) then();
      else connection.onIdle.push(then);
    },
  };
}
