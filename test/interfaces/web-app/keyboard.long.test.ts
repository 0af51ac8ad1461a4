import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, drawn, expectToFit, type OpenPage, openWebApp, PAGES, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk } from '../../harness/workflow/work.ts';
import { fillBrand, fillWork } from '../../harness/workflow/worked-brand.ts';

/** Marks what can be used on the page, each with a number, and says what it is. Of radio buttons one is a stop. */
const MARK = `(() => {
  const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')];
  const seen = stops.filter((one) => {
    if (one.disabled || one.closest('[inert], [aria-hidden="true"]') || one.tabIndex < 0) return false;
    if (one.type === 'radio' && !one.checked) return false;
    return one.checkVisibility({ visibilityProperty: true });
  });
  for (const one of document.querySelectorAll('[data-stop]')) one.removeAttribute('data-stop');
  seen.forEach((one, i) => one.setAttribute('data-stop', String(i)));
  return seen.map((one) => one.outerHTML.slice(0, 160));
})()`;

/** Notes what gets the focus from the page's beginning on, and whether it or the label around it shows that. */
const WATCH = `(() => {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  const shows = (element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  };
  const isWatched = window.focused !== undefined;
  window.focused = [];
  if (isWatched) return;
  document.addEventListener('focusin', ({ target: one }) => {
    const isSeen = shows(one) || (one.closest('label') !== null && shows(one.closest('label')));
    window.focused.push({ stop: one.getAttribute('data-stop'), isSeen, html: one.outerHTML.slice(0, 160) });
  });
})()`;

interface Focus {
  stop: string | null;
  isSeen: boolean;
  html: string;
}

describe.skipIf(!hasBrowser('The keyboard in the web app'))('with the keyboard alone,', () => {
  const alias = unique('keyboard');
  let app: TestApp;
  let store: TestStore;
  let browser: Browser;
  let desktop: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), alias, env: BEHIND_PROXY });
    await putDirectory(
      app.context.elastic,
      alias,
      Array.from({ length: 3 }, (_, i) => creator(i + 1)),
    );
    const desk = await openWorkDesk(app);
    store = await startStore('shopify');
    await fillWork(app, desk);
    await fillBrand(app, desk, store);
    browser = await openBrowser();
    desktop = await openWebApp(browser, app, desk.brand.id, { viewport: { width: 1280, height: 900 } });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await store?.close();
  });

  it.each(PAGES)('every control on %s can be reached, and shows that it has the focus', async (path) => {
    const { page, move, complaints } = desktop;
    await move(path);
    const stops: string[] = await page.evaluate(MARK);
    expect(stops.length).toBeGreaterThan(18);
    await page.evaluate(WATCH);
    for (let i = 0; i < stops.length + 10; i += 1) await page.keyboard.press('Tab');
    const focused: Focus[] = await page.evaluate('window.focused');
    const reached = new Set(focused.map(({ stop }) => stop));
    expect(stops.filter((_, i) => !reached.has(String(i)))).toEqual([]);
    expect(focused.filter(({ isSeen }) => !isSeen)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  });

  const isInside = (page: Page): Promise<boolean> =>
    page.evaluate('document.activeElement.closest("[role=dialog]") !== null');

  /** Whether `button` opened a dialog; one that did not has done its work already. */
  async function opens(page: Page, button: Locator): Promise<boolean> {
    await button.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor({ timeout: 400 }).catch(() => undefined);
    // A busy page may open it later.
    await drawn(page);
    return await dialog.isVisible();
  }

  const WIDE = { width: 1280, height: 900 };
  const PHONE = { width: 390, height: 844 };

  /** A dialog as it is on a desktop and a phone, light and dark. */
  async function lookAt(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `dialog-desktop-${colorScheme}${name}`);
      const part = colorScheme === 'dark' ? 'colours' : 'all';
      expect(await axe(page, part, '[role=dialog]'), `${name}, ${colorScheme}`).toEqual([]);
    }
    await page.setViewportSize(PHONE);
    await expectToFit(page);
    await shoot(page, `dialog-phone-dark${name}`);
    await page.emulateMedia({ colorScheme: 'light' });
    await shoot(page, `dialog-phone-light${name}`);
    await page.setViewportSize(WIDE);
  }

  it.each(PAGES)('each dialog of %s passes axe, fits a phone, keeps the focus, and Escape returns it', async (path) => {
    const { page, move } = desktop;
    await move(path);
    // The first of each name, and of rows the first, for those of a list open the same dialogs.
    const names: string[] = await page
      .locator('main button:not([disabled]):not(tr + tr button):visible')
      .evaluateAll((all) => [...new Set(all.slice(0, 40).map((one) => one.textContent ?? ''))]);
    for (const name of names.filter((one) => !/^(Test|Try again|Copy|Show creators)$/.test(one)).slice(0, 12)) {
      const button = page.locator('main button:not([disabled]):visible').filter({ hasText: name }).first();
      if ((await button.count()) === 0 || !(await opens(page, button))) continue;
      const dialog = page.getByRole('dialog');
      await until(`the dialog of ${name} to take the focus`, () => isInside(page));
      for (let i = 0; i < 4; i += 1) {
        await page.keyboard.press(i < 3 ? 'Tab' : 'Shift+Tab');
        // At its end a guard takes the focus, and hands it back to the dialog's beginning.
        await until(`the focus in the dialog of ${name}`, () => isInside(page));
      }
      await lookAt(page, `${path}-${name}`.replaceAll(/\W+/g, '-'));
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      const isBack = () => button.evaluate((one) => one === one.ownerDocument.activeElement);
      await until(`the focus to be back after the dialog of ${name}`, isBack);
    }
  });
});
