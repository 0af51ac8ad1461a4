/**
 * What is left on node:http before a click is made anything of: `node row-redirect.ts <links> <port>` reads the headers of
 * `/r/<slug>` and sends it on when Redis has appended a row, with an answer of a click's size. Row, id and cookie are the
 * same for every click: nothing is signed, hashed, recognized or told apart.
 */
import { createServer } from 'node:http';
import { readConfig } from '../src/config.ts';
import { openRedis } from '../src/engines/redis/open.ts';
import { newId } from '../src/ids.ts';
import { configuredUrls } from '../src/open-context.ts';
import { openRecorder } from '../src/resources/clicks/recorder.ts';
import { linkFields, rowOf } from '../src/resources/clicks/row.ts';
import { mint } from '../src/resources/clicks/token.ts';
import { destinationOf, slugOf } from './click-links.ts';

const [links, port] = process.argv.slice(2).map(Number);
if (!links || !port) throw new Error('Usage: node row-redirect.ts <links> <port>');

const now = Date.now();
const [id, brandId, creatorId] = [newId('lnk', now), newId('brd', now), newId('crt', now)];
const row = rowOf(newId('clk', now), linkFields({ brandId, id, creatorId, currency: 'USD' }), now, {
  kind: 'counted',
  visitor: '12345678901234567890',
  country: '',
  device: 'desktop',
  referrerHost: 'photo.example',
});
const token = mint(Buffer.alloc(32, 7), { linkId: id, atMs: now }).token;
const cookie = `rollcall_visitor=${token.slice(-22)}; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax`;
const urlOf = (i: number) => Buffer.from(`${destinationOf(i)}&click_id=${token}`).toString();
const destinations = new Map(Array.from({ length: links }, (_, i) => [`/r/${slugOf(i)}`, urlOf(i)]));
const recorder = openRecorder(openRedis(configuredUrls(readConfig()).redis), () => process.exit(1));

createServer({ optimizeEmptyRequests: true }, (request, response) => {
  const destination = destinations.get(request.url ?? '');
  if (destination === undefined) return response.end('ready');
  const isKnown = request.headers.cookie !== undefined;
  const onSettled = () => {
    const headers = ['Location', destination, 'Cache-Control', 'no-store', 'Content-Length', '0'];
    if (!isKnown) headers.push('Set-Cookie', cookie);
    response.writeHead(302, headers);
    response.end();
  };
  recorder.record({ row, visitors: [], onSettled });
}).listen(port, '127.0.0.1');
