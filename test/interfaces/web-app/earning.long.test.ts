import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drainClicks } from '../../../src/interfaces/links-host/jobs.ts';
import { deskOf, SHOP } from '../../harness/affiliates/affiliates.ts';
import { click, makeLink, type TrackedLink } from '../../harness/affiliates/clicks.ts';
import {
  type Assignment,
  daysAgo,
  makeAssignment,
  makeSale,
  orderFacts,
  report,
} from '../../harness/affiliates/sales.ts';
import { syncCustomers } from '../../harness/analytics/figures.ts';
import { made, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { signIn } from '../../harness/platform/session.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { deadlineMs } from '../../run/deadline.ts';

const ANA = 'ana@shop.example';
const BEA = 'bea@shop.example';
const CARA = 'cara@shop.example';
const SOON = { timeout: deadlineMs };

describe.skipIf(!hasBrowser('What creators earn the brand'))('what creators earn the brand, in the web app,', () => {
  /** A separate database: another file's sync looks for clicks in its own Redis, and would send these orders without theirs. */
  let database: TestDatabase;
  let app: TestApp;
  let brand: TestBrand;
  let ann: Assignment;
  let link: TrackedLink;
  let browser: Browser;
  let desktop: OpenPage;

  beforeAll(async () => {
    database = await makeDatabase('earning');
    const urls = { postgres: database.url, redis: ownRedis() };
    app = await startApp({ webApp: await builtClient(), env: BEHIND_PROXY, urls });
    brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    ann = await makeAssignment(app.context, brand, { name: 'Ann Lee' });
    const campaign = await made(`${app.url}/v1/campaigns`, key, { name: 'Spring launch' });
    const inCampaign = { campaign_id: campaign.id };
    expect((await send(`${app.url}/v1/affiliates/links/${ann.linkId}`, key, 'PATCH', inCampaign)).status).toBe(200);
    const sell = (days: number, customerEmail: string, orderId: string) =>
      makeSale(app.context, brand, { assignment: ann, occurredAt: daysAgo(days), customerEmail, orderId });
    const other = (days: number, customerEmail: string, more: object) =>
      report(app.context, ann, orderFacts(daysAgo(days), { customerEmail, ...more }));
    await sell(50, ANA, '1001');
    await sell(10, ANA, '1002');
    await sell(9, BEA, '1003');
    await other(8, CARA, { orderId: '1004', baseMinor: 2_500 });
    await other(5, ANA, { orderId: '1005', codes: ['UNKNOWN'] });
    link = await makeLink(await deskOf(app, brand), SHOP, { creator_email: ann.email, commission_rate: 10 });
    for (const [n, country] of ['DE', 'DE', 'FR'].entries()) {
      await click(app, link.slug, { 'cf-ipcountry': country, 'user-agent': `Mozilla/5.0 (iPhone) ${n}` });
    }
    await click(app, link.slug, { 'cf-ipcountry': 'FR', 'user-agent': 'Mozilla/5.0 (iPhone) 2' });
    await drainClicks(app.context);
    await syncCustomers(app, brand.id);
    browser = await openBrowser();
    desktop = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await database?.drop();
  });
  afterEach(() => expect(desktop.complaints.splice(0)).toEqual([]));

  const cellsOf = async (table: Locator, name: RegExp) => {
    await table.getByRole('row', { name }).waitFor();
    return await table.getByRole('row', { name }).getByRole('cell').allTextContents();
  };

  it('says who bought for the first time, and whether creators bring more new customers than chance would', async () => {
    const { page, go } = desktop;
    await go('/customers?period=30d');
    await expect.poll(() => page.title(), SOON).toBe('Customers – Rollcall');
    const creators = page.getByRole('table', { name: 'Customers by creator' });
    // Of two customers one came back; of those whom nobody won, one was new too.
    expect((await cellsOf(creators, /Ann Lee/)).slice(1, 5)).toEqual(['1', '1', '50.0%', '$100.00']);
    expect((await cellsOf(creators, /No creator/)).slice(1, 5)).toEqual(['1', '1', '50.0%', '$25.00']);
    await page.getByText('$200.00 of $325.00').waitFor();
    await page.getByText('No measurable difference').waitFor();
    await page.getByText('How certain this is').click();
    await page.getByText(/95% confidence, the difference is between −?[\d.]+ and [\d.]+ percentage points/).waitFor();
    await page.getByText('Campaign', { exact: true }).click();
    await page
      .getByRole('table', { name: 'Customers by campaign' })
      .getByRole('link', { name: 'Spring launch' })
      .waitFor();
    expect(new URL(page.url()).searchParams.get('by')).toBe('campaign');
    await page.getByLabel('Period').selectOption('90d');
    await expect
      .poll(() => cellsOf(page.getByRole('table', { name: 'Customers by campaign' }), /Spring/))
      .toContain('2');
    await page.reload();
    await page.getByRole('table', { name: 'Customers by campaign' }).waitFor();
    expect(await page.getByLabel('Period').inputValue()).toBe('90d');
  });

  it('shows cohorts as a triangle whose cells have their figures in text, of all customers or one creator’s', async () => {
    const { page, go } = desktop;
    await go('/customers');
    await page.getByText('Cohorts', { exact: true }).click();
    await page.getByLabel('First order by').selectOption('week');
    const triangle = page.getByRole('table', { name: /by week since the first order/ });
    await triangle.waitFor();
    const rows = await triangle.locator('tbody tr').allTextContents();
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.some((row) => row.includes('%'))).toBe(true);
    await triangle.getByRole('rowheader', { name: 'All' }).waitFor();
    await page.getByLabel('Shown').selectOption('revenue');
    const sales = page.getByRole('table', { name: 'Sales by week since the first order' });
    await sales.getByRole('cell', { name: '$100' }).first().waitFor();
    await page.getByLabel('Customers', { exact: true }).selectOption('attributed');
    await page.getByLabel('Won by one creator').fill('ann');
    await page.getByRole('option', { name: /Ann Lee/ }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('creator'), SOON).toMatch(/^rst_/);
    await expect.poll(() => new URL(page.url()).searchParams.get('of'), SOON).toBeNull();
    await sales.waitFor();
    await expect.poll(() => sales.locator('tbody tr').count(), SOON).toBe(2);
  });

  it('names the cost that nobody entered, and has profit once it is entered, edited, ended and deleted', async () => {
    const { page, go } = desktop;
    await go('/returns');
    await expect.poll(() => page.title(), SOON).toBe('Profit – Rollcall');
    const campaigns = page.getByRole('table', { name: 'Profit by campaign' });
    const spring = () => cellsOf(campaigns, /Spring launch/);
    expect((await spring()).slice(1).join(' ')).toBe('$200.00 Missing $20.00 $0.00 $0.00 Not known 10.00× –');
    await page.getByText('Missing: what the goods of some orders cost').waitFor();
    await page.getByRole('button', { name: 'Enter what goods cost' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Enter a cost' });
    await dialog.getByLabel('Percent of sales').fill('140');
    await dialog.getByRole('button', { name: 'Enter', exact: true }).click();
    await dialog.getByText('must be at most 100 percent').waitFor();
    await dialog.getByText('Each order', { exact: true }).click();
    await dialog.getByLabel('Currency').waitFor();
    await shoot(page, 'earning-cost');
    await dialog.getByText('Goods', { exact: true }).click();
    await dialog.getByLabel('Percent of sales').fill('40');
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Enter', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(spring, SOON).toContain('$100.00');
    expect((await spring()).slice(2).join(' ')).toBe('$80.00 $20.00 $0.00 $0.00 $100.00 10.00× 0');
    await expect.poll(() => page.getByText('Missing: ').count(), SOON).toBe(0);

    const costs = page.getByRole('table', { name: 'Costs' });
    await costs.getByRole('button', { name: 'Edit' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit this cost' });
    await edit.getByLabel('Percent of sales').fill('30');
    await edit.getByRole('button', { name: 'Save' }).click();
    await expect.poll(spring, SOON).toContain('$120.00');
    await costs.getByRole('button', { name: 'More actions for goods, 30%' }).click();
    await page.getByRole('button', { name: 'End today' }).click();
    await page.getByRole('dialog', { name: 'End this cost?' }).getByRole('button', { name: 'End today' }).click();
    await costs.getByText(/^Until /).waitFor();
    await costs.getByRole('button', { name: 'More actions for goods, 30%' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog', { name: 'Delete this cost?' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No costs entered').waitFor();
    await expect.poll(spring, SOON).toContain('Not known');
  });

  it('lets a viewer read what is missing, and enter nothing', async () => {
    const owner = await signIn(app, brand.id);
    const email = 'vi@brand.example';
    expect((await owner.send('POST', '/v1/people', { email, role: 'viewer', name: 'Vi' })).status).toBe(201);
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, {}, email);
    await go('/returns');
    await page.getByText('Missing: what the goods of some orders cost').waitFor();
    expect(await page.getByRole('button', { name: /^Enter/ }).count()).toBe(0);
    expect(complaints.splice(0)).toEqual([]);
    await context.close();
  });

  it('lists the clicks of a link, counted or not, as its panel and the analytics lead there', async () => {
    const { page, go } = desktop;
    await page.goto(`${app.url}/app/links?open=${link.id}`);
    await page.getByRole('dialog').getByRole('link', { name: 'Clicks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Clicks' }).waitFor();
    // Without the headings of days.
    const rows = page.getByRole('table', { name: 'Clicks' }).locator('tbody tr:has(td)');
    await expect.poll(() => rows.count(), SOON).toBe(4);
    await expect.poll(() => rows.filter({ hasText: 'Ann Lee' }).count(), SOON).toBe(4);
    await expect.poll(() => page.getByLabel('Link or code').inputValue(), SOON).not.toBe('');
    await page.getByLabel('Country').selectOption({ label: 'France' });
    await expect.poll(() => rows.count(), SOON).toBe(2);
    await page.getByLabel('Kind').selectOption('repeat');
    await expect.poll(() => rows.count(), SOON).toBe(1);
    await page.reload();
    await expect.poll(() => rows.count(), SOON).toBe(1);
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Device').selectOption('desktop');
    await page.getByText('No clicks yet').waitFor();
    await go('/analytics?country=DE');
    const counted = page.getByRole('link', { name: /one by one/ }).first();
    expect(await counted.textContent()).toBe('2, one by one');
    await counted.click();
    await page.getByRole('heading', { level: 1, name: 'Clicks' }).waitFor();
    await expect.poll(() => rows.count(), SOON).toBe(2);
  });

  it('lists orders by every filter of the API, the largest first', async () => {
    const { page, go } = desktop;
    const showsCount = (text: string) => page.locator('.table-top').getByText(text, { exact: true }).waitFor();
    await go('/orders');
    await showsCount('5 orders');
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Reason for no commission').selectOption('no_candidate_qualified');
    await showsCount('1 order');
    await page.getByRole('button', { name: '1005' }).click();
    await page
      .getByRole('dialog', { name: 'Order 1005' })
      .getByText('No assignment of the brand has this code.')
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Reason for no commission').selectOption('');
    await page.getByLabel('Amount from').fill('50');
    await page.getByLabel('Amount from').press('Enter');
    await showsCount('4 orders');
    await page.getByLabel('Amount from').fill('');
    await page.getByLabel('Amount from').press('Enter');
    await showsCount('5 orders');
    await page.getByRole('button', { name: 'Amount' }).click();
    await page.locator('th[aria-sort="descending"]', { hasText: 'Amount' }).waitFor();
    await expect.poll(() => page.locator('tbody tr').last().textContent(), SOON).toContain('1004');
    await page.getByLabel('Store').selectOption({ index: 1 });
    await showsCount('5 orders');
    await go(`/orders?link_id=${ann.linkId}&customer=new`);
    await showsCount('2 orders');
  });

  it('is compared in place: a header sorts the rows and shows their bars, and a row filters the page', async () => {
    const { page, go } = desktop;
    await go('/analytics?of=country');
    const countries = page.getByRole('table', { name: 'Analytics by country' });
    await countries.getByRole('button', { name: 'Clicks' }).click();
    await countries.locator('th[aria-sort="descending"]', { hasText: 'Clicks' }).waitFor();
    await expect.poll(() => countries.locator('tbody tr').first().textContent(), SOON).toContain('Germany');
    await page.getByLabel('Compare with').selectOption('year');
    await countries.getByRole('columnheader', { name: 'Clicks before' }).waitFor();
    await page.getByText('Conversion rate').waitFor();
    await countries.getByRole('button', { name: 'Germany' }).click();
    await page.getByRole('button', { name: /^Country: Germany/ }).waitFor();
    await expect.poll(() => countries.locator('tbody tr').count(), SOON).toBe(1);
  });

  it('is found by ⌘K under the names of its pages', async () => {
    const { page, go } = desktop;
    await go('/');
    for (const name of ['Customers', 'Profit', 'Clicks']) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search pages' }).fill(name.slice(0, 4).toLowerCase());
      await page.getByRole('option', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    }
  });

  it.each([
    ['a phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
    ['a dark desktop', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' as const }],
  ] as const)('fits, and passes axe, on %s', async (kind, options) => {
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, options);
    for (const path of ['/customers', '/returns', '/clicks', '/orders?flag=velocity', '/analytics?of=hour']) {
      await go(path);
      await shoot(page, `earning-${kind}${path.replaceAll(/\W/g, '-')}`);
      expect(await axe(page), path).toEqual([]);
      await expectToFit(page);
    }
    expect(complaints.splice(0)).toEqual([]);
    await context.close();
  });
});
