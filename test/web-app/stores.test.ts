import { createServer, type Server } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { hasBrowser, openBrowser } from '../harness/browser.ts';
import { makeSale } from '../harness/sales.ts';
import { connectTestStore, startStore } from '../harness/store.ts';
import { axe, builtClient, expectToFit, type OpenPage, openWebApp, shoot } from '../harness/web-app.ts';

/** A shop's cart as Shopify's theme API has it. */
function startShop(): { server: Server; updates: unknown[]; theme: (snippet: string) => void } {
  let page = '';
  let attributes: Record<string, string> = {};
  const updates: unknown[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://shop');
    const answer = (type: string, body: string) => response.writeHead(200, { 'content-type': type }).end(body);
    if (pathname === '/cart.js') return answer('application/json', JSON.stringify({ attributes }));
    if (pathname === '/cart/update.js') {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const update = z.object({ attributes: z.record(z.string(), z.string()) }).parse(JSON.parse(body));
      attributes = { ...attributes, ...update.attributes };
      updates.push(update);
      return answer('application/json', JSON.stringify({ attributes }));
    }
    return answer('text/html', `<!doctype html><html lang="en"><title>Shop</title><body>${page}</body></html>`);
  });
  return { server, updates, theme: (snippet) => (page = snippet) };
}

describe.skipIf(!hasBrowser('Stores in the web app'))('the stores page', () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let open: OpenPage;
  let phone: OpenPage;
  const shop = startShop();

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context);
    await makeSale(app.context, brand);
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id, {
      ...{ viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] },
    });
    phone = await openWebApp(browser, app, brand.id, {
      ...{ viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
    });
    await new Promise<void>((done) => void shop.server.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    shop.server.close();
  });

  async function clean(name: string, { page, complaints }: OpenPage): Promise<void> {
    await shoot(page, name);
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  }

  it('says in words how a store does, where its webhooks go, and how another is connected', async () => {
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
        .getByRole('button', { name: /^Set up/ })
        .first()
        .click();
      await page.getByRole('dialog', { name: 'Set up the store' }).waitFor();
      await clean(`stores-set-up-${name}`, where);
      await page.keyboard.press('Escape');
    }
  });

  it('connects a store that is there, says which field is wrong where it is not, and disconnects it', async () => {
    const store = await startStore('woocommerce');
    store.name = 'Woo and Co';
    const { page } = phone;
    await phone.go('/stores');
    await page.getByRole('button', { name: 'Connect a store' }).click();
    await page.getByText('WooCommerce', { exact: true }).click();
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

  it('gives a snippet that keeps the click of a tracked link and hands it to the cart, once', async () => {
    const { page } = open;
    const shopify = await startStore('shopify');
    await connectTestStore(app.context, brand.id, shopify);
    await open.go('/stores');
    await page.getByRole('button', { name: /^Set up A store/ }).click();
    await page.getByRole('button', { name: 'Copy: Theme snippet' }).click();
    const snippet = await page.evaluate<string>('navigator.clipboard.readText()');
    shop.theme(snippet);
    const address = shop.server.address();
    const url = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
    const visitor = await (await browser.newContext()).newPage();
    for (const to of ['/', '/?click_id=a.b%2Bc', '/other', '/']) {
      await visitor.goto(`${url}${to}`);
      await visitor.waitForLoadState('networkidle');
    }
    expect(shop.updates).toEqual([{ attributes: { click_id: 'a.b+c' } }]);
    await visitor.context().close();
    await shopify.close();
  });
});
