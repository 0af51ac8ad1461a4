import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysAgo, makeAssignment, makeSales } from '../../harness/affiliates/sales.ts';
import { runJobs } from '../../harness/analytics/exporting.ts';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { S3_BUCKET, S3_KEY, S3_SECRET, startS3, type TestS3 } from '../../harness/kit/s3.ts';
import { here } from '../../harness/platform/uploading.ts';

describe.skipIf(!hasBrowser('Exports in the web app'))('the app', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-exports-'));
  let database: TestDatabase;
  let app: TestApp;
  let brand: TestBrand;
  let s3: TestS3;
  let browser: Browser;

  beforeAll(async () => {
    database = await makeDatabase('exports');
    const env = { ROLLCALL_DIR: folder, EXPORT_FILE_ROWS: '4', SIMULATION_ORDERS: '4' };
    app = await startApp({ webApp: await builtClient(), urls: { postgres: database.url }, env });
    [s3, brand, browser] = await Promise.all([startS3(), makeBrand(app.context), openBrowser()]);
    await makeSales(app.context, brand, 6, await makeAssignment(app.context, brand));
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await s3?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['desktop', { viewport: { width: 1280, height: 900 } }],
    ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ] as const)(
    'starts an export, shows how far it is, downloads its files and cancels another, on a %s',
    async (kind, options) => {
      const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, options);
      await go('/exports');
      const list = page.getByRole('table', { name: 'Exports', exact: true });
      const start = async () => {
        await page.getByRole('button', { name: 'New export' }).click();
        expect(await axe(page)).toEqual([]);
        await page.getByRole('button', { name: 'Start the export' }).click();
        await list.getByText('Queued').first().waitFor();
      };
      await start();
      await runJobs(app, 1);
      await list.getByText('Running').first().waitFor();
      if (kind === 'desktop') await list.getByRole('progressbar').waitFor();
      await shoot(page, `exports-running-${kind}`);
      expect(await axe(page)).toEqual([]);
      await expectToFit(page);

      await runJobs(app);
      await list.getByText('Done').first().waitFor();
      const link = list.getByRole('link', { name: 'orders-0001.csv' }).first();
      const file = await fetch(here(app, (await link.getAttribute('href')) ?? ''));
      expect((await file.text()).split('\n').length).toBe(6);

      await start();
      await list.getByRole('button', { name: 'Cancel' }).first().click();
      await page.getByRole('button', { name: 'Cancel the export' }).click();
      await list.getByText('Cancelled').first().waitFor();
      await shoot(page, `exports-done-${kind}`);
      expect(await axe(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  it('starts a daily export into a bucket that can be used, says why another cannot, and ends one', async () => {
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id);
    await go('/exports');
    await page.getByRole('button', { name: 'Schedule a daily export' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Bucket', { exact: true }).fill(S3_BUCKET);
    await dialog.getByLabel('Region').fill('eu-central-1');
    await dialog.getByLabel('Endpoint').fill(s3.endpoint);
    await dialog.getByLabel('Access key ID').fill(S3_KEY);
    await dialog.getByLabel('Secret access key').fill('wrong');
    await dialog.getByRole('button', { name: 'Check the bucket and start' }).click();
    await dialog.getByText('SignatureDoesNotMatch').waitFor();
    await dialog.getByLabel('Secret access key').fill(S3_SECRET);
    await dialog.getByRole('button', { name: 'Check the bucket and start' }).click();
    const list = page.getByRole('table', { name: 'Daily exports' });
    await list.getByText(S3_BUCKET).waitFor();
    await shoot(page, 'exports-daily');
    expect(await axe(page)).toEqual([]);
    await list.getByRole('button', { name: 'End' }).click();
    await page.getByRole('button', { name: 'End it' }).click();
    await page.getByText('None yet').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('follows a simulation that takes longer than a call, and then shows what it found', async () => {
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id);
    await go('/settings?tab=what-if');
    await page.getByLabel('From', { exact: false }).last().fill(daysAgo(80).toISOString().slice(0, 10));
    await page.getByLabel('Commission, in percent', { exact: true }).fill('20');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByText('The simulation starts in a moment.').waitFor();
    await runJobs(app, 1);
    await page.getByText('4 of 6 orders').waitFor();
    await shoot(page, 'simulation-running');
    expect(await axe(page)).toEqual([]);
    await runJobs(app);
    await page.getByText('6 of 6 paid orders would change.').waitFor();
    const link = page.getByRole('link', { name: 'Download all creators' });
    const file = await fetch(here(app, (await link.getAttribute('href')) ?? ''));
    expect(await file.json()).toMatchObject({ meta: { orders: 6, changed: 6 } });
    expect(complaints).toEqual([]);
    await context.close();
  });
});
