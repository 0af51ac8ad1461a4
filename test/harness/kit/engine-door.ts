import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { engineUrls } from '../app.ts';

/** A server in front of an engine, which answers each request as a test wants. */
export async function openEngineDoor(
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<{ url: string; close(): Promise<void> }> {
  // A caller that gives up halfway must not fail the test run.
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The door has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The headers without which the client does not take an answer for Elasticsearch's. */
export const markAsElastic = (response: ServerResponse): ServerResponse =>
  response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json');

/** Answers as the real Elasticsearch does. */
export async function forwardToElastic(
  { method = 'GET', url, headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const sent = new Headers();
  for (const name of ['accept', 'content-type'] as const) if (headers[name]) sent.set(name, headers[name]);
  const answer = await fetch(`${engineUrls().elasticsearch}${url}`, {
    method,
    headers: sent,
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
  });
  markAsElastic(response)
    .writeHead(answer.status)
    .end(Buffer.from(await answer.arrayBuffer()));
}
