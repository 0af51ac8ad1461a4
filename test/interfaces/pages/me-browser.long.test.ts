import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { violationsOf } from '../../harness/interfaces/axe.ts';
import { hasBrowser, openBrowser, openPhone } from '../../harness/interfaces/browser.ts';
import { pathOf } from '../../harness/kit/mail.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk } from '../../harness/workflow/work.ts';

const LONG_WORD = 'Sommerkampagnenauftaktveranstaltungsteilnehmerinnenverzeichnis';

describe.skipIf(!hasBrowser("A creator's page in a browser"))("a creator's page in a real Chromium", () => {
  let app: TestApp;
  let browser: Browser;
  const complaints: string[] = [];

  beforeAll(async () => {
    // A link is mailed once per clock hour, so the clock stands still.
    const at = new Date();
    app = await startApp({ env: BEHIND_PROXY, clock: { now: () => at } });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  async function expectGood(page: Page): Promise<void> {
    expect(await page.locator('html').evaluate((root) => root.scrollWidth)).toBe(360);
    expect(await violationsOf(browser, page.url(), await page.content())).toEqual([]);
    expect(complaints).toEqual([]);
  }

  it('fits a phone in light and dark without scripts, leads to a page of work, copies a code, and a link that ended mails another', async () => {
    const email = `${unique('zoe')}@mail.example`;
    const desk = await openWorkDesk(app, email);
    const assignment = await makeAssignment(app.context, desk.brand, { email, name: 'Zoë Nováková' });
    for (const days of [1, 2, 3, 45]) {
      await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(days), amountMinor: 123_456 });
    }
    await desk.post('/v1/payouts', { creator_email: email, amount: 50, method: 'manual', note: 'Fee' });
    await desk.made({
      creator_email: email,
      type: 'link',
      value: LONG_WORD,
      destination_url: 'https://shop.example/a',
    });
    await desk.post('/v1/contracts', {
      ...{ creator_email: email, title: `Summer ${LONG_WORD}`, send_for_signature: true },
      ...{ deliverables: [{ type: 'reel', platform: 'video_app' }] },
    });
    await desk.post('/v1/deliverables', { creator_email: email, type: 'photo', due_date: '2027-12-01' });
    await desk.post('/v1/shipments', { creator_email: email, product_description: LONG_WORD });
    await desk.post('/v1/messages', { creator_email: email, body: 'Hello', send_email: true });
    const link = (await desk.mails()).flatMap(({ links }) => links).find((one) => one.includes('/me/')) ?? '';
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPhone(browser, complaints, { colorScheme, javaScriptEnabled: false });
      await page.goto(`${app.links}${pathOf(link)}`);
      await page.getByRole('heading', { name: 'Hello Zoë Nováková' }).waitFor();
      await expectGood(page);
      await page.getByRole('link', { name: 'Hand in: Photo' }).click();
      await page.waitForURL(/\/work\//);
      await page.goto(`${app.links}/me/gone`);
      await page.getByLabel('Email').fill(email);
      await expectGood(page);
      await page.getByRole('button', { name: 'Email me the link' }).click();
      await page.getByRole('heading', { name: 'Check your email' }).waitFor();
      await expectGood(page);
      await page.context().close();
    }
    const phone = await openPhone(browser, complaints, { permissions: ['clipboard-read', 'clipboard-write'] });
    await phone.goto(`${app.links}${pathOf(link)}`);
    await phone.getByRole('button', { name: `Copy ${assignment.code}` }).click();
    await phone.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await phone.evaluate('navigator.clipboard.readText()')).toBe(assignment.code);
    await expectGood(phone);
    await phone.getByRole('link', { name: 'Hand in: Photo' }).click();
    await phone.getByRole('link', { name: /Your page with/ }).click();
    await phone.waitForURL(`${app.links}${pathOf(link)}`);
    await phone.context().close();
    const isMailed = async () => (await desk.mails()).filter(({ kind }) => kind === 'page_requested').length === 1;
    await until('one link is mailed', isMailed);
  });
});
