import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSeller } from '../../harness/affiliates/ordering.ts';
import { daysAgo, makeSale } from '../../harness/affiliates/sales.ts';
import { send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

describe.skipIf(!hasBrowser('Rules in the web app'))('the rules of a brand', () => {
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('are tried on past orders, with the creators and orders that change, and then set in the settings', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    for (const amountMinor of [2_000, 9_000]) {
      await makeSale(app.context, brand, { assignment, amountMinor, occurredAt: daysAgo(3) });
    }
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, {
      viewport: { width: 1280, height: 1400 },
    });
    const card = page.locator('.settings .card');
    await go('/settings?tab=what-if');
    await page.getByLabel('Smallest order', { exact: false }).last().fill('50');
    await page.getByLabel('Commission, in percent', { exact: true }).fill('20');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByText('2 of 2 paid orders would change.').waitFor();
    await page.getByRole('table', { name: 'All creators' }).getByText('2 → 1').waitFor();
    await page.getByRole('table', { name: 'Orders that change' }).getByText('Nobody').waitFor();
    await shoot(page, 'rules-settings');
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    await go('/settings?tab=attribution');
    await page.getByLabel('Smallest order that pays').fill('50');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. New orders are attributed by these rules.').waitFor();
    expect((await send(`${app.url}/v1/affiliates/rules`, key, 'GET')).body.data.min_order).toBe(50);
    await go('/settings?tab=fraud');
    await page.getByLabel('The customer had bought before').selectOption('hold');
    await page.getByLabel('The click came from a forbidden page').selectOption('flag');
    await page.getByLabel('Forbidden hosts').fill('coupons.example');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. The rules apply to new orders.').waitFor();
    expect((await send(`${app.url}/v1/fraud-rules`, key, 'GET')).body.data).toMatchObject({
      ...{ returning_customer: { action: 'hold' }, velocity: { action: 'flag', minutes: 10 } },
      forbidden_referrer: { action: 'flag', hosts: ['coupons.example'] },
    });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('name codes that may have leaked beside the codes, and replace one', async () => {
    const { brand, assignment } = await makeSeller(app);
    const customerEmail = `${unique('c')}@shop.example`;
    for (let i = 0; i < 12; i += 1) {
      await makeSale(app.context, brand, { assignment, customerEmail, occurredAt: daysAgo(2) });
    }
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, {
      ...{ viewport: { width: 390, height: 844 }, hasTouch: true },
    });
    await go('/links');
    const leaks = page.getByRole('table', { name: 'Codes that may have leaked' });
    await leaks
      .getByText(/points: /)
      .first()
      .waitFor();
    await leaks.scrollIntoViewIfNeeded();
    await shoot(page, 'rules-leaks');
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    await leaks.getByRole('button', { name: `Replace ${assignment.code}` }).click();
    await page.getByRole('textbox', { name: 'New code' }).fill('FRESH99');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Replace the code' }).click();
    await page.getByText(/The new code is FRESH99/).waitFor();
    await page.getByRole('table', { name: 'Links and codes' }).getByText('FRESH99').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
