import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { all, compile } from '@fastify/proxy-addr';
import type { FastifyServerFactory } from 'fastify';
import type { Log } from '../log.ts';
import { REDIRECTS, type Redirect, type Sender } from './redirect.ts';

/** What Fastify sets on a server that it makes itself. */
const FASTIFYS_OWN = { keepAliveTimeout: 72_000, requestTimeout: 0 };

export interface FrontOptions {
  trustedProxies: readonly string[];
  maxHeaderSize: number;
  log: Log;
}

export interface Front {
  /** For Fastify: a server that answers short links before its router. */
  serverFactory: FastifyServerFactory;
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
 * of four alternated rounds on a busy machine), and it has none to spare beside a bare one.
 */
export function openFront(redirect: Redirect, { trustedProxies, maxHeaderSize, log }: FrontOptions): Front {
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

  return {
    serverFactory: (handler) =>
      createServer({ maxHeaderSize, ...FASTIFYS_OWN }, (request, response) => {
        if (request.url?.startsWith(REDIRECTS)) answer(request, response);
        else handler(request, response);
      }),
    close: () => {
      isClosing = true;
    },
  };
}
