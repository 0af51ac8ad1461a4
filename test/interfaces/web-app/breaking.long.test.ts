import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Assignment, daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, until } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, type OpenPage, openWebApp, PAGES } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { signIn, signInToken } from '../../harness/platform/session.ts';

/** Of a page, whatever it holds. */
const CHANGES =
  /^(Add|Make|Write|Draft|Record|Upload|Import|Invite|Connect|Remove|Revoke|Rotate|Settle|Pay|Save$|Delete)/;

describe.skipIf(!hasBrowser('The web app in trouble'))('in a real Chromium, when things go wrong,', () => {
  let app: TestApp;
  let brand: TestBrand;
  let key: string;
  let ann: Assignment;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context, { plan: 'scale' });
    key = await brand.key('brand');
    ann = await makeAssignment(app.context, brand, { name: 'Ann Lee', holdDays: 0 });
    await makeSale(app.context, brand, { assignment: ann, occurredAt: daysAgo(40), orderId: 'first' });
    await send(`${app.url}/v1/campaigns`, key, 'POST', { name: 'Spring' });
    await send(`${app.url}/v1/campaigns`, key, 'POST', { name: 'Autumn', status: 'draft' });
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const payouts = async (): Promise<unknown[]> => (await call(`${app.url}/v1/payouts`, key)).body.data;

  async function fillPayout({ page, go }: OpenPage, amount: string) {
    await go('/payouts');
    await page.getByRole('button', { name: 'Record a payout' }).click();
    const form = page.getByRole('dialog', { name: 'Record a payout' });
    await form.getByLabel('Creator').fill(ann.email);
    await form.getByLabel('Amount').fill(amount);
    return form;
  }

  it('a button that pays, pressed twice at once, pays once', async () => {
    const form = await fillPayout(open, '11');
    const before = (await payouts()).length;
    await form.getByRole('button', { name: 'Record the payout' }).dblclick();
    await form.waitFor({ state: 'hidden' });
    expect((await payouts()).length).toBe(before + 1);
    expect(open.complaints.splice(0)).toEqual([]);
  });

  it('a payout whose answer was lost is reported as such, and pressing again does not pay twice', async () => {
    const { page } = open;
    const form = await fillPayout(open, '12');
    const before = (await payouts()).length;
    await page.route('**/v1/payouts', async (route) => {
      if (route.request().method() !== 'POST') return await route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await form.getByRole('button', { name: 'Record the payout' }).click();
    await form.getByRole('alert').getByText('The server did not answer.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await form.getByRole('button', { name: 'Record the payout' }).click();
    await form.waitFor({ state: 'hidden' });
    expect((await payouts()).length).toBe(before + 1);
    open.complaints.splice(0);
  });

  it('a page without a connection says so instead of waiting, and works again once connected', async () => {
    const { page, go } = open;
    await go('/campaigns');
    await page.context().setOffline(true);
    await page.getByLabel('Status').selectOption('draft');
    await page.getByText('The server did not answer.').waitFor();
    await page.context().setOffline(false);
    const again = page.getByRole('button', { name: 'Try again' });
    if ((await again.count()) > 0) await again.first().click();
    await page.getByRole('link', { name: 'Autumn' }).waitFor();
    open.complaints.splice(0);
  });

  it('a response that is not the API’s, such as a page of the network’s, is reported and never shown', async () => {
    const { page, go } = open;
    const strange = ['<html>Sign in to the Wi-Fi</html>', '{}', '{"data":{},"pagination":{}}', 'null'];
    for (const body of strange) {
      await page.route('**/v1/campaigns*', (route) => route.fulfill({ contentType: 'application/json', body }));
      await go('/campaigns');
      await page.getByText('The response did not come from Rollcall.').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
    }
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByRole('link', { name: 'Autumn' }).waitFor();
    open.complaints.splice(0);
  });

  it('a plan that would now do something different is refused with an explanation and changes nothing', async () => {
    const { page, go } = open;
    const pay = { creator_email: ann.email, amount: 10, method: 'manual' };
    expect((await send(`${app.url}/v1/payouts?mode=plan`, key, 'POST', pay)).status).toBe(202);
    await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { currency: 'GBP' } });
    const before = (await payouts()).length;
    await go('/agents');
    await page.getByRole('button', { name: 'Create payout' }).click();
    await page.getByRole('button', { name: 'Apply plan' }).click();
    await page.getByRole('alert').getByText('would now do something different').waitFor();
    expect((await payouts()).length).toBe(before);
    await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { currency: 'USD' } });
    open.complaints.splice(0);
  });

  it('filters are in the URL: the page is the same after a reload and in another tab, and back returns to the previous page', async () => {
    const { page, go, complaints } = open;
    await go('/campaigns?status=draft');
    await page.getByRole('link', { name: 'Autumn' }).waitFor();
    expect(await page.getByRole('link', { name: 'Spring' }).count()).toBe(0);
    await page.reload();
    await page.getByRole('link', { name: 'Autumn' }).waitFor();
    await expect.poll(() => page.getByLabel('Status').inputValue()).toBe('draft');
    await page.getByRole('link', { name: 'Autumn' }).click();
    await page.getByRole('heading', { level: 1, name: 'Autumn' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor();
    await page.getByRole('link', { name: 'Autumn' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('what one tab settles, the other is refused in plain words, and then shows', async () => {
    const { page, go } = open;
    await go('/payouts');
    const rows = page.getByRole('button', { name: 'Settle' });
    await rows.first().waitFor();
    const left = await rows.count();
    await rows.first().click();
    const dialog = page.getByRole('dialog');
    const [first] = (await call(`${app.url}/v1/payouts`, key)).body.data;
    const settled = await send(`${app.url}/v1/payouts/${first.id}`, key, 'PATCH', {
      status: 'paid',
      commission_ids: [],
    });
    expect(settled.status, JSON.stringify(settled.body)).toBe(200);
    await dialog.getByLabel('Reference').fill('mine');
    await dialog.getByRole('button', { name: 'Settle the payout' }).click();
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByRole('cell', { name: 'Paid', exact: true }).first().waitFor();
    await expect.poll(() => rows.count()).toBe(left - 1);
    open.complaints.splice(0);
  });

  it('a viewer sees no button that only others may use, on any page', async () => {
    const owner = await signIn(app, brand.id);
    const email = 'viewer@brand.example';
    expect((await owner.send('POST', '/v1/people', { email, role: 'viewer', name: 'Vi' })).status).toBe(201);
    const { context, page, move, rest } = await openWebApp(browser, app, brand.id, {}, email);
    const seen: string[] = [];
    const columns: string[] = [];
    const look = async (path: string) => {
      const names = await page.locator('main button.button:visible').allTextContents();
      const heads = await page.getByRole('columnheader', { name: 'Actions' }).count();
      if (heads > 0) columns.push(path);
      seen.push(...names.filter((name) => CHANGES.test(name)).map((name) => `${path}: ${name}`));
    };
    for (const path of PAGES) {
      await move(path);
      await look(path);
    }
    const tabs = page.locator('nav[aria-label="Section"] a[href*="tab="]');
    for (const tab of await tabs.all()) {
      await tab.click();
      await rest();
      await look((await tab.textContent()) ?? '');
    }
    // Which mails to get and a passkey are one's own.
    expect(seen).toEqual(['Email notifications: Save', 'Sign-in: Add a passkey']);
    expect(columns).toEqual([]);
    expect(await axe(page)).toEqual([]);
    await context.close();
  });

  it('a session that ends leads to the sign-in page, and from there back to the page', async () => {
    const mine = await openWebApp(browser, app, brand.id);
    const { page, go, context } = mine;
    await go('/campaigns?status=draft');
    await context.clearCookies();
    await page.getByRole('link', { name: 'Commissions' }).click();
    await page.getByText('Your session has ended.').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.goto(`${app.url}/app/sign-in#${await signInToken(app, brand.id)}`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Commissions' }).waitFor();
    await context.close();
  });

  it('what was being written when the session ended is not lost', async () => {
    const mine = await openWebApp(browser, app, brand.id);
    const form = await fillPayout(mine, '13');
    await mine.context.clearCookies();
    await form.getByRole('button', { name: 'Record the payout' }).click();
    await form.getByRole('alert').getByText('Sign in again in another tab').waitFor();
    const other = await mine.context.newPage();
    await other.goto(`${app.url}/app/sign-in#${await signInToken(app, brand.id)}`);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    expect(await form.getByLabel('Amount').inputValue()).toBe('13');
    await form.getByRole('button', { name: 'Record the payout' }).click();
    await form.waitFor({ state: 'hidden' });
    await until('the payout to be there', async () => JSON.stringify((await payouts()) ?? []).includes('"amount":13'));
    await mine.context.close();
  });
});
