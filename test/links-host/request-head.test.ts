import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { all, compile } from '@fastify/proxy-addr';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSenders } from '../../src/api/http/sender.ts';
import { readHead } from '../../src/links-host/request-head.ts';
import { PHONE } from '../harness/clicks.ts';

interface Heard {
  url: string | undefined;
  headers: IncomingMessage['headers'];
}

/** What Node makes of bytes: nothing where it refuses them. */
async function openNode() {
  let heard: Heard[] = [];
  const server = createServer((request, response) => {
    heard.push({ url: request.url, headers: request.headers });
    response.setHeader('connection', 'close').end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    read: async (text: string): Promise<Heard[]> => {
      heard = [];
      const socket = connect({ port: port ?? 0, host: '127.0.0.1' });
      socket.on('error', () => {}).resume();
      socket.end(text, 'latin1');
      await once(socket, 'close');
      return heard;
    },
    close: () => server.close(),
  };
}

const NAMES = ['User-Agent', 'cookie', 'Referer', 'Accept', 'X-Forwarded-For', 'X-Moz', 'Connection'];
const ODD_NAMES = ['Host', 'Content-Length', 'Transfer-Encoding', 'Expect', 'Upgrade', '__proto__', 'constructor', ''];
const VALUES = ['go.example', 'keep-alive', 'Keep-Alive', 'close', '5', 'chunked', '100-continue', 'h2c', 'a, b', ''];
const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const bytes = fc.string({ unit: byte, maxLength: 6 });
const aName = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 3, arbitrary: fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/) },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...ODD_NAMES), bytes) },
);
const aColon = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(': ', ':') },
  { weight: 1, arbitrary: fc.constantFrom(':  ', ':\t', ' : ', '') },
);
const aValue = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[\t -~\x80-\xff]{0,12}$/) },
  { weight: 3, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: bytes },
);
const aLine = fc.tuple(aName, aColon, aValue).map((parts) => `${parts.join('')}\r\n`);
const usually = (usual: string, ...others: string[]) =>
  fc.oneof({ weight: 19, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const aHead = fc
  .tuple(
    usually('GET', 'HEAD', 'get', 'POST'),
    fc.oneof(
      { weight: 8, arbitrary: fc.stringMatching(/^[\w.~-]{0,8}(\?[!-~]{0,8})?$/) },
      { weight: 1, arbitrary: fc.stringMatching(/^[!-~]{0,8}$/) },
      { weight: 1, arbitrary: bytes },
    ),
    usually(' HTTP/1.1', ' HTTP/1.0', ' HTTP/1.1 ', ''),
    fc.array(aLine, { maxLength: 4 }),
    usually('', 'x', 'GET /r/b HTTP/1.1\r\nHost: x\r\n\r\n'),
  )
  .map(([method, path, end, lines, rest]) => `${method} /r/${path}${end}\r\nHost: x\r\n${lines.join('')}\r\n${rest}`);

describe('a head that is read here', () => {
  it('is one that Node reads alike, as one request and nothing more', async () => {
    const node = await openNode();
    let read = 0;
    try {
      await fc.assert(
        fc.asyncProperty(aHead, async (text) => {
          const head = readHead(text);
          if (!head) return;
          read += 1;
          const [heard, ...more] = await node.read(text);
          expect(more).toEqual([]);
          expect(heard?.url).toBe(head.url);
          for (const [name, value] of Object.entries(head.headers)) {
            expect([name, heard?.headers[name]]).toEqual([name, value]);
          }
        }),
        { numRuns: 2_000 },
      );
    } finally {
      node.close();
    }
    expect(read).toBeGreaterThan(400);
  });

  it.each([
    ['as a phone sends it', 'GET /r/a HTTP/1.1', [`User-Agent: ${PHONE}`, 'Accept: */*', 'Cookie: a=b; c=d'], true],
    [
      'through a proxy',
      'GET /r/a HTTP/1.1',
      ['x-forwarded-for: 203.0.113.9, 10.0.0.1', 'x-real-ip: 203.0.113.9'],
      true,
    ],
    ['with a body', 'GET /r/a HTTP/1.1', ['Content-Length: 0'], false],
    ['in pieces', 'GET /r/a HTTP/1.1', ['Transfer-Encoding: chunked'], false],
    ['that is to end the connection', 'GET /r/a HTTP/1.1', ['Connection: close'], false],
    ['of HTTP/1.0', 'GET /r/a HTTP/1.0', [], false],
    ['of another method', 'HEAD /r/a HTTP/1.1', [], false],
    ['of another path', 'GET /v1/usage HTTP/1.1', [], false],
    ['whose query is any text', 'GET /r/a?b=%zz&c HTTP/1.1', [], true],
    ['of a slug that is no plain one', 'GET /r/%61 HTTP/1.1', [], false],
    ['whose line goes on in the next', 'GET /r/a HTTP/1.1', ['X: a', ' b'], false],
    ['with a name twice', 'GET /r/a HTTP/1.1', ['Cookie: a', 'cookie: b'], false],
  ])('%s: %s %j', (_what, line, headers, isRead) => {
    const head = readHead(`${[line, 'Host: go.example', ...headers].join('\r\n')}\r\n\r\n`);
    expect(head !== undefined).toBe(isRead);
  });
});

describe('who asks', () => {
  it('is whom Fastify takes for it, whatever stands in X-Forwarded-For', () => {
    const trusted = ['10.0.0.0/8', '127.0.0.1'];
    const isProxy = compile(trusted);
    const senderOf = openSenders(trusted);
    const hop = fc.oneof(fc.constantFrom('10.0.0.1', '10.2.3.4', '127.0.0.1', '203.0.113.9', '', ' ', 'x'), fc.ipV6());
    const claim = fc.tuple(fc.constantFrom('', ' ', '\t'), hop).map((parts) => parts.join(''));
    const remote = fc.constantFrom('127.0.0.1', '10.1.1.1', '198.51.100.7');
    fc.assert(
      fc.property(fc.option(fc.array(claim, { maxLength: 5 })), remote, (claims, remoteAddress) => {
        const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
        const request = new IncomingMessage(socket);
        if (claims) request.headers['x-forwarded-for'] = claims.join(',');
        expect(senderOf(request)).toEqual({
          address: all(request, isProxy).at(-1),
          isTrusted: isProxy(remoteAddress, 0),
        });
      }),
    );
  });
});
