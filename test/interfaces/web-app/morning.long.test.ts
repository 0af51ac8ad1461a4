import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Assignment, daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, until } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import { startWebhookWorker, type Worker } from '../../harness/platform/webhooks.ts';

describe.skipIf(!hasBrowser('A brand’s morning'))('a brand’s morning in the web app', () => {
  /** A worker works for all brands: those of other tests are in another database. */
  let database: TestDatabase;
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let open: OpenPage;
  let receiver: Receiver;
  let worker: Worker;
  let creator: Assignment;

  beforeAll(async () => {
    database = await makeDatabase('morning');
    app = await startApp({ webApp: await builtClient(), urls: { postgres: database.url } });
    brand = await makeBrand(app.context, { plan: 'scale' });
    creator = await makeAssignment(app.context, brand, { name: 'Ann Lee', holdDays: 30 });
    for (let i = 0; i < 3; i += 1) {
      await makeSale(app.context, brand, { assignment: creator, occurredAt: daysAgo(40 + i), orderId: `old-${i}` });
    }
    for (let i = 1; i <= 5; i += 1) {
      await makeSale(app.context, brand, { assignment: creator, occurredAt: daysAgo(i), orderId: `fresh-${i}` });
    }
    await makeSale(app.context, brand, { assignment: creator, paidAt: null, orderId: 'unpaid-1' });
    receiver = await startReceiver();
    worker = startWebhookWorker(app);
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
  });
  afterAll(async () => {
    await browser?.close();
    await worker?.stop();
    await receiver?.close();
    await app?.close();
    await database?.drop();
  });

  const clean = async () => {
    expect(await axe(open.page)).toEqual([]);
    expect(open.complaints.splice(0)).toEqual([]);
  };

  it('counts the commissions that can be decided, lists them, and says why the others wait', async () => {
    const { page } = open;
    const link = page.getByRole('link', { name: '3 commissions to review' });
    await shoot(page, 'morning-home');
    await link.click();
    await page.locator('.table-top').getByText('3 commissions', { exact: true }).waitFor();
    await page.getByLabel('Review').selectOption({ label: 'All' });
    await page.getByRole('row', { name: /fresh-1.*Pending until/ }).waitFor();
    await page.getByRole('row', { name: /unpaid-1.*Order not paid/ }).waitFor();
    await shoot(page, 'morning-commissions');
    await page.setViewportSize({ width: 390, height: 844 });
    await expectToFit(page);
    await shoot(page, 'morning-commissions-phone');
    await page.setViewportSize({ width: 1280, height: 900 });
    await clean();
  });

  it('approves a batch, and says why the others were not approved, once for each reason', async () => {
    const { page } = open;
    await open.go('/commissions?status=pending');
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    // What other filters no longer show is not decided on.
    const review = page.getByRole('region', { name: 'Review' });
    await page.getByLabel('Status').selectOption({ label: 'Approved' });
    await review.waitFor({ state: 'hidden' });
    await page.getByLabel('Status').selectOption({ label: 'Pending' });
    await review.getByText('9 selected').waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    const refused = page.getByRole('dialog', { name: 'Some commissions cannot be changed' });
    await refused.waitFor();
    const reasons = refused.getByRole('listitem');
    expect(await reasons.allTextContents()).toEqual([
      '5 commissions: The review period is not over.fresh-5, fresh-4, fresh-3 and 2 more',
      '1 commission: The order is not paid.unpaid-1',
    ]);
    await shoot(page, 'morning-refused');
    await clean();
    await refused.getByRole('button', { name: 'Approve the other 3' }).click();
    await refused.waitFor({ state: 'hidden' });
    await page.locator('.table-top').getByText('6 commissions', { exact: true }).waitFor();
  });

  it('explains why an order has not paid yet', async () => {
    const { page } = open;
    await page.getByRole('button', { name: 'fresh-1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Order fresh-1' });
    await dialog.getByText('Links and codes considered').waitFor();
    expect(await dialog.textContent()).toContain('Ann Lee');
    await shoot(page, 'morning-explained');
    await clean();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  it('records a payout and settles it', async () => {
    const { page } = open;
    await open.go('/payouts');
    await page.getByRole('button', { name: 'Record a payout' }).click();
    const form = page.getByRole('dialog', { name: 'Record a payout' });
    await form.getByLabel('Creator').fill('nobody@else.example');
    await form.getByLabel('Amount').fill('30');
    await form.getByRole('button', { name: 'Record the payout' }).click();
    await form.getByRole('alert').waitFor();
    await clean();
    await form.getByLabel('Creator').fill(creator.email);
    await form.getByRole('button', { name: 'Record the payout' }).click();
    await form.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Settle' }).click();
    await page.getByLabel('Reference').fill('SEPA 1');
    await page.getByRole('button', { name: 'Settle the payout' }).click();
    await page.getByRole('cell', { name: 'Paid', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Ann Lee', exact: true }).click();
    const statement = page.getByRole('dialog', { name: 'Payout' });
    await statement.getByText('SEPA 1').waitFor();
    await shoot(page, 'morning-statement');
    await clean();
    await page.keyboard.press('Escape');
  });

  it('creates a key, which is shown once and works, and the log names the person', async () => {
    const { page } = open;
    await open.go('/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('website');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const shown = page.getByRole('dialog', { name: 'Your new key' });
    const key = (await shown.getByTestId('key').textContent()) ?? '';
    expect(key).toMatch(/^svk_\w{40}$/);
    await clean();
    await shoot(page, 'morning-key');
    expect((await call(`${app.url}/v1/brand`, key)).status).toBe(200);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('cell', { name: /^website/ }).waitFor();
    expect(await page.content()).not.toContain(key);
    await open.go('/audit?operation=create_key');
    await page.getByRole('cell', { name: 'Owner' }).waitFor();
    await clean();
  });

  it('shows a failed delivery, and sends it again', async () => {
    const { page } = open;
    const key = await brand.key('brand');
    receiver.answer = (_received, response) => void response.writeHead(410).end('gone away');
    const url = `${receiver.url}/hook`;
    const made = await send(`${app.url}/v1/webhooks`, key, 'POST', { url, events: ['payout.created'] });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    await open.go('/webhooks');
    await page.getByRole('row', { name: /Active –/ }).waitFor();
    await page.getByRole('button', { name: `Actions for ${url}` }).click();
    await page.getByRole('button', { name: `Send a test to ${url}` }).click();
    await until('the receiver was asked', () => receiver.at('/hook').length > 0);
    await page.getByRole('button', { name: url, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Deliveries' });
    await dialog.getByText(/response 410/).waitFor();
    await dialog.getByRole('button', { name: 'Details' }).first().click();
    await dialog.getByText('gone away').waitFor();
    await shoot(page, 'morning-failed');
    await clean();
    await open.go('/webhooks');
    await page.getByRole('row', { name: /Failing 410/ }).waitFor();
    expect((await call(`${app.url}/v1/webhooks/${made.body.data.id}`, key)).body.data.status).toBe('failing');
    await shoot(page, 'morning-webhook-failing');
    await page.getByRole('button', { name: url, exact: true }).click();
    receiver.answer = (_received, response) => void response.end('ok');
    await dialog.getByRole('button', { name: 'Send again' }).first().click();
    await dialog.getByText(/response 200/).waitFor();
    await open.go('/webhooks');
    await page.getByRole('row', { name: /Active 200/ }).waitFor();
    await clean();
  });
});
