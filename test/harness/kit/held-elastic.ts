import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { forwardToElastic, openEngineDoor } from './engine-door.ts';

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
    await forwardToElastic(request, body, response);
  };
  const door = await openEngineDoor(serve);
  return {
    url: door.url,
    hold: () => {
      gate = Promise.withResolvers<void>();
    },
    release: () => gate.resolve(),
    held: () => [...held.values()],
    cancelled: () => cancelled,
    seen: () => seen,
    close: async () => {
      gate.resolve();
      await door.close();
    },
  };
}
