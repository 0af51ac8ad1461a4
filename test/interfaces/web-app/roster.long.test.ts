import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, made, makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { email, handle } from '../../harness/platform/people.ts';

describe.skipIf(!hasBrowser('The roster in the web app'))('the roster in the web app', () => {
  let app: TestApp;
  let browser: Browser;
  let open: OpenPage;
  let key: string;

  beforeAll(async () => {
    const alias = unique('roster');
    app = await startApp({ webApp: await builtClient(), alias });
    await putDirectory(app.context.elastic, alias, [
      creator(1, { username: 'dana.runs', full_name: 'Dana Reed', extracted_email: 'dana@mail.example' }),
    ]);
    const brand = await makeBrand(app.context, { plan: 'scale' });
    key = await brand.key('brand');
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
  });
  afterAll(async () => {
    expect(open?.complaints ?? []).toEqual([]);
    await browser?.close();
    await app?.close();
  });

  const dialog = (): Locator => open.page.getByRole('dialog').last();
  const gone = () => open.page.getByRole('dialog').waitFor({ state: 'hidden' });
  const inDialog = (name: string) => dialog().getByRole('button', { name, exact: true }).click();
  const record = async (id: string) => (await call(`${app.url}/v1/roster/${id}`, key)).body.data;
  async function show(name: string): Promise<void> {
    await open.go('/roster');
    await open.page.getByRole('link', { name, exact: true }).click();
    await open.page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Note').waitFor();
  }

  it('keeps a creator hired when their note is saved', async () => {
    const { id } = await made(`${app.url}/v1/roster/add`, key, { ig_handle: handle(), name: 'Hana' });
    await show('Hana');
    await dialog().getByLabel('Note').fill('Prefers mornings');
    await inDialog('Save');
    await gone();
    expect(await record(id)).toMatchObject({ note: 'Prefers mornings', status: 'hired' });
  });

  it('adds an email address to a creator without one, and refuses one that another creator has', async () => {
    const taken = email();
    await made(`${app.url}/v1/roster`, key, { creator_email: taken });
    const { id, ig_handle } = await made(`${app.url}/v1/roster/add`, key, { ig_handle: handle() });
    await show(`@${ig_handle}`);
    await dialog().getByLabel('Email').fill(taken);
    await inDialog('Save');
    await dialog().getByText('Another creator of the brand has this email address.').waitFor();
    const own = email();
    await dialog().getByLabel('Name').fill('Ira');
    await dialog().getByLabel('Email').fill(own);
    await shoot(open.page, 'roster-creator-desktop');
    await inDialog('Save');
    await gone();
    expect(await record(id)).toMatchObject({ creator_email: own, creator_name: 'Ira', status: 'hired' });
    await show('Ira');
    await open.page.setViewportSize({ width: 390, height: 844 });
    await expectToFit(open.page);
    expect(await axe(open.page)).toEqual([]);
    await shoot(open.page, 'roster-creator-phone');
    await open.page.setViewportSize({ width: 1280, height: 900 });
  });

  it('adds a creator from the directory with their name, handle and email address', async () => {
    await open.go('/directory?q=dana');
    await open.page.getByRole('button', { name: 'Dana Reed' }).click();
    await inDialog('Add to the roster');
    await open.page.getByText('Dana Reed was added to the roster.').waitFor();
    const { data } = (await call(`${app.url}/v1/roster?creator_email=dana@mail.example`, key)).body;
    expect(data).toMatchObject([{ creator_name: 'Dana Reed', ig_handle: 'dana.runs' }]);
  });
});
