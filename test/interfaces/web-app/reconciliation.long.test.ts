import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSeller } from '../../harness/affiliates/ordering.ts';
import { seedOrders } from '../../harness/affiliates/reconciling.ts';
import { daysAgo } from '../../harness/affiliates/sales.ts';
import { runJobs } from '../../harness/analytics/exporting.ts';
import { startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

describe.skipIf(!hasBrowser('Reconciliation in the web app'))('the page of reconciliation', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-reconciling-'));
  let database: TestDatabase;
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    database = await makeDatabase('reconciling');
    const env = { ROLLCALL_DIR: folder, EXPORT_FILE_ROWS: '40' };
    app = await startApp({ webApp: await builtClient(), urls: { postgres: database.url }, env });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['desktop', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
    ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'dark' }],
  ] as const)(
    'compares a CSV, shows its progress and each difference, and has the store read again, on a %s',
    async (kind, options) => {
      const { brand, assignment } = await makeSeller(app);
      const seeded = await seedOrders(app, assignment, { orders: 61, first: daysAgo(20) });
      const csv = path.join(folder, `${kind}.csv`);
      // Its headers are not those of any shop that we know.
      writeFileSync(csv, seeded.csv.replace('Name', 'Kunde').replace('Subtotal', 'Ware').replace(/,Id\n/, ',Nummer\n'));
      const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, options);
      await go('/reconciliation');
      await page.getByText('No comparisons yet').waitFor();
      await page.getByRole('button', { name: 'New comparison', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('File').setInputFiles(csv);
      await dialog.getByRole('button', { name: 'Compare' }).click();
      await dialog.getByText('The file leaves something open.').waitFor();
      await dialog.getByLabel('Which column is the order id').selectOption({ label: '“Nummer” is the order id' });
      await shoot(page, `reconciliation-dialog-${kind}`);
      expect(await axe(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Compare' }).click();
      await page.getByText('The comparison starts in a moment.').waitFor();
      await runJobs(app, 2);
      await page.getByRole('progressbar').waitFor();
      expect(await axe(page)).toEqual([]);

      await runJobs(app);
      const groups = page.getByRole('table', { name: 'Differences by kind' });
      await groups.waitFor();
      await page.getByText('File columns').click();
      await page.getByText('Nummer', { exact: true }).waitFor();
      const kinds = new Set(seeded.expected.map((one) => one.split(' ')[0]));
      await expect.poll(() => groups.locator('tbody tr').count()).toBe(kinds.size);
      await shoot(page, `reconciliation-${kind}`);
      // A group says how many orders it has, and unfolds them.
      const cancelled = seeded.expected.filter((one) => one.startsWith('cancelled_but_paid '));
      const button = groups.getByRole('button', {
        name: `${cancelled.length} order${cancelled.length === 1 ? '' : 's'}: Cancelled, still earning`,
      });
      await button.click();
      const table = page.getByRole('table', { name: 'Cancelled, still earning' });
      await expect.poll(() => table.locator('tbody tr').count()).toBe(cancelled.length);
      expect(await button.getAttribute('aria-expanded')).toBe('true');
      await table.scrollIntoViewIfNeeded();
      await shoot(page, `reconciliation-${kind}-table`);
      expect(await axe(page)).toEqual([]);
      await expectToFit(page);
      expect(await page.getByRole('link', { name: /^Download differences/ }).count()).toBeGreaterThan(1);

      await page.getByRole('button', { name: 'Read the store again' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Read the store again' }).click();
      await page.getByText('Compare once more in a few minutes', { exact: false }).waitFor();
      await page.getByRole('link', { name: 'All comparisons' }).click();
      await page
        .getByRole('table', { name: 'Comparisons' })
        .getByText(/^\d+ differences$/)
        .waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});
