import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysAgo } from '../../harness/affiliates/sales.ts';
import { postAndSync, putAssignment, putClicks, sale } from '../../harness/analytics/figures.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

describe.skipIf(!hasBrowser('Figures in the web app'))('the analytics page', () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context);
    await fillFigures(app, brand);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it.each([
    ['desktop', { viewport: { width: 1280, height: 1400 } }],
    ['desktop-dark', { viewport: { width: 1280, height: 1400 }, colorScheme: 'dark' as const }],
    ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ] as const)(
    'shows a period next to the previous one, by day, creator, campaign and link, and says what each figure counts, on a %s',
    async (kind, options) => {
      const { page, go, rest, complaints, context } = await openWebApp(browser, app, brand.id, options);
      await go('/analytics');
      await page.getByRole('table', { name: 'Analytics by creator' }).waitFor();
      await shoot(page, `figures-${kind}-creators`);
      await page.getByRole('button', { name: 'What Sales counts', exact: true }).press('Enter');
      const counted = page.getByText('Paid orders that creators won, without tax and shipping, less refunds.');
      await counted.waitFor();
      expect(await axe(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await counted.waitFor({ state: 'hidden' });
      await page.getByLabel('By', { exact: true }).selectOption('campaign');
      const campaigns = page.getByRole('table', { name: 'Analytics by campaign' });
      await campaigns.getByRole('cell', { name: 'Spring launch' }).waitFor();
      await campaigns.getByRole('cell', { name: 'No campaign' }).waitFor();
      // Thirty days of 50 dollars each before.
      if (kind === 'desktop') {
        const row = campaigns.getByRole('row', { name: /Spring launch/ });
        await row.getByRole('cell', { name: '$1,500.00' }).waitFor();
        await page.getByText('% from the previous period').first().waitFor();
      }
      await page.locator('.chart-area').first().waitFor();
      await page.locator('.chart-before').first().waitFor();
      const sales = page.getByRole('slider', { name: 'Sales by date', exact: true });
      await sales.focus();
      await page.keyboard.press('Home');
      // Both days and both amounts, with their currency and the change.
      await expect
        .poll(() => page.locator('.chart-tip').first().innerText())
        .toMatch(/^\w+ \d+\s+Sales\s+\$[\d,.]+\s+\w+ \d+\s+\$[\d,.]+\s+\+?-?\d+% from the previous period$/);
      await shoot(page, `figures-${kind}`);
      await expectToFit(page);
      await page.getByText('Show as a table').first().click();
      await shoot(page, `figures-${kind}-table`);
      expect(await axe(page)).toEqual([]);
      await page.getByText('Week', { exact: true }).click();
      await rest();
      expect(await axe(page)).toEqual([]);
      await campaigns.getByRole('button', { name: 'Spring launch' }).click();
      await page.getByRole('button', { name: /^Campaign: Spring launch/ }).waitFor();
      await campaigns.getByRole('cell', { name: 'No campaign' }).waitFor({ state: 'detached' });
      await page.getByLabel('By', { exact: true }).selectOption('country');
      await page.getByRole('table', { name: 'Analytics by country' }).waitFor();
      await shoot(page, `figures-${kind}-countries`);
      await expectToFit(page);
      expect(await axe(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});

/** Sixty days of sales and clicks that grow, of a campaign and of none. */
async function fillFigures(app: TestApp, brand: TestBrand): Promise<void> {
  const key = await brand.key('brand');
  const campaign = await send(`${app.url}/v1/campaigns`, key, 'POST', { name: 'Spring launch' });
  const [inside, outside] = [await putAssignment(app, brand.id), await putAssignment(app, brand.id)];
  const { db } = app.context.postgres;
  await db.updateTable('links').set({ campaignId: campaign.body.data.id }).where('id', '=', inside.linkId).execute();
  const entries = Array.from({ length: 60 }, (_, days) => {
    const isOld = days >= 30;
    const amount = isOld ? 5_000 : 10_000 + 300 * (29 - days) + ((days * 7) % 5) * 2_500;
    return [
      sale(inside, daysAgo(days), isOld ? 5_000 : amount, amount / 10),
      ...(days % 3 === 0 ? [sale(outside, daysAgo(days), 4_000, 400)] : []),
    ];
  }).flat();
  await postAndSync(app, brand.id, entries);
  const clicks = Array.from({ length: 60 }, (_, days) =>
    Array.from({ length: 3 + ((days * 11) % 7) + (days < 30 ? 6 : 0) }, () => daysAgo(days)),
  ).flat();
  await putClicks(app, inside, clicks);
}
