import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { engineUrls } from '../app.ts';

/** What a busy Elasticsearch answers to a `_bulk`: a status for the whole, or 200 with each document refused. */
export type Refusal = 429 | 503 | 'documents';

const REJECTED = { type: 'es_rejected_execution_exception', reason: 'queue is full' };

/** The real Elasticsearch behind a door that refuses the next bulks as told, and has then done nothing of them. */
export async function startBusyElastic(): Promise<{
  url: string;
  refuseNext(refusals: readonly Refusal[]): void;
  /** Bulks that were refused so far. */
  refused(): number;
  close(): Promise<void>;
}> {
  const target = engineUrls().elasticsearch;
  const queue: Refusal[] = [];
  let refused = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    const refusal = request.url?.includes('/_bulk') ? queue.shift() : undefined;
    response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json');
    if (refusal === undefined) {
      const { method = 'GET', headers } = request;
      const sent = new Headers();
      for (const name of ['accept', 'content-type'] as const) if (headers[name]) sent.set(name, headers[name]);
      const answer = await fetch(`${target}${request.url}`, {
        method,
        headers: sent,
        ...(body.length > 0 ? { body } : {}),
      });
      response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
      return;
    }
    refused += 1;
    if (refusal === 'documents') {
      response.end(JSON.stringify({ errors: true, items: [{ index: { error: REJECTED } }] }));
    } else {
      response.writeHead(refusal).end(JSON.stringify({ error: REJECTED, status: refusal }));
    }
  };
  // A caller that gives up halfway must not fail the test run.
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The door has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    refuseNext: (refusals) => void queue.push(...refusals),
    refused: () => refused,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
