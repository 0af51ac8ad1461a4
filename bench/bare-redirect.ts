/**
 * The minimum work of a durable redirect: `node bare-redirect.ts <links> <port>` redirects `/r/<slug>` from memory once
 * Redis has appended the raw click. One append is in flight at a time; clicks that arrive meanwhile form the next.
 * Nothing is signed, hashed or recognized.
 */
import Fastify, { type FastifyRequest } from 'fastify';
import { readConfig } from '../src/config.ts';
import { openRedis } from '../src/kit/engines/redis/open.ts';
import { configuredUrls } from '../src/process/engine-urls.ts';
import { destinationOf, slugOf } from './click-links.ts';

const [links, port] = process.argv.slice(2).map(Number);
if (!links || !port) throw new Error('Usage: node bare-redirect.ts <links> <port>');

/** Trimmed because nothing reads it, so that its size does not slow Redis down. */
const STREAM = 'bench:clicks';
const KEPT_GROUPS = 1_000;

type Click = FastifyRequest<{ Params: { slug: string } }>;

function openAppends(): (row: string) => Promise<unknown> {
  const { client } = openRedis(configuredUrls(readConfig()).redis);
  let rows: string[] = [];
  let underWay: Promise<unknown> | undefined;
  let next: Promise<unknown> | undefined;
  async function append(): Promise<void> {
    await underWay;
    const group = rows.join('');
    rows = [];
    next = undefined;
    underWay = client.xadd(STREAM, 'MAXLEN', '~', KEPT_GROUPS, '*', 'rows', group);
    await underWay;
    underWay = undefined;
  }
  return (row) => {
    rows.push(row);
    next ??= append();
    return next;
  };
}

const rowOf = ({ params, ip, headers }: Click): string => {
  const { 'user-agent': agent, referer, cookie } = headers;
  return `${JSON.stringify({ slug: params.slug, at: Date.now(), ip, agent, referer, cookie })}\n`;
};

const destinations = new Map(Array.from({ length: links }, (_, i) => [slugOf(i), destinationOf(i)]));
const app = Fastify();
app.get('/readyz', () => 'ready');
const append = openAppends();
app.get('/r/:slug', async (request: Click, reply) => {
  await append(rowOf(request));
  return reply.redirect(destinations.get(request.params.slug) ?? '/');
});
await app.listen({ host: '127.0.0.1', port });
