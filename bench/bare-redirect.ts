/** The least that a redirect takes: `node bare-redirect.ts <links> <port>` sends `/r/<slug>` on, from memory. */
import Fastify from 'fastify';
import { destinationOf, slugOf } from './click-links.ts';

const [links, port] = process.argv.slice(2).map(Number);
if (!links || !port) throw new Error('Usage: node bare-redirect.ts <links> <port>');

const destinations = new Map(Array.from({ length: links }, (_, i) => [slugOf(i), destinationOf(i)]));
const app = Fastify();
app.get('/readyz', () => 'ready');
app.get<{ Params: { slug: string } }>('/r/:slug', (request, reply) => {
  const destination = destinations.get(request.params.slug);
  return destination === undefined ? reply.code(404).send() : reply.redirect(destination);
});
await app.listen({ host: '127.0.0.1', port });
