import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { importDirectory } from '../../../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../../../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../../../src/directory/imports/indexing/writer.ts';
import { call, makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { shoot } from '../../harness/interfaces/web-app.ts';
import { deadlineMs } from '../../run/deadline.ts';

/** The first tenth of the sample directory that `npm start` imports. */
const SAMPLE = { creators: 2_000, seed: 1 };

const Found = z.object({ data: z.array(z.object({ username: z.string() })), pagination: z.object({ total: z.int() }) });

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ alias: unique('docs') });
});
afterAll(() => app?.close());

describe.skipIf(!hasBrowser('The docs page'))('the docs page in a real Chromium', () => {
  let browser: Browser;
  let page: Page;
  let keys: { brand: string; data: string };
  /** What the browser complained about, and what it asked of others. */
  const complaints: string[] = [];

  beforeAll(async () => {
    const source = sampleSource(SAMPLE.creators, SAMPLE.seed);
    await importDirectory(toDirectoryEngines(app.context), { source });
    const brand = await makeBrand(app.context);
    keys = { brand: await brand.key('brand'), data: await brand.key('data') };
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    page.setDefaultTimeout(deadlineMs);
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    page.on('pageerror', (error) => void complaints.push(error.message));
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(app.url)) complaints.push(request.url());
    });
  });

  afterAll(() => browser?.close());

  /** Opens an operation of the first part, gives a key and sends what is filled in. */
  async function tryFirst(where: string, key: string): Promise<Response> {
    await page.locator(`a[href="#tag/directory/GET${where}"]`).first().click();
    await page.getByRole('button', { name: 'Test Request' }).first().click();
    await page.getByPlaceholder('Token').last().fill(key);
    const answering = page.waitForResponse((answer) => new URL(answer.url()).pathname === where);
    await page.getByRole('button', { name: /^Send/ }).first().click();
    return await answering;
  }

  test('says what to do first and where keys come from, and contacts no other host', async () => {
    await page.goto(`${app.url}/`);
    await page.getByRole('heading', { name: 'Rollcall API' }).first().waitFor();
    await expect(page.title()).resolves.toBe('Rollcall API');
    await expect(page.locator('html').getAttribute('lang')).resolves.toBe('en');
    const start = page.locator('body');
    await expect.poll(() => start.textContent()).toContain('ask your operator for one');
    await expect(start.textContent()).resolves.toContain('.rollcall/demo.env');
    await shoot(page, 'docs-start');
    expect(complaints).toEqual([]);
  });

  test('finds creators of the sample directory with the prefilled search, once it has a key', async () => {
    const answer = Found.parse(await (await tryFirst('/v1/creators/search', keys.data)).json());
    expect(answer.pagination.total).toBeGreaterThan(0);
    await page.getByText(`"${answer.data[0]?.username}"`).first().waitFor();
    await shoot(page, 'docs-search');
    expect(complaints).toEqual([]);
  });

  test('has a separate page for the older interface, where its operations can be tried', async () => {
    await page.goto(`${app.url}/docs/legacy/`);
    await page.getByRole('heading', { name: 'Rollcall API, older interface' }).first().waitFor();
    await expect(page.title()).resolves.toBe('Rollcall API, older interface');
    const answer = await tryFirst('/api/v1/creators/search', keys.brand);
    expect(answer.headers().link).toContain('rel="successor-version"');
    expect(Found.parse(await answer.json()).pagination.total).toBeGreaterThan(0);
    await shoot(page, 'docs-legacy');
    expect(complaints).toEqual([]);
  });

  test('is compressed, cached by browsers for a day, and allows only its own scripts', async () => {
    const program = await fetch(`${app.url}/docs/js/scalar.js`);
    expect(program.headers.get('content-encoding')).toBe('gzip');
    expect(program.headers.get('cache-control')).toContain('max-age=86400');
    expect((await program.text()).length).toBeGreaterThan(1_000_000);
    const { headers } = await call(`${app.url}/docs/`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'self' 'sha256-[^']+'/);
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  });
});
