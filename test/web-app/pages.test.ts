import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { hasBrowser, openBrowser } from '../harness/browser.ts';
import { creator, putDirectory } from '../harness/directory.ts';
import { daysAgo, makeAssignment, makeSale } from '../harness/sales.ts';
import { axe, builtClient, expectToFit, type OpenPage, openWebApp, shoot } from '../harness/web-app.ts';

const PAGES = [
  '/',
  '/figures',
  '/directory',
  '/roster',
  '/campaigns',
  '/applications',
  '/conversations',
  '/disputes',
  '/briefs',
  '/contracts',
  '/deliverables',
  '/shipments',
  '/content',
  '/assets',
  '/webhooks',
  '/agents',
  '/commissions',
  '/payouts',
  '/statements',
  '/links',
  '/stores',
  '/keys',
  '/people',
  '/audit',
  '/settings',
] as const;

describe.skipIf(!hasBrowser('The web app in a browser'))('every page of the web app in a real Chromium', () => {
  const alias = unique('webapp');
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let desktop: OpenPage;
  let phone: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), alias });
    await putDirectory(
      app.context.elastic,
      alias,
      Array.from({ length: 12 }, (_, i) => creator(i + 1)),
    );
    brand = await makeBrand(app.context, { plan: 'scale' });
    await fillBrand(app, brand);
    browser = await openBrowser();
    desktop = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
    phone = await openWebApp(browser, app, brand.id, {
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
      hasTouch: true,
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it.each(PAGES)('%s has no fault that axe finds, and the browser complains of nothing', async (path) => {
    await desktop.go(path);
    await shoot(desktop.page, `desktop-light${path.replaceAll('/', '-')}`);
    expect(await axe(desktop.page)).toEqual([]);
    expect(desktop.complaints.splice(0)).toEqual([]);
  });

  it.each(PAGES)('%s fits a phone of 390 pixels, in the dark', async (path) => {
    await phone.go(path);
    await shoot(phone.page, `phone-dark${path.replaceAll('/', '-')}`);
    await expectToFit(phone.page);
    expect(await axe(phone.page)).toEqual([]);
    expect(phone.complaints.splice(0)).toEqual([]);
  });
});

async function fillBrand(app: TestApp, brand: TestBrand): Promise<void> {
  const key = await brand.key('brand');
  const post = (path: string, body: object) => send(`${app.url}${path}`, key, 'POST', body);
  await post('/v1/campaigns', { name: 'Spring launch', description: 'New shoes', deadline: '2027-04-01' });
  await post('/v1/campaigns', { name: 'Autumn', status: 'draft' });
  const names = ['Ann Lee', 'Zoë Nováková', 'Bartholomew Featherstonehaugh-Cholmondeley'];
  for (const [i, name] of names.entries()) {
    const assignment = await makeAssignment(app.context, brand, { name, holdDays: 30 });
    await makeSale(app.context, brand, { assignment, occurredAt: daysAgo(40 + i), amountMinor: 123_456 });
    await makeSale(app.context, brand, { assignment, occurredAt: daysAgo(2 + i), amountMinor: 9_900 });
    await post('/v1/payouts', { creator_email: assignment.email, amount: 50, method: 'manual' });
  }
}
