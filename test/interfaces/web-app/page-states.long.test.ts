import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { makeBrand, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, PAGES, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk } from '../../harness/workflow/work.ts';
import { fillBrand, fillWork } from '../../harness/workflow/worked-brand.ts';

/** What moved of what was in sight, as the browser itself sums it up; a tenth is what it calls good. */
const MOST_SHIFT = 0.1;

/** Answers of the API, without those that the page's frame needs. */
const isOfPage = (url: URL) => url.pathname.startsWith('/v1/') && url.pathname !== '/v1/session';

describe.skipIf(!hasBrowser('The states of each page'))('each page of the web app in a real Chromium', () => {
  const alias = unique('states');
  let app: TestApp;
  let store: TestStore;
  let browser: Browser;
  let desktop: OpenPage;
  let empty: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), alias, env: BEHIND_PROXY });
    await putDirectory(
      app.context.elastic,
      alias,
      Array.from({ length: 12 }, (_, i) => creator(i + 1)),
    );
    const desk = await openWorkDesk(app);
    store = await startStore('shopify');
    await fillWork(app, desk);
    await fillBrand(app, desk, store);
    browser = await openBrowser();
    desktop = await openWebApp(browser, app, desk.brand.id, { viewport: { width: 1280, height: 900 } });
    const none = await makeBrand(app.context);
    empty = await openWebApp(browser, app, none.id, { viewport: { width: 390, height: 844 } });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await store?.close();
  });

  /** Holds the page's answers back until they are let go: one after the other, as they would come over a network. */
  async function delayAnswers(page: Page): Promise<() => Promise<void>> {
    const waiting: Route[] = [];
    let isOpen = false;
    await page.route(isOfPage, async (route) => {
      if (isOpen) await route.continue();
      else waiting.push(route);
    });
    return async () => {
      isOpen = true;
      for (const route of waiting) {
        await route.continue();
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))');
      }
    };
  }

  const shiftOf = (page: Page): Promise<number> =>
    page.evaluate(`new Promise((done) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(sum), 50)));
    })`);

  it.each(PAGES)('shows that %s is loading, and nothing jumps when its data arrives', async (path) => {
    const { page, complaints } = desktop;
    const letGo = await delayAnswers(page);
    await page.goto(`${app.url}/app${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'attached' });
    await shoot(page, `loading${path.replaceAll('/', '-')}`);
    expect(await axe(page, 'all', 'main')).toEqual([]);
    await letGo();
    await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
    await page.waitForLoadState('networkidle');
    expect(await shiftOf(page)).toBeLessThanOrEqual(MOST_SHIFT);
    await page.unrouteAll({ behavior: 'wait' });
    expect(complaints.splice(0)).toEqual([]);
  });

  it.each(PAGES)(
    'explains on %s what is wrong when nothing answers, and shows everything after a retry',
    async (path) => {
      const { page, complaints, rest } = desktop;
      let isBroken = true;
      await page.route(isOfPage, async (route) => {
        const body = JSON.stringify({ error: 'PostgreSQL is unavailable; try again shortly.', code: 'REFUSED' });
        if (isBroken) await route.fulfill({ status: 500, contentType: 'application/json', body });
        else await route.continue();
      });
      await page.goto(`${app.url}/app${path}`);
      const again = page.getByRole('button', { name: 'Try again' });
      await again.first().waitFor();
      await page.waitForLoadState('networkidle');
      await shoot(page, `failed${path.replaceAll('/', '-')}`);
      await expectToFit(page);
      expect(await axe(page, 'all', 'main')).toEqual([]);
      isBroken = false;
      // Each part of a page is asked again by itself.
      await until('no part of the page to say that it failed', async () => {
        if ((await again.count()) > 0) await again.first().click();
        await rest();
        return (await page.getByText('PostgreSQL is unavailable').count()) === 0;
      });
      await page.unrouteAll({ behavior: 'wait' });
      // The browser itself reports what was answered with 500.
      const own = complaints.splice(0).filter((text) => !text.includes('status of 500'));
      expect(own).toEqual([]);
    },
  );

  it.each(PAGES)('is not blank on %s for a brand without data, and fits a phone', async (path) => {
    const { page, move, complaints } = empty;
    await move(path);
    await shoot(page, `empty${path.replaceAll('/', '-')}`);
    expect((await page.locator('main').textContent())?.length).toBeGreaterThan(40);
    expect(await page.getByText('Loading', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  });
});
