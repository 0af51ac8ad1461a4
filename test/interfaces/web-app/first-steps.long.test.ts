import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setSample } from '../../../src/affiliates/sample/sample.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };

describe.skipIf(!hasBrowser('Home of a new brand'))('Home', () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context);
    await setSample(app.context.postgres.db, brand.id, 'filled');
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id, { viewport: DESKTOP });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  async function clean(name: string): Promise<void> {
    const { page, complaints } = open;
    expect(await axe(page)).toEqual([]);
    await shoot(page, name);
    await page.setViewportSize(PHONE);
    await expectToFit(page);
    await shoot(page, `${name}-phone`);
    await page.setViewportSize(DESKTOP);
    expect(complaints.splice(0)).toEqual([]);
  }

  it('says that the brand has a sample, removes it when an owner confirms, and then lists the first steps', async () => {
    const { page } = open;
    const notice = page.getByRole('complementary', { name: 'Sample data' });
    await notice.waitFor();
    await clean('sample-notice');
    await notice.getByRole('button', { name: 'Remove the sample' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove the sample data?' });
    await dialog.getByRole('button', { name: 'Remove everything' }).click();
    await page.getByText('The sample data is removed.').waitFor();
    await notice.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
  });

  it('leads from each first step to a page with a button for it', async () => {
    const { page } = open;
    for (const [step, button] of [
      ['Connect a store', 'Connect a store'],
      ['Add creators', 'Add a creator'],
      ['Make a link or a code', 'New link or code'],
      ['Set up payouts', 'Save'],
      ['Invite people', 'Invite someone'],
      ['Make a key', 'Create a key'],
    ] as const) {
      await open.go('/');
      await page.getByRole('link', { name: step }).click();
      await page.getByRole('button', { name: button, exact: true }).first().waitFor();
    }
  });

  it('keeps the menu beside an address that is no page', async () => {
    const { page } = open;
    await open.go('/nowhere');
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  it('ticks a first step once it is done, and leaves the list out once it is dismissed', async () => {
    const { page } = open;
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await open.go('/');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    // Before everything that is still empty.
    expect(await page.locator('main h2').first().textContent()).toBe('First steps');
    expect(await step('Add creators').textContent()).not.toContain('(done)');
    const key = await brand.key('brand');
    expect((await send(`${app.url}/v1/roster`, key, 'POST', { creator_email: 'ann@mail.example' })).status).toBe(201);
    await open.go('/');
    await step('Add creators').getByText('(done)').waitFor();
    expect(await step('Connect a store').textContent()).not.toContain('(done)');
    await clean('first-steps');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'hidden' });
    await open.go('/');
    await page.getByText('Nothing to decide').waitFor();
    expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
  });
});
