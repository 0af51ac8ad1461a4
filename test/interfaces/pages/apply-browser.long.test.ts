import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';
import { hasBrowser, openBrowser, openPhone } from '../../harness/interfaces/browser.ts';
import { BEHIND_PROXY, makeCampaign } from '../../harness/workflow/applying.ts';

const LONG_WORD = 'Sommerkampagnenauftaktveranstaltungsteilnehmerinnenverzeichnis';

describe.skipIf(!hasBrowser('The apply page in a browser'))('the apply page in a real Chromium', () => {
  let app: TestApp;
  let key: string;
  let browser: Browser;
  let page: Page;
  let campaign: string;
  /** What the browser complained about. */
  const complaints: string[] = [];

  beforeAll(async () => {
    app = await startApp({ env: BEHIND_PROXY });
    key = await (await makeBrand(app.context)).key('brand');
    browser = await openBrowser();
  });
  beforeEach(async () => {
    await page?.close();
    complaints.length = 0;
    campaign = await makeCampaign(app, key, { name: `Launch ${LONG_WORD}`, description: LONG_WORD });
    page = await openPhone(browser, complaints);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const open = () => page.goto(`${app.url}/apply/${campaign}`);
  const press = (key: string) => page.keyboard.press(key);
  const applications = async () => (await call(`${app.url}/v1/campaigns/${campaign}/applications`, key)).body.data;
  const heading = () => page.getByRole('heading', { level: 1 }).textContent();
  const isFocused = (label: string) =>
    page.getByLabel(label).evaluate((element) => element === element.ownerDocument.activeElement);

  /** Goes on to the field of this label with the Tab key alone, and types. */
  async function type(label: string, text: string): Promise<void> {
    await press('Tab');
    expect(await isFocused(label), label).toBe(true);
    await page.keyboard.type(text);
  }

  async function expectToFit(): Promise<void> {
    const { scrollWidth, clientWidth } = await page.locator('html').evaluate((root) => ({
      scrollWidth: root.scrollWidth,
      clientWidth: root.clientWidth,
    }));
    expect([scrollWidth, clientWidth]).toEqual([360, 360]);
  }

  it('is filled in by its labels and sent with the keyboard alone, in the order of the page', async () => {
    await open();
    await expectToFit();
    await type('Email', 'ann@mail.example');
    await type('Name', 'Ann Lee');
    await type('Instagram handle', '@ann.photos');
    await type('TikTok handle', 'ann_lee');
    await type('Message', 'Hello');
    await press('Enter');
    await page.keyboard.type('again');
    await type('Links to your work', 'https://ann.example/1');
    await press('Tab');
    expect(await page.getByRole('button').evaluate((button) => button === button.ownerDocument.activeElement)).toBe(
      true,
    );
    await press('Enter');
    await page.waitForURL('**/thanks');
    expect(await heading()).toBe('Thank you');
    await page.getByText('Your application has been received.').waitFor();
    await expectToFit();
    expect(await applications()).toMatchObject([
      {
        creator_email: 'ann@mail.example',
        creator_name: 'Ann Lee',
        creator_photo_app: 'ann.photos',
        creator_video_app: 'ann_lee',
        message: 'Hello\nagain',
        portfolio_urls: ['https://ann.example/1'],
      },
    ]);
    expect(complaints).toEqual([]);
  });

  it('shows each error beside its field, and is corrected there and sent', async () => {
    await open();
    // Good enough for the browser, not for us.
    await page.getByLabel('Email').fill('ann@mail');
    await page.getByLabel('Instagram handle').fill('https://photo.example/ann');
    await page.getByLabel('Name').fill('Ann');
    await press('Enter');
    const summary = page.getByRole('alert');
    await summary.waitFor();
    await expect.poll(() => summary.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await page.title()).toMatch(/^Error: /);
    await expectToFit();
    for (const [label, problem] of [
      ['Email', 'Enter a complete email address'],
      ['Instagram handle', 'Enter only the handle'],
    ] as const) {
      const field = page.getByLabel(label);
      const described = await field.evaluate((element) =>
        (element.getAttribute('aria-describedby') ?? '')
          .split(' ')
          .map((id: string) => element.ownerDocument.getElementById(id)?.textContent)
          .join(' '),
      );
      expect(described).toContain(problem);
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      const [above, below] = [
        await page.locator('.problem', { hasText: problem }).boundingBox(),
        await field.boundingBox(),
      ];
      const gap = (below?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0);
      expect(gap, `pixels between ${label} and its problem`).toBeGreaterThanOrEqual(0);
      expect(gap, `pixels between ${label} and its problem`).toBeLessThan(24);
    }
    expect(await page.getByLabel('Name').inputValue()).toBe('Ann');
    expect(await applications()).toEqual([]);

    await press('Tab');
    await press('Enter');
    expect(await isFocused('Email')).toBe(true);
    await page.getByLabel('Email').fill('ann@mail.example');
    await page.getByLabel('Instagram handle').fill('ann');
    await press('Enter');
    await page.waitForURL('**/thanks');
    expect(await applications()).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  it('is not sent without an email address: the browser reports it at the field', async () => {
    await open();
    await page.getByRole('button').press('Enter');
    expect(await isFocused('Email')).toBe(true);
    expect(await applications()).toEqual([]);
  });

  it('of a closed campaign announces that it is closed, has no form, and fits the screen', async () => {
    await send(`${app.url}/v1/campaigns/${campaign}`, key, 'PATCH', { status: 'paused' });
    await open();
    await page.getByText('is not accepting applications at the moment').waitFor();
    expect(await page.locator('form').count()).toBe(0);
    await expectToFit();
  });

  it('whose campaign closes while it is filled in refuses the form and announces that it is closed', async () => {
    await open();
    await page.getByLabel('Email').fill('ann@mail.example');
    await send(`${app.url}/v1/campaigns/${campaign}`, key, 'PATCH', { status: 'completed' });
    await press('Enter');
    await page.getByText('is not accepting applications at the moment').waitFor();
    expect(await applications()).toEqual([]);
  });
});
