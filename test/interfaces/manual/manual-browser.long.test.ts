import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRIES } from '../../../src/interfaces/manual/shelves.ts';
import { startApp, type TestApp } from '../../harness/app.ts';
import { violationsOf } from '../../harness/interfaces/axe.ts';
import { hasBrowser, openBrowser, openPhone } from '../../harness/interfaces/browser.ts';

describe.skipIf(!hasBrowser('The manual'))('The manual in a real Chromium', () => {
  let app: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    app = await startApp();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('has pages that fit on a phone, and that the browser does not complain about', async () => {
    const complaints: string[] = [];
    const phone = await openPhone(browser, complaints);
    const broad: string[] = [];
    for (const path of ['', '/search?q=refund', ...ENTRIES.map(({ name }) => `/${name}`)]) {
      await phone.goto(`${app.url}/manual${path}`);
      const wider = await phone.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (wider > 0) broad.push(`${path}: ${wider}`);
    }
    expect([broad, complaints]).toEqual([[], []]);
  });

  it('can be read aloud', async () => {
    for (const path of ['', '/start', '/stores', '/glossary', '/how-it-is-built', '/search?q=refund', '/nothing']) {
      expect([path, await violationsOf(browser, `${app.url}/manual${path}`)]).toEqual([path, []]);
    }
  });

  it('copies a block of commands, and marks the section that is being read', async () => {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    await page.goto(`${app.url}/manual/start#one-command`);
    await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm start');
    const sections = page.getByRole('navigation', { name: 'Sections', exact: true });
    await sections.locator('[aria-current]', { hasText: /^One command$/ }).waitFor();
    await context.close();
  });

  it('is searched with the keyboard', async () => {
    const page = await openPhone(browser, []);
    await page.goto(`${app.url}/manual`);
    await page.getByLabel('Search the manual').fill('closing a month');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Closing a month', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Closing a month', exact: true }).waitFor();
  });
});
