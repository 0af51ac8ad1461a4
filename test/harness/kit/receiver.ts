import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { type Certificate, makeCertificate } from './certificate.ts';

/** A delivery as it reached the receiver. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When its request began, and when it was answered, by `performance.now()`. */
  at: number;
  answeredAt: number | undefined;
}

export interface Receiver {
  url: string;
  cert: string;
  received: Received[];
  /** Those of one path. */
  at(path: string): Received[];
  /** How it answers; a test sets it. Until then: 200, at once. */
  answer: (received: Received, response: ServerResponse) => void;
  close(): Promise<void>;
}

const trusted: string[] = [];

/** Lets every https client of this process trust a certificate, as `NODE_EXTRA_CA_CERTS` does. */
function trust(certificate: Certificate): void {
  trusted.push(certificate.cert);
  tls.setDefaultCACertificates([...tls.getCACertificates('bundled'), ...trusted]);
}

const portOf = (address: AddressInfo | string | null) => (typeof address === 'object' && address ? address.port : 0);

/** A receiver of webhooks on 127.0.0.1 whose certificate this process trusts. */
export async function startReceiver(hosts: readonly string[] = ['127.0.0.1', 'localhost']): Promise<Receiver> {
  const certificate = makeCertificate(hosts);
  trust(certificate);
  const sockets = new Set<Duplex>();
  const server = createServer(certificate, (request, response) => {
    const one: Received = {
      ...{ path: request.url ?? '', headers: request.headers, body: '', at: performance.now() },
      answeredAt: undefined,
    };
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      one.body += chunk;
    });
    request.on('error', () => undefined);
    request.on('end', () => {
      receiver.received.push(one);
      response.on('finish', () => {
        one.answeredAt = performance.now();
      });
      receiver.answer(one, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `https://127.0.0.1:${portOf(server.address())}`,
    cert: certificate.cert,
    received: [],
    at: (path) => receiver.received.filter((one) => one.path === path),
    answer: (_received, response) => void response.end('ok'),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Answers so many times with a status, then with 200. */
export function failing(status: number, times: number): Receiver['answer'] {
  let left = times;
  return (_received, response) => {
    left -= 1;
    void response.writeHead(left >= 0 ? status : 200).end();
  };
}
