import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, type OpenPage, openWebApp } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { type SignedIn, signIn } from '../../harness/platform/session.ts';

/** A form keeps its values and says so; a page that only reads is left. */
const SIGNED_OUT = /Sign in again in another tab|Sign in to Rollcall/;

describe.skipIf(!hasBrowser('Viewers'))('a viewer in a real Chromium', () => {
  let app: TestApp;
  let brand: TestBrand;
  let owner: SignedIn;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context, { plan: 'scale' });
    const key = await brand.key('brand');
    const ann = await makeAssignment(app.context, brand, { name: 'Ann Lee', holdDays: 0 });
    await makeSale(app.context, brand, { assignment: ann, occurredAt: daysAgo(40), orderId: 'first' });
    const made = [
      await send(`${app.url}/v1/payouts`, key, 'POST', { creator_email: ann.email, amount: 1, method: 'manual' }),
      await send(`${app.url}/v1/webhooks`, key, 'POST', {
        url: 'https://receiver.invalid/a',
        events: ['payout.created'],
      }),
    ];
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    owner = await signIn(app, brand.id);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** Somebody of the brand in a browser of their own. */
  async function enter(role: 'viewer' | 'manager') {
    const email = `${unique(role)}@brand.example`;
    const { body } = await owner.send('POST', '/v1/people', { email, role, name: 'Vi' });
    const person: string = body.data.person?.id ?? body.data.id;
    const open = await openWebApp(browser, app, brand.id, {}, email);
    const makeViewer = async () =>
      expect((await owner.send('PATCH', `/v1/people/${person}`, { role: 'viewer' })).status).toBe(200);
    return { ...open, makeViewer, email };
  }

  it.each([
    ['/payouts', 'Payouts'],
    ['/webhooks', 'Webhooks'],
    ['/keys', 'API keys'],
    ['/people', 'People'],
  ])('sees no column of actions on %s, which a manager or an owner sees there', async (path, name) => {
    const heads = async ({ page, go }: OpenPage) => {
      await go(path);
      await page.locator('tbody tr[aria-rowindex="2"]:not([aria-busy])').waitFor();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
      return await page.getByRole('columnheader').allTextContents();
    };
    const viewer = await enter('viewer');
    const mine = await openWebApp(browser, app, brand.id);
    const ownersHeads = await heads(mine);
    expect(ownersHeads).toContain('Actions');
    expect(await heads(viewer)).toEqual(ownersHeads.filter((head) => head !== 'Actions'));
    await viewer.context.close();
    await mine.context.close();
  });

  it('sees the brand’s settings and what agents may do as text, without fields to fill in', async () => {
    const { page, go, context, complaints } = await enter('viewer');
    await go('/settings');
    const settings = page.locator('.settings section.card');
    await settings.getByText('USD, US Dollar', { exact: true }).waitFor();
    await settings.getByText('Default commission, in percent').waitFor();
    expect(await settings.locator('input, textarea, select, button').count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    // Only this browser is signed in, and it is not ended here.
    await go('/settings?tab=signing-in');
    const sessions = page.getByRole('table', { name: 'Active sessions' });
    await expect.poll(() => sessions.getByRole('columnheader').allTextContents()).toEqual(['Browser']);
    expect(await axe(page)).toEqual([]);
    await go('/agents');
    const policy = page.locator('section.card', { has: page.getByRole('heading', { name: 'Agent permissions' }) });
    await policy.getByText('Agents may pay creators').waitFor();
    expect(await policy.getByText(/^(Yes|No)$/).count()).toBe(2);
    expect(await policy.locator('input, textarea, select, button').count()).toBe(0);
    await go('/roster');
    await page.getByRole('link', { name: 'Ann Lee' }).click();
    await page.getByRole('heading', { name: 'About' }).waitFor();
    // What a figure counts is there for everybody to read.
    const controls = page
      .getByRole('main')
      .locator('input, textarea, select, button:not(.why)')
      .filter({ visible: true });
    expect(await controls.evaluateAll((all) => all.map(({ outerHTML }) => outerHTML))).toEqual([]);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
    await context.close();
  });

  it('whose role was lowered meanwhile is signed out in plain words, and then sees no such button', async () => {
    const { page, go, context, complaints, makeViewer, email } = await enter('manager');
    await go('/payouts');
    await page.getByRole('button', { name: 'Settle' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reference').fill('mine');
    await makeViewer();
    await dialog.getByRole('button', { name: 'Settle the payout' }).click();
    await page.getByText(SIGNED_OUT).first().waitFor();
    const again = await openWebApp(browser, app, brand.id, {}, email);
    await again.go('/payouts');
    await again.page.locator('tbody tr[aria-rowindex="2"]:not([aria-busy])').waitFor();
    expect(await again.page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0);
    expect(await again.page.getByRole('button', { name: 'Record a payout' }).count()).toBe(0);
    await again.context.close();
    expect(complaints.splice(0)).toEqual([]);
    await context.close();
  });

  it('whose role was lowered while filling in settings is signed out, and then sees them as text', async () => {
    const { page, go, context, complaints, makeViewer, email } = await enter('manager');
    await go('/settings');
    await page.getByLabel('Contact', { exact: false }).first().fill('Somebody');
    await makeViewer();
    const save = page.locator('.settings .card').getByRole('button', { name: 'Save' });
    await save.click();
    await page.getByText(SIGNED_OUT).first().waitFor();
    const again = await openWebApp(browser, app, brand.id, {}, email);
    await again.go('/settings');
    await again.page.getByText('Default commission, in percent').waitFor();
    expect(await again.page.locator('.settings .card').getByRole('button', { name: 'Save' }).count()).toBe(0);
    await again.context.close();
    expect((await owner.get('/v1/brand')).body.data.contact_name).not.toBe('Somebody');
    expect(complaints.splice(0)).toEqual([]);
    await context.close();
  });
});
