import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDirectory } from '../../../src/directory/imports/indexing/import.ts';
import { openFiles } from '../../../src/directory/imports/indexing/source.ts';
import { upsertCreators } from '../../../src/directory/imports/indexing/writes.ts';
import { findMatches } from '../../../src/directory/saved-searches/matches.jobs.ts';
import { makeBrand, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { creator } from '../../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../../harness/directory/indexer.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { openSession, type SignedIn, signIn } from '../../harness/platform/session.ts';

const PATH = '/v1/saved-searches';
let directory: TestDirectory;
let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;

beforeAll(async () => {
  directory = await makeDirectory();
  const source = await sourceOf([creator(1), creator(2), creator(3, { category: 'Food' })]);
  await importDirectory(directory.engines, { source, ...FORCED });
  const { alias } = directory.engines;
  const urls = { postgres: directory.env.DATABASE_URL ?? '' };
  app = await startApp({ webApp: await builtClient(), alias, urls });
  brand = await makeBrand(app.context, { plan: 'scale' });
  owner = await signIn(app, brand.id);
});
afterAll(async () => {
  await app?.close();
  await directory?.close();
});

async function sourceOf(rows: readonly object[]) {
  const content = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return await openFiles([await directory.file(`${unique('rows')}.ndjson`, content)]);
}

async function invite(role: string): Promise<SignedIn> {
  const { body } = await owner.send('POST', '/v1/people', { email: `${unique(role)}@brand.example`, role, name: role });
  return await openSession(app.url, body.data.sign_in_path.split('#')[1]);
}

const namesOf = async (who: SignedIn) => (await who.get(PATH)).body.data.map(({ name }: { name: string }) => name);

describe('a saved search', () => {
  it('belongs to its person, even a viewer: other people of the brand and other brands neither see nor delete it', async () => {
    const viewer = await invite('viewer');
    const filters = { q: 'coffee', follower_min: '1000' };
    const { status, body } = await viewer.send('POST', PATH, { name: 'Coffee', filters });
    expect([status, body.data]).toMatchObject([201, { name: 'Coffee', filters }]);
    expect((await viewer.get(PATH)).body.data).toEqual([body.data]);
    const shared = await viewer.send('PATCH', `${PATH}/${body.data.id}`, { shared: true });
    expect([shared.status, shared.body.code]).toEqual([403, 'ROLE_REQUIRED']);
    const stranger = await signIn(app, (await makeBrand(app.context)).id);
    for (const other of [owner, stranger]) {
      expect(await namesOf(other)).toEqual([]);
      expect((await other.send('DELETE', `${PATH}/${body.data.id}`)).status).toBe(404);
    }
    expect((await viewer.send('DELETE', `${PATH}/${body.data.id}`)).status).toBe(200);
    expect((await viewer.send('DELETE', `${PATH}/${body.data.id}`)).status).toBe(404);
    expect(await namesOf(viewer)).toEqual([]);
  });

  it('replaces one with the same name, in any case, even when ten are saved at once', async () => {
    const manager = await invite('manager');
    const save = (name: string, q: string) => manager.send('POST', PATH, { name, filters: { q } });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => save(i % 2 ? 'Runners' : 'RUNNERS', `${i}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(await namesOf(manager)).toHaveLength(1);
    await save('runners', 'last');
    expect((await manager.get(PATH)).body.data).toMatchObject([{ name: 'runners', filters: { q: 'last' } }]);
    const { id } = answers[0]?.body.data ?? {};
    const lines = (await manager.get(`/v1/audit-log?resource_id=${id}&limit=100`)).body.data;
    expect(lines[0]).toMatchObject({ operation: 'save_search', new: { name: 'runners', filters: { q: 'last' } } });
  });

  it('is refused without a name, and with filters that search would refuse', async () => {
    for (const [sent, field] of [
      [{ filters: {} }, 'name'],
      [{ name: ' ', filters: {} }, 'name'],
      [{ name: 'x', filters: { q: 1 } }, 'filters.q'],
      [{ name: 'x', filters: { citty: 'LA' } }, 'filters.citty'],
    ] as const) {
      const { status, body } = await owner.send('POST', PATH, sent);
      expect([status, body.details?.[0]?.field]).toEqual([422, field]);
    }
  });
});

describe.skipIf(!hasBrowser('Saved searches in the web app'))('the directory page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('saves the current search, and runs it again in another browser, until it is deleted', async () => {
    const first = await openWebApp(browser, app, brand.id, { viewport: { width: 390, height: 844 } });
    await first.go('/directory?follower_min=100&country=US');
    await first.page.getByRole('button', { name: 'Save this search' }).click();
    await first.page.getByLabel('Search name').fill('Large in the US');
    await shoot(first.page, 'saved-search');
    expect(await axe(first.page)).toEqual([]);
    await first.page.getByRole('button', { name: 'Save', exact: true }).click();
    await first.page.getByRole('link', { name: 'Large in the US' }).waitFor();

    const second = await openWebApp(browser, app, brand.id, { viewport: { width: 390, height: 844 } });
    await second.go('/directory');
    await second.page.getByRole('link', { name: 'Large in the US' }).waitFor();
    expect(await second.page.getByRole('button', { name: 'New list of', exact: false }).count()).toBe(0);
    expect(await second.page.getByRole('button', { name: 'Save this search' }).count()).toBe(0);
    await second.page.getByRole('link', { name: 'Large in the US' }).click();
    await second.page.getByRole('button', { name: 'Remove United States' }).waitFor();
    const current = await second.page.getByRole('link', { name: 'Large in the US' }).getAttribute('aria-current');
    expect(current).not.toBeNull();
    const tops = (name: string) => second.page.getByLabel(name).evaluate((one) => one.getBoundingClientRect().top);
    expect(await tops('Keyword or location')).toBeLessThan(await tops('Saved searches'));
    await second.page.getByRole('button', { name: 'Filters (2)' }).click();
    expect(await second.page.getByLabel('Minimum followers').inputValue()).toBe('100');
    await expectToFit(second.page);
    expect(await axe(second.page)).toEqual([]);
    await second.page.getByRole('button', { name: 'Settings of Large in the US' }).click();
    await shoot(second.page, 'saved-search-settings');
    expect(await axe(second.page)).toEqual([]);
    await second.page.getByRole('button', { name: 'Delete', exact: true }).click();
    const sure = second.page.getByRole('dialog', { name: 'Delete “Large in the US”?' });
    await sure.getByRole('button', { name: 'Delete', exact: true }).click();
    await second.page.getByRole('link', { name: 'Large in the US' }).waitFor({ state: 'hidden' });
    expect([...first.complaints, ...second.complaints]).toEqual([]);
    await first.context.close();
    await second.context.close();
  });

  it.each([
    ['a phone', { width: 390, height: 844 }],
    ['a desktop', { width: 1_280, height: 800 }],
  ])('shows who is new since the person last looked, and keeps alert settings, on %s', async (device, viewport) => {
    const name = `Food on ${device}`;
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id, { viewport });
    await go('/directory?category=Food');
    await page.getByRole('button', { name: 'Save this search' }).click();
    await page.getByLabel('Search name').fill(name);
    await page.getByLabel('Email new matches').selectOption('day');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name }).waitFor();

    const [pk, username] = [viewport.width, `foodon${viewport.width}`];
    const source = await sourceOf([creator(pk, { category: 'Food', username, full_name: `Ann ${pk}` })]);
    await upsertCreators(directory.engines, { source, rejectsFile: `${directory.folder}/rejects.ndjson` });
    await findMatches(app.context);
    const saved = (await owner.get(PATH)).body.data.find((one: { name: string }) => one.name === name);
    expect(saved).toMatchObject({ unseen: 1, alert: { every: 'day' } });
    // As the link of a mail does.
    await page.goto(`${app.url}/app/directory?matches=${saved.id}`);
    const dialog = page.getByRole('dialog', { name });
    await dialog.getByText(`Ann ${pk}`).waitFor();
    await dialog.getByText('Who began to match since you last looked.').waitFor();
    await shoot(page, `new-matches-${viewport.width}`);
    expect(await axe(page)).toEqual([]);
    await expectToFit(page);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: `1 found in ${name}` }).waitFor();
    await shoot(page, `saved-searches-${viewport.width}`);
    expect(await axe(page)).toEqual([]);

    await page.getByRole('button', { name: `Settings of ${name}` }).click();
    const settings = page.getByRole('dialog', { name });
    expect(await settings.getByLabel('Email new matches').inputValue()).toBe('day');
    await settings.getByLabel('Email new matches').selectOption('');
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await settings.waitFor({ state: 'hidden' });
    expect((await owner.get(`${PATH}/${saved.id}`)).body.data).toMatchObject({ unseen: 0, alert: null });
    expect(complaints).toEqual([]);
    await context.close();
  });
});
