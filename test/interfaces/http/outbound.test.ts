import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { isAllowed, isPublic } from '../../../src/kit/engines/http/addresses.ts';
import { callOutside, type OutsideRequest } from '../../../src/kit/engines/http/outside.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server on 127.0.0.1 and the requests that reached it. */
async function serve(listener: RequestListener): Promise<{ url: string; reached: string[] }> {
  const reached: string[] = [];
  const server = createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`, reached };
}

const call = (url: string, more: Partial<OutsideRequest> = {}) =>
  callOutside({
    url: new URL(url),
    method: 'GET',
    headers: {},
    allow: ['127.0.0.1'],
    timeoutMs: 10_000,
    maxBytes: 1_000,
    ...more,
  });

describe('addresses', () => {
  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.8', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.9'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', '100::1', 'fc00::1'],
    ...['fd12::1', 'fe80::1', 'fec0::1', 'ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', 'nonsense'],
  ])('such as %s are not public', (address) => expect(isPublic(address)).toBe(false));

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'such as %s are public',
    (address) => expect(isPublic(address)).toBe(true),
  );

  it('of a private network are all private, whatever their host part', () => {
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), fc.nat(255), (a, b, c) => {
        for (const address of [
          `10.${a}.${b}.${c}`,
          `127.${a}.${b}.${c}`,
          `192.168.${a}.${b}`,
          `::ffff:10.${a}.${b}.${c}`,
        ])
          expect(isPublic(address)).toBe(false);
      }),
    );
  });

  it('may be allowed one by one or by network', () => {
    expect(isAllowed('127.0.0.1', ['127.0.0.1'])).toBe(true);
    expect(isAllowed('127.0.0.2', ['127.0.0.1'])).toBe(false);
    expect(isAllowed('10.9.8.7', ['10.0.0.0/8', '::1'])).toBe(true);
    expect(isAllowed('::1', ['10.0.0.0/8', '::1'])).toBe(true);
    expect(isAllowed('10.9.8.7', [])).toBe(false);
  });

  const NO_NETWORKS = [
    ...['localhost', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/ 8', '10.0.0.0/8x', '10.0.0.0/-1', '10.0/8'],
    ...['::/129', '::1/', '/8', '/', '127.0.0.1:9100', '[::1]'],
  ];

  it.each(NO_NETWORKS)('are not allowed by %j, which the start refuses', (network) => {
    expect(() => isAllowed('8.8.8.8', [network])).toThrow();
    expect(() => readConfig({ OUTBOUND_ALLOW: `10.0.0.0/8, ${network}` })).toThrow(
      `OUTBOUND_ALLOW: ${JSON.stringify(network)} is not an address or network`,
    );
  });

  it('are listed with commas, as single ones and as networks, up to all of them', () => {
    const all = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0', '::/0'];
    expect(readConfig({ OUTBOUND_ALLOW: ` ${all.join(' ,')},` }).outboundAllow).toEqual(all);
    for (const address of ['8.8.8.8', 'fd12::1']) expect(isAllowed(address, all)).toBe(true);
  });
});

describe('a call to a URL from a brand', () => {
  it('is refused when its address is private, in any spelling, and nothing is sent', async () => {
    const { url, reached } = await serve((_request, response) => response.end('{}'));
    const { port } = new URL(url);
    for (const host of ['127.0.0.1', '127.1', '0x7f000001', '2130706433', '[::ffff:127.0.0.1]', '[::1]', 'localhost'])
      for (const protocol of ['http', 'https'])
        expect(await call(`${protocol}://${host}:${port}/`, { allow: [] })).toEqual({
          outcome: 'refused',
          reason: 'leads to a private or reserved address',
        });
    expect(reached).toEqual([]);
  });

  it('is refused over http unless the host is allowed, with credentials in it, and under another scheme', async () => {
    expect(await call('http://8.8.8.8/')).toEqual({ outcome: 'refused', reason: 'must begin with https://' });
    expect(await call('https://me@8.8.8.8/')).toMatchObject({ outcome: 'refused' });
    expect(await call('ftp://127.0.0.1/')).toMatchObject({ outcome: 'refused' });
    expect(await call('file:///etc/passwd')).toMatchObject({ outcome: 'refused' });
  });

  it('reaches an allowed private host over http, with its method, headers and body', async () => {
    const { url, reached } = await serve((request, response) => {
      request.pipe(response.writeHead(201, { 'x-token': request.headers['x-token'] ?? '' }));
    });
    const answer = await call(`${url}/a?b=c`, { method: 'POST', headers: { 'x-token': 't' }, body: '{"ü":1}' });
    expect(answer).toMatchObject({ outcome: 'answered', status: 201, text: '{"ü":1}', headers: { 'x-token': 't' } });
    expect(reached).toEqual(['POST /a?b=c']);
  });

  it('reaches a name at the addresses that were checked', async () => {
    const { url, reached } = await serve((request, response) => response.end(request.headers.host));
    const host = `localhost:${new URL(url).port}`;
    const answer = await call(`http://${host}/named`, { allow: ['127.0.0.1', '::1'] });
    expect(answer).toMatchObject({ outcome: 'answered', status: 200, text: host });
    expect(reached).toEqual(['GET /named']);
  });

  it('does not follow redirects', async () => {
    const { url, reached } = await serve((_request, response) => response.writeHead(302, { location: '/other' }).end());
    expect(await call(`${url}/`)).toMatchObject({ outcome: 'answered', status: 302 });
    expect(reached).toEqual(['GET /']);
  });

  it('fails on a response that is too large, whether declared or streamed', async () => {
    const declared = await serve((_request, response) => response.end('x'.repeat(1_001)));
    expect(await call(declared.url)).toMatchObject({ outcome: 'failed' });
    const streamed = await serve(async (_request, response) => {
      while (!response.destroyed) if (!response.write('x'.repeat(300))) await once(response, 'drain').catch(() => 0);
    });
    expect(await call(streamed.url)).toMatchObject({ outcome: 'failed' });
    const fits = await serve((_request, response) => response.end('x'.repeat(1_000)));
    expect(await call(fits.url)).toMatchObject({ outcome: 'answered' });
  });

  it('returns the first bytes of a large response, if that is enough, without splitting a character', async () => {
    const { url } = await serve((_request, response) => response.end(`${'x'.repeat(999)}ü${'y'.repeat(100_000)}`));
    const answer = await call(url, { onLarge: 'truncate' });
    expect(answer).toMatchObject({ outcome: 'answered', status: 200, text: 'x'.repeat(999) });
  });

  it('succeeds on the headers alone, if that is enough: the body may be huge, slow or broken', async () => {
    const large = await serve((_request, response) => response.end('x'.repeat(10_000_000)));
    const dripping = await serve((_request, response) => {
      response.writeHead(200).write('begun');
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const broken = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('begun');
      setTimeout(() => response.destroy(), 20);
    });
    for (const { url, reached } of [large, dripping, broken]) {
      const from = performance.now();
      const answer = await call(url, { answerAt: 'head', method: 'POST', body: '{}', timeoutMs: 60_000 });
      expect(answer).toMatchObject({
        outcome: 'answered',
        status: 200,
        text: expect.stringMatching(/^(begun|x{1000}$)/),
      });
      expect([reached, performance.now() - from < 30_000]).toEqual([['POST /'], true]);
    }
  });

  it('reports why it failed: no response in time, the network, or the certificate', async () => {
    const silent = await serve(() => undefined);
    expect(await call(silent.url, { timeoutMs: 150, answerAt: 'head' })).toMatchObject({ reason: 'timeout' });
    expect(await call('http://127.0.0.1:1/')).toMatchObject({ outcome: 'failed', reason: 'network' });
    const plain = await serve((_request, response) => response.end());
    expect(await call(plain.url.replace('http:', 'https:'))).toMatchObject({ outcome: 'failed', reason: 'tls' });
    const reset = await serve((request) => request.socket.destroy());
    expect(await call(reset.url)).toMatchObject({ outcome: 'failed', reason: 'network' });
  });

  it('ends at its timeout, before the response or while the body trickles', async () => {
    const silent = await serve(() => undefined);
    const trickling = await serve((_request, response) => void response.write('{'));
    for (const { url } of [silent, trickling]) {
      const from = performance.now();
      expect(await call(url, { timeoutMs: 150 })).toMatchObject({ outcome: 'failed' });
      expect(performance.now() - from).toBeLessThan(10_000);
    }
  });

  it('fails without throwing on an unknown name and a closed port', async () => {
    expect(await call('https://nothing.invalid/')).toMatchObject({ outcome: 'failed' });
    const { url } = await serve(() => undefined);
    for (const close of closing.splice(0)) close();
    expect(await call(url)).toMatchObject({ outcome: 'failed' });
  });
});
