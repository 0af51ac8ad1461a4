import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mintClick, readClick } from '../../../src/kit/values/click-token.ts';
import { type Desk, openDesk } from '../../harness/affiliates/affiliates.ts';
import { makeLink, PHONE } from '../../harness/affiliates/clicks.ts';
import { openStorefront, type Storefront } from '../../harness/affiliates/storefront.ts';
import { startApp, type TestApp, until } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { deadlineMs } from '../../run/deadline.ts';

const DAY = 86_400;

let app: TestApp;
let desk: Desk;
beforeAll(async () => {
  app = await startApp();
  desk = await openDesk(app);
});
afterAll(async () => await app?.close());

describe.skipIf(!hasBrowser('The script of shops'))('the script of shops in a browser', () => {
  let browser: Browser;
  let shop: Storefront;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await openBrowser();
    shop = await openStorefront();
  });
  afterAll(async () => {
    await browser?.close();
    shop?.close();
  });
  beforeEach(async () => {
    await context?.close();
    Object.assign(shop, { cart: {}, updates: [], kept: [], html: script() });
    context = await browser.newContext({ userAgent: PHONE });
    context.setDefaultTimeout(deadlineMs);
    page = await context.newPage();
    page.on('pageerror', ({ message }) => complaints.push(message));
    expect(complaints.splice(0)).toEqual([]);
  });

  const script = (before = '', attributes = '') =>
    `<script>${before}</script><script src="${app.links}/r.js?v=1" async ${attributes}></script>`;

  /** The script has run when the page is loaded, and what it sends then is sent when the network is idle. */
  let waitUntil: 'load' | 'networkidle' = 'load';
  const go = async (path: string) => await page.goto(`${shop.url}${path}`, { waitUntil });
  const clickOf = async () => await page.evaluate<string | undefined>('rollcall.click');
  const cookie = async () => (await context.cookies(shop.url)).find(({ name }) => name === 'rollcall_click');

  async function daysKept(): Promise<number> {
    const { expires = 0 } = (await cookie()) ?? {};
    return (expires - Date.now() / 1_000) / DAY;
  }

  /** Visits the shop by a creator's link; answers the click. */
  async function visitBy(terms: object = {}): Promise<string> {
    const { slug } = await makeLink(desk, `${shop.url}/landing`, terms);
    await page.goto(`${app.links}/r/${slug}`, { waitUntil });
    return new URL(page.url()).searchParams.get('click_id') ?? '';
  }

  it.each([7, 90])('keeps a click for the %s days of its own link, and names it on later pages', async (days) => {
    const click = await visitBy({ attribution_days: days });
    expect(readClick(app.context.secrets.key('click'), click)).toBeDefined();
    expect(await clickOf()).toBe(click);
    expect(await daysKept()).toBeCloseTo(days, 1);
    await go('/other');
    expect(await clickOf()).toBe(click);
    expect(await cookie()).toMatchObject({ value: click, path: '/', sameSite: 'Lax' });
  });

  it('adds one global, and no more', async () => {
    const globals = 'Object.keys(window).sort().join()';
    shop.html = '';
    await go('/');
    const without = await page.evaluate<string>(globals);
    shop.html = script();
    await go('/');
    const added = (await page.evaluate<string>(globals))
      .split(',')
      .filter((name) => !without.split(',').includes(name));
    expect(added).toEqual(['rollcall']);
  });

  it('keeps the last five clicks in their order, and none that has expired or is from another network', async () => {
    const first = await visitBy();
    const second = await visitBy();
    await go('/');
    expect([second === first, await clickOf()]).toEqual([false, `${first}.${second}`]);
    const over = mintClick(app.context.secrets.key('click'), {
      ...{ linkId: 'lnk_0Tb5wZk3aBcDeFgHiJkL', atMs: Date.now() - 8 * DAY * 1_000, days: 7 },
    });
    for (const other of [over, 'clk_1', 'AB12cd', '"><script>', '%00']) {
      await go(`/?click_id=${encodeURIComponent(other)}`);
      expect(await clickOf()).toBe(`${first}.${second}`);
    }
    const more = [];
    for (let i = 0; i < 4; i += 1) more.push(await visitBy());
    await expect.poll(clickOf).toBe([second, ...more].join('.'));
  });

  it('lets no click that was never given out take the place of another, nor a cookie of another name', async () => {
    const first = await visitBy();
    const forged = Array.from({ length: 7 }, (_, i) => first.replace(/.{16}$/, `${i}`.repeat(16)));
    await context.addCookies([{ name: 'x_rollcall_click', value: forged[0] ?? '', url: shop.url }]);
    for (const id of forged) await go(`/?click_id=${id}`);
    await page.waitForLoadState('networkidle');
    expect((await clickOf())?.startsWith(`${first}.`)).toBe(true);
    // Nor do they make room for a genuine one at the cost of another.
    const next = await visitBy();
    for (const id of forged.slice(0, 4)) await go(`/?click_id=${id}`);
    const last = await visitBy();
    const isGenuine = (id: string) => readClick(app.context.secrets.key('click'), id) !== undefined;
    const genuine = async () => ((await clickOf()) ?? '').split(/\.(?=clk_)/).filter(isGenuine);
    await expect.poll(genuine).toEqual([first, next, last]);
  });

  it('keeps nothing that is longer than a click, which an order could not carry beside the genuine ones', async () => {
    const first = await visitBy();
    const signature = first.slice(-16);
    for (const forged of [
      `clk_${'a'.repeat(900)}.zzzzz${signature}`,
      `${first.replace(/.{16}$/, '2'.repeat(16))}${'3'.repeat(900)}`,
      `clk_${'b'.repeat(44)}.zzzzz${signature};domain=localhost;max-age=9`,
    ]) {
      await go(`/?click_id=${encodeURIComponent(forged)}`);
      expect([await clickOf(), (await cookie())?.value]).toEqual([first, first]);
    }
  });

  it('cannot be made to keep a click for longer than its link allows, because the changed click pays nobody', async () => {
    const click = await visitBy({ attribution_days: 1 });
    const longer = click.replace(/\.\w{5}/, '.zzzzz');
    await go(`/?click_id=${longer}`);
    expect(await daysKept()).toBeLessThanOrEqual(90);
    expect(readClick(app.context.secrets.key('click'), longer)).toBeUndefined();
    // The next real click stands behind it.
    const next = await visitBy();
    expect((await clickOf())?.endsWith(next)).toBe(true);
  });

  it('renews its cookie on every page, and has no click once the cookie is gone', async () => {
    const click = await visitBy();
    await context.addCookies([
      { name: 'rollcall_click', value: click, url: shop.url, expires: Date.now() / 1_000 + 3_600 },
    ]);
    await go('/other');
    expect(await daysKept()).toBeCloseTo(30, 1);
    await context.clearCookies();
    await go('/other');
    expect([await clickOf(), await cookie()]).toEqual([undefined, undefined]);
  });

  describe('at Shopify', () => {
    beforeAll(() => {
      waitUntil = 'networkidle';
    });
    afterAll(() => {
      waitUntil = 'load';
    });

    /** As a storefront has it: the consent API loads later. */
    const shopify = (marketing: string) => `window.Shopify = { routes: { root: '/' }, loadFeatures: (_, then) =>
      setTimeout(() => { Shopify.customerPrivacy = { marketingAllowed: () => ${marketing} }; then(); }, 1) };`;

    it('writes the click to the cart, once, and to the next cart again', async () => {
      shop.html = script(shopify('true'));
      const click = await visitBy();
      await until('the cart to have the click', () => 'click_id' in shop.cart);
      for (const path of ['/', '/other']) await go(path);
      expect(shop.updates).toEqual([click]);
      shop.cart = {};
      await go('/');
      await expect.poll(() => shop.updates.length).toBe(2);
      expect(shop.cart).toEqual({ click_id: click });
    });

    it('keeps nothing before the consent API has loaded, however late that is', async () => {
      const late = `data:text/javascript,${encodeURIComponent(
        shopify('window.yes')
          .replace(/^window.Shopify = /, 'Object.assign(Shopify, ')
          .replace(/;$/, ');'),
      )}`;
      shop.html = `${script('window.yes = true; window.Shopify = {}; window.set = 0; Object.defineProperty(document, "cookie", { get: () => "", set: () => { window.set += 1; } });')}<script src="${late}" defer></script>`;
      await visitBy();
      await expect.poll(() => page.evaluate('window.set')).toBe(1);
      shop.html = shop.html.replace('window.yes = true', 'window.yes = false');
      await visitBy();
      expect([await page.evaluate('window.set'), await clickOf()]).toEqual([0, undefined]);
    });

    it('keeps a cart that has the click when the cookie is gone', async () => {
      shop.html = script(shopify('true'));
      const click = await visitBy();
      await until('the cart to have the click', () => 'click_id' in shop.cart);
      await context.clearCookies();
      await go('/cart');
      expect([shop.cart, shop.updates.length]).toEqual([{ click_id: click }, 1]);
    });

    it('keeps no click of visitors who refuse, forgets it when they change their mind, and keeps it when they agree', async () => {
      shop.html = script(`window.yes = false;${shopify('window.yes')}`);
      const click = await visitBy();
      expect([await clickOf(), await cookie(), shop.updates]).toEqual([undefined, undefined, []]);
      // The consent API answers a moment after the event.
      const kept = async () => [await clickOf(), (await cookie())?.value];
      const decide = async (yes: boolean) =>
        await page.evaluate(`window.yes = ${yes}; document.dispatchEvent(new Event('visitorConsentCollected'))`);
      await decide(true);
      await expect.poll(kept).toEqual([click, click]);
      await until('the cart', async () => shop.cart.click_id === click);
      await decide(false);
      await expect.poll(kept).toEqual([undefined, undefined]);
    });
  });

  it('follows the consent of WordPress', async () => {
    shop.html = script(`window.yes = false; window.wp_has_consent = (kind) => kind === 'marketing' && window.yes;`);
    const click = await visitBy();
    expect([await clickOf(), await cookie()]).toEqual([undefined, undefined]);
    await page.evaluate(`window.yes = true; document.dispatchEvent(new Event('wp_listen_for_consent_change'))`);
    expect([await clickOf(), (await cookie())?.value]).toEqual([click, click]);
  });

  it('waits for the shop’s consent call if its tag says so', async () => {
    shop.html = script('', 'data-consent="wait"');
    const click = await visitBy();
    expect([await clickOf(), await cookie()]).toEqual([undefined, undefined]);
    await page.evaluate('rollcall.allow()');
    expect([await clickOf(), (await cookie())?.value]).toEqual([click, click]);
    await page.evaluate('rollcall.allow(false)');
    expect([await clickOf(), await cookie()]).toEqual([undefined, undefined]);
  });

  it('has the shop’s server keep a new click once, and does not change that cookie', async () => {
    shop.html = script('', 'data-keep="/keep"');
    const click = await visitBy({ attribution_days: 7 });
    await until('the server to keep it', async () => shop.kept.length === 1);
    await go('/other');
    expect([shop.kept, await clickOf()]).toEqual([[click], click]);
    // The server's, of 90 days; the script would have written 7.
    expect(await daysKept()).toBeCloseTo(90, 1);
  });
});
