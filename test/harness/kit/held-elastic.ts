import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { engineUrls } from '../app.ts';

/** The real Elasticsearch behind a door that holds searches back while it is told to. */
export async function startHeldElastic(): Promise<{
  url: string;
  hold(): void;
  release(): void;
  /** The bodies of searches that are held. */
  held(): string[];
  /** The bodies of searches whose caller closed the connection while they were held. */
  cancelled(): string[];
  /** The bodies of all searches that came. */
  seen(): string[];
  close(): Promise<void>;
}> {
  const target = engineUrls().elasticsearch;
  const held = new Map<ServerResponse, string>();
  const cancelled: string[] = [];
  const seen: string[] = [];
  let gate = Promise.withResolvers<void>();
  gate.resolve();

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    if (request.url?.includes('/_search')) {
      const text = body.toString();
      seen.push(text);
      held.set(response, text);
      response.once('close', () => {
        if (held.delete(response)) cancelled.push(text);
      });
      await gate.promise;
      held.delete(response);
      if (response.destroyed) return;
    }
    const { method = 'GET', headers } = request;
    const sent = new Headers();
    for (const name of ['accept', 'content-type'] as const) if (headers[name]) sent.set(name, headers[name]);
    const answer = await fetch(`${target}${request.url}`, {
      method,
      headers: sent,
      ...(body.length > 0 ? { body } : {}),
    });
    response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json');
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The door has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    hold: () => {
      gate = Promise.withResolvers<void>();
    },
    release: () => gate.resolve(),
    held: () => [...held.values()],
    cancelled: () => cancelled,
    seen: () => seen,
    close: async () => {
      gate.resolve();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
