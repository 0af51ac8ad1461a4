import type { IncomingMessage } from 'node:http';
import { compile } from '@fastify/proxy-addr';

export interface Sender {
  address: string;
  /** Whether the socket's other end is one of the operator's own proxies. */
  isTrusted: boolean;
}

export type SenderOf = (
  request: Pick<IncomingMessage, 'socket'> & { headers: NodeJS.Dict<string | string[]> },
) => Sender;

/** Who asks, read as Fastify reads it for every other door: the nearest address that is none of our own proxies. */
export function openSenders(trustedProxies: readonly string[]): SenderOf {
  if (trustedProxies.length === 0) {
    return ({ socket }) => ({ address: socket.remoteAddress ?? '', isTrusted: false });
  }
  const isProxy = compile([...trustedProxies]);
  return ({ headers, socket }) => {
    let address = socket.remoteAddress ?? '';
    const isTrusted = isProxy(address, 0);
    const forwardedFor = headers['x-forwarded-for'];
    if (!isTrusted || typeof forwardedFor !== 'string') return { address, isTrusted };
    let hops = 0;
    // Each proxy has appended who called it; an address further left is believed only behind a proxy of our own.
    for (const claimed of forwardedFor.split(',').reverse()) {
      if (claimed.trim() === '') continue;
      if (!isProxy(address, hops)) break;
      address = claimed.trim();
      hops += 1;
    }
    return { address, isTrusted };
  };
}
