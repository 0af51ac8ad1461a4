import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { BEHIND_PROXY, makeCampaign, someAddress } from '../../harness/workflow/applying.ts';

const FORM = 'application/x-www-form-urlencoded';
let app: TestApp;
let key: string;
let page: string;
/** Whatever was logged as our own fault. */
const errors: unknown[] = [];

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
  app.context.log.error = (facts: unknown) => void errors.push(facts);
  key = await (await makeBrand(app.context)).key('brand');
  page = `/apply/${await makeCampaign(app, key)}`;
});
afterAll(() => app?.close());

interface Sending {
  method?: string;
  /** Closes the connection right after the bytes. */
  hangUp?: boolean;
}

/** Writes bytes that no client library would send. */
async function write(path: string, headers: string[], body: Buffer | string, sending: Sending = {}): Promise<string> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  const head = [
    `${sending.method ?? 'POST'} ${path} HTTP/1.1`,
    'host: x',
    `x-forwarded-for: ${someAddress()}`,
    'connection: close',
    ...headers,
  ];
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]));
  if (sending.hangUp) setTimeout(() => socket.destroy(), 50);
  await once(socket, 'close');
  return answer;
}
const statusOf = (answer: string) => Number(answer.split(' ')[1]);
const errorOf = (answer: string) => ({ ...JSON.parse(answer.split('\r\n\r\n')[1] ?? ''), request_id: undefined });

describe('a malformed form', () => {
  it.each([
    ['no body at all', [], '', 415],
    ['an empty Content-Type', ['content-type: ', 'content-length: 1'], 'a', 415],
    ['a Content-Type of semicolons', ['content-type: ;;;', 'content-length: 1'], 'a', 415],
    ['a Content-Type without a slash', ['content-type: text', 'content-length: 1'], 'a', 415],
    ['no Content-Type', ['content-length: 1'], 'a', 415],
    ['multipart', ['content-type: multipart/form-data; boundary=x', 'content-length: 5'], '--x--', 415],
    ['a form with nothing in it', [`content-type: ${FORM}`, 'content-length: 0'], '', 422],
    ['a form without a body or its length', [`content-type: ${FORM}`], '', 422],
    [
      'bytes that are no UTF-8',
      [`content-type: ${FORM}`, 'content-length: 5'],
      Buffer.from('a=\xff\xed\xa0', 'latin1'),
      422,
    ],
    [
      'compressed bytes',
      [`content-type: ${FORM}`, 'content-encoding: gzip', 'content-length: 2'],
      Buffer.from([0x1f, 0x8b]),
      422,
    ],
    [
      'more than 64 kB, not announced',
      [`content-type: ${FORM}`, 'transfer-encoding: chunked'],
      `11000\r\n${'a'.repeat(0x11000)}\r\n0\r\n\r\n`,
      413,
    ],
    ['more than 64 kB, announced', [`content-type: ${FORM}`, 'content-length: 99999999'], 'a', 413],
  ])('to %s is answered with a page and never a 5xx', async (_what, headers, body, status) => {
    const answer = await write(page, headers, body);
    expect(statusOf(answer)).toBe(status);
    expect(answer).toContain('content-type: text/html');
  });

  it.each([
    ['every field twice', 'email=ann%40mail.example&email=bea%40mail.example&name=a&name=b', 422],
    ['no field that we know', 'a=b&__proto__=c&constructor=d', 422],
    ['characters that no database keeps', 'email=nul%40mail.example&name=%00%ED%A0%80&message=%FF%00', 303],
  ])('with %s is %s', async (_what, body, status) => {
    const headers = [`content-type: ${FORM}`, `content-length: ${body.length}`];
    expect(statusOf(await write(page, headers, body))).toBe(status);
  });
});

describe('a request with two Host headers', () => {
  it.each(['/healthz', '/v1/campaigns', '/mcp', '/r/spring', '/app', '/files/x', '/none'])(
    'is 400 BAD_REQUEST even if they are equal: %s',
    async (path) => {
      for (const host of ['x', 'other.example']) {
        const answer = await write(path, [`Host: ${host}`], '', { method: 'GET' });
        expect([statusOf(answer), errorOf(answer).code]).toEqual([400, 'BAD_REQUEST']);
      }
    },
  );
});

describe('an unusual body', () => {
  it.each([';;;', '', 'json', 'application/json/x'])('to the API with the Content-Type %j is 415', async (type) => {
    const headers = [`authorization: Bearer ${key}`, `content-type: ${type}`, 'content-length: 2'];
    const answer = await write('/v1/campaigns', headers, '{}');
    expect([statusOf(answer), answer.includes('"code":"UNSUPPORTED_MEDIA_TYPE"')]).toEqual([415, true]);
  });

  it.each(['POST', 'PATCH', 'DELETE'])(
    'that has a Content-Type but no length counts as empty, like one of length 0: %s',
    async (method) => {
      const path = method === 'POST' ? '/v1/campaigns' : '/v1/campaigns/cmp_none';
      const headers = [`authorization: Bearer ${key}`, 'content-type: application/json'];
      const [reported, unreported] = [
        await write(path, [...headers, 'content-length: 0'], '', { method }),
        await write(path, headers, '', { method }),
      ];
      expect(statusOf(unreported)).toBe(statusOf(reported));
      expect(errorOf(unreported)).toEqual(errorOf(reported));
    },
  );

  it('whose sender disconnects in the middle is not logged as an internal error', async () => {
    for (const path of [page, '/v1/campaigns']) {
      const headers = [`authorization: Bearer ${key}`, `content-type: ${FORM}`, 'content-length: 500'];
      expect(await write(path, headers, 'email=', { hangUp: true })).toBe('');
    }
    // Answered after the hang-ups were noticed: the server hears of them first.
    for (const path of ['/healthz', page]) expect((await fetch(`${app.url}${path}`)).status).toBe(200);
    expect(errors).toEqual([]);
  });
});
