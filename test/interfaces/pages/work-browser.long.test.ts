import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../harness/app.ts';
import { violationsOf } from '../../harness/interfaces/axe.ts';
import { hasBrowser, openBrowser, openPhone } from '../../harness/interfaces/browser.ts';
import { pathOf } from '../../harness/kit/mail.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { BROWSER, openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

const LONG_WORD = 'Sommerkampagnenauftaktveranstaltungsteilnehmerinnenverzeichnis';

describe.skipIf(!hasBrowser('The pages of creators in a browser'))('in a real Chromium of 360 pixels,', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  let desk: WorkDesk;
  /** What the browser complained about. */
  const complaints: string[] = [];

  beforeAll(async () => {
    app = await startApp({ env: BEHIND_PROXY });
    browser = await openBrowser();
  });
  beforeEach(async () => {
    complaints.length = 0;
    desk = await openWorkDesk(app);
    // Its own says that nobody sits before it: a visit of no person, which begins nothing.
    page = await openPhone(browser, complaints, { userAgent: BROWSER });
    return () => page.close();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const press = (key: string) => page.keyboard.press(key);
  const isFocused = (label: string) =>
    page.getByLabel(label).evaluate((element) => element === element.ownerDocument.activeElement);
  const openLink = (link: string) => page.goto(`${app.links}${pathOf(link)}${new URL(link).search}`);

  /** The page as it is now: nothing is wrong for axe, nothing is wider than the screen, the browser is content. */
  async function expectGood(): Promise<void> {
    const scrollWidth = await page.locator('html').evaluate((root) => root.scrollWidth);
    expect(scrollWidth).toBe(360);
    expect(await violationsOf(browser, page.url(), await page.content())).toEqual([]);
    expect(complaints).toEqual([]);
  }

  const contract = async (more: object = {}) => {
    const { body } = await desk.post('/v1/contracts', {
      ...{ creator_email: desk.creator, title: `Summer ${LONG_WORD}`, send_for_signature: true },
      compensation: { type: 'fixed', amount: 500, currency: 'USD' },
      deliverables: [{ type: 'reel', platform: 'photo_app', quantity: 2, due_date: '2030-01-31' }],
      ...{ usage_rights: `In ads.\n${LONG_WORD}`, terms: { days: 180, channels: ['ads'] }, ...more },
    });
    return body.data;
  };

  it('a brief is read, and its page fits', async () => {
    await desk.post('/v1/briefs', {
      ...{ title: `Two reels ${LONG_WORD}`, creator_email: desk.creator, campaign_id: desk.campaign },
      ...{ instructions: `Be kind.\n${LONG_WORD}`, talking_points: ['the price'], do_not: [LONG_WORD] },
      ...{ mood_board_urls: [`https://board.example/${LONG_WORD}/${LONG_WORD}`], due_date: '2030-01-31' },
      ...{ platform: 'video_app', content_type: 'reel', send_notification: true },
    });
    await openLink(await desk.linkTo('brief'));
    await page.getByRole('heading', { name: 'Talking points' }).waitFor();
    await expectGood();
    expect((await desk.read('/v1/briefs'))[0].status).toBe('in_progress');
  });

  it('a contract is signed with the keyboard alone, after the page reports the missing fields', async () => {
    const { id, signature_url } = await contract();
    await openLink(signature_url);
    await expectGood();
    await page.getByLabel('Your full name').focus();
    await page.keyboard.type('A');
    await press('Tab');
    expect(await isFocused('I have read this contract')).toBe(true);
    await press('Space');
    await press('Tab');
    await press('Enter');
    const summary = page.getByRole('alert');
    await summary.waitFor();
    await expect.poll(() => summary.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await page.getByLabel('I have read this contract').isChecked()).toBe(true);
    await expectGood();
    await press('Tab');
    await press('Enter');
    expect(await isFocused('Your full name')).toBe(true);
    await page.keyboard.type('na Diaz');
    await press('Enter');
    await page.getByText('Signed by').waitFor();
    await expectGood();
    expect(await desk.read(`/v1/contracts/${id}`)).toMatchObject({
      status: 'signed',
      signer_name: expect.stringMatching(/na Diaz/),
    });
    await page.getByRole('link', { name: 'Hand in your work' }).click();
    await page.getByRole('link', { name: '1. Reel' }).waitFor();
    await expectGood();
  });

  it('work is handed in with a file and a link and sent back, and errors appear at their fields', async () => {
    const { signature_url } = await contract();
    await desk.fill(signature_url, { name: 'Ana Diaz', agree: 'yes' });
    await openLink(await desk.linkTo('work'));
    await page.getByRole('link', { name: '1. Reel' }).click();
    await page.getByRole('heading', { name: 'Hand it in' }).waitFor();
    await expectGood();
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Link').getAttribute('aria-invalid')).toBe('true');
    await expectGood();
    await page.getByLabel('Link').fill('https://video.app/v/1');
    await page
      .getByLabel('Files')
      .setInputFiles({ name: `${LONG_WORD}.txt`, mimeType: 'text/plain', buffer: Buffer.from('cut') });
    await page.getByLabel('Note').fill(`First ${LONG_WORD}`);
    await page.getByRole('button', { name: 'Hand in' }).press('Enter');
    await page.getByText('reviews it and writes to you.').waitFor();
    await page.getByRole('link', { name: LONG_WORD }).waitFor();
    await expectGood();
    const [one] = await desk.read('/v1/deliverables?status=submitted');
    await desk.send('PATCH', `/v1/deliverables/${one.id}`, {
      status: 'revision_requested',
      feedback: `Louder ${LONG_WORD}`,
    });
    await openLink(await desk.linkTo('work'));
    await page.getByRole('blockquote').getByText('Louder').waitFor();
    await expectGood();
  });

  it('work is declined with the keyboard alone', async () => {
    await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'story', instructions: 'Show the box.' });
    await openLink(await desk.linkTo('work'));
    await page.getByText('I cannot do this').focus();
    await press('Enter');
    await press('Tab');
    expect(await isFocused('Why')).toBe(true);
    await page.keyboard.type('I am on holiday.');
    await press('Tab');
    await press('Enter');
    await page.getByText('Declined by you').waitFor();
    await expectGood();
    expect((await desk.read('/v1/deliverables'))[0].declined_reason).toBe('I am on holiday.');
  });

  it('a shared page of parcels is stacked, so that nothing of it is cut off', async () => {
    const parcel = { creator_email: desk.creator, carrier: 'dhl', estimated_arrival: '2030-01-31' };
    await desk.post('/v1/shipments', { ...parcel, product_description: `Two pairs of shoes ${LONG_WORD}` });
    const { body } = await desk.post('/api/brand/shipments/share', { title: `Parcels ${LONG_WORD}` });
    await openLink(body.url);
    await page.getByRole('region', { name: 'Parcels', exact: true }).waitFor();
    await expectGood();
    const wider = await page.locator('.scroll').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(wider).toBe(0);
    await page.getByText('January 31, 2030', { exact: true }).waitFor();
  });

  it('a link that was revoked leads to a page that mails the link to the creator’s own page', async () => {
    const { id, signature_url } = await contract();
    await desk.post(`/v1/contracts/${id}/send`, {});
    await openLink(signature_url);
    await page.getByRole('heading', { name: 'Not found', exact: true }).waitFor();
    // The browser remarks on each 404.
    complaints.length = 0;
    await expectGood();
    await page.getByRole('link', { name: 'Email me the link to it', exact: true }).click();
    await page.getByLabel('Email').fill(desk.creator);
    await page.getByRole('button', { name: 'Email me the link', exact: true }).click();
    await page.getByRole('heading', { name: 'Check your email', exact: true }).waitFor();
  });
});
