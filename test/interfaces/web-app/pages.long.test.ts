import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../../harness/app.ts';
import { BEHIND_PROXY } from '../../harness/applying.ts';
import { hasBrowser, openBrowser } from '../../harness/browser.ts';
import { creator, putDirectory } from '../../harness/directory.ts';
import { builtClient } from '../../harness/offered.ts';
import { startStore, type TestStore } from '../../harness/store.ts';
import { axe, expectToFit, type OpenPage, openWebApp, PAGES, shoot } from '../../harness/web-app.ts';
import { openWorkDesk } from '../../harness/work.ts';
import { fillBrand, fillWork } from '../../harness/worked-brand.ts';

describe.skipIf(!hasBrowser('The web app in a browser'))('every page of the web app in a real Chromium', () => {
  const alias = unique('webapp');
  let app: TestApp;
  let store: TestStore;
  let browser: Browser;
  let desktop: OpenPage;
  let phone: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), alias, env: BEHIND_PROXY });
    await putDirectory(
      app.context.elastic,
      alias,
      Array.from({ length: 12 }, (_, i) => creator(i + 1)),
    );
    const desk = await openWorkDesk(app);
    const { brand } = desk;
    store = await startStore('shopify');
    await fillWork(app, desk);
    await fillBrand(app, desk, store);
    browser = await openBrowser();
    desktop = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
    phone = await openWebApp(browser, app, brand.id, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await store?.close();
  });

  /** As the system has its colours, and as it may have them. */
  async function lookAt(path: string, kind: string, { page, move, complaints }: OpenPage): Promise<void> {
    await move(path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `${kind}-${colorScheme}${path.replaceAll('/', '-')}`);
      expect(await axe(page, colorScheme === 'dark' ? 'colours' : 'all')).toEqual([]);
    }
    await expectToFit(page);
    expect(complaints.splice(0)).toEqual([]);
  }

  it.each(PAGES)('passes axe on %s, in light and dark mode, without errors in the browser', (path) =>
    lookAt(path, 'desktop', desktop),
  );

  it.each(PAGES)('fits a phone of 390 pixels on %s, in light and dark mode', (path) => lookAt(path, 'phone', phone));

  it.each(['desktop', 'phone'] as const)('is reachable for a %s from the menu, by its heading', async (kind) => {
    const { page, go, rest, complaints } = kind === 'desktop' ? desktop : phone;
    await go('/');
    const menu = page.getByRole('navigation', { name: 'Main' });
    const open = async () => {
      if (kind === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await menu.waitFor();
      if ((await menu.getByRole('link', { name: 'Settings' }).count()) === 0) await menu.getByText('Setup').click();
    };
    await open();
    const entries = await menu
      .getByRole('link')
      .evaluateAll((links) =>
        links.map((link) => [link.getAttribute('href')?.replace(/^\/app\/?/, '/') ?? '', link.textContent ?? '']),
      );
    expect(entries.map(([path]) => path).toSorted()).toEqual(PAGES.toSorted());
    for (const [path = '', label = ''] of entries) {
      if (path !== entries[0]?.[0]) await open();
      await menu.getByRole('link', { name: label, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: label, exact: true }).waitFor();
      await rest();
      expect(await page.getByRole('alert').count(), path).toBe(0);
      expect(complaints.splice(0), path).toEqual([]);
      if (kind === 'desktop') {
        expect(await menu.locator('[aria-current="page"]').allTextContents()).toEqual([label]);
        continue;
      }
      await menu.waitFor({ state: 'hidden' });
    }
  });

  it('has a link to a campaign’s page for creators on the links host, where it can be reached', async () => {
    const { page, go } = desktop;
    await go('/campaigns');
    await page.getByRole('link', { name: 'Spring launch' }).click();
    const link = page.getByRole('link', { name: 'Apply page' });
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/go\.example\/apply\/cmp_/);
  });
});
