import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drainClicks } from '../../../src/interfaces/links-host/jobs.ts';
import { openDesk, SHOP } from '../../harness/affiliates/affiliates.ts';
import { click, countedClicks, makeLink, PHONE, type TrackedLink } from '../../harness/affiliates/clicks.ts';
import { startApp, type TestApp, until } from '../../harness/app.ts';
import { ownRedis } from '../../harness/database.ts';
import { type EngineProxy, startProxy } from '../../harness/kit/proxy.ts';

const redisUrl = ownRedis();
/** Long beside the pauses of these tests. */
const REDIS_WAIT_MS = 3_000;
let app: TestApp;
/** An app that waits for Redis behind a proxy; while that is held, its answers wait, in the end for nothing. */
let held: TestApp;
let redis: EngineProxy;
let link: TrackedLink;
const sockets: Socket[] = [];

beforeAll(async () => {
  redis = await startProxy(redisUrl);
  app = await startApp({ urls: { redis: redisUrl } });
  held = await startApp({ urls: { redis: redis.url }, redisTimeoutMs: REDIS_WAIT_MS });
  link = await makeLink(await openDesk(app), SHOP);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all([app?.close(), held?.close()]);
  await redis?.close();
});

let visitors = 0;
const aClick = (...more: string[]) => {
  visitors += 1;
  const agent = `User-Agent: ${PHONE} ${visitors}`;
  return `${[`GET /r/${link.slug} HTTP/1.1`, 'Host: go.example', agent, ...more].join('\r\n')}\r\n\r\n`;
};
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: go.example\r\n\r\n';

interface Connection {
  write(text: string): void;
  /** Its statuses, once so many have come. */
  statuses(count: number): Promise<number[]>;
  said(): string;
  socket: Socket;
}

function open(url = app.links): Connection {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  sockets.push(socket);
  let said = '';
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
  });
  const found = () => [...said.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return {
    write: (text) => void socket.write(text, 'latin1'),
    statuses: async (count) => {
      await until(`${count} answers`, () => found().length >= count);
      return found();
    },
    said: () => said,
    socket,
  };
}

describe('a connection to the links host', () => {
  it('carries any number of clicks, each answered with the same headers', async () => {
    const one = open();
    for (let i = 1; i <= 3; i += 1) {
      one.write(aClick());
      expect(await one.statuses(i)).toEqual(Array(i).fill(302));
    }
    const [first, ...others] = one
      .said()
      .split('\r\n\r\n')
      .slice(0, 3)
      .map((head) =>
        head
          .replace(/click_id=[\w.-]+/, 'click_id=ID')
          .replace(/rollcall_visitor=\w+/, 'rollcall_visitor=V')
          .replace(/(?<=^Date: )\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/m, 'NOW')
          .split('\r\n')
          .sort(),
      );
    expect(others).toEqual([first, first]);
    expect(first).toEqual([
      'Cache-Control: no-store',
      'Connection: keep-alive',
      'Content-Length: 0',
      'Date: NOW',
      'HTTP/1.1 302 Found',
      'Keep-Alive: timeout=72',
      expect.stringMatching(/^Location: .*click_id=ID/),
      'Set-Cookie: rollcall_visitor=V; Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Lax',
    ]);
    expect(Date.parse(/Date: (.*)/.exec(one.said())?.[1] ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  it('accepts a click with repeated headers, and one with a body', async () => {
    const { write, statuses } = open();
    write(aClick('X-Twice: 1', 'X-Twice: 2'));
    await statuses(1);
    write(`${aClick('Content-Length: 4')}body`);
    await statuses(2);
    write(aClick());
    expect(await statuses(3)).toEqual([302, 302, 302]);
  });

  it('carries clicks and other requests in turn', async () => {
    const { write, statuses, said } = open();
    write(aClick());
    await statuses(1);
    write(HEALTH);
    await statuses(2);
    write('GET /r/leads-nowhere HTTP/1.1\r\nHost: go.example\r\n\r\n');
    await statuses(3);
    write(aClick());
    expect(await statuses(4)).toEqual([302, 200, 404, 302]);
    expect(said()).toContain('This link leads nowhere');
  });

  it('sends a complete page for an unknown link, and continues', async () => {
    const { write, statuses, said } = open();
    write('GET /r/leads-nowhere?x=1 HTTP/1.1\r\nHost: go.example\r\n\r\n');
    await statuses(1);
    const [head = '', page = ''] = said().split('\r\n\r\n');
    expect(Number(/^Content-Length: (\d+)$/m.exec(head)?.[1])).toBe(page.length);
    write(aClick());
    expect(await statuses(2)).toEqual([404, 302]);
  });

  it('gets the same answers wherever its bytes are split', async () => {
    const click = aClick();
    for (const at of [1, 3, 4, 12, 30, click.length - 5, click.length - 2, click.length - 1]) {
      const { write, statuses } = open();
      write(click.slice(0, at));
      await pause(5);
      write(click.slice(at));
      expect([at, await statuses(1)]).toEqual([at, [302]]);
    }
  });

  it('is answered in order when requests come before the answers, at once or while one waits', async () => {
    const atOnce = open();
    atOnce.write(aClick() + aClick() + HEALTH + aClick());
    expect(await atOnce.statuses(4)).toEqual([302, 302, 200, 302]);
    redis.freeze();
    try {
      const waiting = open(held.links);
      waiting.write(aClick());
      await pause(50);
      waiting.write(HEALTH);
      await pause(50);
      waiting.write(aClick());
      expect(waiting.said()).toBe('');
      expect(await waiting.statuses(3)).toEqual([302, 200, 302]);
      expect(waiting.said().split('HTTP/1.1')[1]).toContain('X-Click-Recorded: false');
    } finally {
      await redis.restore();
    }
  });

  it('accepts an absolute URL for a link, as a proxy may send, and for other requests', async () => {
    const { write, statuses, said } = open();
    write(aClick().replace(' /r/', ' http://go.example:81/r/'));
    await statuses(1);
    write(HEALTH.replace(' /', ' HTTPS://go.example/'));
    expect(await statuses(2)).toEqual([302, 200]);
    expect(said()).toContain('click_id=clk_');
  });

  it('that breaks while an answer is pending affects no other', async () => {
    redis.freeze();
    const { write, socket } = open(held.links);
    write(aClick());
    await pause(50);
    socket.resetAndDestroy();
    await redis.restore();
    await until('Redis', async () => {
      const { write, statuses, said } = open(held.links);
      write(aClick());
      await statuses(1);
      return !said().includes('X-Click-Recorded');
    });
  });

  it('counts every click once, whichever way it came', async () => {
    const own = await makeLink(await openDesk(app), SHOP);
    const theClick = () => aClick().replace(link.slug, own.slug);
    const { write, statuses } = open();
    write(theClick());
    await statuses(1);
    write(theClick() + theClick());
    await statuses(3);
    write(theClick());
    await statuses(4);
    await drainClicks(app.context);
    expect(await countedClicks(app, own.id)).toBe(4);
  });
});

describe('the links host', () => {
  it('closes the connection of a visitor who sends nothing more', async () => {
    const [used, silent] = [open(), open()];
    used.write(aClick());
    await used.statuses(1);
    for (const { socket } of [used, silent]) {
      socket.end();
      await until('the close', () => socket.readableEnded);
    }
  });

  it('answers a hundred pipelined requests in order, and closes the connection', async () => {
    const { write, statuses, socket } = open();
    write(aClick().repeat(1_000));
    await until('the end', () => socket.readableEnded);
    expect(await statuses(100)).toEqual(Array(100).fill(302));
  });

  it.each([
    ['no Host', ['GET /r/x HTTP/1.1'], 400, 'BAD_REQUEST'],
    ['an expectation', ['GET /r/x HTTP/1.1', 'Host: x', 'Expect: foo'], 417, 'NOT_ACCEPTABLE'],
    ['another version', ['GET /r/x HTTP/9', 'Host: x'], 400, 'BAD_REQUEST'],
    ['no such path', ['GET /v1/usage HTTP/1.1', 'Host: x', 'Connection: close'], 404, 'NOT_FOUND'],
    ['a path that is no text', ['GET /r/%zz HTTP/1.1', 'Host: x', 'Connection: close'], 404, 'NOT_FOUND'],
    ['a method of RTSP', ['DESCRIBE /r/x RTSP/1.0', 'Host: x'], 404, 'NOT_FOUND'],
  ])('refuses %s in the API’s format', async (_what, lines, status, code) => {
    const { write, statuses, said, socket } = open();
    write(`${lines.join('\r\n')}\r\n\r\n`);
    expect(await statuses(1)).toEqual([status]);
    await until('the end', () => socket.readableEnded);
    expect(said()).toContain(`"code":"${code}"`);
  });

  it('answers a browser that asks for an unknown path with a page', async () => {
    const answer = await fetch(`${app.links}/nowhere`, { headers: { accept: 'text/html,*/*' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('This link leads nowhere');
  });

  it('leads on with what a text leaves behind a link, and no further', async () => {
    const land = async (slug: string) => (await click(app, slug)).location?.origin;
    for (const behind of ['/', ')', '.', ',', '%22', '%E2%80%8B', '%E2%80%A6', '.)']) {
      expect([behind, await land(`${link.slug}${behind}`)]).toEqual([behind, new URL(SHOP).origin]);
    }
    for (const other of ['x', '/x', '-', `${')'.repeat(300)}`]) {
      expect([other, await land(`${link.slug}${other}`)]).toEqual([other, undefined]);
    }
  });

  it('leads to the address that was meant where it was pasted with invisible marks', async () => {
    const { slug } = await makeLink(await openDesk(app), 'https://shop.example/p\u200b\u202c');
    expect((await click(app, slug)).location?.pathname).toBe('/p');
  });

  it('takes the parameters of a click along to the shop, until the link says otherwise', async () => {
    const desk = await openDesk(app);
    const { id, slug } = await makeLink(desk, 'https://shop.example/p?utm_source=creator&x=1#top');
    const land = async () => {
      const { location } = await click(app, `${slug}?utm_source=ig&utm_medium=story&click_id=mine`);
      return location?.href.replace(/click_id=[\w.-]+/, 'click_id=ID');
    };
    expect(await land()).toBe('https://shop.example/p?utm_source=ig&x=1&utm_medium=story&click_id=ID#top');
    const { body } = await desk.send('PATCH', `/v1/affiliates/links/${id}`, { forward_parameters: false });
    expect(body.data.forward_parameters).toBe(false);
    await until('the link no longer forwards', async () => (await land())?.includes('utm_source=creator') === true);
    expect(await land()).toBe('https://shop.example/p?utm_source=creator&x=1&click_id=ID#top');
    const off = await makeLink(desk, SHOP, { forward_parameters: false });
    expect((await click(app, `${off.slug}?y=2`)).location?.search).toMatch(/^\?x=1&click_id=/);
  });

  it('redirects a mail’s link to the web app, which is on the API’s address', async () => {
    const to = async (from: string) =>
      (await fetch(`${from}/enter/abc`, { redirect: 'manual' })).headers.get('location');
    const { config } = app.context;
    expect(await to(app.links)).toBe(`http://127.0.0.1:${config.port}/app/sign-in#abc`);
    expect(await to(app.url)).toBe('/app/sign-in#abc');
  });
});

describe('a short link on the API’s port, where links were before the links host had a port,', () => {
  it('still redirects, sets the cookie and counts the click', async () => {
    const own = await makeLink(await openDesk(app), SHOP);
    const old = await click({ links: app.url }, own.slug);
    expect([old.status, old.location?.origin]).toEqual([302, new URL(SHOP).origin]);
    const again = await click({ links: app.links }, own.slug, { cookie: old.cookie ?? '' });
    expect([again.status, again.cookie]).toEqual([302, undefined]);
    await drainClicks(app.context);
    expect(await countedClicks(app, own.id)).toBe(1);
  });

  it('refuses other methods with a page, like the links host', async () => {
    for (const at of [app.url, app.links]) {
      const { status, headers, text } = await click({ links: at }, link.slug, {}, 'POST');
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(text).toContain('This link leads nowhere');
    }
  });
});

describe('a server that is closed', () => {
  it('closes idle connections at once, busy ones after their answer, and silent ones within seconds', async () => {
    const own = await startApp({ urls: { redis: redis.url }, redisTimeoutMs: REDIS_WAIT_MS });
    const [silent, used, busy, piped] = [open(own.links), open(own.links), open(own.links), open(own.links)];
    used.write(aClick());
    await used.statuses(1);
    redis.freeze();
    busy.write(aClick());
    piped.write(aClick().replace('GET', 'HEAD') + aClick());
    await pause(50);
    const closed = own.close();
    await until('the idle one', () => used.socket.readableEnded);
    expect(busy.said()).toBe('');
    used.socket.end();
    await until('the answer', () => busy.socket.readableEnded);
    expect(busy.said()).toMatch(/^HTTP\/1\.1 302 [\s\S]*\r\nconnection: close\r\n/);
    await until('the answers', () => piped.socket.readableEnded);
    expect(piped.said()).toMatch(/^HTTP\/1\.1 302 [\s\S]*HTTP\/1\.1 302 [\s\S]*\r\nconnection: close\r\n/);
    await until('the silent one', () => silent.socket.readableEnded);
    for (const { socket } of [silent, busy, piped]) socket.end();
    await redis.restore();
    await closed;
  });
});
