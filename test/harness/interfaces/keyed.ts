import { once } from 'node:events';
import { createServer, request as send } from 'node:http';

/** In front of `/mcp`, for programs that know no keys: every request as it came, with a key of one brand after another. */
export async function startKeyed(target: string, keys: readonly string[]) {
  let calls = 0;
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const authorization = `Bearer ${keys[calls++ % keys.length]}`;
    const { method = 'GET', url: path = '/', headers } = request;
    const out = send({ hostname, port, method, path, headers: { ...headers, authorization } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    out.on('error', () => response.destroy());
    request.pipe(out);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const own = typeof address === 'object' && address ? address.port : 0;
  return { url: `http://localhost:${own}/mcp`, close: () => void server.close() };
}
