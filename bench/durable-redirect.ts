/**
 * The least that a durable redirect takes: `node durable-redirect.ts <links> <port>` sends `/r/<slug>` on when Redis has
 * appended a row that is always the same. Nothing is read of the request but its URL, nothing is signed or hashed.
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
if (!links || !port) throw new Error('Usage: node durable-redirect.ts <links> <port>');

const LINK = linkFields({
  brandId: 'brd_of_the_bench',
  id: 'lnk_of_the_bench',
  creatorId: 'crt_of_the_bench',
  currency: 'USD',
});
const FACTS = { kind: 'bot', visitor: '1', country: '', device: 'bot', referrerHost: '' } as const;
const ROW = rowOf(newId('clk', Date.now()), LINK, Date.now(), FACTS);
const destinations = new Map(Array.from({ length: links }, (_, i) => [`/r/${slugOf(i)}`, destinationOf(i)]));
const recorder = openRecorder(openRedis(configuredUrls(readConfig()).redis), () => process.exit(1));

createServer((request, response) => {
  const destination = destinations.get(request.url ?? '');
  if (destination === undefined) return response.end('ready');
  recorder.record({
    row: ROW,
    visitors: [],
    onSettled: () => {
      response.writeHead(302, ['Location', destination, 'Cache-Control', 'no-store', 'Content-Length', '0']);
      response.end();
    },
  });
}).listen(port, '127.0.0.1');
