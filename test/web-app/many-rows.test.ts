import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { BEHIND_PROXY } from '../harness/applying.ts';
import { hasBrowser, openBrowser } from '../harness/browser.ts';
import { creator, putDirectory } from '../harness/directory.ts';
import { putManyRows } from '../harness/many-rows.ts';
import { startStore, type TestStore } from '../harness/store.ts';
import { builtClient, type OpenPage, openWebApp } from '../harness/web-app.ts';
import { openWorkDesk } from '../harness/work.ts';
import { fillBrand, fillWork } from '../harness/worked-brand.ts';

const MANY = 10_000;
/** A screen has room for 17, and some are drawn above and below. */
const MOST_DRAWN = 60;
/** On two cores that have other work, too. */
const OPENS_MS = 5_000;

/** A row of them is opened by the button in it; of the others there is nothing to open. */
const LISTS = [
  ['/roster', true],
  ['/campaigns', true],
  ['/applications', true],
  ['/conversations', true],
  ['/briefs', true],
  ['/contracts', true],
  ['/deliverables', true],
  ['/shipments', true],
  ['/content', true],
  ['/assets', true],
  ['/commissions', true],
  ['/payouts', true],
  ['/statements', true],
  ['/disputes', true],
  ['/links', false],
  ['/agents', true],
  ['/keys', false],
  ['/people', false],
  ['/audit', true],
] as const;

describe.skipIf(!hasBrowser('Ten thousand rows'))('a list of ten thousand in a real Chromium', () => {
  const alias = unique('many');
  let app: TestApp;
  let store: TestStore;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), alias, env: BEHIND_PROXY });
    const creators = Array.from({ length: MANY }, (_, i) => creator(i + 1));
    await putDirectory(app.context.elastic, alias, creators);
    const desk = await openWorkDesk(app);
    store = await startStore('shopify');
    await fillWork(app, desk);
    await fillBrand(app, desk, store);
    const [{ id }] = await desk.read('/v1/webhooks');
    expect((await desk.post(`/v1/webhooks/${id}/test`, {})).status).toBeLessThan(300);
    browser = await openBrowser();
    open = await openWebApp(browser, app, desk.brand.id, { viewport: { width: 1280, height: 900 } });
    await putManyRows(app, desk.brand.id, MANY);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await store?.close();
  });

  const scrolled = (page: Page): Promise<number> => page.evaluate('scrollY');
  const drawn = (page: Page): Promise<void> =>
    page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

  async function countOf(of: Page | Locator, name: RegExp): Promise<number> {
    const text = await of.getByText(name).first().textContent();
    return Number(text?.replace(/\D/g, ''));
  }

  /** The key is pressed as long as rows turn out higher than they seemed. */
  async function pressUntilInSight(page: Page, key: 'End' | 'Home', row: Locator): Promise<void> {
    await expect
      .poll(
        async () => {
          await page.keyboard.press(key);
          await drawn(page);
          const tops: number[] = await row.evaluateAll((all) =>
            all.filter((one) => !one.hasAttribute('aria-busy')).map((one) => one.getBoundingClientRect().top),
          );
          return tops.some((top) => top >= 0 && top < 900);
        },
        { timeout: 10_000 },
      )
      .toBe(true);
  }

  it.each(LISTS)('%s opens at once, draws a screenful, and goes to its end and back by a key', async (path, opens) => {
    const { page, complaints } = open;
    const began = performance.now();
    await page.goto(`${app.url}/app${path}`);
    const rows = page.locator('tbody tr[aria-rowindex]');
    await page.locator('tbody tr[aria-rowindex="2"]:not([aria-busy])').waitFor();
    expect(performance.now() - began).toBeLessThan(OPENS_MS);
    const total = await countOf(page, /^[\d,]+ entries$/);
    expect(total).toBeGreaterThanOrEqual(MANY);
    expect(await rows.count()).toBeLessThan(MOST_DRAWN);
    const last = page.locator(`tbody tr[aria-rowindex="${total + 1}"]`);
    await pressUntilInSight(page, 'End', last);
    expect(await rows.count()).toBeLessThan(MOST_DRAWN);
    if (opens) await openAndClose(page, last.getByRole('button').first());
    await pressUntilInSight(page, 'Home', page.locator('tbody tr[aria-rowindex="2"]'));
    expect(complaints.splice(0)).toEqual([]);
  });

  /** Whoever reads one of a list is where they were when it is closed. */
  async function openAndClose(page: Page, button: Locator): Promise<void> {
    await button.focus();
    await drawn(page);
    const was = await scrolled(page);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(Math.abs((await scrolled(page)) - was)).toBeLessThan(100);
  }

  it('a page at a time, no row is passed over, and what is not read yet is soon there', async () => {
    const { page, go, complaints } = open;
    await go('/audit');
    const seen = new Set<number>();
    for (let i = 0; i < 40; i += 1) {
      await page.keyboard.press('PageDown');
      await drawn(page);
      const numbers: number[] = await page
        .locator('tbody tr[aria-rowindex]')
        .evaluateAll((all) => all.map((row) => Number(row.getAttribute('aria-rowindex'))));
      for (const number of numbers) seen.add(number);
    }
    expect([...seen].toSorted((a, b) => a - b)).toEqual(Array.from({ length: seen.size }, (_, i) => i + 2));
    expect(seen.size).toBeGreaterThan(300);
    await expect.poll(() => page.locator('tbody tr[aria-busy]').count()).toBe(0);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('deliveries of a webhook are drawn a screenful at a time in their dialog', async () => {
    const { page, go, complaints } = open;
    await go('/webhooks');
    await page
      .getByRole('button', { name: /^https:/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: 'Deliveries' });
    const total = await countOf(dialog, /^[\d,]+ deliveries$/);
    expect(total).toBeGreaterThanOrEqual(MANY);
    const items = dialog.locator('li.delivery');
    expect(await items.count()).toBeLessThan(MOST_DRAWN);
    await dialog.getByRole('button', { name: 'More' }).first().focus();
    await pressUntilInSight(page, 'End', dialog.locator(`li.delivery[data-index="${total - 1}"]`));
    expect(await items.count()).toBeLessThan(MOST_DRAWN);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('a conversation opens at its newest message, and earlier ones come when they are asked for', async () => {
    const { page, go, complaints } = open;
    await go('/conversations');
    await page.locator('tbody tr[aria-rowindex="2"]').getByRole('button').click();
    const dialog = page.getByRole('dialog');
    const messages = dialog.locator('.bubble');
    await messages.first().waitFor();
    expect(await messages.count()).toBe(50);
    expect(await dialog.getByRole('button', { name: 'Send', exact: true }).isVisible()).toBe(true);
    expect(await countOf(dialog, /^Earlier messages/)).toBeGreaterThanOrEqual(MANY - 50);
    await dialog.getByRole('button', { name: /^Earlier messages/ }).click();
    await expect.poll(() => messages.count()).toBe(100);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('a search of the directory shows a page of what it found', async () => {
    const { page, go, complaints } = open;
    await go('/directory');
    await page.getByText('10,000', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Show the creators' }).click();
    const rows = page.getByRole('table', { name: 'Creators' }).locator('tbody tr');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(50);
    const choice = page.getByRole('spinbutton', { name: /of 200/ });
    await choice.fill('200');
    await choice.press('Enter');
    await expect.poll(() => choice.inputValue()).toBe('200');
    await expect.poll(() => page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true);
    await expect.poll(() => rows.count()).toBe(50);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(complaints.splice(0)).toEqual([]);
  });
});
