import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Assignment, daysAgo, makeAssignment, makeSale, refund } from '../../harness/affiliates/sales.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

describe.skipIf(!hasBrowser('Paying in the web app'))('paying creators in the web app', () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let open: OpenPage;
  let phone: OpenPage;
  let ann: Assignment;
  let key: string;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context, { plan: 'scale' });
    key = await brand.key('brand');
    ann = await makeAssignment(app.context, brand, { name: 'Ann Lee', holdDays: 0 });
    const zoe = await makeAssignment(app.context, brand, { name: 'Zoë Nováková', holdDays: 0 });
    const paid = await makeSale(app.context, brand, { assignment: ann, occurredAt: daysAgo(50), orderId: 'ann-paid' });
    await approve([paid.id]);
    await post('/v1/payouts/batch', { method: 'manual', reference: 'earlier' });
    // A refund after the payment is taken off the next one.
    await refund(app.context, paid, 2_000);
    const sales = await Promise.all([
      ...[40, 39, 38].map((days) =>
        makeSale(app.context, brand, { assignment: ann, occurredAt: daysAgo(days), orderId: `ann-${days}` }),
      ),
      makeSale(app.context, brand, { assignment: zoe, occurredAt: daysAgo(41), orderId: 'zoe-1', amountMinor: 70_000 }),
    ]);
    await approve(sales.map(({ id }) => id));
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
    phone = await openWebApp(browser, app, brand.id, {
      ...{ viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  async function post(path: string, body: object) {
    const answer = await send(`${app.url}${path}`, key, 'POST', body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body.data;
  }
  async function approve(ids: string[]): Promise<void> {
    const { status, body } = await send(`${app.url}/v1/affiliates/commissions/bulk`, key, 'PATCH', {
      event_ids: ids,
      status: 'approved',
    });
    expect(status, JSON.stringify(body)).toBe(200);
  }
  /** A page for creators, read at this server, whatever its public name. */
  async function printed(url: string): Promise<string> {
    const { pathname, search } = new URL(url);
    return await (await fetch(`${app.url}${pathname}${search}`)).text();
  }
  async function clean(name: string, { page, complaints }: OpenPage = open): Promise<void> {
    await shoot(page, name);
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  }

  it('settles a payout with the commissions that a person selected', async () => {
    const { page } = open;
    const made = await post('/v1/payouts', { creator_email: ann.email, amount: 8, method: 'manual' });
    await open.go('/payouts');
    await page.getByRole('button', { name: 'Ann Lee' }).first().click();
    const payout = page.getByRole('dialog', { name: 'Payout to Ann Lee, $8.00', exact: true });
    await payout.getByText('No commission is marked as paid yet.').waitFor();
    await clean('paying-to-settle');
    await payout.getByRole('button', { name: 'Settle', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: /^Settle/ });
    await dialog.getByRole('radio', { name: 'Selected commissions' }).check();
    await dialog.getByRole('button', { name: 'Settle the payout' }).click();
    await dialog.getByText('Select at least one commission.').waitFor();
    await dialog.getByRole('checkbox', { name: /ann-39/ }).check();
    await dialog.getByText(/1 selected, \$10.00 of \$8.00/).waitFor();
    await clean('paying-settle');
    await dialog.getByRole('button', { name: 'Settle the payout' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await payout.getByRole('cell', { name: /ann-39/ }).waitFor();
    expect(await payout.getByText('ann-40').count()).toBe(0);
    await clean('paying-payout');
    const statement = await send(`${app.url}/v1/payouts/${made.id}/statement`, key, 'GET');
    expect(statement.body.data.lines[0].order_id).toBe('ann-39');
    expect(
      await printed((await payout.getByRole('link', { name: 'Open printable page' }).getAttribute('href')) ?? ''),
    ).toContain('ann-39');
    await page.keyboard.press('Escape');
    await payout.waitFor({ state: 'hidden' });
  });

  it('shows what is due before anything is paid, by the limits that then apply, and pays it', async () => {
    for (const [name, where] of [
      ['desktop', open],
      ['phone', phone],
    ] as const) {
      await where.go('/payouts');
      await where.page.getByRole('button', { name: /^Pay \$/ }).click();
      await where.page.getByRole('dialog').getByText('Zoë Nováková').waitFor();
      await clean(`paying-due-${name}`, where);
    }
    const { page } = open;
    const dialog = page.getByRole('dialog', { name: 'Pay what is due' });
    await dialog.getByLabel('Minimum payout').fill('50');
    await dialog.getByText('Ann Lee').waitFor({ state: 'hidden' });
    await dialog.getByText('$70.00 to 1 creator').waitFor();
    // Somebody who is left out is not paid, and with nobody left nothing can be recorded.
    await dialog.getByRole('checkbox', { name: 'Select Zoë Nováková' }).uncheck();
    await dialog.getByRole('button', { name: /^Record/ }).waitFor({ state: 'hidden' });
    await dialog.getByRole('checkbox', { name: 'Select Zoë Nováková' }).check();
    await dialog.getByRole('button', { name: 'Record 1 payout, $70.00' }).click();
    await dialog.getByLabel('Reference').fill('March');
    await clean('paying-batch');
    await dialog.getByRole('button', { name: 'Mark as paid' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('cell', { name: '$70.00' }).waitFor();
    await page.getByRole('button', { name: /^Pay \$/ }).click();
    await dialog.getByText('Ann Lee').waitFor();
    expect(await dialog.getByText('Zoë Nováková').count()).toBe(0);
    await clean('paying-rest');
    await page.keyboard.press('Escape');
  });

  it('creates a statement for a creator, whose URL is shown once, and displays its lines', async () => {
    const { page } = open;
    await open.go('/statements');
    await page.getByRole('button', { name: 'New statement' }).click();
    const form = page.getByRole('dialog', { name: 'Create a statement' });
    await form.getByLabel('Creator', { exact: true }).fill(ann.email);
    await form.getByLabel('From').fill(daysAgo(60).toISOString().slice(0, 10));
    await form.getByLabel('To', { exact: true }).fill(daysAgo(0).toISOString().slice(0, 10));
    await clean('paying-statement-form');
    await form.getByRole('button', { name: 'Create the statement' }).click();
    const made = page.getByRole('dialog', { name: 'Statement created' });
    const url = (await made.locator('code').textContent()) ?? '';
    expect(await printed(url)).toContain('ann-39');
    await clean('paying-statement-made');
    await page.keyboard.press('Escape');
    for (const [name, where] of [
      ['desktop', open],
      ['phone', phone],
    ] as const) {
      await where.go('/statements');
      await where.page.getByRole('button', { name: 'Ann Lee' }).click();
      const dialog = where.page.getByRole('dialog', { name: 'Statement for Ann Lee' });
      await dialog.getByText('Closing balance').waitFor();
      await dialog.getByRole('cell', { name: /ann-38/ }).waitFor();
      await clean(`paying-statement-${name}`, where);
    }
  });

  it('approves all that is due up to a day, and shows what is still owed at the end of another', async () => {
    const { page } = open;
    const cy = await makeAssignment(app.context, brand, { name: 'Cy Young', holdDays: 0 });
    await makeSale(app.context, brand, { assignment: cy, occurredAt: daysAgo(30), orderId: 'cy-30' });
    await makeSale(app.context, brand, { assignment: cy, occurredAt: daysAgo(3), orderId: 'cy-3' });
    await open.go('/commissions');
    await page.getByRole('button', { name: 'Approve all ready' }).click();
    const form = page.getByRole('dialog', { name: 'Approve all ready' });
    await form.getByRole('button', { name: 'Approve 2 commissions, $20.00', exact: true }).waitFor();
    await form.getByLabel('Creator').fill(ann.email);
    await form.getByText('Nothing is ready within these limits.').waitFor();
    await form.getByLabel('Creator').fill('');
    await form.getByLabel('Orders up to').fill(daysAgo(10).toISOString().slice(0, 10));
    await form.getByRole('button', { name: 'Approve 1 commission, $10.00', exact: true }).waitFor();
    await clean('paying-approve');
    await form.getByRole('button', { name: 'Approve 1 commission, $10.00', exact: true }).click();
    await form.getByText('1 approved: $10.00').waitFor();
    await form.getByRole('button', { name: 'Done' }).click();
    await open.go('/payouts');
    await page.getByRole('link', { name: 'Balances' }).click();
    const items = page.getByRole('table', { name: 'Balances' });
    await items.getByRole('row', { name: /cy-30.*Approved/ }).waitFor();
    await items.getByRole('row', { name: /cy-3 .*Pending/ }).waitFor();
    await page.getByText('What you owe creators now, read from the ledger.').waitFor();
    await clean('paying-open-items');
    await page.getByLabel('At the end of').fill(daysAgo(100).toISOString().slice(0, 10));
    await page.getByText(/^What you owed creators at the end of /).waitFor();
    await page.getByText('Nothing was owed that day').or(page.getByText('Nothing matches these filters')).waitFor();
  });

  it('starts statements for everybody, and says that they are being made', async () => {
    const { page } = open;
    await open.go('/statements');
    await page.getByRole('button', { name: 'Create for all creators' }).click();
    const form = page.getByRole('dialog', { name: 'Statements for everybody' });
    await form.getByLabel('From').fill(daysAgo(60).toISOString().slice(0, 10));
    await form.getByLabel('To', { exact: true }).fill(daysAgo(0).toISOString().slice(0, 10));
    await clean('paying-statements-form');
    await form.getByRole('button', { name: 'Create them' }).click();
    await form.getByText('The run starts in a moment.').waitFor();
    expect((await send(`${app.url}/v1/jobs`, key, 'GET')).body.data[0].kind).toBe('statements');
  });
});
