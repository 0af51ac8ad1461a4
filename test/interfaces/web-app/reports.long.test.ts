import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

describe.skipIf(!hasBrowser('Reports in the web app'))('the page of reports and alerts', () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    [brand, browser] = await Promise.all([makeBrand(app.context), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it.each([
    ['desktop', { viewport: { width: 1280, height: 900 } }],
    ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ] as const)(
    'creates a report and an alert, which mail the person, and deletes both, on a %s',
    async (kind, options) => {
      const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, options);
      const dialog = page.getByRole('dialog');
      await go('/reports');
      await page.getByRole('button', { name: 'Create a report' }).click();
      await dialog.getByLabel('Figures').selectOption('breakdown');
      await dialog.getByLabel('Every').selectOption('week');
      await dialog.getByLabel('Name').fill('Monday figures');
      expect(await axe(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Create the report' }).click();
      const reports = page.getByRole('table', { name: 'Reports' });
      await reports.getByText('Mondays, 8:00 AM').waitFor();

      if (kind === 'phone') await page.getByRole('button', { name: 'All actions' }).click();
      await page.getByRole('button', { name: 'Create an alert' }).click();
      await dialog.getByLabel('For').selectOption('creator');
      await dialog.getByLabel('Threshold').fill('5');
      await shoot(page, `alert-${kind}`);
      await dialog.getByRole('button', { name: 'Create the alert' }).click();
      const alerts = page.getByRole('table', { name: 'Alerts' });
      await alerts.getByText('Below 5 in a day').filter({ visible: true }).waitFor();
      await shoot(page, `reports-${kind}`);
      expect(await axe(page)).toEqual([]);
      await expectToFit(page);

      for (const [list, what] of [[reports, 'report'] as const, [alerts, 'alert'] as const]) {
        await list.getByRole('button', { name: /^Actions for/ }).click();
        await page.getByRole('button', { name: 'Delete', exact: true }).click();
        await page.getByRole('button', { name: `Delete the ${what}` }).click();
        await list.waitFor({ state: 'hidden' });
      }
      expect(complaints.splice(0)).toEqual([]);
      await context.close();
    },
  );
});
