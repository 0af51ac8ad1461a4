/**
 * The least that a durable redirect takes: `node durable-redirect.ts <links> <port> [whole]` sends `/r/<slug>` on when
 * Redis has appended its row. Without `whole` the row is always the same, and nothing is read of the request but its URL,
 * nothing signed or hashed; with it the row is the visitor's, and the answer carries a click id and a cookie, as the API's.
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
if (!links || !port) throw new Error('Usage: node durable-redirect.ts <links> <port> [whole]');
const isWhole = process.argv[4] === 'whole';

const LINK_ID = newId('lnk', Date.now());
const LINK = linkFields({ brandId: 'brd_of_the_bench', id: LINK_ID, creatorId: 'crt_of_the_bench', currency: 'USD' });
const FACTS = { kind: 'bot', visitor: '1', country: '', device: 'bot', referrerHost: '' } as const;
const ROW = rowOf(newId('clk', Date.now()), LINK, Date.now(), FACTS);
const KEY = Buffer.alloc(32, 7);
const MARK = markOf(LINK_ID);
const destinations = new Map(Array.from({ length: links }, (_, i) => [`/r/${slugOf(i)}`, destinationOf(i)]));
const recorder = openRecorder(openRedis(configuredUrls(readConfig()).redis), () => process.exit(1));
const visitOf = openVisits(KEY, false);

type Answer = Omit<NewClick, 'onSettled'> & { headers: string[] };

const leastOf = (destination: string): Answer => ({ row: ROW, visitors: [], headers: ['Location', destination] });

function wholeOf({ method, headers, socket }: IncomingMessage, destination: string): Answer {
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
  const { row, visitors, headers } = isWhole ? wholeOf(request, destination) : leastOf(destination);
  recorder.record({
    row,
    visitors,
    onSettled: () => {
      response.writeHead(302, [...headers, 'Cache-Control', 'no-store', 'Content-Length', '0']);
      response.end();
    },
  });
}).listen(port, '127.0.0.1');
