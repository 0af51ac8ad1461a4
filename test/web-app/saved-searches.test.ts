import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBrand, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { hasBrowser, openBrowser } from '../harness/browser.ts';
import { creator, putDirectory } from '../harness/directory.ts';
import { openSession, type SignedIn, signIn } from '../harness/session.ts';
import { axe, builtClient, expectToFit, openWebApp, shoot } from '../harness/web-app.ts';

const PATH = '/v1/saved-searches';
const alias = unique('saved');
let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;

beforeAll(async () => {
  app = await startApp({ webApp: await builtClient(), alias });
  await putDirectory(
    app.context.elastic,
    alias,
    Array.from({ length: 3 }, (_, i) => creator(i + 1)),
  );
  brand = await makeBrand(app.context, { plan: 'scale' });
  owner = await signIn(app, brand.id);
});
afterAll(() => app?.close());

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

  it('is refused without a name, and with values that are not text or too long', async () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`f${i}`, 'x']));
    for (const [sent, field] of [
      [{ filters: {} }, 'name'],
      [{ name: ' ', filters: {} }, 'name'],
      [{ name: 'x', filters: { q: 1 } }, 'filters.q'],
      [{ name: 'x', filters: many }, 'filters'],
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
    expect(await second.page.getByRole('button', { name: 'Save this search' }).isDisabled()).toBe(true);
    await second.page.getByRole('link', { name: 'Large in the US' }).click();
    expect(await second.page.getByLabel('Minimum followers').inputValue()).toBe('100');
    expect(await second.page.getByLabel('Country').inputValue()).toBe('US');
    await expectToFit(second.page);
    expect(await axe(second.page)).toEqual([]);
    await second.page.getByRole('button', { name: 'Delete Large in the US' }).click();
    await second.page.getByRole('link', { name: 'Large in the US' }).waitFor({ state: 'hidden' });
    expect([...first.complaints, ...second.complaints]).toEqual([]);
    await first.context.close();
    await second.context.close();
  });
});
