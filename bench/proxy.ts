/**
 * The minimum that a Node process between a caller and Elasticsearch does: `node proxy.ts <Elasticsearch URL> <port>`.
 */
import Fastify from 'fastify';
import { Pool } from 'undici';

const [url, port] = process.argv.slice(2);
if (!url || !port) throw new Error('Usage: node proxy.ts <Elasticsearch URL> <port>');

// As many connections to Elasticsearch as the API has.
const pool = new Pool(url, { connections: 64, pipelining: 1, keepAliveTimeout: 60_000 });
const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.get('/readyz', () => 'ready');
app.post('/*', async (request, reply) => {
  const body = Buffer.isBuffer(request.body) ? request.body : null;
  const headers = { 'content-type': 'application/json' };
  const answer = await pool.request({ method: 'POST', path: request.url, headers, body });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  return reply.code(answer.statusCode).type('application/json').send(bytes);
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
