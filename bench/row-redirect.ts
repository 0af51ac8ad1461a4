/**
 * What durability alone leaves on node:http: `node row-redirect.ts <links> <port>` sends `/r/<slug>` on when Redis has
 * appended a row, the same for every click. Nothing is read from the request, signed, hashed, recognized or told apart.
 */
import { createServer } from 'node:http';
import { readConfig } from '../src/config.ts';
import { openRedis } from '../src/engines/redis/open.ts';
import { newId } from '../src/ids.ts';
import { configuredUrls } from '../src/open-context.ts';
import { openRecorder } from '../src/resources/clicks/recorder.ts';
import { linkFields, rowOf } from '../src/resources/clicks/row.ts';
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
const destinations = new Map(Array.from({ length: links }, (_, i) => [`/r/${slugOf(i)}`, destinationOf(i)]));
const recorder = openRecorder(openRedis(configuredUrls(readConfig()).redis), () => process.exit(1));

createServer({ optimizeEmptyRequests: true }, (request, response) => {
  const destination = destinations.get(request.url ?? '');
  if (destination === undefined) return response.end('ready');
  const onSettled = () => {
    response.writeHead(302, ['Location', destination, 'Cache-Control', 'no-store', 'Content-Length', '0']);
    response.end();
  };
  recorder.record({ row, visitors: [], onSettled });
}).listen(port, '127.0.0.1');
