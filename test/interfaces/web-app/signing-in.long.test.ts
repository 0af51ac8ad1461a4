import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { openSession, signIn, signInToken } from '../../harness/platform/session.ts';
import { deadlineMs } from '../../run/deadline.ts';

let app: TestApp;
let brand: TestBrand;

beforeAll(async () => {
  app = await startApp({ webApp: await builtClient() });
});
beforeEach(async () => {
  brand = await makeBrand(app.context);
});
afterAll(() => app?.close());

const ENDED = 'Your session has ended.';

describe('signing out everywhere', () => {
  it('ends every session of the person, but no session of another person and no API key', async () => {
    const key = await brand.key('brand');
    const owner = await signIn(app, brand.id);
    const elsewhere = await signIn(app, brand.id);
    const invited = await owner.send('POST', '/v1/people', { email: 'mo@brand.example', role: 'viewer', name: 'Mo' });
    const viewer = await openSession(app.url, invited.body.data.sign_in_path.split('#')[1]);
    const stranger = await signIn(app, (await makeBrand(app.context)).id);
    const { status, body } = await owner.send('DELETE', '/v1/sessions');
    expect([status, body]).toEqual([200, { data: { ended: 2 } }]);
    for (const ended of [owner, elsewhere]) {
      await expect.poll(async () => (await ended.get('/v1/session')).status).toBe(401);
    }
    for (const other of [viewer, stranger]) expect((await other.get('/v1/session')).status).toBe(200);
    expect((await call(`${app.url}/v1/brand`, key)).status).toBe(200);
    expect((await viewer.send('DELETE', '/v1/sessions')).body).toEqual({ data: { ended: 1 } });
    const { data } = (await (await signIn(app, brand.id)).get('/v1/audit-log?operation=end_sessions')).body;
    expect(data).toHaveLength(2);
  });
});

describe.skipIf(!hasBrowser('Signing in'))('signing in and out in a real Chromium', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const home = (page: Page) => page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true });

  it('works with a link where the sign-in page is already open, and so does the next link after a used one', async () => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(deadlineMs);
    await page.goto(`${app.url}/app/sign-in`);
    await page.getByRole('button', { name: 'Email me a link' }).waitFor();
    const used = await signInToken(app, brand.id);
    await openSession(app.url, used);
    await page.goto(`${app.url}/app/sign-in#${used}`);
    await signInButton(page).click();
    await page.getByRole('alert').getByText('This link was already used').waitFor();
    await page.goto(`${app.url}/app/sign-in#${await signInToken(app, brand.id)}`);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await signInButton(page).click();
    await home(page);
  });

  it('says that a session has ended only to a person who had one', async () => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(deadlineMs);
    await page.goto(`${app.url}/app/roster`);
    await page.getByRole('button', { name: 'Email me a link' }).waitFor();
    expect(await page.getByText(ENDED).count()).toBe(0);
    await shoot(page, 'sign-in-first-desktop');
    await page.goto(`${app.url}/app/sign-in#${await signInToken(app, brand.id)}`);
    await signInButton(page).click();
    await page.getByRole('heading', { level: 1, name: 'Roster' }).waitFor();
    await (await signIn(app, brand.id)).send('DELETE', '/v1/sessions');
    await expect.poll(async () => (await page.request.get(`${app.url}/v1/session`)).status()).toBe(401);
    await page.reload();
    await page.getByText(ENDED).waitFor();
    await shoot(page, 'sign-in-ended-desktop');
  });

  it('signs every browser out from the settings, and does not call that an ended session', async () => {
    const here = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
    const there = await openWebApp(browser, app, brand.id);
    await here.go('/settings?tab=signing-in');
    const everywhere = here.page.getByRole('button', { name: 'Sign out everywhere' });
    await everywhere.scrollIntoViewIfNeeded();
    await shoot(here.page, 'settings-desktop');
    await here.page.setViewportSize({ width: 390, height: 844 });
    await everywhere.scrollIntoViewIfNeeded();
    await expectToFit(here.page);
    expect(await axe(here.page)).toEqual([]);
    await shoot(here.page, 'settings-phone');
    await everywhere.click();
    await shoot(here.page, 'settings-confirm-phone');
    await here.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await here.page.getByRole('heading', { name: 'Sign in to Rollcall' }).waitFor();
    expect(await here.page.getByText(ENDED).count()).toBe(0);
    await there.page.reload();
    await there.page.getByText(ENDED).waitFor();
    expect([...here.complaints, ...there.complaints]).toEqual([]);
  });
});
