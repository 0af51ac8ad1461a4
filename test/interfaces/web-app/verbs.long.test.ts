import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { startApp, type TestApp, unique } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { type OpenPage, openWebApp } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';
import { fillBrand, fillWork } from '../../harness/workflow/worked-brand.ts';

describe.skipIf(!hasBrowser('What the web app does'))('on each page of the web app, a brand', () => {
  let app: TestApp;
  let desk: WorkDesk;
  let store: TestStore;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient(), env: BEHIND_PROXY });
    desk = await openWorkDesk(app);
    store = await startStore('shopify');
    await fillWork(app, desk);
    await fillBrand(app, desk, store);
    browser = await openBrowser();
    open = await openWebApp(browser, app, desk.brand.id, { viewport: { width: 1280, height: 900 } });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await store?.close();
  });

  const dialog = (): Locator => open.page.getByRole('dialog').last();
  const gone = () => open.page.getByRole('dialog').waitFor({ state: 'hidden' });
  const press = (name: string | RegExp) => open.page.getByRole('main').getByRole('button', { name }).first().click();
  const inDialog = (name: string) => dialog().getByRole('button', { name, exact: true }).click();
  afterEach(() => expect(open.complaints.splice(0)).toEqual([]));

  async function fill(fields: Record<string, string>): Promise<void> {
    for (const [label, value] of Object.entries(fields)) await dialog().getByLabel(label).first().fill(value);
  }

  it('shortlists the selected application; rejects one in its row, then accepts it, which puts its creator on the roster', async () => {
    await open.go('/applications');
    await open.page.getByRole('row').filter({ hasText: 'Cy Young' }).getByRole('checkbox').check();
    const selected = open.page.getByRole('region', { name: 'Selected applications' });
    await selected.getByRole('button', { name: 'Shortlist' }).click();
    await inDialog('Shortlist');
    await selected.waitFor({ state: 'hidden' });
    await open.page.getByRole('button', { name: 'Cy Young' }).waitFor({ state: 'hidden' });
    const row = open.page.getByRole('row').filter({ hasText: 'Dee Dee' });
    await row.getByRole('button', { name: 'Reject', exact: true }).click();
    await inDialog('Reject');
    await open.page.getByText('No application waits for you').waitFor();
    await open.page.getByLabel('Status').selectOption('All');
    await open.page.getByRole('cell', { name: 'Shortlisted' }).waitFor();
    await press('Dee Dee');
    await inDialog('Accept');
    await gone();
    await open.page.getByRole('cell', { name: 'Accepted' }).waitFor();
    await open.go('/roster');
    await open.page.getByRole('link', { name: 'Dee Dee' }).waitFor();
  });

  it('drafts a campaign with a fixed sum and sees what it lacks, publishes it, changes its status and deadline, and opens its applications', async () => {
    await open.go('/campaigns');
    await press('Create a campaign');
    await fill({ Name: 'Winter', Deadline: '2027-01-31' });
    expect(await dialog().getByLabel('Currency').count(), 'no amount before the kind of pay').toBe(0);
    await dialog().getByLabel('Compensation').selectOption('fixed');
    await fill({ Amount: '250' });
    await dialog().getByLabel('Currency').selectOption('EUR');
    await inDialog('Save draft');
    await open.page.getByRole('heading', { level: 1, name: 'Winter' }).waitFor();
    await open.page.getByRole('heading', { name: /^Before it opens: \d of 6 left$/ }).waitFor();
    const missing = open.page.locator('.checklist li:not(.done)');
    expect(await missing.filter({ hasText: 'Description' }).count()).toBe(1);
    expect(await missing.filter({ hasText: 'Deadline' }).count()).toBe(0);
    await press('Publish');
    await missing.first().waitFor({ state: 'hidden' });
    await open.page.getByText('€250.00 fixed').first().waitFor();
    await press('Edit');
    await dialog().getByLabel('Status').selectOption('paused');
    await fill({ Deadline: '2027-02-28' });
    await inDialog('Save');
    await gone();
    await open.go('/campaigns');
    await open.page.getByRole('row', { name: /Winter.*Paused.*Feb 28, 2027/ }).waitFor();
    await open.page.getByRole('link', { name: 'Open to all' }).click();
    await open.page.locator('label', { hasText: 'Applied' }).click();
    await open.page.locator('.table-top').getByText('1 creator', { exact: true }).waitFor();
    await open.page.getByRole('link', { name: 'Review' }).click();
    await dialog().getByText('Open to all').waitFor();
  });

  it('adds a creator to the roster, keeps tags and a note, removes one, and sees who is already there', async () => {
    await open.go('/roster');
    const email = `${unique('new')}@mail.example`;
    await press('Add a creator');
    await fill({ Email: email });
    await inDialog('Add');
    await gone();
    await press('Add a creator');
    await fill({ Email: email.toUpperCase() });
    await inDialog('Add');
    await dialog().getByRole('alert').waitFor();
    await open.page.keyboard.press('Escape');
    await open.page.getByRole('link', { name: email }).click();
    await press('Edit');
    await fill({ Tags: 'runner, berlin', Note: 'Met at the fair' });
    await inDialog('Save');
    await gone();
    await open.page.getByText('runner, berlin').waitFor();
    await press('More actions');
    await press('Remove from the roster');
    await inDialog('Remove');
    await gone();
    await open.go('/roster');
    await open.page.getByRole('row', { name: new RegExp(`${email}.*Removed`) }).waitFor();
  });

  it('writes, sends, voids, requests and cancels briefs, contracts and deliverables', async () => {
    await open.go('/briefs');
    await press('Write a brief');
    await fill({ Title: 'Two stories', To: desk.creator, 'Talking points': 'One\nTwo' });
    await inDialog('Save draft');
    await open.page.getByRole('dialog', { name: 'Two stories' }).waitFor();
    await dialog()
      .getByRole('button', { name: /^Send to Ann Lee|^Send to .*@/ })
      .click();
    await open.page.getByText('The brief is being sent.').waitFor();
    await inDialog('Mark as completed');
    await gone();
    await open.page.getByRole('row', { name: /Two stories.*Completed/ }).waitFor();
    await press('Write a brief');
    await fill({ Title: 'For nobody' });
    await inDialog('Save draft');
    const nobody = open.page.getByRole('dialog', { name: 'For nobody' });
    const sendIt = nobody.getByRole('button', { name: 'Send', exact: true });
    await nobody.getByText('Choose at least one creator').waitFor();
    expect(await sendIt.isDisabled(), 'a brief without recipients').toBe(true);
    await fill({ 'Send to': desk.creator });
    await open.page.keyboard.press('Enter');
    await nobody.getByRole('listitem').first().waitFor();
    await sendIt.click();
    await open.page.getByText('Sent to 1 creator.').waitFor();
    await open.page.keyboard.press('Escape');
    await gone();
    await press('Complete For nobody');
    await open.page.getByRole('row', { name: /For nobody.*Completed/ }).waitFor();
    await open.go('/contracts');
    await press('Draft a contract');
    await fill({ Creator: desk.creator, Title: 'Stories', Amount: '100', 'Content type': 'story' });
    await inDialog('Save draft');
    await open.page.getByRole('dialog', { name: /^Contract with / }).waitFor();
    const text = dialog().getByRole('region', { name: 'Text of the contract' });
    await text.getByText('1 × story').waitFor();
    const readText = () => text.locator('h2, h4, .biography, li').allInnerTexts();
    const draftText = await readText();
    await inDialog('Send for signature');
    await dialog().getByText('The creator was emailed a link').waitFor();
    await dialog().getByRole('link', { name: 'Open the contract' }).waitFor();
    expect(await readText(), 'a draft is shown in the words that are sent').toEqual(draftText);
    await inDialog('Void');
    await open.page.getByRole('dialog', { name: 'Void this contract?' }).getByRole('button', { name: 'Void' }).click();
    await dialog().getByText('Voided').waitFor();
    await open.page.keyboard.press('Escape');
    await press('Draft a contract');
    await fill({ Creator: desk.creator, Title: 'Photos', Amount: '50', 'Content type': 'photo' });
    await inDialog('Save draft');
    await inDialog('More actions for the contract');
    await inDialog('Void the draft');
    await open.page.getByRole('dialog', { name: 'Void this draft?' }).getByRole('button', { name: 'Void' }).click();
    await dialog().getByText('Voided').waitFor();
    await open.page.keyboard.press('Escape');
    await open.go('/deliverables');
    await press('Request a deliverable');
    await fill({ Creator: desk.creator, 'Content type': 'photo set' });
    await inDialog('Request');
    await gone();
    await press('Photo set');
    await inDialog('More actions for the deliverable');
    await inDialog('Cancel deliverable');
    await inDialog('Yes, cancel it');
    await gone();
    await open.page.getByRole('row', { name: /Photo set.*Cancelled/ }).waitFor();
  });

  it('sends a parcel, adds its number and mails the creator; tracks a post and stops', async () => {
    await open.go('/shipments');
    await press('Add a shipment');
    await fill({ Creator: desk.creator, Contents: 'A hat' });
    await inDialog('Add');
    await gone();
    await open.page.getByRole('row', { name: /A hat/ }).getByRole('button').first().click();
    await inDialog('Edit');
    await fill({ Carrier: 'Post', 'Tracking number': 'AB1' });
    await inDialog('Save');
    await dialog().getByText('AB1').waitFor();
    await open.page.keyboard.press('Escape');
    await gone();
    const parcel = open.page.getByRole('row', { name: /A hat.*AB1/ });
    await parcel.getByRole('button', { name: /^Mark as shipped/ }).click();
    await parcel.getByRole('button', { name: /^Mark as delivered/ }).waitFor();
    await open.go('/content');
    await press('Track a post');
    await fill({ 'Post URL': 'https://www.instagram.com/reel/Cxyz789', Creator: desk.creator });
    await inDialog('Track');
    await gone();
    await open.page.getByRole('row', { name: /Cxyz789.* – – –/ }).waitFor();
    const row = open.page.getByRole('row', { name: /Cxyz789/ });
    await row.getByRole('button').click();
    expect(await dialog().getByText('0', { exact: true }).count()).toBe(0);
    await inDialog('Stop tracking');
    await inDialog('Stop');
    await gone();
    await row.waitFor({ state: 'hidden' });
  });

  it('writes to a creator, is refused contact details, and answers a dispute', async () => {
    await open.go('/conversations');
    await press(desk.creator);
    const thread = open.page.getByRole('region', { name: /^Conversation with / });
    const write = async (text: string) => {
      await thread.getByLabel('Your message').fill(text);
      await thread.getByRole('button', { name: 'Send', exact: true }).click();
    };
    await write('Write to me@brand.example');
    await thread.getByRole('alert').waitFor();
    await write('How does it fit?');
    await thread.locator('.bubble').getByText('How does it fit?').waitFor();
    await expect.poll(() => thread.getByLabel('Your message').inputValue()).toBe('');
    await open.go('/disputes');
    await press('Ann Lee');
    const question = open.page.getByRole('dialog', { name: /^Ann Lee’s question on / });
    await question.locator('.bubble.creator').getByText('Where is the rest').waitFor();
    await fill({ 'Your reply': 'It comes in May.' });
    await inDialog('Reply');
    await gone();
    await open.page.getByRole('cell', { name: 'Answered' }).waitFor();
    await press('Ann Lee');
    await question.locator('.bubble.brand').getByText('It comes in May.').waitFor();
    await open.page.keyboard.press('Escape');
    await gone();
  });

  it('creates a code, changes its commission, and turns it off and on again', async () => {
    await open.go('/links');
    await press('New link or code');
    const code = unique('HAT').toUpperCase();
    await dialog().getByLabel('Type').selectOption('discount_code');
    await fill({ Creator: desk.creator, Code: code, Commission: '12.5' });
    await inDialog('Create');
    await open.page.getByRole('dialog', { name: code }).getByText('12.5%').waitFor();
    await inDialog('Edit');
    await fill({ Commission: '15' });
    await inDialog('Save');
    await open.page.getByRole('dialog', { name: code, exact: true }).getByText('15%').waitFor();
    await open.page.keyboard.press('Escape');
    await gone();
    const row = open.page.getByRole('row', { name: new RegExp(code) });
    await row.getByText('15%').waitFor();
    await press(`More actions for ${code}`);
    await press('Turn off');
    await inDialog('Turn off');
    await gone();
    await row.getByText('Off', { exact: true }).waitFor();
    await press(`More actions for ${code}`);
    await press(`Turn ${code} on`);
    await row.getByText('Active', { exact: true }).waitFor();
  });

  it('adds a webhook whose secret is shown once, tests it, creates a new secret, and removes it', async () => {
    await open.go('/webhooks');
    await press('Add a webhook');
    await fill({ Address: 'https://hooks.invalid/second' });
    await dialog().getByLabel('Events').selectOption('Selected events');
    await dialog().getByLabel('Message received').check();
    await inDialog('Add');
    const shown = open.page.getByRole('dialog', { name: 'The signing secret' });
    await shown.locator('code').waitFor();
    await inDialog('I have saved it');
    await gone();
    const actions = () => press('Actions for https://hooks.invalid/second');
    await actions();
    await press('Send a test to https://hooks.invalid/second');
    await open.page.getByText('A test event was queued').waitFor();
    const row = open.page.getByRole('row', { name: /hooks\.invalid/ });
    await actions();
    await press('New secret');
    await inDialog('Create secret');
    await shown.waitFor();
    await inDialog('I have saved it');
    await actions();
    await row.getByRole('button', { name: 'Remove' }).click();
    await inDialog('Remove');
    await gone();
    await row.waitFor({ state: 'hidden' });
  });

  it('rotates a key with a day of overlap, and revokes one', async () => {
    await open.go('/keys');
    await press('Create a key');
    await fill({ Name: 'warehouse' });
    await inDialog('Create the key');
    await inDialog('I have saved it');
    await gone();
    await press('More actions for warehouse');
    await press('Rotate warehouse');
    await inDialog('Create the new key');
    await dialog().getByTestId('key').waitFor();
    await inDialog('I have saved it');
    await gone();
    await open.page.getByRole('row', { name: /warehouse.*Expiring/ }).waitFor();
    const row = open.page.getByRole('row', { name: /warehouse.*Active/ });
    await row.getByRole('button', { name: 'More actions' }).click();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await inDialog('Revoke the key');
    await gone();
    await open.page.getByRole('row', { name: /warehouse.*Revoked/ }).waitFor();
  });

  it('saves what agents may do, and applies a plan', async () => {
    await open.go('/agents');
    // The limit waits until agents may pay at all.
    expect(await open.page.getByLabel('Daily payout limit').isEditable()).toBe(false);
    await open.page.getByLabel('Agents may pay creators').check();
    await open.page.getByLabel('Daily payout limit').fill('500');
    await open.page.getByRole('button', { name: 'Save' }).click();
    await open.page.getByText('Saved.').waitFor();
    await open.page.reload();
    await expect.poll(() => open.page.getByLabel('Daily payout limit').inputValue()).toBe('500');
    await press('Update campaign');
    await inDialog('Apply plan');
    await gone();
    await open.page.getByRole('cell', { name: 'Applied' }).waitFor();
    await open.go('/campaigns');
    await open.page.getByRole('row', { name: /Summer.*Paused/ }).waitFor();
  });

  it('invites a person, changes the role, and removes them; the log names who did it', async () => {
    await open.go('/people');
    await press('Invite someone');
    await fill({ Email: 'mo@brand.example', Name: 'Mo' });
    await inDialog('Invite');
    await open.page.getByRole('dialog', { name: 'Invitation link' }).locator('code').waitFor();
    await open.page.keyboard.press('Escape');
    await gone();
    await press('Edit mo@brand.example');
    await dialog().getByLabel('Role').selectOption('manager');
    await inDialog('Save');
    await gone();
    const row = open.page.getByRole('row', { name: /mo@brand\.example/ });
    await row.getByText('Manager').waitFor();
    await row.getByRole('button', { name: 'Remove' }).click();
    await inDialog('Remove');
    await gone();
    await row.waitFor({ state: 'hidden' });
    await open.go('/audit?operation=remove_person');
    await open.page.getByRole('cell', { name: 'Owner' }).waitFor();
  });

  it('saves changed settings, and sees errors next to their fields', async () => {
    await open.go('/settings');
    await open.page.getByLabel('Website').fill('https://shoes.example');
    const save = open.page.locator('.settings .card').getByRole('button', { name: 'Save', exact: true });
    await open.page.getByLabel('Currency').selectOption('EUR');
    await open.page.getByLabel('Default commission').fill('101');
    await save.click();
    // The browser says so, because the form has the limits of the API.
    await open.page.locator('input[name="settings.default_commission_rate"]:invalid').waitFor();
    await open.page.getByLabel('Default commission').fill('10');
    await save.click();
    await open.page.getByText('Saved.').waitFor();
    await open.page.reload();
    await expect.poll(() => open.page.getByLabel('Currency').inputValue()).toBe('EUR');
  });

  it('switches single mails to itself off, and on again', async () => {
    await open.go('/settings?tab=mails');
    const box = open.page.getByLabel('A creator replies');
    for (const isOn of [false, true]) {
      await box.setChecked(isOn);
      await open.page.locator('.settings .card').getByRole('button', { name: 'Save', exact: true }).click();
      await open.page.getByText('Saved.').first().waitFor();
      await open.page.reload();
      await expect.poll(() => box.isChecked()).toBe(isOn);
    }
  });

  it('deletes a past commission', async () => {
    await desk.post('/v1/roster', { creator_email: 'ann@mail.example' });
    const paid = { creator_email: 'ann@mail.example', currency: 'EUR', paid_at: '2025-11-02T00:00:00Z' };
    const past_commissions = [1_250.5, 40].map((amount, i) => ({ ...paid, amount, reference: `PO-${i + 1}` }));
    await desk.post('/v1/past-commissions/batch', { source: 'Before', past_commissions });
    await open.go('/commissions');
    await open.page.getByRole('button', { name: 'More actions for commissions', exact: true }).click();
    await open.page.getByRole('link', { name: 'Past commissions', exact: true }).click();
    const rows = open.page.getByRole('table', { name: 'Past commissions' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    await open.page.getByRole('row', { name: /1,250\.50.*PO-1/ }).waitFor();
    await open.page.getByRole('button', { name: 'More actions for PO-1' }).click();
    await press('Delete');
    await inDialog('Delete');
    await expect.poll(() => rows.count()).toBe(2);
  });

  it('reads its journal by account', async () => {
    await open.go('/journal?period=90d');
    await open.page.getByRole('heading', { name: 'Turnover', exact: true }).click();
    await open.page.getByRole('table', { name: 'Turnover of each account' }).waitFor();
    await open.page.getByLabel('Account').selectOption({ label: 'Commission expense' });
    await open.page
      .getByRole('table', { name: 'Journal' })
      .getByRole('cell', { name: 'Commission expense', exact: true })
      .first()
      .waitFor();
    const cash = open.page.getByRole('table', { name: 'Journal' }).getByText('Cash');
    await expect.poll(() => cash.count()).toBe(0);
  });

  it('sees the last month in its journal until the new one has begun, and is led to an earlier one', async () => {
    const page = await open.page.context().newPage();
    for (const [today, from, to] of [
      ['2026-12-03', '2026-11-01', '2026-11-30'],
      ['2026-12-20', '2026-12-01', '2026-12-20'],
    ] as const) {
      await page.clock.setFixedTime(`${today}T12:00:00Z`);
      await page.goto(`${app.url}/app/journal`);
      await expect.poll(() => page.getByLabel('From', { exact: true }).inputValue()).toBe(from);
      expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe(to);
    }
    await page.goto(`${app.url}/app/journal?from=2020-03-10&to=2020-03-20`);
    await page.getByText('No entries in this period').waitFor();
    expect(await page.getByText('No entries in this period').count()).toBe(1);
    await page.getByRole('button', { name: 'Show Feb 2020', exact: true }).click();
    await expect.poll(() => page.getByLabel('From', { exact: true }).inputValue()).toBe('2020-02-01');
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2020-02-29');
    await page.close();
  });
});
