import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { SERVED } from '../../src/legacy/operations.ts';
import { EVENT_NAMES } from '../../src/outbox/events.ts';
import { makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { hasBrowser, openBrowser } from '../harness/browser.ts';
import { creator, putDirectory } from '../harness/directory.ts';

describe.skipIf(!hasBrowser('The docs page'))('the docs page in a real Chromium', () => {
  const alias = unique('docs');
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  let key: string;
  /** What the browser complained about. */
  const complaints: string[] = [];

  beforeAll(async () => {
    app = await startApp({ alias });
    await putDirectory(app.context.elastic, alias, [creator(7, { username: 'gordongram' }), creator(8)]);
    key = await (await makeBrand(app.context)).key('brand');
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    page.on('pageerror', (error) => void complaints.push(error.message));
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  test('shows every operation and every event, without an error in the console', async () => {
    await page.goto(`${app.url}/docs`);
    await page.getByText('Search the creator directory').waitFor();
    await expect(page.title()).resolves.toBe('Rollcall API');
    await expect(page.locator('.opblock').count()).resolves.toBe(operations.length + EVENT_NAMES.current.length);
    expect(complaints).toEqual([]);
  });

  test('shows no picture but our own icon in the tab', async () => {
    const pictures = page.locator('img, link[rel=icon]');
    await expect(pictures.count()).resolves.toBe(1);
    await expect(pictures.getAttribute('href')).resolves.toBe('/docs/static/theme/favicon.svg');
  });

  test('takes a key and tries a search with it: the answer stands on the page', async () => {
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.getByLabel('auth-bearer-value').fill(key);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();

    const search = page.locator('#operations-Directory-search_creators');
    await search.locator('.opblock-summary-control').click();
    const q = search.getByPlaceholder('q', { exact: true });
    await q.waitFor();
    for (const filter of await search.locator('.parameters input[type=text]').all()) await filter.fill('');
    await q.fill('gordongram');
    await search.getByRole('button', { name: 'Execute' }).click();
    const answer = search.locator('.live-responses-table');
    await expect.poll(() => answer.textContent(), { timeout: 10_000 }).toContain('"username": "gordongram"');
    await expect(answer.textContent()).resolves.toContain('"total": 1');
    await expect(answer.textContent()).resolves.toContain('x-ratelimit-remaining');
    expect(complaints).toEqual([]);
  });

  test('has a page of its own for the older interface, where its operations are tried', async () => {
    await page.goto(`${app.url}/docs/legacy`);
    await page.locator('#operations-Brand-get_brand').waitFor();
    await expect(page.title()).resolves.toBe('Rollcall API, older interface');
    await expect(page.locator('.opblock').count()).resolves.toBe(SERVED.size + EVENT_NAMES.legacy.length);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.getByLabel('auth-bearer-value').fill(key);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();

    const brand = page.locator('#operations-Brand-get_brand');
    await brand.locator('.opblock-summary-control').click();
    await brand.getByRole('button', { name: 'Execute' }).click();
    const answer = brand.locator('.live-responses-table');
    await expect.poll(() => answer.textContent(), { timeout: 10_000 }).toContain('successor-version');
    await expect(answer.textContent()).resolves.toContain('"subscription_status"');
    expect(complaints).toEqual([]);
  });
});
