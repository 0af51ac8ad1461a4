import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../harness/app.ts';
import { violationsOf } from '../../harness/interfaces/axe.ts';
import { hasBrowser, openBrowser, openPhone } from '../../harness/interfaces/browser.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openTalkDesk } from '../../harness/workflow/talking.ts';
import { BROWSER } from '../../harness/workflow/work.ts';

const LONG_WORD = 'Sommerkampagnenauftaktveranstaltungsteilnehmerinnenverzeichnis';

describe.skipIf(!hasBrowser('The page of a conversation in a browser'))(
  'the page of a conversation in a real Chromium of 360 pixels',
  () => {
    let app: TestApp;
    let browser: Browser;
    let page: Page;
    const complaints: string[] = [];

    beforeAll(async () => {
      app = await startApp({ env: BEHIND_PROXY });
      browser = await openBrowser();
      page = await openPhone(browser, complaints, { userAgent: BROWSER, timezoneId: 'Asia/Tokyo' });
    });
    afterAll(async () => {
      await browser?.close();
      await app?.close();
    });

    async function expectGood(): Promise<void> {
      expect(await page.locator('html').evaluate((root) => root.scrollWidth)).toBe(360);
      expect(await violationsOf(browser, page.url(), await page.content())).toEqual([]);
      expect(complaints).toEqual([]);
    }

    it('is read, refuses a phone number with an explanation, and takes a reply with the keyboard alone', async () => {
      const desk = await openTalkDesk(app);
      await desk.write({ subject: `Spring ${LONG_WORD}`, body: `We love it.\n${LONG_WORD}`, send_email: true });
      await page.goto(await desk.page());
      await page.getByText('We love it.').waitFor();
      const [{ sent_at }] = (await desk.thread((await desk.list()).data[0].conversation_id)).messages;
      const form = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
      const local = new Date(sent_at).toLocaleString('en-US', { ...form, timeZone: 'Asia/Tokyo' });
      expect(await page.getByRole('time').textContent()).toBe(local);
      await expectGood();
      const field = page.getByLabel('Your reply');
      await field.focus();
      await page.keyboard.type('Call 0151 23456789');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await expectGood();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await expect.poll(() => field.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
      await field.fill('With pleasure!');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('status').waitFor();
      await expectGood();
      const { data } = await desk.list('unread=true');
      expect(data).toMatchObject([{ message_count: 2, last_message: { sender: 'creator', body: 'With pleasure!' } }]);
    });
  },
);
