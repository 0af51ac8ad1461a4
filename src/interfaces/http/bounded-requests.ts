import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Limits per connection: requests handled concurrently, and requests received before the first response. */
const AT_ONCE = 10;
const MAX_UNANSWERED = 100;

interface Requested {
  request: IncomingMessage;
  response: ServerResponse;
}

interface Connection {
  underWay: Set<IncomingMessage>;
  waiting: Requested[];
  /** The client sent too many requests: those accepted are answered, then the connection ends. */
  isFull: boolean;
  onIdle: (() => void)[];
}

/** True if all complete requests are answered. The last request of a connection may never be completed. */
const isAnswered = ({ underWay, waiting }: Connection) =>
  waiting.length === 0 && [...underWay].every((request) => !request.complete);

export interface BoundedRequests {
  /** Calls `then` when every complete request of the connection is answered; at once if none is in progress. */
  whenAnswered(socket: Socket, then: () => void): void;
}

/**
 * Limits the requests that one connection has in progress: Node emits every request of a chunk at once, and a chunk of
 * 64 kB holds thousands. Call it after the request listeners are added.
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
    // Nobody waits for the answers of a closed connection.
    if (request.socket.destroyed) connection.waiting.length = 0;
    const next = connection.waiting.shift();
    if (next) start(connection, next);
    else if (isAnswered(connection)) for (const then of connection.onIdle.splice(0)) then();
  }

  /** The last accepted request ends the connection; nothing after it is read. */
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
