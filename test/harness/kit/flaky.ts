import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/**
 * A proxy in front of an API. It forwards the first call of each kind, loses the answer, and sends 503 instead. The
 * first walk of a key breaks off in the middle.
 */
export async function startFlaky(target: string) {
  const seen = new Set<string>();
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks);
    const {
      authorization = '',
      'idempotency-key': key = '',
      'content-type': type = 'application/json',
    } = request.headers;
    const sentKey = String(key);
    const answer = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': type, ...(sentKey ? { 'idempotency-key': sentKey } : {}) },
      ...(body.length > 0 ? { body } : {}),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const isWalk = request.url?.includes('walk=true') === true;
    const name = isWalk ? `walk ${authorization}` : `${request.method} ${request.url} ${sentKey}`;
    if (!seen.has(name)) {
      seen.add(name);
      if (isWalk) {
        response.writeHead(answer.status, { 'content-length': bytes.length });
        response.write(bytes.subarray(0, bytes.length * 0.8), () => response.destroy());
        return;
      }
      response.writeHead(503, { 'retry-after': '0' }).end('{}');
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(bytes);
  };
  // A caller that gives up halfway must not fail the test run.
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
