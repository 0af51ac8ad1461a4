import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { putManyRows } from '../../harness/interfaces/many-rows.ts';
import { drawn, type OpenPage, openWebApp } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';
import { fillBrand, fillWork } from '../../harness/workflow/worked-brand.ts';
import { deadlineMs, longDeadlineMs } from '../../run/deadline.ts';

const MANY = 10_000;
/** What one test needs of a session's calls a minute. */
const CALLS = 50;
/** A screen has room for 17, and some are drawn above and below. */
const MOST_DRAWN = 60;
/** A page that has not scrolled so long after a key did not take it. */
const KEY_MS = 20_000;
/** The number of rows, such as “10,002 posts”, which a note may follow. */
const COUNT = /^[\d,]+ [a-z ]+(?:,|$)/;
/** On two cores that have other work, too. */
const OPENS_MS = 60_000;
/** A conversation covers its list here; on a wider screen it is beside it. */
const NARROW = { width: 1000, height: 900 };
const WIDE = { width: 1280, height: 900 };
/** An open conversation is read again every ten seconds. */
const READ_AGAIN_MS = 60_000;

/** A row of them is opened by the button in it; of the others there is nothing to open. */
const LISTS = [
  ['/roster', false],
  ['/campaigns', false],
  ['/applications', true],
  ['/conversations', true],
  ['/briefs', true],
  ['/contracts', true],
  ['/deliverables', true],
  ['/shipments', true],
  ['/content', true],
  ['/assets', true],
  ['/commissions', true],
  ['/payouts', true],
  ['/statements', true],
  ['/disputes', true],
  ['/links', true],
  ['/agents', true],
  ['/keys', false],
  ['/people', false],
  ['/audit', true],
] as const;

describe.skipIf(!hasBrowser('Ten thousand rows'))('a list of ten thousand in a real Chromium', () => {
  const alias = unique('many');
  /** Of its own: the jobs of other tests would find ten thousand things to do. */
  let database: TestDatabase;
  let app: TestApp;
  let desk: WorkDesk;
  /** Whom a statement and a payout are of, with as many lines. */
  let payee: string;
  let store: TestStore;
  let browser: Browser;
  let open: OpenPage;
  let rate = { remaining: Number.POSITIVE_INFINITY, endsAt: 0 };

  beforeAll(async () => {
    database = await makeDatabase('many');
    app = await startApp({ webApp: await builtClient(), alias, env: BEHIND_PROXY, urls: { postgres: database.url } });
    const creators = Array.from({ length: MANY }, (_, i) => creator(i + 1));
    await putDirectory(app.context.elastic, alias, creators);
    desk = await openWorkDesk(app);
    store = await startStore('shopify');
    await fillWork(app, desk);
    await fillBrand(app, desk, store);
    const [{ id }] = await desk.read('/v1/webhooks');
    expect((await desk.post(`/v1/webhooks/${id}/test`, {})).status).toBeLessThan(300);
    [{ creator_email: payee }] = await desk.read('/v1/statements');
    const [{ id: commission }] = await desk.read(`/v1/affiliates/commissions?creator_email=${payee}`);
    const approval = { event_ids: [commission], status: 'approved' };
    expect((await desk.send('PATCH', '/v1/affiliates/commissions/bulk', approval)).status).toBe(200);
    expect((await desk.post('/v1/payouts/batch', { method: 'manual' })).body.data.payouts).toHaveLength(1);
    browser = await openBrowser();
    open = await openWebApp(browser, app, desk.brand.id, { viewport: WIDE });
    await putManyRows(app, desk.brand.id, MANY);
    open.page.on('response', (response) => {
      const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': resetsAt } = response.headers();
      if (remaining !== undefined) rate = { remaining: Number(remaining), endsAt: Number(resetsAt) * 1_000 };
    });
  }, longDeadlineMs);
  // A person reads between two pages; on a fast machine the tests would use up a minute's calls in seconds.
  beforeEach(async () => {
    if (rate.remaining < CALLS) await new Promise((resolve) => setTimeout(resolve, rate.endsAt - Date.now()));
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await database?.drop();
    await store?.close();
  });

  const scrolled = (page: Page): Promise<number> => page.evaluate('scrollY');

  async function countOf(of: Page | Locator, name: RegExp): Promise<number> {
    const text = await of.getByText(name).first().textContent();
    return Number(text?.match(/^[\d,]+/)?.[0].replaceAll(',', ''));
  }

  /** The key is pressed as long as rows turn out higher than they seemed. */
  async function pressUntilInSight(page: Page, key: 'End' | 'Home', row: Locator): Promise<void> {
    await expect
      .poll(
        async () => {
          await page.keyboard.press(key);
          await drawn(page);
          const tops: number[] = await row.evaluateAll((all) =>
            all.filter((one) => !one.hasAttribute('aria-busy')).map((one) => one.getBoundingClientRect().top),
          );
          return tops.some((top) => top >= 0 && top < 900);
        },
        { timeout: deadlineMs },
      )
      .toBe(true);
  }

  it.each(LISTS)(
    'in %s opens at once, renders one screen, and a key jumps to its end and back',
    async (path, opens) => {
      const { page, move, complaints } = open;
      await page.setViewportSize(path === '/conversations' ? NARROW : WIDE);
      const began = performance.now();
      await move(path);
      const rows = page.locator('tbody tr[aria-rowindex]');
      await page.locator('tbody tr[aria-rowindex="2"]:not([aria-busy])').waitFor();
      expect(performance.now() - began).toBeLessThan(OPENS_MS);
      const total = await countOf(page.locator('.table-top'), COUNT);
      expect(total).toBeGreaterThanOrEqual(MANY);
      expect(await rows.count()).toBeLessThan(MOST_DRAWN);
      const last = page.locator(`tbody tr[aria-rowindex="${total + 1}"]`);
      await pressUntilInSight(page, 'End', last);
      expect(await rows.count()).toBeLessThan(MOST_DRAWN);
      if (opens) await openAndClose(page, last.getByRole('button').first());
      await pressUntilInSight(page, 'Home', page.locator('tbody tr[aria-rowindex="2"]'));
      expect(complaints.splice(0)).toEqual([]);
    },
  );

  /** Whoever reads one of a list is where they were when it is closed. */
  async function openAndClose(page: Page, button: Locator): Promise<void> {
    await button.focus();
    await drawn(page);
    const was = await scrolled(page);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // Rows above may turn out higher than they seemed; a jump would be thousands of pixels.
    expect(Math.abs((await scrolled(page)) - was)).toBeLessThan(300);
  }

  async function isStillAndFull(page: Page): Promise<boolean> {
    const { height } = page.viewportSize() ?? WIDE;
    const was = await scrolled(page);
    await drawn(page);
    const bottoms: number[] = await page
      .locator('tbody tr[aria-rowindex]')
      .evaluateAll((all) => all.map((row) => row.getBoundingClientRect().bottom));
    return was === (await scrolled(page)) && bottoms.some((bottom) => bottom >= height);
  }

  it('paged through skips no row, and unread rows soon appear', async () => {
    const { page, go, complaints } = open;
    await go('/audit');
    const seen = new Set<number>();
    await until(
      '300 rows to be seen',
      async () => {
        const from = await scrolled(page);
        let pressedMs = Number.NEGATIVE_INFINITY;
        // A busy page scrolls, and draws the rows, some time after the key, or not at all: then it is pressed again.
        await until('the next screen', async () => {
          const isThere = (await scrolled(page)) > from;
          if (!isThere && performance.now() - pressedMs > KEY_MS) {
            pressedMs = performance.now();
            await page.keyboard.press('PageDown');
          }
          return isThere && (await isStillAndFull(page));
        });
        const numbers: number[] = await page
          .locator('tbody tr[aria-rowindex]')
          .evaluateAll((all) => all.map((row) => Number(row.getAttribute('aria-rowindex'))));
        for (const number of numbers) seen.add(number);
        return seen.size > 300;
      },
      120_000,
    );
    expect([...seen].toSorted((a, b) => a - b)).toEqual(Array.from({ length: seen.size }, (_, i) => i + 2));
    await expect.poll(() => page.locator('tbody tr[aria-busy]').count()).toBe(0);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('of a webhook’s deliveries is rendered one screen at a time in its dialog', async () => {
    const { page, go, complaints } = open;
    await go('/webhooks');
    await page
      .getByRole('button', { name: /^https:/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: 'Webhook' });
    const total = await countOf(dialog, /^[\d,]+ deliveries$/);
    expect(total).toBeGreaterThanOrEqual(MANY);
    const items = dialog.locator('li.delivery');
    expect(await items.count()).toBeLessThan(MOST_DRAWN);
    await dialog.getByRole('button', { name: 'Details' }).first().focus();
    await pressUntilInSight(page, 'End', dialog.locator(`li.delivery[data-index="${total - 1}"]`));
    expect(await items.count()).toBeLessThan(MOST_DRAWN);
    expect(complaints.splice(0)).toEqual([]);
  });

  it.each([
    ['/payouts', 'Payout breakdown'],
    ['/statements', 'Lines of the statement'],
  ])('of the lines of one of %s is rendered one screen at a time in its dialog', async (path, caption) => {
    const { page, go, complaints } = open;
    await go(`${path}?creator_email=${payee}`);
    const began = performance.now();
    await page.locator('tbody tr[aria-rowindex="2"]').getByRole('button').first().click();
    const dialog = page.getByRole('dialog');
    const lines = dialog.getByRole('table', { name: caption });
    const first = lines.locator('tbody tr[aria-rowindex="2"]');
    await first.waitFor();
    expect(performance.now() - began).toBeLessThan(OPENS_MS);
    const total = await countOf(dialog.locator('.table-top'), COUNT);
    expect(total).toBeGreaterThanOrEqual(MANY);
    const rows = lines.locator('tbody tr[aria-rowindex]');
    expect(await rows.count()).toBeLessThan(MOST_DRAWN);
    await dialog.getByRole('button', { name: 'Close' }).focus();
    const last = lines.locator(`tbody tr[aria-rowindex="${total + 1}"]`);
    await pressUntilInSight(page, 'End', last);
    expect(await last.textContent()).toMatch(/\$/);
    expect(await rows.count()).toBeLessThan(MOST_DRAWN);
    await pressUntilInSight(page, 'Home', first);
    expect(complaints.splice(0)).toEqual([]);
  });

  async function openLongest() {
    const talks: { message_count: number; creator_email: string }[] = await desk.read('/v1/messages?limit=100');
    const { creator_email } = talks.find(({ message_count }) => message_count >= MANY) ?? {};
    await open.page.setViewportSize(NARROW);
    await open.go(`/conversations?creator_email=${creator_email}`);
    await open.page.locator('tbody tr[aria-rowindex="2"]').getByRole('button').click();
    return { creator_email, dialog: open.page.getByRole('dialog') };
  }

  it('of messages opens at the newest, jumps to the first with a key, and is rendered one screen at a time', async () => {
    const { page, complaints } = open;
    const { dialog } = await openLongest();
    const messages = dialog.getByRole('list', { name: 'Messages' }).getByRole('listitem');
    const count = Number(await messages.first().getAttribute('aria-setsize'));
    expect(count).toBeGreaterThanOrEqual(MANY);
    const place = (number: number) => dialog.locator(`li[aria-posinset="${number}"]:not([aria-busy])`);
    await place(count).waitFor();
    const sending = dialog.getByRole('button', { name: 'Send', exact: true });
    await expect.poll(() => sending.evaluate((one) => one.getBoundingClientRect().bottom <= 900)).toBe(true);
    expect(await messages.count()).toBeLessThan(MOST_DRAWN);
    await dialog.getByRole('button', { name: 'Close' }).focus();
    await pressUntilInSight(page, 'Home', place(1));
    expect(await messages.count()).toBeLessThan(MOST_DRAWN);
    await pressUntilInSight(page, 'End', place(count));
    await dialog.getByLabel('Your message').fill('The very newest.');
    await sending.click();
    await place(count + 1)
      .getByText('The very newest.')
      .waitFor();
    await pressUntilInSight(page, 'End', place(count + 1));
    expect(complaints.splice(0)).toEqual([]);
  });

  it('of messages does not move what is being read while earlier ones load or a message arrives', async () => {
    const { page, complaints } = open;
    const { dialog, creator_email } = await openLongest();
    const read = dialog.locator('li[aria-posinset]:not([aria-busy])');
    await read.last().waitFor();
    const count = Number(await read.last().getAttribute('aria-setsize'));
    await dialog.hover();
    for (let i = 0; i < 30; i += 1) {
      await page.mouse.wheel(0, -400);
      await drawn(page);
    }
    // What is in the middle of the screen once all that is drawn is read.
    await expect.poll(() => dialog.locator('li[aria-busy]').count()).toBe(0);
    const middle = async (): Promise<[string, number]> => {
      const places: [string, number][] = await read.evaluateAll((all) =>
        all.map((one) => [one.getAttribute('aria-posinset') ?? '', one.getBoundingClientRect().top]),
      );
      return places.find(([, one]) => one > 300) ?? ['', 0];
    };
    let [place, top] = await middle();
    await until('the messages to stand still', async () => {
      const was = `${place} ${top}`;
      await drawn(page);
      [place, top] = await middle();
      return was === `${place} ${top}` && Number(place) < count - 50;
    });
    expect(Number(place)).toBeGreaterThan(count - 400);
    const sent = await desk.post('/v1/messages', { creator_email, body: 'Meanwhile' });
    expect(sent.status, JSON.stringify(sent.body)).toBe(201);
    const setSize = async () => Number(await read.first().getAttribute('aria-setsize'));
    await expect.poll(setSize, { timeout: READ_AGAIN_MS }).toBe(count + 1);
    const now = await dialog.locator(`li[aria-posinset="${place}"]`).evaluate((one) => one.getBoundingClientRect().top);
    expect(Math.abs(now - top)).toBeLessThan(2);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('of conversations is rendered one screen at a time beside the one that is open', async () => {
    const { page, go, complaints } = open;
    await page.setViewportSize(WIDE);
    await go('/conversations');
    const rows = page.locator('tbody tr[aria-rowindex]');
    await page.locator('tbody tr[aria-rowindex="2"]:not([aria-busy])').waitFor();
    const total = await countOf(page.locator('.table-top'), COUNT);
    expect(total).toBeGreaterThanOrEqual(MANY);
    expect(await rows.count()).toBeLessThan(MOST_DRAWN);
    await page.getByRole('region', { name: 'All conversations' }).focus();
    const last = page.locator(`tbody tr[aria-rowindex="${total + 1}"]`);
    await pressUntilInSight(page, 'End', last);
    expect(await rows.count()).toBeLessThan(MOST_DRAWN);
    await last.getByRole('button').click();
    await page
      .getByRole('region', { name: /^Conversation with / })
      .getByLabel('Your message')
      .waitFor();
    expect(await scrolled(page)).toBe(0);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('of search results shows one page', async () => {
    const { page, go, complaints } = open;
    await page.setViewportSize(WIDE);
    await go('/directory');
    await page.getByText('10,000', { exact: true }).first().waitFor();
    const rows = page.getByRole('table', { name: 'Creators' }).locator('tbody tr');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(50);
    const choice = page.getByRole('spinbutton', { name: /of 200/ });
    await choice.fill('200');
    await choice.press('Enter');
    await expect.poll(() => choice.inputValue()).toBe('200');
    await expect.poll(() => page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true);
    await expect.poll(() => rows.count()).toBe(50);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(complaints.splice(0)).toEqual([]);
  });
});
