import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { forwardToElastic, markAsElastic, openEngineDoor } from './engine-door.ts';

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
  const queue: Refusal[] = [];
  let refused = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    const refusal = request.url?.includes('/_bulk') ? queue.shift() : undefined;
    if (refusal === undefined) return await forwardToElastic(request, body, response);
    refused += 1;
    markAsElastic(response);
    if (refusal === 'documents') {
      response.end(JSON.stringify({ errors: true, items: [{ index: { error: REJECTED } }] }));
    } else {
      response.writeHead(refusal).end(JSON.stringify({ error: REJECTED, status: refusal }));
    }
  };
  const door = await openEngineDoor(serve);
  return {
    url: door.url,
    refuseNext: (refusals) => void queue.push(...refusals),
    refused: () => refused,
    close: door.close,
  };
}
