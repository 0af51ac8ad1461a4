import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkbox, errorSummary, field, fileField, postForm, submitButton } from '../../../src/kit/html/controls.ts';
import { html } from '../../../src/kit/html/html.ts';
import { page as pageOf } from '../../../src/kit/html/page.ts';
import { queueMail } from '../../../src/kit/mail/queue.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { mailsOf, pathOf } from '../../harness/kit/mail.ts';
import { BEHIND_PROXY, someAddress } from '../../harness/workflow/applying.ts';
import { deadlineMs } from '../../run/deadline.ts';

const LONG_WORD = 'Sommerkampagnenauftaktveranstaltungsteilnehmerinnenverzeichnis';

/** Every control of the kit, with something wrong in each. */
function everyControl(): string {
  const problem = `${LONG_WORD} is not it.`;
  const controls = [
    { name: 'url', label: 'Link', hint: 'It begins with https://.', value: LONG_WORD, problem, required: true },
    { name: 'note', label: 'Note', value: LONG_WORD, rows: 4 },
  ];
  return pageOf(
    'Everything',
    html`${errorSummary(controls)}
<h1>${LONG_WORD}</h1>
${postForm(
  '/sign/x',
  html`${controls.map(field)}${checkbox({ name: 'agree', label: `I agree to ${LONG_WORD}`, isChecked: false, problem, required: true })}
${fileField({ name: 'file', label: 'Files', hint: 'Pictures or films.', accept: 'image/*', multiple: true })}
${submitButton('Send')}${submitButton('Decline', { name: 'action', value: 'decline', quiet: true })}`,
  { multipart: true },
)}`,
    { name: `Brand ${LONG_WORD}`, logo: null },
  );
}

describe.skipIf(!hasBrowser('The kit of pages'))('pages of the kit in a real Chromium', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    app = await startApp({ env: BEHIND_PROXY });
    browser = await openBrowser();
    page = await browser.newPage({
      viewport: { width: 360, height: 740 },
      bypassCSP: true,
      extraHTTPHeaders: { 'x-forwarded-for': someAddress() },
    });
    page.setDefaultTimeout(deadlineMs);
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** What axe finds wrong for somebody who cannot see, or not well. */
  async function violations(): Promise<string[]> {
    await page.addScriptTag({ content: axe.source });
    return await page.evaluate<string[]>(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
    );
  }
  const overflow = () =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  it('fit on 360 pixels and can be read aloud, whatever they contain, in light and dark mode', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setContent(everyControl());
      expect([colorScheme, await overflow(), await violations()]).toEqual([colorScheme, 0, []]);
    }
  });

  it('are used with the keyboard alone, under their policy, without an error in the browser', async () => {
    const brand = await makeBrand(app.context);
    const { postgres, clock } = app.context;
    const actor = { brandId: brand.id, keyId: null, operation: 'test', requestId: null };
    const params = { at: clock.now().toISOString() };
    const mail = { kind: 'mail_test' as const, to: `${unique('ann')}@mail.example`, subjectRow: unique('row'), params };
    await inWork(postgres.db, clock, actor, (work) => queueMail(work, mail));
    const [{ links: [link = ''] = [] } = {}] = await mailsOf(app.context, brand.id);
    const strict = await browser.newPage({ extraHTTPHeaders: { 'x-forwarded-for': someAddress() } });
    strict.setDefaultTimeout(deadlineMs);
    strict.on('console', (message) => void complaints.push(message.text()));
    await strict.goto(app.links + pathOf(link));
    await strict.keyboard.press('Tab');
    await strict.keyboard.press('Enter');
    await strict.getByRole('heading', { name: 'No more emails', exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});
