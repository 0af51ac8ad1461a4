import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDirectory } from '../../../src/directory/imports/indexing/import.ts';
import { generateCreators, sampleSource } from '../../../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../../../src/directory/imports/indexing/writer.ts';
import { formatNumber } from '../../../src/kit/values/format.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

/** The sample without pictures, whose host does not exist. */
const creators = [...generateCreators(400, 3)].map((one) => creator(one.pk, { ...one, profile_pic_url: null }));
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(!hasBrowser('The directory in the web app'))('the directory in the web app', () => {
  let app: TestApp;
  let browser: Browser;
  let open: OpenPage;
  let key: string;
  let brand: TestBrand;

  beforeAll(async () => {
    const alias = unique('found');
    app = await startApp({ webApp: await builtClient(), alias, env: { DIRECTORY_REPORTS: 'owners' } });
    await putDirectory(app.context.elastic, alias, creators);
    brand = await makeBrand(app.context, { plan: 'scale' });
    key = await brand.key('brand');
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id, { viewport: DESKTOP });
  });
  afterAll(async () => {
    expect(open?.complaints ?? []).toEqual([]);
    await browser?.close();
    await app?.close();
  });

  const rows = () => open.page.getByRole('table', { name: 'Creators' }).locator('tbody tr');
  const totalOf = async (query: string) =>
    (await call(`${app.url}/v1/creators/search?limit=1&${query}`, key)).body.pagination.total;
  /** The number of creators that the page shows once it is the API's own. */
  async function expectTotal(query: string): Promise<void> {
    const total = formatNumber(await totalOf(query));
    await open.page.locator('.stat', { hasText: 'Creators' }).first().getByText(total, { exact: true }).waitFor();
  }

  async function lookAt(name: string): Promise<void> {
    const looks = [
      ['phone', PHONE, 'dark'],
      ['desktop', DESKTOP, 'light'],
    ] as const;
    for (const [kind, viewport, colorScheme] of looks) {
      await open.page.setViewportSize(viewport);
      await open.page.emulateMedia({ colorScheme });
      await shoot(open.page, `${name}-${kind}`);
      await expectToFit(open.page);
      expect(await axe(open.page)).toEqual([]);
    }
  }

  it('shows creators at once, without a price', async () => {
    await open.go('/directory');
    await expectTotal('');
    await expect.poll(() => rows().count()).toBe(50);
    expect(await open.page.getByText('credits').count()).toBe(0);
    await lookAt('directory');
  });

  it('narrows by suggested values, exclusions and ranges, and its address holds all of it', async () => {
    const { page, go } = open;
    await go('/directory');
    await page.getByRole('checkbox', { name: 'New York City' }).check();
    await expectTotal('city_any=NYC');
    await page.getByRole('checkbox', { name: 'Greater Los Angeles' }).check();
    await page.getByLabel('Find in category').fill('com');
    await page.getByRole('button', { name: 'Not Comedy', exact: true }).click();
    await page.getByLabel('Maximum followers').fill('20k');
    await page.getByLabel('Maximum followers').press('Enter');
    const query = 'city_any=NYC%7CLA&not_category=Comedy&follower_max=20000';
    await expectTotal(query);
    await lookAt('directory-narrowed');
    await page.reload();
    await expectTotal(query);
    await page.getByRole('button', { name: 'Remove Not Comedy' }).click();
    await expectTotal('city_any=NYC%7CLA&follower_max=20000');
    await page.getByRole('button', { name: 'Clear all' }).click();
    await expectTotal('');
  });

  it('suggests values that begin with what is typed, and finds part of a name', async () => {
    const { page, go } = open;
    await go('/directory');
    await page.getByLabel('Find in category').fill('run');
    await page.getByRole('checkbox', { name: 'Running' }).check();
    await expectTotal('category=Running');
    await page.getByLabel('Find in location').fill('angel');
    await page.getByRole('button', { name: 'Search for “angel”' }).click();
    await expectTotal('category=Running&city=angel');
    await page.getByLabel('Keyword or location').fill('bay area');
    await page.getByText('was read as a place').waitFor();
    await page.getByRole('button', { name: 'Search for the words instead' }).click();
    await expectTotal('category=Running&city=angel&q=bay%20area&q_as=text');
    await page.getByText('No creators match').waitFor();
    await lookAt('directory-none');
  });

  it('says which words of a search are a place, and offers searches near one that finds nobody as buttons', async () => {
    const { page, go } = open;
    const read = async (q: string) => (await call(`${app.url}/v1/creators/search?limit=1&q=${q} nyc`, key)).body.meta;
    const reads = await Promise.all(
      ['skincare', 'coffee', 'running', 'recipes', 'peaks', 'music', 'film', 'health'].map(
        async (word) => [word, (await read(word)).interpretation.q.read_as] as const,
      ),
    );
    const [word] = reads.find(([, readAs]) => readAs === 'text_in_place') ?? [];
    await go(`/directory?q=${word}%20nyc`);
    await page.getByText(`“${word} nyc” was read as ${word} in New York City.`).waitFor();
    await go('/directory?q=zzzgibberish&has_email=true');
    await page.getByText('No creators match').waitFor();
    await page.getByRole('button', { name: /^Without “zzzgibberish” \(/ }).click();
    await expectTotal('has_email=true');
  });

  it('shows the creators until the next ones arrive, in the chosen order', async () => {
    const { page, go } = open;
    await go('/directory');
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/v1/creators/search?*', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Sort by').selectOption('Fewest followers');
    await page.locator('[aria-busy="true"]').waitFor();
    expect(await rows().count()).toBe(50);
    letGo();
    await page.locator('.results[aria-busy="false"]').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    const { data } = (await call(`${app.url}/v1/creators/search?sort=followers_asc&limit=1`, key)).body;
    await rows().first().getByText(`@${data[0].username}`, { exact: true }).waitFor();
  });

  it('keeps both of two filters that are set before the page is drawn again', async () => {
    const { page, go } = open;
    await go('/directory');
    const cities = page.getByRole('checkbox', { name: /^(?:New York City|Greater Los Angeles)$/ });
    await expect.poll(() => cities.count()).toBe(2);
    await cities.evaluateAll((boxes) => {
      for (const box of boxes) box.click();
    });
    await expectTotal('city_any=NYC%7CLA');
    const chips = page.getByRole('button', { name: /^Remove (?:New York City|Greater Los Angeles)$/ });
    await expect.poll(() => chips.count()).toBe(2);
    await chips.evaluateAll((buttons) => {
      for (const button of buttons) button.click();
    });
    await expectTotal('');
  });

  it('adds several creators of several pages to the roster, and says who was there already', async () => {
    const { page, go } = open;
    await go('/directory');
    const choose = (row: number) => rows().nth(row).getByRole('checkbox').check();
    await choose(0);
    await choose(1);
    await page.getByRole('button', { name: 'Next page' }).click();
    await expect.poll(() => page.url()).toContain('page=2');
    // The first row of page 1 is already chosen.
    await expect.poll(() => rows().nth(0).getByRole('checkbox').isChecked()).toBe(false);
    await page.locator('.results[aria-busy="false"]').waitFor();
    await choose(0);
    await page.getByText('3 chosen').waitFor();
    await lookAt('directory-chosen');
    await page.getByRole('button', { name: 'Add to the roster' }).click();
    await page.getByText('3 creators added to the roster.').waitFor();
    expect((await call(`${app.url}/v1/roster`, key)).body.pagination.total).toBe(3);
    await choose(0);
    await choose(1);
    await page.getByRole('button', { name: 'Add to the roster' }).click();
    await page.getByText('1 creator added to the roster. 1 already there.').waitFor();
    await go('/directory');
    await rows().first().getByRole('button').click();
    await page.getByRole('dialog').getByText('Following').waitFor();
    await lookAt('directory-creator');
  });

  it('adds chosen creators to a list, which a search includes or excludes', async () => {
    const { page, go } = open;
    await go('/directory');
    await rows().nth(0).getByRole('checkbox').check();
    await rows().nth(1).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Add to a list' }).click();
    await page.getByRole('dialog').getByLabel('Name of the new list').fill('Runners in spring');
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('2 added to “Runners in spring”.').waitFor();
    await page.getByText('Lists and roster').click();
    await page.getByRole('button', { name: 'Not Runners in spring' }).click();
    await page.getByRole('button', { name: 'Remove Not in Runners in spring' }).waitFor();
    await page.locator('.stat').getByText('398', { exact: true }).waitFor();
    await go('/lists');
    await lookAt('lists');
    await page.getByRole('link', { name: 'Runners in spring', exact: true }).click();
    const listed = page.getByRole('table', { name: 'Creators on the list' }).locator('tbody tr');
    await expect.poll(() => listed.count()).toBe(2);
    await listed.nth(0).getByRole('checkbox').check();
    await lookAt('list');
    await page.getByRole('button', { name: 'Take off the list' }).click();
    await expect.poll(() => listed.count()).toBe(1);
    await page.getByRole('link', { name: 'Search this list' }).click();
    await page.getByRole('button', { name: 'Remove In Runners in spring' }).waitFor();
    await page.locator('.stat').getByText('1', { exact: true }).waitFor();
  });

  it('shows owners a held import with its report and the command that decides, but no path of the operator', async () => {
    const source = { ...sampleSource(150, 3), files: ['s3://supplier/private/november.ndjson?region=eu'] };
    const canaries = [{ query: { city: 'NYC' }, min_total: 1_000, must_contain: [] }];
    const { id, held } = await importDirectory(toDirectoryEngines(app.context), { source, bounds: { canaries } });
    expect(held.length).toBeGreaterThan(1);
    const { page, go } = open;
    await go('/settings?tab=imports');
    await page.getByRole('row', { name: /Held/ }).getByRole('button').click();
    await page.getByText(`npm run indexer -- approve ${id}`).waitFor();
    for (const reason of held) await page.getByText(reason).waitFor();
    await page.getByRole('table', { name: 'Canaries' }).getByText('city = NYC').waitFor();
    expect(await page.locator('body').textContent()).not.toContain('private');
    await lookAt('held-import');
  });

  it('sets the limits of a key, which hold from its next call on', async () => {
    const { page, go } = open;
    const data = await brand.key('data');
    await go('/keys');
    const row = page.getByRole('row', { name: /Data/ }).filter({ has: page.getByRole('button', { name: 'Edit' }) });
    await row.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Forced filters').fill('country = US');
    await dialog.getByLabel('Credits per day').fill('20');
    await lookAt('key-limits');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('20 credits a day; country = US').waitFor();
    const search = () => call(`${app.url}/v1/creators/search?limit=1`, data);
    await expect.poll(async () => (await search()).body.pagination?.total).toBe(await totalOf('country=US'));
    await expect.poll(async () => (await search()).body.code).toBe('CREDITS_EXHAUSTED');
    await lookAt('keys');
  });
});
