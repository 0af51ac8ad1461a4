import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprintLink } from '../../src/interfaces/links-host/row.ts';
import { readClick } from '../../src/kit/values/click-token.ts';
import { type Desk, LINKS, openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, countedClicks, makeLink, metricOf, PHONE, storedClicks } from '../harness/affiliates/clicks.ts';
import { engineUrls, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { type EngineProxy, startProxy } from '../harness/kit/proxy.ts';

const redis = ownRedis();
let app: TestApp;
/** Behind a proxy of the operator's own, so that a test can be many visitors. */
let behind: TestApp;
let desk: Desk;

beforeAll(async () => {
  app = await startApp({ urls: { redis } });
  behind = await startApp({ urls: { redis }, env: { TRUSTED_PROXIES: '127.0.0.1' } });
  desk = await openDesk(app);
});
afterAll(async () => {
  await behind?.close();
  await app?.close();
});

async function change(linkId: string, changes: object): Promise<void> {
  expect((await desk.send('PATCH', `${LINKS}/${linkId}`, changes)).status).toBe(200);
}

const switchOff = (linkId: string) => change(linkId, { active: false });

let visitors = 0;
/** Another visitor each time. */
const someone = () => {
  visitors += 1;
  return { 'x-forwarded-for': `198.51.${visitors >> 8}.${visitors & 255}` };
};

describe('a click', () => {
  it('redirects to the destination with a click id for this link and time, and is counted once', async () => {
    const link = await makeLink(desk, SHOP);
    const from = Date.now();
    const { status, location, clickId, headers } = await click(app, link.slug, {
      referer: 'https://Photo.Example/p/1',
    });
    expect(status).toBe(302);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-click-recorded')).toBeNull();
    expect(`${location}`).toBe(`${SHOP}&click_id=${clickId}`);
    const read = readClick(app.context.secrets.key('click'), clickId);
    expect(read?.linkId).toBe(link.id);
    expect(read?.at.getTime()).toBeGreaterThanOrEqual(from);
    expect(read?.at.getTime()).toBeLessThanOrEqual(Date.now());
    const [stored, ...more] = await storedClicks(app, link.id);
    expect(more).toEqual([]);
    expect(stored).toEqual({
      click_id: read?.id,
      brand_id: desk.brand.id,
      creator_id: expect.stringMatching(/^crt_/),
      currency: 'USD',
      at: read?.at.toISOString().replace('T', ' ').slice(0, 23),
      kind: 'counted',
      visitor: expect.stringMatching(/^\d+$/),
      country: '',
      device: 'mobile',
      referrer_host: 'photo.example',
    });
    expect(await countedClicks(app, link.id)).toBe(1);
  });

  it('sets a cookie for a year that no script and no other site can use', async () => {
    const { slug } = await makeLink(desk, SHOP);
    const { headers, cookie } = await click(app, slug);
    expect(headers.get('set-cookie')).toMatch(
      /^rollcall_visitor=[0-9A-Za-z]{22}; Max-Age=31536000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect((await click(app, slug, { cookie: `a=b; ${cookie}; c=d` })).cookie).toBeUndefined();
    expect((await click(app, slug, { cookie: 'rollcall_visitor=<script>' })).cookie).toBeDefined();
    const plain = await startApp({ urls: { redis }, env: { LINKS_URL: 'http://localhost:1' } });
    expect((await click(plain, slug)).headers.get('set-cookie')).not.toContain('Secure');
    await plain.close();
  });

  it('is stored without its address, only with a keyed hash of it', async () => {
    const link = await makeLink(desk, SHOP);
    const address = someone();
    await click(behind, link.slug, address);
    const entries = await app.context.redis.client.xrange('clicks:{clicks}', '-', '+');
    expect(JSON.stringify(entries)).toContain(link.id);
    expect(JSON.stringify(entries)).not.toContain(address['x-forwarded-for']);
    expect(JSON.stringify(await storedClicks(app, link.id))).not.toContain(address['x-forwarded-for']);
  });

  it('has a country only if one of the operator’s own proxies sends it', async () => {
    const link = await makeLink(desk, SHOP);
    await click(behind, link.slug, { ...someone(), 'cf-ipcountry': 'DE' });
    await click(app, link.slug, { 'cf-ipcountry': 'FR' });
    const countries = (await storedClicks(app, link.id)).map(({ country }) => country);
    expect(countries.sort()).toEqual(['', 'DE']);
  });

  it('by HEAD, by a prefetch or by a bot is redirected, stored separately and not counted', async () => {
    const link = await makeLink(desk, SHOP);
    const answers = [
      await click(behind, link.slug, someone(), 'HEAD'),
      await click(behind, link.slug, { ...someone(), 'sec-purpose': 'prefetch;prerender' }),
      await click(behind, link.slug, { ...someone(), 'x-moz': 'prefetch' }),
      await click(behind, link.slug, { ...someone(), 'sec-purpose': 'other, prefetch' }),
      await click(behind, link.slug, { ...someone(), purpose: '', 'x-purpose': 'preview' }),
      await click(behind, link.slug, { ...someone(), 'user-agent': 'facebookexternalhit/1.1' }),
      await click(behind, link.slug, { ...someone(), 'user-agent': '' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(302));
    expect(answers[0]?.text).toBe('');
    const kinds = (await storedClicks(app, link.id)).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['bot', 'bot', 'head', ...Array(4).fill('prefetch')]);
    expect(await countedClicks(app, link.id)).toBe(0);
    // Nor do they make a repeat of the visitor who comes next.
    const visitor = someone();
    await click(behind, link.slug, visitor, 'HEAD');
    await click(behind, link.slug, visitor);
    await storedClicks(app, link.id);
    expect(await countedClicks(app, link.id)).toBe(1);
  });
});

describe('A browser', () => {
  it('is one visitor before it has the cookie and afterwards, wherever it is then', async () => {
    const link = await makeLink(desk, SHOP);
    for (let browser = 0; browser < 5; browser += 1) {
      const { cookie = '' } = await click(behind, link.slug, someone());
      await click(behind, link.slug, { ...someone(), cookie });
    }
    const visitors = (await storedClicks(app, link.id)).map(({ visitor }) => visitor);
    expect([visitors.length, new Set(visitors).size]).toEqual([10, 5]);
  });

  it('is one visitor of breakdowns and analytics, whichever link it opens with the cookie and from where', async () => {
    const own = await openDesk(app);
    const [first, later] = [await makeLink(own, SHOP), await makeLink(own, SHOP)];
    for (let browser = 0; browser < 5; browser += 1) {
      const { cookie = '' } = await click(behind, first.slug, someone());
      await click(behind, later.slug, { ...someone(), cookie });
    }
    await storedClicks(app, later.id);
    const { body } = await own.send('GET', '/v1/analytics/breakdown?by=device');
    expect(body.data).toMatchObject([{ key: 'mobile', clicks: 10, visitors: 5 }]);
  });
});

describe('An address that a page loads for itself', () => {
  it('is redirected without a click to keep, stored with that reason and not counted', async () => {
    const link = await makeLink(desk, SHOP);
    const loads = [
      { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
      { 'sec-fetch-dest': 'script', 'sec-fetch-mode': 'no-cors' },
      { 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' },
      { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' },
    ];
    for (const headers of loads) {
      const { status, location, clickId } = await click(behind, link.slug, { ...someone(), ...headers });
      expect([status, location?.origin, clickId]).toEqual([302, new URL(SHOP).origin, '']);
    }
    // Node's fetch has a mode of its own, which no header changes.
    const visit = { ...someone(), 'user-agent': PHONE, 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' };
    await once(get(`${behind.links}/r/${link.slug}`, { headers: visit }), 'response');
    const kinds = (await storedClicks(app, link.id)).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['counted', ...loads.map(() => 'embedded')]);
    expect(await countedClicks(app, link.id)).toBe(1);
  });
});

describe('A repeated click', () => {
  it('counts once when one visitor clicks fifty times at once', async () => {
    const link = await makeLink(desk, SHOP);
    const visitor = someone();
    const all = Array.from({ length: 50 }, (_, i) => click(behind, link.slug, { ...visitor, accept: `${i}` }));
    expect((await Promise.all(all)).every(({ status }) => status === 302)).toBe(true);
    const kinds = (await storedClicks(app, link.id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'counted')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'repeat')).toHaveLength(49);
    expect(await countedClicks(app, link.id)).toBe(1);
  });

  it('is recognized by the new cookie, from this address or another, and by the address without it', async () => {
    const link = await makeLink(desk, SHOP);
    const visitor = someone();
    const { cookie = '' } = await click(behind, link.slug, visitor);
    await click(behind, link.slug, { ...visitor, cookie });
    await click(behind, link.slug, { ...someone(), cookie });
    await click(behind, link.slug, visitor);
    await click(behind, link.slug, { ...someone(), cookie });
    expect((await storedClicks(app, link.id)).map(({ kind }) => kind)).toEqual([
      ...['counted', 'repeat', 'repeat', 'repeat', 'repeat'],
    ]);
  });

  it('is not a repeat on another link, by another visitor, or after 30 seconds', async () => {
    const [one, two] = [await makeLink(desk, SHOP), await makeLink(desk, SHOP)];
    const visitor = someone();
    await click(behind, one.slug, visitor);
    await click(behind, two.slug, visitor);
    await click(behind, one.slug, someone());
    const client = app.context.redis.client;
    for (const turn of [0, 1, 2]) {
      const seen = await client.hgetall(`seen:{clicks}:${turn}`);
      for (const [who, at] of Object.entries(seen)) {
        if (who.endsWith(fingerprintLink(one.id))) await client.hset(`seen:{clicks}:${turn}`, who, Number(at) - 30_000);
      }
    }
    await click(behind, one.slug, visitor);
    await storedClicks(app, one.id);
    expect([await countedClicks(app, one.id), await countedClicks(app, two.id)]).toEqual([3, 1]);
  });
});

describe('A short URL without an active link', () => {
  it('shows a built-in page, and counts no click', async () => {
    const link = await makeLink(desk, SHOP);
    await switchOff(link.id);
    for (const slug of [link.slug, unique('none'), '', 'a/b', '%00', 'x'.repeat(500), '..%2f..']) {
      const { status, text, headers } = await click(app, slug);
      expect([slug, status]).toEqual([slug, 404]);
      expect(text).toContain('<html lang="en">');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect(await storedClicks(app, link.id)).toEqual([]);
  });

  it('redirects to the address that the operator configured', async () => {
    const other = await startApp({ urls: { redis }, env: { UNKNOWN_LINK_URL: 'https://brand.example/gone' } });
    const { status, location } = await click(other, unique('none'));
    await other.close();
    expect([status, `${location}`]).toEqual([302, 'https://brand.example/gone']);
  });

  it('takes effect soon after the change', async () => {
    const link = await makeLink(desk, SHOP);
    expect((await click(app, link.slug)).status).toBe(302);
    await switchOff(link.id);
    await until('the link to end', async () => (await click(app, link.slug)).status === 404);
    await change(link.id, { active: true });
    await until('the link to lead on', async () => (await click(app, link.slug)).status === 302);
    await change(link.id, { destination_url: 'https://shop.example/winter' });
    const pathOf = async () => (await click(app, link.slug)).location?.pathname;
    await until('the link to lead elsewhere', async () => (await pathOf()) === '/winter');
  });

  it('does not affect others: forty links clicked at once, after a pause, during a refresh, and one unknown', async () => {
    const links: { slug: string }[] = [];
    for (let i = 0; i < 40; i += 1) links.push(await makeLink(desk, `https://shop.example/products/${i}`));
    const clickAll = () =>
      Promise.all(
        [...links, { slug: unique('none') }].map(async ({ slug }) => (await click(app, slug)).location?.pathname),
      );
    const paths = [...links.map((_, i) => `/products/${i}`), undefined];
    for (const pauseMs of [0, 0, 1_100, 600, 0]) {
      await pause(pauseMs);
      expect(await clickAll()).toEqual(paths);
    }
  });

  it('accepts only GET and HEAD', async () => {
    const { slug } = await makeLink(desk, SHOP);
    const { status, headers } = await click(app, slug, {}, 'POST');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

/** Long beside what a busy machine needs for anything else. */
const CLICK_WAITS_MS = 4_000;

describe('without an engine,', () => {
  let proxy: EngineProxy;
  let other: TestApp;
  afterAll(async () => {
    await other?.close();
    await proxy?.close();
  });

  it('such as Redis, the visitor is redirected, and a click that may not be recorded counts as lost', async () => {
    proxy = await startProxy(redis);
    other = await startApp({ urls: { redis: proxy.url }, redisTimeoutMs: CLICK_WAITS_MS });
    await other.context.redis.ready();
    const link = await makeLink(desk, SHOP);
    expect((await click(other, link.slug)).status).toBe(302);
    await proxy.cut();
    const lost = await Promise.all(Array.from({ length: 20 }, () => click(other, link.slug)));
    for (const { status, clickId, headers } of lost) {
      expect([status, headers.get('x-click-recorded')]).toEqual([302, 'false']);
      expect(readClick(app.context.secrets.key('click'), clickId)?.linkId).toBe(link.id);
    }
    expect(await metricOf(other, 'rollcall_clicks_lost_total')).toBe(20);

    await proxy.restore();
    await until('Redis', async () => (await click(other, link.slug)).headers.get('x-click-recorded') === null);
    proxy.freeze();
    const from = performance.now();
    await Promise.all([
      click(other, link.slug),
      ...[100, 400, 800].map((ms) => pause(ms).then(() => click(other, link.slug))),
    ]);
    // One after the other, the four would wait for four times as long.
    expect(performance.now() - from).toBeLessThan(3 * CLICK_WAITS_MS);
    await proxy.restore();
    await proxy.close();
    await other.close();
  });

  it('such as PostgreSQL, a link that was clicked before redirects, and another asks the visitor to come back', async () => {
    proxy = await startProxy(engineUrls().postgres);
    other = await startApp({ urls: { redis, postgres: proxy.url } });
    const [known, unread] = [await makeLink(desk, SHOP), await makeLink(desk, SHOP)];
    expect((await click(other, known.slug)).status).toBe(302);
    await proxy.cut();
    const from = performance.now();
    while (performance.now() - from < 1_500) expect((await click(other, known.slug)).status).toBe(302);
    const { status, headers } = await click(other, unread.slug);
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    await proxy.restore();
    await until('PostgreSQL', async () => (await click(other, unread.slug)).status === 302);
  });
});
