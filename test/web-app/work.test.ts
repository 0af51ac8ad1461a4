import type { Browser, Locator } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../harness/app.ts';
import { BEHIND_PROXY } from '../harness/applying.ts';
import { hasBrowser, openBrowser } from '../harness/browser.ts';
import { daysAgo, makeAssignment, makeSale } from '../harness/sales.ts';
import { reply } from '../harness/talking.ts';
import { file } from '../harness/uploading.ts';
import { axe, builtClient, expectToFit, type OpenPage, openWebApp, shoot } from '../harness/web-app.ts';
import { openWorkDesk, type WorkDesk } from '../harness/work.ts';

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

  async function clean(name: string, { page, complaints }: OpenPage): Promise<void> {
    await page.waitForLoadState('networkidle');
    await shoot(page, name);
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  }

  const PAGES: readonly (readonly [path: string, row: RegExp, says: RegExp, makes: string | undefined])[] = [
    ['/conversations', /@/, /On its way/, 'Write to a creator'],
    ['/briefs', /^A reel/, /No other brands/, 'Write a brief'],
    ['/contracts', /^Summer/, /Ads, for 30 days/, 'Draft a contract'],
    ['/deliverables', /^Reel/, /cut-1/, undefined],
    ['/shipments', /@|Two pairs/, /Two pairs/, 'Add a shipment'],
    ['/content', /Cabc123/, /Stop following/, 'Follow a post'],
    ['/assets', /shoes/, /Open the file/, 'Upload files'],
    ['/disputes', /@|Ann/, /Where is the rest/, undefined],
    ['/agents', /campaign/i, /What it would change/, undefined],
  ];

  async function firstOf(page: OpenPage['page'], row: RegExp): Promise<Locator> {
    const button = page.locator('tbody').getByRole('button', { name: row }).first();
    await button.waitFor();
    return button;
  }

  describe.each(PAGES)('%s', (path, row, says, makes) => {
    it.each(['desktop', 'phone'] as const)('shows what is there, and each dialog, on a %s', async (kind) => {
      const where = kind === 'desktop' ? desktop : phone;
      const { page } = where;
      const name = `work${path.replaceAll('/', '-')}`;
      await where.go(path);
      const button = await firstOf(page, row);
      await clean(`${name}-${kind}`, where);
      await button.click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(says).first().waitFor();
      await clean(`${name}-open-${kind}`, where);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      if (makes === undefined) return;
      await page
        .getByRole('button', { name: new RegExp(`^(${makes}|Upload|Follow|Add|Draft|Write)`) })
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
      await clean(`${name}-make-${kind}`, where);
    });
  });

  it('shows a submission beside its brief and contract; asks for another version, and approves that', async () => {
    const { page, go } = desktop;
    const dialog = page.getByRole('dialog', { name: /^Reel by/ });
    const open = async () => {
      await go('/deliverables?status=submitted');
      await page.getByRole('button', { name: 'Reel' }).first().click();
      await dialog.getByRole('heading', { name: 'What came' }).waitFor();
    };
    await open();
    for (const said of ['Show the soles.', 'No other brands', 'Ads, for 30 days.', 'Version 1']) {
      await dialog.getByText(said).first().waitFor();
    }
    const [requested, came] = await Promise.all(
      ['What was asked for', 'What came'].map((name) => dialog.getByRole('heading', { name }).boundingBox()),
    );
    expect(requested?.y).toBe(came?.y);
    await dialog.getByLabel('What should change').fill('Brighter, please.');
    await dialog.getByRole('button', { name: 'Ask for another version' }).click();
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

async function picture(name: string, background: string): Promise<File> {
  const bytes = await sharp({ create: { width: 640, height: 400, channels: 3, background } })
    .png()
    .toBuffer();
  return file(new Uint8Array(bytes), name, 'image/png');
}

async function submit(desk: WorkDesk, id: string, n: number): Promise<void> {
  const fields = { deliverable: id, do: 'submit', content_url: `https://video.app/v/${n}`, note: `Cut ${n}` };
  const sent = await desk.fill(await desk.linkTo('work'), fields, [await picture(`cut-${n}.png`, '#0f766e')]);
  expect(sent.status, sent.text).toBe(303);
}

/** Something of each kind, made by the doors that a brand, its creators and its agents use. */
async function fillWork(app: TestApp, desk: WorkDesk): Promise<void> {
  const made = async (path: string, body: object) => {
    const answer = await desk.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body.data;
  };
  const creator_email = desk.creator;
  const brief = await made('/v1/briefs', {
    ...{ title: 'A reel of the summer shoes', campaign_id: desk.campaign, creator_email, content_type: 'reel' },
    ...{ instructions: 'Show the soles.', talking_points: ['They are light'], do_not: ['No other brands'] },
  });
  await made(`/v1/briefs/${brief.id}`, { action: 'send' });
  const contract = await made('/v1/contracts', {
    ...{ creator_email, campaign_id: desk.campaign, title: 'Summer launch', send_for_signature: true },
    ...{ deliverables: [{ type: 'reel', platform: 'video_app' }], usage_rights: 'Ads, for 30 days.' },
    ...{ terms: { days: 30, channels: ['ads'] }, compensation: { type: 'fixed', amount: 500, currency: 'USD' } },
  });
  expect((await desk.fill(await desk.linkTo('sign'), { name: 'Ana Diaz', agree: 'yes' })).status).toBe(303);
  const [{ id }] = await desk.read(`/v1/deliverables?contract_id=${contract.id}`);
  await submit(desk, id, 1);
  await made('/v1/shipments', { creator_email, product_description: 'Two pairs of shoes', carrier: 'Post' });
  await made('/v1/content', { url: 'https://www.instagram.com/reel/Cabc123', creator_email });
  await made('/v1/messages', {
    creator_email,
    body: 'On its way to you.\nTell us when it is there.',
    send_email: true,
  });
  const mails = await desk.mails();
  const talk = mails.flatMap(({ links }) => links).find((link) => link.includes('/talk/'));
  if (talk) await reply(`${app.url}${new URL(talk).pathname}`, 'It came today!');
  await askAboutStatement(app, desk, made);
  const planned = await desk.send('PATCH', `/v1/campaigns/${desk.campaign}?mode=plan`, {
    name: 'Summer',
    status: 'paused',
  });
  expect(planned.status, JSON.stringify(planned.body)).toBe(202);
  const form = new FormData();
  form.append('file', await picture('shoes.png', '#b45309'));
  const answer = await fetch(`${app.url}/v1/assets`, {
    ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${await desk.brand.key('brand')}` } },
  });
  expect(answer.status).toBe(201);
}

async function askAboutStatement(
  app: TestApp,
  desk: WorkDesk,
  made: (path: string, body: object) => Promise<{ url: string }>,
): Promise<void> {
  const assignment = await makeAssignment(app.context, desk.brand, { name: 'Ann Lee', holdDays: 0 });
  const sale = await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(20) });
  const day = (days: number) => daysAgo(days).toISOString().slice(0, 10);
  const statement = await made('/v1/statements', { creator_email: assignment.email, from: day(40), to: day(0) });
  const { pathname, search } = new URL(statement.url);
  const requested = await desk.fill(`${pathname}${search}`, { line: sale.id, message: 'Where is the rest?' });
  expect(requested.status, requested.text).toBe(303);
}
