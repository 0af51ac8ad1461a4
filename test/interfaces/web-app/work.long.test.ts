import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';
import { fillWork, submit } from '../../harness/workflow/worked-brand.ts';

describe.skipIf(!hasBrowser('Work with creators in the web app'))('work with creators in the web app', () => {
  let app: TestApp;
  let desk: WorkDesk;
  let browser: Browser;
  let desktop: OpenPage;
  let phone: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), env: BEHIND_PROXY });
    desk = await openWorkDesk(app);
    await fillWork(app, desk);
    browser = await openBrowser();
    desktop = await openWebApp(browser, app, desk.brand.id, { viewport: { width: 1280, height: 900 } });
    phone = await openWebApp(browser, app, desk.brand.id, {
      ...{ viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** A dialog is looked at by itself: what is behind it was before it opened. */
  async function clean(name: string, { page, complaints, rest }: OpenPage, within = 'html'): Promise<void> {
    await rest();
    await shoot(page, name);
    await expectToFit(page);
    expect(await axe(page, 'all', within)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  }

  const PAGES: readonly (readonly [path: string, row: RegExp, says: RegExp, makes: string | undefined])[] = [
    ['/briefs', /^A reel/, /No other brands/, 'Write a brief'],
    ['/contracts', /@|Ann/, /Ads, for 30 days/, 'Draft a contract'],
    ['/deliverables', /^Reel/, /cut-1/, undefined],
    ['/shipments', /@|Two pairs/, /Two pairs/, 'Add a shipment'],
    ['/content', /^Reel by/, /Stop tracking/, 'Track a post'],
    ['/assets', /shoes/, /Open the file/, 'Upload files'],
    ['/disputes', /@|Ann/, /Where is the rest/, undefined],
    ['/agents', /campaign/i, /What this plan would change/, undefined],
  ];

  async function firstOf(page: OpenPage['page'], row: RegExp): Promise<Locator> {
    const button = page.locator('tbody').getByRole('button', { name: row }).first();
    await button.waitFor();
    return button;
  }

  describe.each(PAGES)('%s', (path, row, says, makes) => {
    it.each(['desktop', 'phone'] as const)('shows the items, and each dialog, on a %s', async (kind) => {
      const where = kind === 'desktop' ? desktop : phone;
      const { page } = where;
      const name = `work${path.replaceAll('/', '-')}`;
      await where.move(path);
      const button = await firstOf(page, row);
      await clean(`${name}-${kind}`, where);
      await button.click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(says).first().waitFor();
      await clean(`${name}-open-${kind}`, where, '[role=dialog]');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      if (makes === undefined) return;
      await page
        .getByRole('button', { name: new RegExp(`^(${makes}|Upload|Follow|Add|Draft|Write)`) })
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
      await clean(`${name}-make-${kind}`, where, '[role=dialog]');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    });
  });

  it('shows conversations beside what is said on a desktop, and below it on a phone', async () => {
    const { page } = desktop;
    await desktop.go('/conversations');
    const thread = page.getByRole('region', { name: /^Conversation with / });
    await thread
      .getByText(/On its way/)
      .first()
      .waitFor();
    expect(await page.locator('tbody [aria-current]').count()).toBe(1);
    await clean('work-conversations-desktop', desktop);
    await (await firstOf(page, /@/)).click();
    await expect.poll(() => page.url()).toContain('open=');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await thread.getByLabel('Your message').waitFor();
    await clean('work-conversations-open-desktop', desktop);
    await page.getByLabel('Next step').selectOption({ label: 'Wait for a reply' });
    await page.getByText('Nothing matches these filters').waitFor();
    await phone.go('/conversations');
    await clean('work-conversations-phone', phone);
    await (await firstOf(phone.page, /@/)).click();
    const dialog = phone.page.getByRole('dialog');
    await dialog
      .getByText(/On its way/)
      .first()
      .waitFor();
    await clean('work-conversations-open-phone', phone);
    await phone.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await phone.page.getByRole('button', { name: 'Write a message' }).click();
    await dialog.waitFor();
    await clean('work-conversations-make-phone', phone);
  });

  it('shows a submission next to its brief and contract; requests another version, and approves that', async () => {
    const { page, go } = desktop;
    const dialog = page.getByRole('dialog', { name: /^Reel by/ });
    const open = async () => {
      await go('/deliverables?status=submitted');
      await page.getByRole('button', { name: 'Reel' }).first().click();
      await dialog.getByRole('heading', { name: 'Submitted' }).waitFor();
    };
    await open();
    for (const said of ['Show the soles.', 'No other brands', 'Ads, for 30 days.', 'Version 1']) {
      await dialog.getByText(said).first().waitFor();
    }
    const [requested, came] = await dialog
      .getByRole('heading', { name: /^(?:Agreed|Submitted)$/ })
      .evaluateAll((headings) => headings.map((heading) => heading.getBoundingClientRect().top));
    expect(Math.abs((requested ?? 0) - (came ?? 99))).toBeLessThan(8);
    const bounds = (of: Locator) => of.evaluate((one) => one.getBoundingClientRect().toJSON());
    const [work, decision] = await Promise.all([
      bounds(dialog.getByRole('region', { name: 'Version 1', exact: true })),
      bounds(dialog.getByRole('button', { name: 'Approve version 1', exact: true })),
    ]);
    expect(decision.top).toBeGreaterThan(work.bottom);
    await dialog.getByLabel('What should change').fill('Brighter, please.');
    await dialog.getByRole('button', { name: 'Request another version' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const [one] = await desk.read('/v1/deliverables?status=revision_requested');
    expect(one.feedback).toBe('Brighter, please.');
    await submit(desk, one.id, 2);
    await open();
    await dialog.getByText('Brighter, please.').waitFor();
    await clean('work-review-second', desktop);
    await dialog.getByRole('button', { name: 'Approve version 2' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await desk.read(`/v1/deliverables/${one.id}`)).status).toBe('approved');
  });
});
