/**
 * Clicks on links as fast as they are answered: `node load-generator.ts <port> <connections> <ms> <links> <number>`.
 * Each kept-alive connection has one request in flight; each request has its own client address and one of many user
 * agents, and every second visitor has a cookie, so that almost no click is a repeat. Prints the answers' statistics as
 * JSON.
 */
import { randomInt } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { AGENTS, LINK_DIGITS, slugOf } from './click-links.ts';

const [port = 0, connections = 0, forMs = 0, links = 0, number = 0] = process.argv.slice(2).map(Number);

const COOKIE_CHARACTERS = 22;

/** One kind of request, into whose bytes the unique parts are written. */
interface Template {
  bytes: Buffer;
  linkAt: number;
  cookieAt: number | undefined;
}

function templateOf(agent: string, hasCookie: boolean): Template {
  const cookie = '0'.repeat(COOKIE_CHARACTERS);
  const lines = [
    `GET /r/${slugOf(0)} HTTP/1.1`,
    'Host: go.example',
    `User-Agent: ${agent}`,
    'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'Accept-Encoding: gzip, deflate, br',
    'Referer: https://photo.example/',
    ...(hasCookie ? [`Cookie: rollcall_visitor=${cookie}`] : []),
    'Connection: keep-alive',
  ];
  const text = `${lines.join('\r\n')}\r\n\r\n`;
  return {
    bytes: Buffer.from(text, 'latin1'),
    linkAt: text.indexOf(' HTTP/1.1') - LINK_DIGITS,
    cookieAt: hasCookie ? text.indexOf(cookie) : undefined,
  };
}

const templates = AGENTS.flatMap((agent) => [templateOf(agent, true), templateOf(agent, false)]);
const first = randomInt(1_000_000);
let cookies = 0;

/** The request of a connection's nth click: every link with every agent before any combination repeats. */
function requestOf(n: number): Buffer {
  const template = templates[Math.floor(n / links) % templates.length] ?? templateOf('', false);
  const { linkAt, cookieAt } = template;
  // A socket may still hold the previous click's bytes.
  const bytes = Buffer.from(template.bytes);
  bytes.write(String(n % links).padStart(LINK_DIGITS, '0'), linkAt, 'latin1');
  if (cookieAt !== undefined) {
    cookies += 1;
    bytes.write(String(first * 1e8 + cookies).padStart(COOKIE_CHARACTERS, '0'), cookieAt, 'latin1');
  }
  return bytes;
}

const END = Buffer.from('\r\n\r\n');
const FOUND = '302';
let isOver = false;
let answered = 0;
let refused = 0;
const latenciesMs: number[] = [];
const EVERY_LATENCY = 16;

function click(socket: Socket): void {
  let sentAt = 0;
  let clicks = randomInt(templates.length * links);
  const fire = () => {
    clicks += 1;
    const request = requestOf(clicks);
    sentAt = performance.now();
    socket.write(request);
  };
  socket.on('data', (chunk) => {
    // A redirect has no body, so it ends with its head, in the same chunk.
    if (!chunk.subarray(-END.length).equals(END)) return;
    if (chunk.toString('latin1', 9, 12) !== FOUND) refused += 1;
    answered += 1;
    if (answered % EVERY_LATENCY === 0) latenciesMs.push(performance.now() - sentAt);
    if (isOver) socket.end();
    else fire();
  });
  fire();
}

let open = 0;
const from = performance.now();
for (let i = 0; i < connections; i += 1) {
  const localAddress = `127.${1 + number}.${1 + (i >> 6)}.${1 + (i & 63)}`;
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true }, () => click(socket));
  open += 1;
  socket.on('close', () => {
    open -= 1;
    if (open > 0) return;
    const seconds = (performance.now() - from) / 1000;
    const { user, system } = process.cpuUsage();
    const busy = (user + system) / 1e6 / seconds;
    process.stdout.write(`${JSON.stringify({ answered, refused, seconds, busy, latenciesMs })}\n`);
  });
}
setTimeout(() => {
  isOver = true;
}, forMs);
