import { statSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putManyLinks } from '../../harness/affiliates/many-links.ts';
import { putCreator } from '../../harness/analytics/figures.ts';
import { call, makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

const MANY = 10_000;
const FIRST_LOAD_BYTES = 150_000;

describe.skipIf(!hasBrowser('The states of the web app'))('the web app in a real Chromium', () => {
  let app: TestApp;
  let client: string;
  let browser: Browser;

  beforeAll(async () => {
    client = await builtClient();
    app = await startApp({ webApp: client });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('loads Home with its chart in at most 150 kB, compressed, under a policy without inline code', async () => {
    const brand = await makeBrand(app.context);
    const { page, go, context } = await openWebApp(browser, app, brand.id);
    const loaded = new Set<string>();
    page.on('response', (response) => {
      const [, file] = /\/app\/(assets\/[^?]+\.(?:js|css))$/.exec(response.url()) ?? [];
      if (file !== undefined) loaded.add(file);
    });
    await go('/');
    await context.close();
    const files = [...loaded];
    expect(files.length).toBeGreaterThan(5);
    const bytes = files
      .map((file) => statSync(path.join(client, `${file}.gz`)).size)
      .reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_BYTES);
    const { headers } = await call(`${app.url}/app`);
    expect(headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self';");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    // Files are on the links host.
    expect(headers.get('content-security-policy')).toContain('blob: https: https://go.example;');
    const asset = await fetch(`${app.url}/app/${files[0]}`, { headers: { 'accept-encoding': 'br' } });
    expect([asset.headers.get('content-encoding'), asset.headers.get('cache-control')]).toEqual([
      'br',
      'public, max-age=31536000, immutable',
    ]);
  });

  it('tells an empty brand on each list page that there is nothing yet, and that nothing matches once it filters', async () => {
    const brand = await makeBrand(app.context);
    const { page, go, move, context } = await openWebApp(browser, app, brand.id);
    await page.getByText('Nothing to decide').waitFor();
    for (const [to, text] of [
      ['/roster', 'No creators yet'],
      ['/campaigns', 'No campaigns yet'],
      ['/commissions', 'No commissions yet'],
      ['/payouts', 'No payouts yet'],
      ['/links', 'No links yet'],
      ['/webhooks', 'No webhooks yet'],
      ['/exports', 'No exports yet'],
      ['/keys', 'No API keys yet'],
    ] as const) {
      await move(to);
      await page.getByText(text).waitFor();
    }
    await go('/payouts?method=wallet');
    await page.getByText('Nothing matches these filters').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByText('No payouts yet').waitFor();
    await context.close();
  });

  it('shows a brand of ten thousand links, and the analytics of the fifty with the highest sales', async () => {
    const brand = await makeBrand(app.context);
    await putManyLinks(app, brand.id, [await putCreator(app, brand.id)], MANY);
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id);
    await go('/links');
    await page.getByRole('status').filter({ hasText: '10,000 links and codes' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(80);
    await go('/analytics?from=2026-02-01&to=2026-02-01&of=link');
    await page.getByText('The first 50 of 10,000. The file has all.').waitFor();
    await page.getByLabel('By', { exact: true }).selectOption('campaign');
    await page.getByRole('table', { name: 'Analytics by campaign' }).waitFor();
    const rows = page.getByRole('table', { name: 'Analytics by campaign' }).locator('tbody tr');
    // Each was clicked once, every third in euros: none is left out.
    const clicks = async () => (await rows.locator('td:nth-child(2)').allTextContents()).toSorted();
    await expect.poll(clicks).toEqual(['3,334', '6,666']);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('explains what is wrong when an engine is down, and retries on request', async () => {
    const broken = await startApp({ webApp: client, urls: { clickhouse: 'http://127.0.0.1:9' } });
    const brand = await makeBrand(broken.context);
    const { page, go, context } = await openWebApp(browser, broken, brand.id);
    await go('/analytics');
    await page.getByRole('alert').first().waitFor();
    await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    await shoot(page, 'state-error');
    expect(await axe(page)).toEqual([]);
    await context.close();
    await broken.close();
  });

  it('works with the keyboard alone: skip link, opening, focus kept inside, and returned on closing', async () => {
    const brand = await makeBrand(app.context);
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id);
    await go('/keys');
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('Create a key');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    await dialog.waitFor();
    for (let i = 0; i < 12; i += 1) {
      await page.keyboard.press('Tab');
      // A guard at the dialog's end hands the focus on, a moment later.
      await expect.poll(() => page.evaluate('document.activeElement.closest("[role=dialog]") !== null')).toBe(true);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('Create a key');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('keeps what a person has typed when what is shown beside it cannot be read again', async () => {
    const brand = await makeBrand(app.context);
    const { page, go, rest, context } = await openWebApp(browser, app, brand.id);
    await page.clock.install();
    await go('/settings');
    await page.getByLabel('Description').fill('Shoes that nobody else makes');
    const body = JSON.stringify({ error: 'PostgreSQL is unavailable; try again shortly.', code: 'REFUSED' });
    const failed = new Set<string>();
    await page.route('**/v1/**', async (route) => {
      failed.add(new URL(route.request().url()).pathname);
      await route.fulfill({ status: 500, contentType: 'application/json', body });
    });
    // Whoever comes back to a tab after a while has it read again.
    await page.clock.fastForward(60_000);
    await page.evaluate('void window.dispatchEvent(new Event("visibilitychange"))');
    await expect.poll(() => ['/v1/session', '/v1/brand'].every((path) => failed.has(path))).toBe(true);
    await rest();
    expect(await page.getByLabel('Description').inputValue()).toBe('Shoes that nobody else makes');
    expect(await page.getByRole('alert').count()).toBe(0);
    await context.close();
  });

  it('says that there were too many calls, with the manual’s page about it, and continues by itself once there may be more', async () => {
    const brand = await makeBrand(app.context);
    const { page, context } = await openWebApp(browser, app, brand.id);
    const body = JSON.stringify({ error: 'More than 100 calls in 60 seconds.', code: 'RATE_LIMITED' });
    await page.route('**/v1/**', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '1' }, contentType: 'application/json', body }),
    );
    await page.goto(`${app.url}/app/briefs`);
    await page.getByText('Too many requests within a minute. Wait a moment.').waitFor();
    const help = page.getByRole('link', { name: 'Read more in the manual', exact: true }).first();
    expect((await fetch(`${app.url}${await help.getAttribute('href')}`)).status).toBe(200);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('No briefs').first().waitFor();
    await context.close();
  });

  it('keeps the theme that a person chose, whatever the system uses', async () => {
    const brand = await makeBrand(app.context);
    const { page, context } = await openWebApp(browser, app, brand.id, { colorScheme: 'light' });
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await background()).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await background()).not.toBe(light);
    await shoot(page, 'state-dark');
    expect(await axe(page)).toEqual([]);
    await context.close();
  });
});
