import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { startApp, type TestApp } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';
import { fillWork } from '../../harness/workflow/worked-brand.ts';

describe.skipIf(!hasBrowser('Campaigns and creators in the web app'))('a campaign and a creator in the web app', () => {
  let app: TestApp;
  let desk: WorkDesk;
  let browser: Browser;
  let desktop: OpenPage;
  let phone: OpenPage;
  let orderId: string;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), env: BEHIND_PROXY });
    desk = await openWorkDesk(app);
    await fillWork(app, desk);
    const cleo = await makeAssignment(app.context, desk.brand, { name: 'Cleo Hart', holdDays: 0 });
    await app.context.postgres.db
      .updateTable('links')
      .set({ campaignId: desk.campaign })
      .where('id', '=', cleo.linkId)
      .execute();
    ({ orderId } = await makeSale(app.context, desk.brand, { assignment: cleo, occurredAt: daysAgo(9) }));
    browser = await openBrowser();
    desktop = await openWebApp(browser, app, desk.brand.id, { viewport: { width: 1280, height: 900 } });
    phone = await openWebApp(browser, app, desk.brand.id, {
      ...{ viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });
  afterEach(() => expect(desktop.complaints.splice(0)).toEqual([]));

  const card = (page: OpenPage['page'], name: string): Locator =>
    page.locator('section.card', { has: page.getByRole('heading', { name, exact: true }) });

  async function clean(name: string, { page, complaints, rest }: OpenPage): Promise<void> {
    await rest();
    await shoot(page, name);
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  }

  it.each(['desktop', 'phone'] as const)('have a page each with their work and money, on a %s', async (kind) => {
    const where = kind === 'desktop' ? desktop : phone;
    const { page, go } = where;
    await go(`/campaigns/${desk.campaign}`);
    await card(page, 'Contracts').getByRole('link', { name: 'Summer launch' }).waitFor();
    await card(page, 'Creators').getByRole('cell', { name: 'Contracted' }).waitFor();
    await page.getByText('$500.00 fees').waitFor();
    await expect.poll(() => page.title()).toBe('Launch – Rollcall');
    await clean(`hub-campaign-${kind}`, where);
    await card(page, 'Creators').getByRole('link', { name: 'Cleo Hart' }).click();
    await page.getByRole('heading', { level: 1, name: 'Cleo Hart' }).waitFor();
    await card(page, 'Commissions')
      .getByRole('link', { name: `Order ${orderId}` })
      .waitFor();
    await page.getByText('Payable now').waitFor();
    expect(page.url()).toMatch(/\/creators\/rst_\w+$/);
    await clean(`hub-creator-${kind}`, where);
  });

  it('are found by ⌘K, as are pages, actions and orders, with the keyboard alone', async () => {
    const { page, go } = desktop;
    await go('/');
    const search = async (text: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search pages' }).fill(text);
    };
    await search('cleo');
    await page.getByRole('option', { name: 'Cleo Hart' }).waitFor();
    await clean('hub-search', desktop);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Cleo Hart' }).waitFor();
    await search('laun');
    await page.getByRole('option', { name: 'Launch' }).click();
    await page.getByRole('heading', { level: 1, name: 'Launch' }).waitFor();
    await search(orderId);
    await page.getByRole('option', { name: `Order ${orderId}` }).click();
    await page.getByRole('dialog', { name: `Order ${orderId}` }).waitFor();
    await page.keyboard.press('Escape');
    await search('payo');
    await page.getByRole('option', { name: 'Payouts' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor();
    for (const [text, action, title] of [
      ['create link', 'Create a link or code', 'Create a link or code'],
      ['pay due', 'Pay what is due', 'Pay what is due'],
    ] as const) {
      await search(text);
      await page.getByRole('option', { name: action, exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: title, exact: true }).waitFor();
      await page.keyboard.press('Escape');
    }
  });

  it('are chosen by name in a form, which keeps the email address and the campaign’s id', async () => {
    const { page, go } = desktop;
    await go('/briefs');
    await page.getByRole('button', { name: 'Write a brief' }).click();
    const form = page.getByRole('dialog', { name: 'Write a brief' });
    await form.getByLabel('Title').fill('Autumn story');
    const to = form.getByRole('combobox', { name: 'To' });
    await to.fill('cleo');
    await form.getByRole('option', { name: /Cleo Hart/ }).waitFor();
    await clean('hub-picker', desktop);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await form.getByRole('listitem').filter({ hasText: 'Cleo Hart' }).waitFor();
    expect(await to.inputValue()).toBe('');
    await form.getByRole('combobox', { name: 'Campaign' }).fill('laun');
    await form.getByRole('option', { name: 'Launch' }).click();
    await form.getByRole('button', { name: 'Save draft' }).click();
    const panel = page.getByRole('dialog', { name: 'Autumn story' });
    await panel.getByRole('link', { name: 'Cleo Hart' }).waitFor();
    await panel.getByRole('link', { name: 'Launch' }).waitFor();
    await expect.poll(() => page.title()).toBe('Autumn story – Rollcall');
    await expect.poll(() => page.url()).toContain('open=brf_');
    await page.reload();
    await panel.waitFor();
    await page.goBack();
    await panel.waitFor({ state: 'hidden' });
  });

  it('get one brief together, which a draft cannot keep for several', async () => {
    const { page, go } = desktop;
    await go('/briefs');
    await page.getByRole('button', { name: 'Write a brief' }).click();
    const form = page.getByRole('dialog', { name: 'Write a brief' });
    await form.getByLabel('Title').fill('Spring story');
    const to = form.getByRole('combobox', { name: 'To' });
    await to.fill('cleo');
    await form.getByRole('option', { name: /Cleo Hart/ }).click();
    await to.fill(desk.creator);
    await to.press('Enter');
    await expect.poll(() => form.getByRole('listitem').count()).toBe(2);
    await form.getByRole('button', { name: 'Save draft' }).click();
    await form.getByText('A draft has one creator.').waitFor();
    await clean('hub-several', desktop);
    await form.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Sent to 2 creators.').waitFor();
    await page.getByRole('dialog', { name: 'Spring story' }).getByText('0 of 2').waitFor();
  });

  it('filter a list by name; the address keeps the filter', async () => {
    const { page, go } = desktop;
    await go('/commissions');
    await page.locator('.table-top').getByText('2 commissions', { exact: true }).waitFor();
    await page.getByLabel('Creator', { exact: true }).fill('cleo');
    await page.getByRole('option', { name: /Cleo Hart/ }).click();
    await page.locator('.table-top').getByText('1 commission', { exact: true }).waitFor();
    await page.reload();
    await page.locator('.table-top').getByText('1 commission', { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel('Creator', { exact: true }).inputValue()).toBe('Cleo Hart');
    await page.getByLabel('Creator', { exact: true }).fill('');
    await page.locator('.table-top').getByText('2 commissions', { exact: true }).waitFor();
  });

  it('have a signed contract that can be read and printed', async () => {
    const { page, go } = desktop;
    await go('/contracts');
    await page
      .getByRole('row', { name: /Summer launch/ })
      .getByRole('button')
      .first()
      .click();
    await page.getByRole('link', { name: 'Open the signed contract' }).click();
    await page.getByText('Signed by Ana Diaz').waitFor();
    await page.getByText('Ads, for 30 days.').waitFor();
    await page.getByRole('button', { name: 'Print' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    await page.emulateMedia({ media: 'screen' });
    await clean('hub-contract', desktop);
  });

  it('get codes for everyone, share a page of the parcels, and take it down', async () => {
    const { page, go } = desktop;
    await go('/links');
    await page.getByRole('button', { name: 'Create for all creators' }).click();
    const bulk = page.getByRole('dialog', { name: 'Links or codes for all creators' });
    // The brand's default is 0%, which would pay nobody.
    await bulk.getByLabel('Commission, in percent').fill('10');
    await bulk.getByRole('button', { name: 'Create', exact: true }).click();
    await bulk
      .getByText(/created/)
      .first()
      .waitFor();
    await clean('hub-bulk', desktop);
    await bulk.getByRole('button', { name: 'Done' }).click();
    await bulk.waitFor({ state: 'hidden' });
    await go('/shipments');
    await page.getByRole('button', { name: 'Share tracking page' }).click();
    const share = page.getByRole('dialog', { name: 'Share a tracking page' });
    await share.getByRole('button', { name: 'Create the page' }).click();
    const { pathname } = new URL((await share.locator('code').textContent()) ?? '');
    expect((await desk.open(pathname)).text).toContain('Two pairs of shoes');
    await share.getByRole('button', { name: 'Take the page down' }).click();
    await page.getByRole('button', { name: 'Take down', exact: true }).click();
    await page.getByText('The page is gone.').waitFor();
    expect((await desk.open(pathname)).status).toBe(404);
  });

  it('are merged when one person is on the roster twice', async () => {
    const { page, go } = desktop;
    const added = await desk.post('/v1/roster/add', { ig_handle: 'cleo.hart', name: 'Cleo on Instagram' });
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    await go(`/creators/${added.body.data.id}`);
    await page.getByText('need an email address').waitFor();
    await page.getByRole('button', { name: 'More actions for' }).click();
    await page.getByRole('button', { name: 'Merge into another creator' }).click();
    const form = page.getByRole('dialog', { name: /^Merge/ });
    await form.getByLabel('Creator to keep').fill('cleo hart');
    await form.getByRole('option', { name: /Cleo Hart/ }).click();
    await form.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Cleo Hart' }).waitFor();
    await page.getByRole('link', { name: '@cleo.hart' }).waitFor();
  });

  it('have columns that a person may hide, in this browser, and an order by time', async () => {
    const { page, go } = desktop;
    await go('/contracts');
    await page.getByRole('button', { name: 'Columns of Contracts' }).click();
    await page.getByLabel('Pay', { exact: true }).uncheck();
    await page.reload();
    await page.getByRole('columnheader', { name: 'Signature' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Pay' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Created' }).click();
    await page.locator('th[aria-sort="ascending"]').waitFor();
    await expect.poll(() => page.url()).toContain('sort=oldest');
  });
});
