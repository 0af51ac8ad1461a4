import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, PAGES, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk } from '../../harness/workflow/work.ts';
import { fillBrand, fillWork } from '../../harness/workflow/worked-brand.ts';

const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

/** The newest form: whether its first field is in sight, and whether the keyboard is in it or in its dialog. */
const LOOK_AT_FORM = `(() => {
  const form = [...document.querySelectorAll('form')].at(-1);
  if (!form) return undefined;
  const field = form.querySelector('input:not([type="hidden"]), select, textarea');
  const { top, bottom } = (field ?? form).getBoundingClientRect();
  const active = document.activeElement;
  const isOfForm = (form.closest('[role="dialog"]') ?? form).contains(active);
  return { isInSight: top >= 0 && bottom <= innerHeight, hasFocus: isOfForm };
})()`;

/** Measures the pixels from the top of the page to the first row of its list; 0 if the page is not a list. */
const FIRST_ROW_AT = `(() => {
  const isList = document.querySelector('main > :is(.table-frame, .summed, .talks) tbody') !== null;
  const row = document.querySelector('main tbody tr:not(.gap)');
  return isList && row ? row.getBoundingClientRect().top + scrollY : 0;
})()`;
/** Half of a phone's height. */
const FIRST_ROW_PX = 420;

const isInSight = (link: Locator): Promise<boolean> =>
  link.evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top >= 0 && bottom <= one.ownerDocument.documentElement.clientHeight;
  });

/** Presses what opens a form; a dialog without one is followed by its main button. Gives the form's state, if any. */
async function openForm({ page, rest }: OpenPage, button: Locator): Promise<unknown> {
  const forms = page.locator('form');
  const before = await forms.count();
  await button.click();
  await rest();
  const next = page.getByRole('dialog').last().locator('.button.primary:enabled');
  if ((await forms.count()) === before && (await next.count()) > 0) {
    await next.last().click();
    await rest();
  }
  return (await forms.count()) > before ? await page.evaluate(LOOK_AT_FORM) : undefined;
}

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
    desktop = await openWebApp(browser, app, brand.id, { viewport: WIDE });
    phone = await openWebApp(browser, app, brand.id, { viewport: PHONE, hasTouch: true });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await store?.close();
  });

  /** In one visit: as the system has its colours, as it may have them, and in a window as narrow as a phone. */
  it.each(PAGES)(
    '%s passes axe in light and dark mode and on a phone, which it fits with its first rows in sight, without errors in the browser',
    async (path) => {
      const { page, move, complaints } = desktop;
      const name = path.replaceAll('/', '-');
      await move(path);
      await shoot(page, `desktop-light${name}`);
      expect(await axe(page, 'all')).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await shoot(page, `desktop-dark${name}`);
      expect(await axe(page, 'colours')).toEqual([]);
      await expectToFit(page);
      await page.setViewportSize(PHONE);
      await expectToFit(page);
      expect(await page.evaluate(FIRST_ROW_AT)).toBeLessThanOrEqual(FIRST_ROW_PX);
      await shoot(page, `phone-dark${name}`);
      expect(await axe(page, 'all')).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      await shoot(page, `phone-light${name}`);
      await page.setViewportSize(WIDE);
      expect(complaints.splice(0)).toEqual([]);
    },
  );

  it.each(PAGES)(
    '%s opens each form of its head in sight, with the focus in it, on a desktop and a phone',
    async (path) => {
      for (const open of [desktop, phone]) {
        const { page, move } = open;
        await move(path);
        const buttons = page
          .locator('main .page-head .actions')
          .getByRole('button', { name: /^(?!Download)/, disabled: false });
        for (let place = 0; place < (await buttons.count()); place += 1) {
          const name = await buttons.nth(place).textContent();
          const form = await openForm(open, buttons.nth(place));
          if (form !== undefined) expect(form, `${name}`).toEqual({ isInSight: true, hasFocus: true });
          await move(path === '/' ? '/roster' : '/');
          await move(path);
        }
        expect(open.complaints.splice(0)).toEqual([]);
      }
    },
  );

  it.each(['desktop', 'phone'] as const)(
    'is reachable for a %s by its heading, from a menu of at most 14 entries that stay in sight',
    async (kind) => {
      const { page, go, rest, complaints } = kind === 'desktop' ? desktop : phone;
      const menu = page.getByRole('navigation', { name: 'Main', exact: true });
      const section = page.getByRole('navigation', { name: 'Section', exact: true });
      const open = async () => {
        if (kind === 'phone') await page.getByRole('button', { name: 'Menu', exact: true }).click();
        await menu.waitFor();
      };
      const arrive = async (label: string) => {
        await page.getByRole('heading', { level: 1, name: label, exact: true }).waitFor();
        await rest();
        expect(await page.getByRole('alert').count(), label).toBe(0);
        expect(complaints.splice(0), label).toEqual([]);
      };
      await go('/');
      await open();
      const entries = await menu.getByRole('link').allTextContents();
      expect(entries.length).toBeLessThanOrEqual(14);
      if (kind === 'desktop') {
        for (const link of await menu.getByRole('link').all()) await expect.poll(() => isInSight(link)).toBe(true);
      }
      const reached = new Set<string>();
      for (const [i, label] of entries.entries()) {
        if (i > 0) await open();
        await menu.getByRole('link', { name: label, exact: true }).click();
        // Settings opens on its first part.
        await arrive(label === 'Settings' ? 'Brand' : label);
        reached.add(label);
        if (kind === 'phone') await menu.waitFor({ state: 'hidden' });
        for (const one of await section.getByRole('link').allTextContents()) {
          if (reached.has(one)) continue;
          await section.getByRole('link', { name: one, exact: true }).click();
          await arrive(one);
          reached.add(one);
          expect(await section.locator('[aria-current]').allTextContents()).toEqual([one]);
          if (kind === 'desktop') expect(await menu.locator('[aria-current]').allTextContents()).toEqual([label]);
        }
        // A phone has the pages of Settings in a select.
        const select = section.getByRole('combobox', { name: 'Settings', exact: true });
        if (!(await select.isVisible())) continue;
        for (const one of await select.getByRole('option').allTextContents()) {
          await select.selectOption({ label: one });
          await arrive(one);
          reached.add(one);
        }
      }
      // Settings, the last entry, has parts of its own besides the pages.
      const parts = await section.locator('a[href*="tab="]').count();
      expect(reached.size).toBe(PAGES.length + parts);
    },
  );

  it('has a link to a campaign’s page for creators on the links host, where it can be reached', async () => {
    const { page, go } = desktop;
    await go('/campaigns');
    await page.getByRole('link', { name: 'Spring launch' }).click();
    const link = page.getByRole('link', { name: 'Open the apply page' });
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/go\.example\/apply\/cmp_/);
  });
});
