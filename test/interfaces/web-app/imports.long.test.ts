import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJobs } from '../../harness/analytics/exporting.ts';
import { makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { fixture } from '../../harness/platform/importing.ts';

const VIEWS = [
  ['desktop', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'dark' }],
] as const;

describe.skipIf(!hasBrowser('Imports in the web app'))('the pages of imports', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-imports-'));
  let database: TestDatabase;
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    database = await makeDatabase('imports');
    const urls = { postgres: database.url };
    app = await startApp({ webApp: await builtClient(), urls, env: { ROLLCALL_DIR: folder } });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(VIEWS)(
    'ask what a file leaves open, show what will be recorded, record and undo it, on a %s',
    async (kind, view) => {
      const brand = await makeBrand(app.context);
      const key = await brand.key('brand');
      await send(`${app.url}/v1/roster`, key, 'POST', { creator_email: 'ana@creators.example' });
      const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, view);
      const look = async (name: string) => {
        await shoot(page, `imports-${name}-${kind}`);
        expect(await axe(page)).toEqual([]);
        await expectToFit(page);
      };
      const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
      const focused = () => page.evaluate('document.activeElement.textContent');

      await go('/imports');
      await page.getByText('No file was imported').waitFor();
      await look('none');
      await page.getByRole('link', { name: 'Import a file' }).click();
      await page.getByLabel('Contents').selectOption('commissions');
      await press('Read the file');
      await page.getByText('Choose a file.').waitFor();
      const csv =
        'email,amount,currency,date\nana@creators.example,20.00,GBP,03/04/2026\nana@creators.example,5.00,GBP,\n';
      await page.getByLabel('File').setInputFiles({ name: 'paid.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
      await look('file');
      await press('Read the file');
      await page.getByText('The file is read …').waitFor();
      await look('reading');

      await runJobs(app);
      await page.getByRole('heading', { name: '1 question' }).waitFor();
      await expect.poll(focused).toBe('1 question');
      await look('questions');
      await page.locator('.note-box').getByRole('button').first().click();
      await page.getByText('The file is read …').waitFor();
      await runJobs(app);
      await page.getByRole('heading', { name: 'Review' }).waitFor();
      await page.getByText('Columns and statuses').click();
      await page.getByText(/The first 2 records/).click();
      await page.getByText('ana@creators.example, £20.00, paid Apr 3, 2026', { exact: true }).waitFor();
      await look('review');
      expect(await page.getByLabel('Dates are').inputValue()).toBe('dmy');
      await page.getByLabel('Times that say no zone are in').selectOption('Asia/Tokyo');
      await page.getByText('The file is read …').waitFor();
      await runJobs(app);
      await page.getByRole('heading', { name: 'Review' }).waitFor();
      await page.getByLabel('Add creators who are not on the roster').click();
      await page.getByText('The file is read …').waitFor();
      await runJobs(app);
      await page.getByRole('heading', { name: 'Review' }).waitFor();
      expect(await page.getByLabel('Add creators who are not on the roster').isChecked()).toBe(true);
      await look('review-options');
      await press('Record 1 commission, £20.00 net');
      await page.getByText('of 2 records are done').waitFor();
      await look('running');
      await runJobs(app);
      await page.getByRole('heading', { name: 'Report' }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      await page
        .getByRole('listitem')
        .filter({ hasText: /ine 3\b/ })
        .waitFor();
      await expect.poll(focused).toBe('Report');
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('none');
      await look('report');

      await page.reload();
      await press('Undo');
      await look('undo');
      await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
      await page.getByText('What was recorded is taken back').waitFor();
      await runJobs(app);
      await page.getByText('Undone', { exact: true }).waitFor();
      expect((await send(`${app.url}/v1/past-commissions`, key, 'GET')).body.pagination.total).toBe(0);
      await go('/imports');
      await page.getByRole('link', { name: 'paid.csv' }).waitFor();
      await look('list');
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  it("is led to from the lists, and records Shopify's export under its sum", async () => {
    const brand = await makeBrand(app.context);
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id);
    await go('/orders');
    await page.getByRole('link', { name: 'Import past orders' }).click();
    const buffer = Buffer.from(fixture('01-past-orders-shopify.csv'));
    await page.getByLabel('File').setInputFiles({ name: 'orders.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Read the file' }).click();
    await page.getByText('The file is read …').waitFor();
    await runJobs(app);
    await page.getByRole('heading', { name: 'Review' }).waitFor();
    await shoot(page, 'imports-shopify');
    await page.getByRole('button', { name: /^Record 4 orders, .*5,300\.00 net$/ }).click();
    await page.getByText('of 6 records are done').waitFor();
    await runJobs(app);
    await page.getByRole('heading', { name: 'Report' }).waitFor();
    await go('/orders?order_id=1006');
    await page.getByRole('row', { name: /#1006/ }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
