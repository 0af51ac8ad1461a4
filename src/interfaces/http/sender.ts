import type { IncomingMessage } from 'node:http';
import { compile } from '@fastify/proxy-addr';

export interface Sender {
  address: string;
  /** True if the socket's peer is one of the operator's proxies. */
  isTrusted: boolean;
}

export type SenderOf = (
  request: Pick<IncomingMessage, 'socket'> & { headers: NodeJS.Dict<string | string[]> },
) => Sender;

/** The client's address, as Fastify determines it for other doors: the nearest address that is not a trusted proxy. */
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
    // Each proxy appends its client; an address further left is trusted only behind a trusted proxy.
    for (const hop of forwardedFor.split(',').reverse()) {
      if (hop.trim() === '') continue;
      if (!isProxy(address, hops)) break;
      address = hop.trim();
      hops += 1;
    }
    return { address, isTrusted };
  };
}
