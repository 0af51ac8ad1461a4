import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser, openPhone } from '../../harness/interfaces/browser.ts';
import { openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY, makeCampaign } from '../../harness/workflow/applying.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
let now = new Date();

beforeAll(async () => {
  app = await startApp({ webApp: await builtClient(), env: BEHIND_PROXY, clock: { now: () => now } });
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

describe.skipIf(!hasBrowser('Deadlines in a browser'))('a deadline in a real Chromium', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('is on the apply page and in the web app, the same day in every time zone', async () => {
    now = new Date();
    const coming = await makeCampaign(app, key, { name: 'Coming', deadline: '2099-01-31' });
    await makeCampaign(app, key, { name: 'Gone', deadline: '2020-01-31' });
    const phone = await openPhone(browser, []);
    await phone.goto(`${app.url}/apply/${coming}`);
    await phone.getByText('Apply by the end of January 31, 2099 (UTC).').waitFor();
    await shoot(phone, 'deadline-apply-phone');
    const { page, go } = await openWebApp(browser, app, brand.id, { timezoneId: 'America/Los_Angeles' });
    await go('/campaigns');
    await page.getByRole('row', { name: /Coming.*Jan 31, 2099/ }).waitFor();
    await page.getByRole('row', { name: /Gone.*Jan 31, 2020 ?Closed/ }).waitFor();
    await shoot(page, 'deadline-app-desktop');
    await page.getByRole('link', { name: 'Gone' }).click();
    await page.getByRole('heading', { name: 'Gone' }).waitFor();
    await page.getByText('Closed').first().waitFor();
    await shoot(page, 'deadline-detail-desktop');
  });
});
