/**
 * The least that makes a row and an answer a click's: `node click-work.ts` tells visitors, signs ids and writes rows and
 * addresses, with no socket, no Redis and nothing else in between, and prints the best time a click as JSON.
 */
import { newId } from '../src/ids.ts';
import { cutDestination } from '../src/resources/clicks/destinations.ts';
import { linkFields, markOf, rowOf } from '../src/resources/clicks/row.ts';
import { mint } from '../src/resources/clicks/token.ts';
import { openVisits } from '../src/resources/clicks/visit.ts';
import { AGENTS, destinationOf } from './click-links.ts';

const CLICKS = 4_000;
const ROUNDS = 60;
const COOKIE_DIGITS = 22;

const key = Buffer.alloc(32, 7);
const visitOf = openVisits(key, false);
const now = Date.now();
const [linkId, brandId, creatorId] = [newId('lnk', now), newId('brd', now), newId('crt', now)];
const fields = linkFields({ brandId, id: linkId, creatorId, currency: 'USD' });
const mark = markOf(linkId);
const cut = cutDestination(destinationOf(0));
let cookies = 0;

/** Text as a parser hands it over: of its own, and in one piece. */
const fresh = (text: string): string => Buffer.from(text).toString();

/** Every second visitor has a cookie. */
function headersOf(i: number): Record<string, string> {
  const agent = AGENTS[i % AGENTS.length] ?? '';
  const headers = { 'user-agent': fresh(agent), referer: fresh('https://photo.example/') };
  if (i % 2 === 0) return headers;
  cookies += 1;
  return { ...headers, cookie: fresh(`rollcall_visitor=${String(cookies).padStart(COOKIE_DIGITS, '0')}`) };
}

/** All that is made of a click, in one piece as it is sent; its size, so that none of it is left out. */
function click(headers: Record<string, string>): number {
  const atMs = Date.now();
  const visit = visitOf({ atMs, method: 'GET', headers, address: '127.1.1.1', isTrusted: false });
  const { id, token } = mint(key, { linkId, atMs });
  const notes = visit.knownAs.map((known) => known + mark);
  const made = [rowOf(id, fields, atMs, visit), ...notes, `${cut?.before}${token}${cut?.after}`, visit.setCookie ?? ''];
  return made.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

let best = Number.POSITIVE_INFINITY;
let made = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  const asked = Array.from({ length: CLICKS }, (_, i) => headersOf(i));
  const from = performance.now();
  for (const headers of asked) made += click(headers);
  best = Math.min(best, ((performance.now() - from) * 1_000) / CLICKS);
}
if (made === 0) throw new Error('Nothing was made.');
process.stdout.write(`${JSON.stringify({ microseconds: best })}\n`);
