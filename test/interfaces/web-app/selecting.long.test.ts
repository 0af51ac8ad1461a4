import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatAmount } from '../../../src/kit/values/format.ts';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

const MANY = 163;
/** In an order that no list has: every tenth is in euros. */
const AMOUNTS = Array.from({ length: MANY }, (_, i) => ((i * 37) % MANY) + 1);

describe.skipIf(!hasBrowser('Selecting'))('selecting rows of a list in the web app', () => {
  let app: TestApp;
  let brand: TestBrand;
  let key: string;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    browser = await openBrowser();
  });
  beforeEach(async () => {
    brand = await makeBrand(app.context, { plan: 'scale' });
    key = await brand.key('brand');
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const open = (options: Parameters<typeof openWebApp>[3] = { viewport: { width: 1440, height: 900 } }) =>
    openWebApp(browser, app, brand.id, options);

  async function sell(amounts: readonly number[]) {
    const assignment = await makeAssignment(app.context, brand, { name: 'Ann Lee', holdDays: 30 });
    for (const [i, dollars] of amounts.entries()) {
      await makeSale(app.context, brand, {
        ...{ assignment, occurredAt: daysAgo(40 + i), orderId: `order-${i}` },
        ...{ amountMinor: dollars * 1_000, currency: i % 10 === 9 ? 'EUR' : 'USD' },
      });
    }
  }

  const count = async (query: string): Promise<number> =>
    (await call(`${app.url}/v1/commissions?${query}&limit=1`, key)).body.pagination.total;

  it('reviews thirty commissions in at most four clicks from Home', async () => {
    await sell(AMOUNTS.slice(0, 30));
    const { page, go, complaints, context } = await open();
    await go('/');
    let clicks = 0;
    page.on('console', (message) => {
      if (message.text() === 'a click') clicks += 1;
    });
    await page.evaluate("addEventListener('click', () => console.info('a click'), true)");
    await page.getByRole('link', { name: '30 commissions to approve' }).click();
    await page.locator('.table-top').getByText('30 commissions', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all shown' }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('30 approved.').waitFor();
    expect(await count('status=approved')).toBe(30);
    expect(clicks).toBeGreaterThanOrEqual(3);
    expect(clicks).toBeLessThanOrEqual(4);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('reaches past the shown rows, keeps the sum in sight, and decides on all of them', async () => {
    await sell(AMOUNTS);
    const { page, go, complaints, context } = await open();
    await go('/commissions?approvable=true');
    const totals = page.getByRole('region', { name: 'Totals of these commissions' });
    const { body } = await call(`${app.url}/v1/commissions?approvable=true&totals=true&limit=1`, key);
    const sums: string[] = body.totals.map((one: { commission: number; currency: string }) =>
      formatAmount(one.commission, one.currency),
    );
    expect(sums).toHaveLength(2);
    for (const sum of sums) await totals.getByText(sum, { exact: true }).waitFor();
    await shoot(page, 'selecting-totals');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Select all shown' }).click();
    const bar = page.getByRole('region', { name: 'Review' });
    await bar.getByText('100 selected').waitFor();
    await page.getByRole('button', { name: `Select all ${MANY}` }).click();
    await bar.getByText(`${MANY} selected`).waitFor();
    await bar.getByText(sums.join(' + '), { exact: true }).waitFor();
    await shoot(page, 'selecting-all');
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('End');
    await page.locator(`tbody tr[aria-rowindex="${MANY + 1}"] input:checked`).waitFor();
    await bar.getByText(`${MANY} selected`).waitFor();
    await bar.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText(`${MANY} approved.`).waitFor();
    expect(await count('status=approved')).toBe(MANY);
    await page.getByText('No commissions yet').or(page.getByText('Nothing matches these filters')).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('takes a range with Shift, sorted by a figure, and other filters begin with nothing selected', async () => {
    await sell(AMOUNTS.slice(0, 40));
    const { page, go, complaints, context } = await open();
    await go('/commissions');
    await page.getByRole('columnheader', { name: 'Commission' }).getByRole('button').click();
    await page.locator('th[aria-sort="descending"]', { hasText: 'Commission' }).waitFor();
    const row = (index: number) => page.locator(`tbody tr[aria-rowindex="${index + 2}"]`);
    const largest = [...AMOUNTS.slice(0, 40)].toSorted((one, other) => other - one);
    await row(0).getByText(`${largest[0]}.00`).waitFor();
    const box = (index: number) => row(index).getByRole('checkbox');
    await box(1).click();
    await box(11).click({ modifiers: ['Shift'] });
    const bar = page.getByRole('region', { name: 'Review' });
    await bar.getByText('11 selected').waitFor();
    await box(5).click();
    await bar.getByText('10 selected').waitFor();
    await box(8).click({ modifiers: ['Shift'] });
    await bar.getByText('7 selected').waitFor();
    await page.getByRole('link', { name: /^Approved, / }).click();
    await bar.waitFor({ state: 'hidden' });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('fits a phone in the dark scheme, with totals and a selection', async () => {
    await sell(AMOUNTS.slice(0, 12));
    const { page, go, complaints, context } = await open({
      ...{ viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
    });
    await go('/commissions');
    await page.getByRole('region', { name: 'Totals of these commissions' }).waitFor();
    await shoot(page, 'selecting-phone-totals');
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Select all shown' }).click();
    await page.getByText('12 selected').waitFor();
    await shoot(page, 'selecting-phone-selected');
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
