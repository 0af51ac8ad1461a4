/**
 * A durable redirect on node:http with all that a click is, and nothing else of the API: `node durable-redirect.ts <links>
 * <port>` sends `/r/<slug>` on with a click id and a cookie when Redis has appended the visitor's row.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { readConfig } from '../src/config.ts';
import { openRedis } from '../src/engines/redis/open.ts';
import { newId } from '../src/ids.ts';
import { configuredUrls } from '../src/open-context.ts';
import { type NewClick, openRecorder } from '../src/resources/clicks/recorder.ts';
import { linkFields, markOf, rowOf } from '../src/resources/clicks/row.ts';
import { mint } from '../src/resources/clicks/token.ts';
import { openVisits } from '../src/resources/clicks/visit.ts';
import { destinationOf, slugOf } from './click-links.ts';

const [links, port] = process.argv.slice(2).map(Number);
if (!links || !port) throw new Error('Usage: node durable-redirect.ts <links> <port>');

const LINK_ID = newId('lnk', Date.now());
const LINK = linkFields({ brandId: 'brd_of_the_bench', id: LINK_ID, creatorId: 'crt_of_the_bench', currency: 'USD' });
const KEY = Buffer.alloc(32, 7);
const MARK = markOf(LINK_ID);
const destinations = new Map(Array.from({ length: links }, (_, i) => [`/r/${slugOf(i)}`, destinationOf(i)]));
const recorder = openRecorder(openRedis(configuredUrls(readConfig()).redis), () => process.exit(1));
const visitOf = openVisits(KEY, false);

type Answer = Omit<NewClick, 'onSettled'> & { headers: string[] };

function answerTo({ method, headers, socket }: IncomingMessage, destination: string): Answer {
  const atMs = Date.now();
  const visit = visitOf({ atMs, method, headers, address: socket.remoteAddress ?? '', isTrusted: false });
  const { id, token } = mint(KEY, { linkId: LINK_ID, atMs });
  return {
    row: rowOf(id, LINK, atMs, visit),
    visitors: visit.visitors.map((visitor) => visitor + MARK),
    headers: [
      ...['Location', `${destination}?click_id=${token}`],
      ...(visit.setCookie === undefined ? [] : ['Set-Cookie', visit.setCookie]),
    ],
  };
}

createServer((request, response) => {
  const destination = destinations.get(request.url ?? '');
  if (destination === undefined) return response.end('ready');
  const { row, visitors, headers } = answerTo(request, destination);
  recorder.record({
    row,
    visitors,
    onSettled: () => {
      response.writeHead(302, [...headers, 'Cache-Control', 'no-store', 'Content-Length', '0']);
      response.end();
    },
  });
}).listen(port, '127.0.0.1');
