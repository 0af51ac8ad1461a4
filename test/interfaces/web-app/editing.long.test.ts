import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

describe.skipIf(!hasBrowser('Editing in the web app'))('editing in the web app', () => {
  let app: TestApp;
  let desk: WorkDesk;
  let browser: Browser;
  let open: OpenPage;
  /** What was sent to change something. */
  const sent: unknown[] = [];

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), env: BEHIND_PROXY });
    desk = await openWorkDesk(app);
    browser = await openBrowser();
    open = await openWebApp(browser, app, desk.brand.id, { viewport: { width: 1280, height: 900 } });
    open.page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.postDataJSON());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });
  afterEach(() => {
    expect(open.complaints.splice(0)).toEqual([]);
    sent.length = 0;
  });

  const form = (name: string): Locator => open.page.getByRole('dialog', { name });
  const button = (name: string): Locator => open.page.getByRole('button', { name, exact: true }).last();
  /** What opens a listed item: a campaign has a page, others a panel; a contract stands under its creator. */
  const listed = (name: string): Locator =>
    button(name)
      .or(open.page.getByRole('main').getByRole('link', { name, exact: true }))
      .or(
        open.page
          .getByRole('row')
          .filter({ has: open.page.getByText(name, { exact: true }) })
          .getByRole('button'),
      )
      .first();
  const fact = (name: string | RegExp): Locator => open.page.getByRole('dialog').last().getByText(name).first();
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await desk.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body.data.id;
  };

  /** Opens what is listed, and its form with the keyboard alone. */
  async function edit(path: string, title: string, dialog: string): Promise<Locator> {
    await open.go(path);
    await listed(title).click();
    await button('Edit').focus();
    await open.page.keyboard.press('Enter');
    await form(dialog).getByRole('button', { name: 'Save' }).waitFor();
    return form(dialog);
  }

  /** As it is on a desktop and a phone; Escape closes it alone, and the focus is back where it was. */
  async function lookAt(dialog: Locator, name: string): Promise<void> {
    const { page } = open;
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot(page, `edit-${name}-desktop-dark`);
    expect(await axe(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 390, height: 844 });
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    await shoot(page, `edit-${name}-phone-light`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await dialog.getByRole('button', { name: 'Save' }).focus();
    await shoot(page, `edit-${name}-end`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => button('Edit').evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await dialog.waitFor();
  }

  async function save(dialog: Locator): Promise<void> {
    await dialog.getByRole('button', { name: 'Save' }).click();
  }

  /** The field that is marked, and why. */
  async function refused(dialog: Locator, label: string): Promise<string> {
    await dialog.getByRole('alert').waitFor();
    const field = dialog.getByLabel(label).first();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const id = (await field.getAttribute('aria-describedby'))?.split(' ')[0] ?? '';
    return (await open.page.locator(`[id="${id}"]`).textContent()) ?? '';
  }

  it('sends only the changed fields of a draft brief, and everything but the recipients of a sent one', async () => {
    const id = await post('/v1/briefs', { title: 'One reel', creator_email: desk.creator, talking_points: ['Light'] });
    const dialog = await edit('/briefs', 'One reel', 'Edit the brief');
    await lookAt(dialog, 'brief');
    await dialog.getByLabel('Creator').fill('nobody@mail.example');
    await save(dialog);
    expect(await refused(dialog, 'Creator')).toContain('nobody@mail.example');
    await dialog.getByLabel('Creator').fill(desk.creator);
    await dialog.getByLabel('Title').fill('Two reels');
    await dialog.getByLabel('Talking points').fill('Light\nSoft');
    await dialog.getByLabel('Platform').selectOption('video_app');
    await save(dialog);
    await dialog.waitFor({ state: 'hidden' });
    expect(sent.at(-1)).toEqual({ title: 'Two reels', talking_points: ['Light', 'Soft'], platform: 'video_app' });
    await open.page.reload();
    await fact('Soft').waitFor();
    expect((await desk.post(`/v1/briefs/${id}`, { action: 'send' })).status).toBe(200);
    const again = await edit('/briefs', 'Two reels', 'Edit the brief');
    await again.getByText('the creator can no longer be changed').waitFor();
    expect(await again.getByLabel('Creator').count()).toBe(0);
    await again.getByLabel('Due date').fill('2027-03-01');
    await save(again);
    await again.waitFor({ state: 'hidden' });
    expect(sent.at(-1)).toEqual({ due_date: '2027-03-01' });
  });

  it('changes a draft contract with its deliverables and rights, and explains why a sent one cannot change', async () => {
    const id = await post('/v1/contracts', {
      ...{
        creator_email: desk.creator,
        title: 'Spring',
        compensation: { type: 'fixed', amount: 100, currency: 'EUR' },
      },
      deliverables: [{ type: 'photo' }, { type: 'reel', quantity: 2 }],
    });
    const dialog = await edit('/contracts', 'Spring', 'Edit the contract');
    await lookAt(dialog, 'contract');
    await dialog.getByRole('button', { name: 'Remove Deliverable 1' }).click();
    await dialog.getByRole('button', { name: 'Add a deliverable' }).click();
    const [first, second] = [1, 2].map((n) => dialog.getByRole('group', { name: `Deliverable ${n}` }));
    expect(await first?.getByLabel('Content type').inputValue()).toBe('reel');
    await second?.getByLabel('Content type').fill('story');
    await second?.getByLabel('Quantity').fill('0');
    await save(dialog);
    expect(await second?.locator(':invalid').count(), 'the declaration’s limits hold before anything is sent').toBe(1);
    expect(await first?.locator(':invalid').count()).toBe(0);
    expect(sent).toEqual([]);
    await second?.getByLabel('Quantity').fill('3');
    await dialog.getByLabel('Sign by').fill('2020-01-01');
    await save(dialog);
    await expect.poll(() => refused(dialog, 'Sign by')).toContain('must be in the future');
    await dialog.getByLabel('Sign by').fill('');
    await dialog.getByLabel('Amount', { exact: true }).fill('250');
    await dialog.getByLabel('Usage starts').selectOption('signed');
    await dialog.getByLabel('Length in days').fill('30');
    await save(dialog);
    await dialog.waitFor({ state: 'hidden' });
    expect(sent.at(-1)).toEqual({
      compensation: { type: 'fixed', amount: 250, currency: 'EUR' },
      terms: { channels: [], territory: null, days: 30, starts: 'signed', starts_on: null },
      deliverables: [
        { type: 'reel', platform: null, quantity: 2, due_date: null },
        { type: 'story', platform: null, quantity: 3, due_date: null },
      ],
    });
    await open.page.reload();
    await fact(/3 × Story/).waitFor();
    await fact('30 days, from signing; worldwide; any channel').waitFor();
    expect((await desk.post(`/v1/contracts/${id}/send`, {})).status).toBe(200);
    await open.page.reload();
    await open.page.getByText('This contract has been sent and can no longer be edited.').waitFor();
    expect(await button('Edit').count()).toBe(0);
  });

  it('changes a campaign’s requirements, compensation and type, and sends nothing else', async () => {
    await post('/v1/campaigns', { name: 'Runners', requirements: { platforms: ['photo_app'], min_followers: 100 } });
    const dialog = await edit('/campaigns', 'Runners', 'Edit the campaign');
    await lookAt(dialog, 'campaign');
    await dialog.getByLabel('Minimum followers').fill('-1');
    await save(dialog);
    expect(await dialog.locator('input:invalid').count()).toBe(1);
    await dialog.getByLabel('Minimum followers').fill('5000');
    await dialog.getByLabel('TikTok').check();
    await dialog.getByLabel('Content type').fill('reel, story');
    await dialog.getByLabel('Campaign type').fill('ugc');
    await dialog.getByLabel('Compensation').selectOption('commission');
    await dialog.getByLabel('Percent of sales').fill('150');
    await save(dialog);
    await expect.poll(() => refused(dialog, 'Percent of sales')).toContain('at most 100');
    await dialog.getByLabel('Percent of sales').fill('15');
    await save(dialog);
    await dialog.waitFor({ state: 'hidden' });
    expect(sent.at(-1)).toEqual({
      ...{ type: 'ugc', compensation: { type: 'commission', amount: 15, currency: null } },
      requirements: { platforms: ['photo_app', 'video_app'], min_followers: 5000, content_types: ['reel', 'story'] },
    });
    await open.page.reload();
    for (const said of ['15% commission', 'Instagram, TikTok', '5,000']) {
      await open.page.getByText(said).first().waitFor();
    }
    const count = sent.length;
    await button('Edit').click();
    await save(dialog);
    await dialog.waitFor({ state: 'hidden' });
    expect(sent.length, 'nothing changed, nothing is sent').toBe(count);
  });
});
