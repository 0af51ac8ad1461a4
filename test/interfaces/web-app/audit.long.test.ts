import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { datesIn } from '../../../src/kit/values/format.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

describe.skipIf(!hasBrowser('The audit log in a browser'))('the audit log and addresses in a real Chromium', () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const made = await send(`${app.url}/v1/campaigns`, key, 'POST', { name: 'Spring' });
    const id: string = made.body.data.id;
    const more = [
      await send(`${app.url}/v1/campaigns/${id}`, key, 'PATCH', { name: 'Summer', status: 'paused' }),
      await send(`${app.url}/v1/roster/add`, key, 'POST', {
        ...{ creator_email: 'bo@mail.example', ig_handle: 'bolind', name: 'Bo Lind' },
      }),
      await send(`${app.url}/v1/contracts`, key, 'POST', {
        ...{ creator_email: 'bo@mail.example', title: 'One reel', campaign_id: id },
        compensation: { type: 'fixed', amount: 450, currency: 'EUR' },
      }),
      await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { time_zone: 'Asia/Tokyo' } }),
    ];
    expect([made, ...more].map(({ status }) => status)).toEqual([201, 200, 201, 201, 200]);
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('names each record with its creator, says what changed in words, and leads to the record', async () => {
    const { page, go, complaints } = open;
    await go('/audit');
    await page.getByRole('row', { name: /Created contract.*One reel.*Contract, Bo Lind.*Key test/ }).waitFor();
    await page.getByRole('row', { name: /Changed campaign.*title: Spring → Summer and 1 more.*Summer/ }).waitFor();
    await page.getByRole('button', { name: 'Changed campaign' }).click();
    const panel = page.getByRole('dialog');
    await panel.getByRole('row', { name: 'Title Spring Summer' }).waitFor();
    await panel.getByRole('row', { name: 'Status Active Paused' }).waitFor();
    await page.reload();
    await panel.getByRole('link', { name: 'Summer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Summer' }).waitFor();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('shows money and campaigns of a new record in words', async () => {
    const { page, go } = open;
    await go('/audit?resource_prefix=ctr');
    await page.getByRole('button', { name: 'Created contract' }).click();
    const panel = page.getByRole('dialog');
    await panel.getByRole('row', { name: /^Campaign Summer$/ }).waitFor();
    await panel.getByText('€450.00').waitFor();
    expect(await axe(page)).toEqual([]);
    await shoot(page, 'audit-entry-desktop');
  });

  it('shows times in the brand’s time zone, by its name where the computer is in another, and in UTC', async () => {
    const { page, go } = open;
    await go('/audit?operation=update_brand');
    await page.getByRole('button', { name: 'Changed brand' }).click();
    const time = page.getByRole('dialog').locator('dd time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    await expect.poll(() => time.textContent()).toContain(datesIn('Asia/Tokyo').zonedTime(at));
    expect(await time.textContent()).toContain(`${datesIn('UTC').time(at)} UTC`);
  });

  it('keeps filters under a name, shows them again and clears them', async () => {
    const { page, go, complaints } = open;
    await go('/audit');
    await page.getByLabel('Record', { exact: true }).selectOption('cmp');
    await page.locator('.table-top').getByText('2 changes', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByLabel('Name of the view').fill('Campaigns');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.locator('.table-top').getByText('2 changes', { exact: true }).waitFor({ state: 'hidden' });
    await page.reload();
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('button', { name: 'Campaigns', exact: true }).click();
    await page.locator('.table-top').getByText('2 changes', { exact: true }).waitFor();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('leads to dialogs of other pages by their address, and closing one leaves the page', async () => {
    const { page, complaints } = open;
    for (const [path, title] of [
      ['/people?dialog=invite', 'Invite someone'],
      ['/keys?dialog=create', 'Create a key'],
      ['/stores?dialog=connect', 'Connect a store'],
      ['/assets?dialog=upload', 'Upload files'],
    ] as const) {
      // What is behind a dialog is hidden, also the page's heading.
      await page.goto(`${app.url}/app${path}`);
      await page.getByRole('dialog', { name: title }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await expect.poll(() => new URL(page.url()).search).toBe('');
    }
    expect(complaints.splice(0)).toEqual([]);
  });
});
