import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCaller } from '../../../src/kit/access/keys/callers.ts';
import { hashKey } from '../../../src/kit/access/keys/key-form.ts';
import { HOUR_MS } from '../../../src/kit/values/duration.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, unique, until } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

describe.skipIf(!hasBrowser('What keys did in the web app'))('what keys did', () => {
  const alias = unique('requests');
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), alias });
    await putDirectory(app.context.elastic, alias, [creator(1, { category: 'Food' }), creator(2)]);
    brand = await makeBrand(app.context, { plan: 'scale' });
    await fillCalls(app, brand);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it.each([
    ['desktop', { viewport: { width: 1280, height: 1400 } }],
    ['desktop-dark', { viewport: { width: 1280, height: 1400 }, colorScheme: 'dark' as const }],
    ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ] as const)('is shown by day and key, and call by call with filters and details, on a %s', async (kind, options) => {
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, options);
    await go('/requests');
    const calls = page.getByRole('region', { name: 'Calls of the last 14 days', exact: true });
    await calls.locator('.strip-bars > div').first().waitFor();
    await calls.getByText('Show as a table').click();
    await calls.getByRole('columnheader', { name: 'Refused' }).waitFor();
    await page.getByText('Previews that became searches').waitFor();
    await calls.scrollIntoViewIfNeeded();
    await shoot(page, `requests-usage-${kind}`);
    expect(await axe(page)).toEqual([]);
    await expectToFit(page);

    await page
      .getByRole('table', { name: 'Keys with the most calls in the last 14 days' })
      .getByRole('link', { name: 'test' })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: 'API requests' }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toMatch(/key=/);
    const list = page.getByRole('table', { name: 'API requests' });
    await list.getByRole('button', { name: 'Search creators' }).first().waitFor();
    // A head, a hundred calls, and a heading for each of their days.
    const headings = list.locator('tr.heading');
    await expect.poll(async () => (await list.getByRole('row').count()) - (await headings.count())).toBe(101);
    expect(await headings.count()).toBeGreaterThan(0);
    await page.getByText(/^100 of [\d,]+ requests$/).waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByRole('button', { name: 'Newer' }).and(page.locator(':enabled')).waitFor();
    if (kind === 'phone') await page.getByRole('button', { name: /^Filters/ }).click();
    await page.getByLabel('Status').selectOption('Invalid (422)');
    await until('the refused call alone', async () => (await list.locator('tbody tr:not(.heading)').count()) === 1);
    await shoot(page, `requests-list-${kind}`);
    expect(await axe(page)).toEqual([]);
    await expectToFit(page);
    await list.getByRole('button', { name: 'Search creators' }).click();
    const details = page.getByRole('dialog');
    await details.getByText('422 VALIDATION_ERROR').waitFor();
    await details.getByRole('button', { name: 'Copy request ID' }).waitFor();
    await details.getByRole('button', { name: /^Copy for support/ }).waitFor();
    await shoot(page, `requests-details-${kind}`);
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

/** Three days of searches, and one that was refused. */
async function fillCalls(app: TestApp, brand: TestBrand): Promise<void> {
  const key = await brand.key('data');
  const caller = await findCaller(app.context.postgres.db, hashKey(key));
  const { calls } = app.context;
  for (let i = 0; i < 150; i += 1) {
    const at = new Date(Date.now() - HOUR_MS * (1 + ((i * i) % 60)));
    const found = { results: i, sought: { kind: 'page', filters: ['category', 'city'], text: `${i}` } } as const;
    calls.end(
      { ...calls.begin('search_creators', `req_of_the_test_${i}`), at, caller, credits: 10, outcome: found },
      200,
    );
  }
  for (const query of ['category=food&preview=true', 'category=food', 'limit=x'])
    await call(`${app.url}/v1/creators/search?${query}`, key);
  const own = await brand.key('brand');
  const recorded = async () => (await call(`${app.url}/v1/requests?limit=1000`, own)).body.data?.length ?? 0;
  await until('the record of every call', async () => (await recorded()) >= 153);
}
