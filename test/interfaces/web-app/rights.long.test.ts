import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askForErasure } from '../../../src/affiliates/data-requests/asked.ts';
import { asTest, daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { deadlineMs } from '../../run/deadline.ts';

describe.skipIf(!hasBrowser("People's rights in a browser"))("people's rights in a real Chromium", () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    app = await startApp({ env: BEHIND_PROXY, webApp: await builtClient() });
    brand = await makeBrand(app.context);
    browser = await openBrowser();
    open = await openWebApp(browser, app, brand.id);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** A creator with a sale, paid or to be paid. */
  async function makeCreator(name: string, isPaid: boolean) {
    const email = `${unique('person')}@mail.example`;
    const assignment = await makeAssignment(app.context, brand, { email, name, holdDays: 0 });
    const sale = await makeSale(app.context, brand, { assignment, occurredAt: daysAgo(60) });
    const key = await brand.key('brand');
    await send(`${app.url}/v1/affiliates/commissions/${sale.id}`, key, 'PATCH', { status: 'approved' });
    if (isPaid) {
      const payout = {
        creator_email: email,
        method: 'wallet',
        wallet_email: email,
        amount: 10,
        commission_ids: [sale.id],
      };
      expect((await send(`${app.url}/v1/payouts`, key, 'POST', payout)).status).toBe(201);
    }
    return { ...assignment, ...sale, email };
  }

  /** The file as it came to the app, which saves it. */
  async function readFile(page: Page, press: () => Promise<void>) {
    const answer = page.waitForResponse((one) => /data-requests\/\w+\/file$/.test(one.url()), { timeout: deadlineMs });
    await press();
    return await (await answer).json();
  }

  it('exports what is kept of a creator, and erases one who was paid, after saying what goes and what stays', async () => {
    const { page, go, complaints } = open;
    const { email } = await makeCreator('Ann Paidowitz', true);
    await go(`/creators/${email}`);
    const more = page.getByRole('button', { name: 'More actions for Ann Paidowitz', exact: true });
    await more.click();
    const file = await readFile(page, () =>
      page.getByRole('button', { name: 'Export their data', exact: true }).click(),
    );
    expect(file.tables.creators).toMatchObject([{ email, name: 'Ann Paidowitz' }]);
    await more.click();
    await page.getByRole('button', { name: 'Erase', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase Ann Paidowitz?' });
    for (const heading of ['What goes', 'What stays']) await dialog.getByRole('heading', { name: heading }).waitFor();
    expect(await axe(page)).toEqual([]);
    await shoot(page, 'rights-erase-creator-desktop');
    await dialog.getByLabel(/^Why/).fill('Asked by mail');
    await dialog.getByRole('button', { name: 'Erase for good', exact: true }).click();
    const panel = page.getByRole('dialog', { name: 'Erasure of a creator' });
    await panel.getByText('Asked by mail', { exact: true }).waitFor();
    await panel.getByText(/signed contracts, sealed in this request/).waitFor();
    await shoot(page, 'rights-record-desktop');
    await panel.getByRole('button', { name: 'Open what the books keep', exact: true }).click();
    const asking = page.getByRole('dialog', { name: 'Open what the books keep' });
    await asking.getByLabel('Why', { exact: true }).fill('Tax audit');
    await asking.getByRole('button', { name: 'Open', exact: true }).click();
    await panel.getByText('Ann Paidowitz', { exact: true }).waitFor();
    await panel.getByText(email, { exact: true }).first().waitFor();
    await shoot(page, 'rights-books-desktop');
    expect(complaints.splice(0)).toEqual([]);
  });

  it('says that money is due, and erases the creator once it may be rejected', async () => {
    const { page, go, complaints } = open;
    const { email } = await makeCreator('Bo Dueowitz', false);
    await go(`/creators/${email}`);
    await page.getByRole('button', { name: 'More actions for Bo Dueowitz', exact: true }).click();
    await page.getByRole('button', { name: 'Erase', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase Bo Dueowitz?' });
    await dialog.getByRole('button', { name: 'Erase for good', exact: true }).click();
    await dialog.getByText(/Money is due to this creator\. Pay it first/).waitFor();
    await shoot(page, 'rights-money-due-desktop');
    await dialog.getByLabel('Reject what is still due to them', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Erase for good', exact: true }).click();
    await page.getByRole('dialog', { name: 'Erasure of a creator' }).waitFor();
    // The browser reports the refusal as an error of the page.
    expect(complaints.splice(0).filter((one) => !one.includes('409'))).toEqual([]);
  });

  it('exports and erases everything that the customer of one order bought', async () => {
    const { page, complaints } = open;
    const sale = await makeCreator('Cy Seller', true);
    const second = await makeSale(app.context, brand, {
      ...{ assignment: sale, occurredAt: daysAgo(50) },
      customerEmail: sale.facts.customerEmail,
    });
    await page.goto(`${app.url}/app/orders?open=${second.orderId}`);
    const panel = page.getByRole('dialog');
    const file = await readFile(page, () =>
      panel.getByRole('button', { name: 'Export their data', exact: true }).click(),
    );
    expect(file.tables.orders).toHaveLength(2);
    await panel.getByRole('button', { name: 'Erase', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase this customer?' });
    await shoot(page, 'rights-erase-customer-desktop');
    await dialog.getByRole('button', { name: 'Erase for good', exact: true }).click();
    const record = page.getByRole('dialog', { name: 'Erasure of a customer' });
    await record.getByRole('row', { name: 'Orders 2' }).waitFor();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('shows on Home that a creator asked on their own page, and refuses with a reason', async () => {
    const { page, go, complaints } = open;
    const { creatorId, email } = await makeCreator('Di Askowitz', true);
    const phone = await openWebApp(browser, app, brand.id, { viewport: { width: 390, height: 844 }, hasTouch: true });
    const person = { id: creatorId, name: 'Di Askowitz', email };
    await asTest(app.context, brand, (work) => askForErasure(work, person));
    await go('/');
    await page.getByRole('link', { name: '1 erasure request' }).click();
    await page.getByRole('button', { name: 'Erasure of Di Askowitz' }).click();
    const panel = page.getByRole('dialog', { name: 'Erasure of Di Askowitz' });
    await panel.getByText('The creator, on their own page', { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await shoot(page, 'rights-open-desktop');
    await phone.go('/rights');
    await expectToFit(phone.page);
    await shoot(phone.page, 'rights-phone');
    await phone.context.close();
    await panel.getByRole('button', { name: 'Refuse', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Refuse this request' });
    await dialog.getByLabel('Why', { exact: true }).fill('A claim is open in court.');
    await dialog.getByRole('button', { name: 'Refuse', exact: true }).click();
    await panel.getByText('A claim is open in court.', { exact: true }).waitFor();
    expect((await mailsOf(app.context, brand.id)).some(({ kind }) => kind === 'data_request_refused')).toBe(true);
    expect(complaints.splice(0)).toEqual([]);
  });

  it('has a section on a creator’s own page, with a copy and the wish to be erased, on a phone', async () => {
    const { email } = await makeCreator('Ed Pageowitz', true);
    await send(`${app.url}/v1/messages`, await brand.key('brand'), 'POST', {
      ...{ creator_email: email, body: 'Hello', send_email: true },
    });
    const mails = (await mailsOf(app.context, brand.id)).filter(({ to }) => to === email);
    const link = mails.flatMap(({ links }) => links).find((one) => /\/me\/\w+$/.test(one));
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    await page.goto(`${app.links}${new URL(link ?? '').pathname}`);
    await page.getByRole('heading', { name: 'Your data', exact: true }).scrollIntoViewIfNeeded();
    await shoot(page, 'me-rights-phone');
    await page.getByRole('button', { name: 'Download a copy', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Ask to be erased', exact: true }).click();
    await page.getByRole('heading', { name: 'What stays', exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await shoot(page, 'me-ask-erasure-phone');
    await page.getByRole('button', { name: 'Ask to be erased', exact: true }).click();
    await page.getByText(/You asked to be erased on/).waitFor();
    await shoot(page, 'me-asked-phone');
    await context.close();
  });
});
