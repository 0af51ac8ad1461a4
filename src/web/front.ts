import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { all, compile } from '@fastify/proxy-addr';
import type { FastifyRequest, FastifyServerFactory } from 'fastify';
import { ApiError, errorBody } from '../errors.ts';
import type { Log } from '../log.ts';
import type { AddressLimit } from '../rate/address.ts';
import { REDIRECTS, type Redirect, type Sender } from './redirect.ts';

/** What Fastify sets on a server that it makes itself. */
const FASTIFYS_OWN = { keepAliveTimeout: 72_000, requestTimeout: 0 };

const SERVER_OPTIONS = {
  ...FASTIFYS_OWN,
  requireHostHeader: false,
  // A request without a body has no stream to wind up: 1.3 µs of a redirect's 20. Whoever reads one: see `bodyOf`.
  optimizeEmptyRequests: true,
};

export interface FrontOptions {
  trustedProxies: readonly string[];
  maxHeaderSize: number;
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

const withoutHost = new ApiError('INVALID_JSON', 'An HTTP/1.1 request must have a Host header.');
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

/** Who asks, read as Fastify reads it for every other door. */
function openSenders(trustedProxies: readonly string[]): (request: IncomingMessage) => Sender {
  if (trustedProxies.length === 0) {
    return ({ socket }) => ({ address: socket.remoteAddress ?? '', isTrusted: false });
  }
  const isProxy = compile([...trustedProxies]);
  return (request) => ({
    address: all(request, isProxy).at(-1) ?? '',
    isTrusted: isProxy(request.socket.remoteAddress ?? '', 0),
  });
}

/**
 * Short links do not go through Fastify: as one of its routes, behind the API's hooks, a redirect took 7 % more CPU (median
 * of four alternated rounds on a busy machine), and it has none to spare beside a bare one. What Node would refuse by
 * itself, without a body, is refused here.
 */
export function openFront(redirect: Redirect, options: FrontOptions): Front {
  const { trustedProxies, maxHeaderSize, addresses, requestIdOf, log } = options;
  const senderOf = openSenders(trustedProxies);
  let isClosing = false;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      if (isClosing) response.setHeader('connection', 'close');
      redirect(request, response, senderOf(request));
    } catch (error) {
      log.error({ err: error }, 'a redirect failed');
      response.destroy();
    }
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

  return {
    addressOf: (request) => senderOf(request).address,
    serverFactory: (handler) =>
      createServer({ maxHeaderSize, ...SERVER_OPTIONS }, (request, response) => {
        if (request.headers.host === undefined && request.httpVersion === '1.1') {
          refuse(withoutHost, request, response);
        } else if (request.url?.startsWith(REDIRECTS)) answer(request, response);
        else handler(request, response);
      })
        .on('checkExpectation', (request, response) => refuse(unmetExpectation, request, response))
        .on('connect', refuseConnect),
    close: () => {
      isClosing = true;
    },
  };
}
