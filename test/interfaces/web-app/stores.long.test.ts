import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyReportedClicks } from '../../../src/affiliates/orders/order-clicks.ts';
import { keepStoreWebhooks } from '../../../src/affiliates/stores/webhooks.jobs.ts';
import { drainClicks } from '../../../src/interfaces/links-host/jobs.ts';
import { deskOf } from '../../harness/affiliates/affiliates.ts';
import { makeLink, PHONE, type TrackedLink } from '../../harness/affiliates/clicks.ts';
import { makeSale } from '../../harness/affiliates/sales.ts';
import { openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
import { connectTestStore, startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { approve } from '../../harness/affiliates/store-access.ts';
import { openStorefront, type Storefront } from '../../harness/affiliates/storefront.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, until } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { signIn } from '../../harness/platform/session.ts';
import { deadlineMs } from '../../run/deadline.ts';

/** A thank-you page with a custom pixel, as Shopify runs it: in a frame without an origin, asking the shop's page for cookies. */
const thanksPage = (pixel: string, orderId: number) => {
  const sandbox = `<script>
    const asked = {};
    addEventListener('message', ({ data }) => asked.answer(data));
    const browser = { cookie: { get: (name) => new Promise((then) => { asked.answer = then; parent.postMessage(name, '*'); }) } };
    const subscribed = [];
    const analytics = { subscribe: (event, then) => void subscribed.push([event, then]) };
  </script><script>${pixel}</script><script>
    const data = { checkout: { order: { id: 'gid://shopify/OrderIdentity/${orderId}' } } };
    const told = subscribed.filter(([event]) => event === 'checkout_completed').map(([, then]) => then({ data }));
    Promise.all(told).then(() => parent.postMessage('', '*'));
  </script>`;
  return `<script>
    addEventListener('message', ({ data, source }) => {
      if (data === '') return document.body.append('The pixel has run.');
      const found = document.cookie.split('; ').find((one) => one.startsWith(data + '='));
      source.postMessage(found ? found.slice(data.length + 1) : '', '*');
    });
  </script><iframe sandbox="allow-scripts" title="pixel" srcdoc="${sandbox.replaceAll('"', '&quot;')}"></iframe>`;
};

/** The consent API of a Shopify storefront, which loads later. */
const consent = (isGiven: boolean) => `<script>window.Shopify = { loadFeatures: (_, then) => setTimeout(() => {
  Shopify.customerPrivacy = { marketingAllowed: () => ${isGiven} }; then();
}, 1) };</script>`;

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE_VIEW = { viewport: { width: 390, height: 844 }, hasTouch: true };

describe.skipIf(!hasBrowser('Stores in the web app'))('the stores page', () => {
  /** Webhooks of all stores are looked after: those of other tests are in another database. */
  let database: TestDatabase;
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let open: OpenPage;
  let phone: OpenPage;

  beforeAll(async () => {
    database = await makeDatabase('stores');
    app = await startApp({ webApp: await builtClient(), urls: { postgres: database.url } });
    brand = await makeBrand(app.context);
    await makeSale(app.context, brand);
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id, {
      ...{ viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] },
    });
    phone = await openWebApp(browser, app, brand.id, {
      ...{ viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await database?.drop();
  });

  /** A brand with this Shopify store alone, connected by its app with its webhooks on. */
  async function aloneWith({ url, access }: TestStore) {
    const other = await makeBrand(app.context);
    const owner = await signIn(app, other.id);
    const { id: client_id, secret: client_secret } = access.app;
    const send = async () => {
      await owner.send('POST', '/v1/affiliates/integrations', { provider: 'shopify', url, client_id, client_secret });
      await keepStoreWebhooks.run(app.context);
    };
    return { brand: other, send };
  }

  async function clean(name: string, { page, complaints }: OpenPage): Promise<void> {
    await shoot(page, name);
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  }

  it('says in words how healthy a store is, where its webhooks go, and how another is connected', async () => {
    for (const [name, where] of [
      ['desktop', open],
      ['phone', phone],
    ] as const) {
      const { page } = where;
      await where.go('/stores');
      await page.getByText('No orders received yet').first().waitFor();
      await page.getByText('https://go.example/ingest/').first().waitFor();
      await clean(`stores-${name}`, where);
      await page.getByRole('button', { name: 'Connect a store' }).click();
      const dialog = page.getByRole('dialog', { name: 'Connect a store' });
      for (const provider of ['Other', 'WooCommerce', 'Shopify']) {
        await dialog.getByText(provider, { exact: true }).click();
        await clean(`stores-connect-${provider}-${name}`, where);
      }
      await page.keyboard.press('Escape');
      await page
        .getByRole('button', { name: /^Setup guide/ })
        .first()
        .click();
      await page.getByRole('dialog', { name: 'Set up the store' }).waitFor();
      await clean(`stores-set-up-${name}`, where);
      await page.keyboard.press('Escape');
    }
  });

  it.each([
    ['shopify', 'Australia/Sydney'],
    ['woocommerce', 'Asia/Kathmandu'],
  ] as const)('offers the own zone of a store of %s, %s, while days are those of UTC', async (provider, zone) => {
    const other = await makeBrand(app.context);
    const store = await startStore(provider);
    store.timeZone = zone;
    const owner = await signIn(app, other.id);
    const { url, token } = store;
    const access = { provider, url, token, webhook_secret: 'a secret of the shop' };
    const made = await owner.send('POST', '/v1/affiliates/integrations', access);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    for (const [name, view] of [
      ['desktop', { viewport: { width: 1440, height: 900 } }],
      ['phone', PHONE_VIEW],
    ] as const) {
      const where = await openWebApp(browser, app, other.id, view);
      await where.go('/stores');
      const offer = where.page.getByRole('button', { name: `Count days of ${zone}`, exact: true });
      await offer.waitFor();
      await clean(`stores-zone-${provider}-${name}`, where);
      if (name === 'phone') {
        await offer.click();
        await where.page.getByText(`Days are now those of ${zone}.`, { exact: true }).waitFor();
        await offer.waitFor({ state: 'detached' });
        await shoot(where.page, `stores-zone-taken-${provider}`);
      }
      await where.context.close();
    }
    await store.close();
  });

  it('connects a store that is there, says which field is wrong where it is not, and disconnects it', async () => {
    const store = await startStore('woocommerce');
    store.name = 'Woo and Co';
    store.hooks.mayBeMade = false;
    const { page } = phone;
    await phone.go('/stores');
    await page.getByRole('button', { name: 'Connect a store' }).click();
    await page.getByRole('dialog').getByText('WooCommerce', { exact: true }).click();
    await page.getByRole('button', { name: 'Enter a REST API key' }).click();
    await page.getByRole('textbox', { name: 'Address' }).fill(store.url);
    await page.getByLabel('Access token').fill('ck_wrong:cs_wrong');
    await page.getByLabel('Webhook secret').fill('a secret of the shop');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('is refused by the store').waitFor();
    expect(await page.getByLabel('Access token').getAttribute('aria-invalid')).toBe('true');
    await clean('stores-refused-phone', phone);
    await page.getByLabel('Access token').fill(store.token);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('dialog', { name: 'Woo and Co is connected' }).waitFor();
    await page.getByText('Rollcall is creating the webhooks').waitFor();
    await keepStoreWebhooks.run(app.context);
    await page.getByText('a key with the permission Read/Write').first().waitFor();
    const address = await page.getByRole('region', { name: 'Webhook address' }).textContent();
    expect(address).toMatch(/^https:\/\/go\.example\/ingest\/woocommerce\/int_\w+$/);
    await clean('stores-connected-phone', phone);
    await page.getByRole('button', { name: 'Done' }).click();
    const card = page.locator('.card', { hasText: 'Woo and Co' });
    await card.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await card.getByText('This store is disconnected').waitFor();
    expect(phone.complaints.splice(0)).toEqual([]);
    await store.close();
  });

  it("connects Shopify by an app's id and secret, and shows that its webhooks are on", async () => {
    const store = await startStore('shopify');
    store.name = 'Shop by app';
    const { page } = open;
    await open.go('/stores');
    await page.getByRole('button', { name: 'Connect a store' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect a store' });
    await dialog.getByText('the Dev Dashboard').waitFor();
    await dialog.getByRole('textbox', { name: 'Address' }).fill(store.url);
    await dialog.getByLabel('Client ID').fill(store.access.app.id);
    await dialog.getByLabel('Client secret').fill('shpss_of_another');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByText('Copy the secret that the Dev Dashboard shows').waitFor();
    await clean('stores-app-refused', open);
    await dialog.getByLabel('Client secret').fill(store.access.app.secret);
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('dialog', { name: 'Shop by app is connected' }).waitFor();
    await keepStoreWebhooks.run(app.context);
    await page.getByText('The webhooks are on').waitFor();
    await clean('stores-app-connected', open);
    await page.getByRole('button', { name: 'Done' }).click();
    await store.close();
  });

  it('connects WooCommerce by a click in the shop, and says so when the access was not approved', async () => {
    const store = await startStore('woocommerce');
    store.name = 'Woo by click';
    const { page } = phone;
    const answers: ('approve' | 'deny')[] = ['deny', 'approve'];
    await page.route(`${store.url}/wc-auth/v1/authorize**`, async (route) => {
      const { returnTo } =
        answers.shift() === 'approve'
          ? await approve(store, route.request().url(), app.links)
          : { returnTo: new URL(`${app.url}/app/stores?success=0&user_id=sau_x`) };
      await route.fulfill({ status: 302, headers: { location: `${returnTo}` } });
    });
    for (const isApproved of [false, true]) {
      await phone.go('/stores');
      await page.getByRole('button', { name: 'Connect a store' }).click();
      await page.getByRole('dialog').getByText('WooCommerce', { exact: true }).click();
      await page.getByRole('textbox', { name: 'Address' }).fill(store.url);
      await page.getByRole('button', { name: 'Continue in WooCommerce' }).click();
      const said = isApproved
        ? page.getByRole('dialog', { name: 'Woo by click is connected' })
        : page.getByText('The access was not approved in the store');
      await said.waitFor();
    }
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await keepStoreWebhooks.run(app.context);
    await page.getByText('The webhooks are on').waitFor();
    await clean('stores-authorized-phone', phone);
    await store.close();
  });

  it('shows webhooks that are off and another API version, here and on Home', async () => {
    const store = await startStore('shopify');
    store.name = 'Troubled shop';
    const { brand: other, send } = await aloneWith(store);
    const [first, second] = [
      await openWebApp(browser, app, other.id, DESKTOP),
      await openWebApp(browser, app, other.id, PHONE_VIEW),
    ];
    await send();
    store.hooks.all = [];
    store.hooks.mayBeMade = false;
    store.access.versions = ['2027-01'];
    await app.context.postgres.db
      .updateTable('integrations')
      .set({ webhooksDueAt: new Date(0) })
      .where('brandId', '=', other.id)
      .execute();
    await keepStoreWebhooks.run(app.context);
    for (const [name, where] of [
      ['desktop', first],
      ['phone', second],
    ] as const) {
      await where.go('/stores');
      await where.page.getByText('The store switched off webhooks').waitFor();
      await where.page.getByText('2027-01 of its API').waitFor();
      await clean(`stores-disabled-${name}`, where);
      await where.page.getByRole('button', { name: /^Setup guide/ }).click();
      await where.page.getByText('Rollcall tries again every 15 minutes').waitFor();
      await clean(`stores-disabled-set-up-${name}`, where);
      await where.go('/');
      await where.page.getByRole('link', { name: '1 store that needs attention' }).waitFor();
      await clean(`stores-home-${name}`, where);
      await where.page.context().close();
    }
    await store.close();
  });

  it('shows whether clicks reach orders, and tests it', async () => {
    const woo = await startStore('woocommerce');
    woo.name = 'Tested Woo';
    await connectTestStore(app.context, brand.id, woo);
    const { page } = open;
    await open.go('/stores');
    const card = page.locator('.card', { hasText: 'Tested Woo' });
    await card.getByText('No orders yet').waitFor();
    await card.getByRole('button', { name: /^Setup guide/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Set up the store' });
    await dialog.getByText('None in 30 days').waitFor();
    const href = await dialog.getByRole('link', { name: 'Download the plugin' }).getAttribute('href');
    expect(href).toMatch(/^https:\/\/go\.example\/plugin\/woocommerce\/int_\w+\.zip$/);
    expect((await fetch(`${href}`.replace('https://go.example', app.links))).status).toBe(200);
    await clean('stores-set-up-woocommerce', open);
    await page.keyboard.press('Escape');
    await woo.close();
  });

  describe('a Shopify store that follows the steps', () => {
    const made: { shop: Shop; script: string; pixel: string; link: TrackedLink }[] = [];
    let storefront: Storefront;
    beforeAll(async () => {
      storefront = await openStorefront();
    });
    afterAll(async () => {
      storefront.close();
      await made[0]?.shop.store.close();
    });

    /** Copies the script and the pixel out of the web app, as its owner does. */
    async function setUp() {
      const [known] = made;
      if (known) return known;
      const shop = await openShop(app, 'shopify');
      const owner = await openWebApp(browser, app, shop.brand.id, { viewport: { width: 1280, height: 900 } });
      await owner.go('/stores');
      await owner.page.getByRole('button', { name: /^Setup guide for A store/ }).click();
      const read = async (name: string) =>
        ((await owner.page.getByRole('region', { name }).textContent()) ?? '').replaceAll(
          'https://go.example',
          app.links,
        );
      const [script, pixel] = [await read('Script tag'), await read('Custom pixel')];
      await clean('stores-set-up-shopify', owner);
      await owner.page.context().close();
      const link = await makeLink(await deskOf(app, shop.brand), `${storefront.url}/`);
      made.push({ shop, script, pixel, link });
      return { shop, script, pixel, link };
    }

    /** A visitor who comes by a link; `buy` leaves their order with the store, and shows them its thank-you page. */
    async function visit({ isAllowed = true } = {}) {
      const { shop, script, pixel, link } = await setUp();
      const context = await browser.newContext({ userAgent: PHONE });
      const page = await context.newPage();
      page.setDefaultTimeout(deadlineMs);
      const show = async (html: string) => {
        storefront.html = consent(isAllowed) + html;
        await page.goto(storefront.url);
      };
      storefront.cart = {};
      storefront.html = consent(isAllowed) + script;
      await page.goto(`${app.links}/r/${link.slug}`);
      if (isAllowed) await until('the cart to have the click', async () => 'click_id' in storefront.cart);
      else await page.waitForFunction('Shopify.customerPrivacy');
      const buy = async (attributes: Record<string, string>) => {
        const id = orderNumber();
        const noteAttributes = Object.entries(attributes).map(([name, value]) => ({ name, value }));
        await shop.report('orders/create', shopifyOrder({ id, noteAttributes }));
        await show(thanksPage(pixel, id));
        await page.getByText('The pixel has run.').waitFor();
        await applyReportedClicks(app.context);
        await context.close();
        const { body } = await call(`${app.url}/v1/affiliates/explain?order_id=${id}`, await shop.brand.key('brand'));
        return body.data;
      };
      return { buy, context };
    }

    it('pays for a normal cart, by its attribute', async () => {
      const { buy } = await visit();
      expect(storefront.cart).toEqual({ click_id: expect.stringMatching(/^clk_/) });
      expect(await buy(storefront.cart)).toMatchObject({ attributed: true });
    });

    it('pays for an order that skipped the cart, by the pixel', async () => {
      const { buy } = await visit();
      expect(await buy({})).toMatchObject({ attributed: true });
    });

    it('pays for a cart whose visitor lost their cookie, and not for one that skipped it then', async () => {
      for (const [hasCart, attributed] of [
        [true, true],
        [false, false],
      ]) {
        const { buy, context } = await visit();
        await context.clearCookies();
        expect(await buy(hasCart ? storefront.cart : {})).toMatchObject({ attributed });
      }
    });

    it('pays nobody for a visitor who refused, by cart or pixel', async () => {
      const { buy } = await visit({ isAllowed: false });
      expect(storefront.cart).toEqual({});
      expect(await buy(storefront.cart)).toMatchObject({ attributed: false });
    });

    it('then shows the share of orders that came with a click, and the last of them', async () => {
      const { shop } = await setUp();
      await drainClicks(app.context);
      const owner = await openWebApp(browser, app, shop.brand.id, {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
      });
      await owner.go('/stores');
      await owner.page
        .getByText(/\d+% of the last orders came with a click/)
        .first()
        .waitFor();
      await owner.page.getByRole('button', { name: /^Setup guide for A store/ }).click();
      await owner.page.getByText(/minute.*, by l-/).scrollIntoViewIfNeeded();
      await clean('stores-tested-phone', owner);
      await owner.page.context().close();
    });
  });
});
