import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import type { FastifyRequest, FastifyServerFactory } from 'fastify';
import type { AddressLimit } from '../access/rate/address.ts';
import { ApiError, errorBody } from '../values/errors.ts';
import type { Log } from '../values/log.ts';
import { openConnections } from './connections.ts';
import { openDirect } from './direct.ts';
import { type LinkRequest, REDIRECTS, type Redirect, type Send } from './redirect.ts';
import { openSenders } from './sender.ts';

/** As Fastify has it. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

const SERVER_OPTIONS = {
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  requireHostHeader: false,
  // A request without a body has no stream to wind up: 1.3 µs a request. Whoever reads one: see `bodyOf`.
  optimizeEmptyRequests: true,
};

export interface FrontOptions {
  trustedProxies: readonly string[];
  maxHeaderSize: number;
  headWithinMs: number;
  requestWithinMs: number;
  addresses: AddressLimit;
  requestIdOf(request: IncomingMessage): string;
  log: Log;
}

/** Of every answer but a redirect's. */
export const baseHeaders = (requestId: string) => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});

/** Fastify waits for the end of any body whose type is told, and one that has no length has ended before. */
export function bodyOf({ headers }: FastifyRequest, payload: Readable): Readable {
  return payload.readableEnded && headers['content-type'] !== undefined ? Readable.from([]) : payload;
}

/** What a request names in full, as it may: RFC 9112, 3.2.2. */
const ORIGIN = /^https?:\/\/[^/?#]*\/?/i;

const withoutHost = new ApiError('BAD_REQUEST', 'An HTTP/1.1 request must have a Host header.');
const unmetExpectation = new ApiError('NOT_ACCEPTABLE', 'The only expectation met here is 100-continue.', {
  status: 417,
});
const noProxy = new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is not allowed here: this is no proxy.', {
  headers: { allow: 'DELETE, GET, PATCH, POST' },
});

export interface Front {
  /** For Fastify: a server that answers short links before its router. */
  serverFactory: FastifyServerFactory;
  addressOf(request: IncomingMessage): string;
  /** From here on a connection ends with its answer. */
  close(): void;
}

/**
 * Short links do not go through Fastify, nor through Node's server where a request is a plain one: a redirect has no time to
 * spare beside a bare one. What Node would refuse by itself, without a body, is refused here.
 */
export function openFront(redirect: Redirect, options: FrontOptions): Front {
  const { trustedProxies, addresses, requestIdOf, log } = options;
  const senderOf = openSenders(trustedProxies);
  const direct = openDirect({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, answer });
  const onNode = openConnections();
  let isClosing = false;

  function answer(request: LinkRequest, send: Send): void {
    try {
      redirect(request, senderOf(request), send);
    } catch (error) {
      log.error({ err: error }, 'a redirect failed');
      request.socket.destroy();
    }
  }

  function answerOnNode(request: IncomingMessage, response: ServerResponse): void {
    if (isClosing) response.setHeader('connection', 'close');
    answer(request, (status, fields, body) => {
      const headers = fields.split('\r\n').flatMap((line) => (line === '' ? [] : line.split(/: (.*)/, 2)));
      response.writeHead(status, headers).end(body);
    });
  }

  /** The connection ends with it: whether what follows is a body or another request is not known. */
  async function sendRefusal(refusal: ApiError, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const setHeader = (name: string, value: string) => void response.setHeader(name, value);
    const told = (await addresses.count(senderOf(request).address, setHeader)) ?? refusal;
    const requestId = requestIdOf(request);
    const body = Buffer.from(JSON.stringify(errorBody(told, requestId)));
    const type = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length };
    response.writeHead(told.status, { ...baseHeaders(requestId), ...told.headers, ...type, connection: 'close' });
    response.end(body);
  }

  function refuse(refusal: ApiError, request: IncomingMessage, response: ServerResponse): void {
    sendRefusal(refusal, request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a refusal failed');
      response.destroy();
    });
  }

  /** From here on the socket is nobody's: it is closed, and its failures end it. */
  function refuseConnect(request: IncomingMessage, socket: Duplex): void {
    socket.on('error', () => socket.destroy());
    if (!(socket instanceof Socket)) return void socket.destroy();
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
    refuse(noProxy, request, response);
  }

  /** Fastify would let a request come for ever. */
  const limits = {
    maxHeaderSize: options.maxHeaderSize,
    headersTimeout: options.headWithinMs,
    requestTimeout: options.requestWithinMs,
    connectionsCheckingInterval: options.headWithinMs / 2,
  };

  /** Its connections come to us first. */
  function serveDirectly(server: Server): Server {
    const listeners = server.listeners('connection');
    const toNode = (socket: Socket) => {
      onNode.add(socket);
      for (const listener of listeners) listener.call(server, socket);
    };
    return server.removeAllListeners('connection').on('connection', (socket) => direct.serve(socket, toNode));
  }

  return {
    addressOf: (request) => senderOf(request).address,
    serverFactory: (handler) =>
      serveDirectly(
        createServer({ ...limits, ...SERVER_OPTIONS }, (request, response) => {
          onNode.asked(response);
          request.url = request.url?.replace(ORIGIN, '/');
          if (request.headers.host === undefined && request.httpVersion === '1.1') {
            refuse(withoutHost, request, response);
          } else if (request.url?.startsWith(REDIRECTS)) answerOnNode(request, response);
          else handler(request, response);
        })
          .on('checkExpectation', (request, response) => refuse(unmetExpectation, request, response))
          .on('connect', refuseConnect),
      ),
    close: () => {
      isClosing = true;
      direct.close();
      onNode.close();
    },
  };
}
