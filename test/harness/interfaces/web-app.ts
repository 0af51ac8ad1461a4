import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { pageDeadlineMs } from '../../run/deadline.ts';
import { type TestApp, until } from '../app.ts';
import { signInToken } from '../platform/session.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Every page of the app. */
export const PAGES = [
  '/',
  '/analytics',
  '/customers',
  '/returns',
  '/clicks',
  '/directory',
  '/lists',
  '/roster',
  '/groups',
  '/campaigns',
  '/applications',
  '/conversations',
  '/disputes',
  '/briefs',
  '/contracts',
  '/deliverables',
  '/shipments',
  '/content',
  '/assets',
  '/webhooks',
  '/agents',
  '/orders',
  '/commissions',
  '/payouts',
  '/statements',
  '/journal',
  '/reconciliation',
  '/reports',
  '/links',
  '/stores',
  '/rights',
  '/exports',
  '/imports',
  '/keys',
  '/requests',
  '/people',
  '/audit',
  '/settings',
] as const;

/** The pages that are one level in, by the entry of the menu whose row of links has them. */
const UNDER: Readonly<Record<string, readonly string[]>> = {
  '/analytics': ['/customers', '/returns', '/clicks', '/reports'],
  '/directory': ['/lists'],
  '/roster': ['/groups'],
  '/campaigns': ['/applications'],
  '/contracts': ['/deliverables', '/briefs'],
  '/content': ['/assets'],
  '/orders': ['/reconciliation'],
  '/payouts': ['/statements', '/disputes', '/journal'],
  '/settings': [
    ...['/stores', '/people', '/imports', '/exports', '/keys'],
    ...['/requests', '/webhooks', '/agents', '/rights', '/audit'],
  ],
};

export interface OpenPage {
  page: Page;
  /** What the browser complained about. */
  complaints: string[];
  /** Loads the page by its address, as a new visitor does. */
  go(to: string): Promise<void>;
  /** Opens one of `PAGES` by its link in the menu, or in the row of its section. The app stays loaded, which costs a fifth of the CPU of loading it. */
  move(to: string): Promise<void>;
  /** Waits until every call was answered and the page shows it. Playwright's `networkidle` only covers the first load. */
  rest(): Promise<void>;
}

/** Resolves two frames later, when what has changed by now is on the screen. */
export const drawn = (page: Page): Promise<void> =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

/** No skeleton is left, two frames after the last change. */
const IS_DRAWN = `new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector('main .loading') === null)));
})`;

/** A browser of its own, signed in to the brand's app by a link, as a person is. */
export async function openWebApp(
  browser: Browser,
  app: TestApp,
  brandId: string,
  options: Parameters<Browser['newContext']>[0] = {},
  email?: string,
): Promise<OpenPage & { context: BrowserContext }> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
  context.setDefaultTimeout(pageDeadlineMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Chromium reports a refusal (4xx) as a failed load. It also reports a 503, after which the app calls again.
    const isRefusal = /^Failed to load resource.*\b(?:4\d\d|503)\b/.test(message.text());
    if (['error', 'warning'].includes(message.type()) && !isRefusal) complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  const unanswered = new Set<Request>();
  page.on('request', (request) => void unanswered.add(request));
  const answered = (request: Request) => void unanswered.delete(request);
  page.on('requestfinished', answered);
  page.on('requestfailed', answered);
  await page.goto(`${app.url}/app/sign-in#${await signInToken(app, brandId, email)}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  const rest = () =>
    until('the page to rest', async () => (await page.evaluate(IS_DRAWN)) === true && unanswered.size === 0);
  const go = async (to: string): Promise<void> => {
    await page.goto(`${app.url}/app${to}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
  };
  const move = async (to: string): Promise<void> => {
    const section = Object.keys(UNDER).find((one) => UNDER[one]?.includes(to));
    const link = (nav: string, address: string) =>
      page.locator(`nav[aria-label="${nav}"] a[href="${address}"]`).first();
    const inMenu = to === '/' ? page.locator('nav[aria-label="Main"] a').first() : link('Main', `/app${section ?? to}`);
    const entry = section === undefined ? inMenu : link('Section', `/app${to}`);
    // On a phone the menu is closed, and its links are there all the same.
    if ((await entry.count()) === 0) await inMenu.dispatchEvent('click');
    // Settings opens on its first part.
    const name = to === '/settings' ? 'Brand' : ((await entry.textContent()) ?? '');
    await entry.dispatchEvent('click');
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await rest();
  };
  return { context, page, complaints, go, move, rest };
}

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** Of what passes, axe would describe every element, by the shortest selector that it can find for it. */
const BRIEFLY = { resultTypes: ['violations'] };
/** The rules of axe that look at colours: all that the dark scheme can break of a page that passes in the light one. */
const COLOURS = { ...BRIEFLY, runOnly: ['color-contrast', 'link-in-text-block'] };

/** What axe finds wrong with the page as it is shown now, or with its colours only; `within` a part of the page. */
export async function axe(page: Page, part: 'all' | 'colours' = 'all', within = 'html'): Promise<string[]> {
  const isThere: boolean = await page.evaluate('typeof axe !== "undefined"');
  // By the debugger, which our content security policy does not bind.
  if (!isThere) await page.evaluate(AXE);
  const { violations }: AxeResult = await page.evaluate(
    `axe.run('${within}', ${JSON.stringify(part === 'all' ? BRIEFLY : COLOURS)})`,
  );
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

/** A chart follows a new size of the window a moment later. */
export async function expectToFit(page: Page): Promise<void> {
  const beyond = () => page.locator('html').evaluate((root): number => root.scrollWidth - root.clientWidth);
  await expect.poll(beyond, { message: 'the page scrolls sideways', timeout: pageDeadlineMs }).toBeLessThanOrEqual(0);
}

/** A picture of the page into the folder `SHOTS`, where somebody set one. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) });
}
