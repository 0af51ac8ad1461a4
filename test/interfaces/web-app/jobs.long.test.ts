import { buffer } from 'node:stream/consumers';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Assignment, daysAgo, makeAssignment, makeSale, makeSales } from '../../harness/affiliates/sales.ts';
import { startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { syncCustomers } from '../../harness/analytics/figures.ts';
import {
  call,
  keysInTurn,
  makeBrand,
  send,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { creator as foundCreator, putDirectory } from '../../harness/directory/directory.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import { startWebhookWorker, type Worker } from '../../harness/platform/webhooks.ts';

const IN_DIRECTORY = 12;
const TO_REVIEW = 30;

describe.skipIf(!hasBrowser('A brand’s jobs'))(
  'a brand’s jobs in the web app, each counted in clicks from Home',
  () => {
    /** A worker works for all brands: those of other tests are in another database. */
    let database: TestDatabase;
    let app: TestApp;
    let brand: TestBrand;
    let browser: Browser;
    let open: OpenPage;
    let receiver: Receiver;
    let store: TestStore;
    let worker: Worker;
    let creator: Assignment;
    let nextKey: () => string;

    beforeAll(async () => {
      database = await makeDatabase('jobs');
      const alias = unique('jobs');
      app = await startApp({ webApp: await builtClient(), alias, urls: { postgres: database.url } });
      const inDirectory = Array.from({ length: IN_DIRECTORY }, (_, i) => foundCreator(i + 1));
      await putDirectory(app.context.elastic, alias, inDirectory);
      brand = await makeBrand(app.context, { plan: 'scale' });
      nextKey = await keysInTurn(brand, 4);
      creator = await makeAssignment(app.context, brand, { name: 'Ann Lee', holdDays: 30 });
      await makeSales(app.context, brand, TO_REVIEW, creator);
      for (let i = 1; i <= 5; i += 1) {
        await makeSale(app.context, brand, { assignment: creator, occurredAt: daysAgo(i), orderId: `fresh-${i}` });
      }
      await makeSale(app.context, brand, { assignment: creator, paidAt: null, orderId: 'unpaid-1' });
      await syncCustomers(app, brand.id);
      receiver = await startReceiver();
      store = await startStore('shopify');
      worker = startWebhookWorker(app);
      browser = await openBrowser();
      open = await openWebApp(browser, app, brand.id, { viewport: { width: 1280, height: 900 } });
    });
    afterAll(async () => {
      await browser?.close();
      await worker?.stop();
      await receiver?.close();
      await store?.close();
      await app?.close();
      await database?.drop();
    });

    const clean = async () => {
      expect(await axe(open.page)).toEqual([]);
      expect(open.complaints.splice(0)).toEqual([]);
    };
    const read = async (path: string) => {
      const { status, body } = await call(`${app.url}${path}`, nextKey());
      expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
      return body;
    };
    const dialog = (name: string) => open.page.getByRole('dialog', { name, exact: true });
    const button = (name: string, within: Pick<Locator, 'getByRole'> = open.page) =>
      within.getByRole('button', { name, exact: true });
    const link = (name: string, nav: 'Main' | 'Section' = 'Main') =>
      open.page.getByRole('navigation', { name: nav, exact: true }).getByRole('link', { name, exact: true });

    /** Does a job from Home; it must take exactly this many clicks. */
    async function walk(clicks: number, job: (press: (target: Locator) => Promise<void>) => Promise<void>) {
      let pressed = 0;
      await open.go('/');
      await job(async (target) => {
        await target.click();
        pressed += 1;
      });
      expect(pressed).toBe(clicks);
    }

    it('invites a creator in 3 clicks', async () => {
      const email = `${unique('new')}@creators.example`;
      await walk(3, async (press) => {
        await press(link('Roster'));
        await press(button('Add a creator'));
        await dialog('Add a creator').getByLabel('Email', { exact: true }).fill(email);
        await dialog('Add a creator').getByLabel('Invitation', { exact: true }).fill('Shall we work together?');
        await press(button('Add', dialog('Add a creator')));
        await dialog('Add a creator').waitFor({ state: 'hidden' });
      });
      expect((await read(`/v1/roster?search=${email}`)).data).toMatchObject([
        { creator_email: email, status: 'active' },
      ]);
      expect((await read(`/v1/messages?creator_email=${email}`)).data).toMatchObject([
        { last_message: { body: 'Shall we work together?' }, message_count: 1 },
      ]);
    });

    it('says why an order has not paid its creator yet in 2 clicks', async () => {
      const { page } = open;
      await walk(2, async (press) => {
        await press(link('Orders'));
        await press(button('fresh-1'));
        const explained = dialog('Order fresh-1');
        await explained.getByText('The review period is not over.').waitFor();
        await explained.getByText('Links and codes considered').waitFor();
        expect(await explained.textContent()).toContain('Ann Lee');
      });
      const { data } = await read('/v1/affiliates/explain?order_id=fresh-1');
      expect(data.commission.blocked_by).toEqual(['review_period_active']);
      await shoot(page, 'jobs-explained');
      await clean();
    });

    it('puts the creators found in the directory on a new list in 4 clicks', async () => {
      await walk(4, async (press) => {
        await press(link('Directory'));
        await press(open.page.getByRole('checkbox', { name: 'Select all shown', exact: true }));
        await press(button('Add to a list'));
        const form = dialog(`Add ${IN_DIRECTORY} creators to a list`);
        await form.getByLabel('Name of the new list', { exact: true }).fill('Shortlist');
        await press(button('Add', form));
        await form.waitFor({ state: 'hidden' });
      });
      expect((await read('/v1/lists')).data).toMatchObject([{ name: 'Shortlist', creators: IN_DIRECTORY }]);
    });

    it('shows cohorts of customers in 3 clicks, with the figures of the API', async () => {
      const { page } = open;
      await walk(3, async (press) => {
        await press(link('Analytics'));
        await press(link('Customers', 'Section'));
        await press(page.getByText('Cohorts', { exact: true }));
        await page.locator('.triangle tbody tr').first().waitFor();
      });
      const { data } = await read('/v1/analytics/cohorts');
      const [first] = data;
      await page
        .locator('.triangle tbody tr')
        .first()
        .getByText(String(first.customers), { exact: true })
        .first()
        .waitFor();
    });

    it('connects a store in 4 clicks', async () => {
      await walk(4, async (press) => {
        await press(link('Settings'));
        await press(link('Stores', 'Section'));
        await press(button('Connect a store'));
        const form = dialog('Connect a store');
        await form.getByLabel('Address', { exact: true }).fill(store.url);
        await form.getByLabel('Client ID', { exact: true }).fill(store.access.app.id);
        await form.getByLabel('Client secret', { exact: true }).fill(store.access.app.secret);
        await press(button('Connect', form));
        await dialog(`${store.name} is connected`).waitFor();
      });
      const { data } = await read('/v1/affiliates/integrations?limit=100');
      expect(data).toContainEqual(
        expect.objectContaining({ name: store.name, provider: 'shopify', status: 'connected' }),
      );
    });

    it('counts the commissions that can be decided, lists them, and says why the others wait', async () => {
      const { page } = open;
      await open.go('/');
      await shoot(page, 'jobs-home');
      await page.getByRole('link', { name: `${TO_REVIEW} commissions to approve`, exact: true }).click();
      await page.locator('.table-top').getByText(`${TO_REVIEW} commissions`, { exact: true }).waitFor();
      await page
        .getByRole('navigation', { name: 'Commissions by status' })
        .getByRole('link', { name: /^All, / })
        .click();
      // Those that can be approved come first.
      await page.mouse.move(700, 500);
      const waiting = [/fresh-1.*Pending until/, /unpaid-1.*Order not paid/];
      for (const name of waiting) {
        await until('the rows that wait', async () => {
          await page.mouse.wheel(0, 500);
          return await page.getByRole('row', { name }).isVisible();
        });
        await page.mouse.wheel(0, -20_000);
      }
      await shoot(page, 'jobs-commissions');
      await page.setViewportSize({ width: 390, height: 844 });
      await expectToFit(page);
      await shoot(page, 'jobs-commissions-phone');
      await page.setViewportSize({ width: 1280, height: 900 });
      await clean();
    });

    it('approves nothing of a selection of which some are refused, and says why, once for each reason', async () => {
      const { page } = open;
      await open.go('/commissions?status=pending');
      await page.getByRole('checkbox', { name: 'Select all shown' }).check();
      // What other filters no longer show is not decided on.
      const review = page.getByRole('region', { name: 'Review' });
      await page.getByRole('link', { name: /^Approved, / }).click();
      await review.waitFor({ state: 'hidden' });
      await page.goBack();
      await review.getByText(`${TO_REVIEW + 6} selected`).waitFor();
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      const refused = page.getByRole('dialog', { name: 'Some commissions cannot be changed' });
      await refused.waitFor();
      const reasons = refused.getByRole('listitem');
      expect(await reasons.allTextContents()).toEqual([
        '5 commissions: The review period is not over.fresh-5, fresh-4, fresh-3 and 2 more',
        '1 commission: The order is not paid.unpaid-1',
      ]);
      await button(`Approve the other ${TO_REVIEW}`, refused).waitFor();
      await shoot(page, 'jobs-refused');
      await clean();
      expect((await read('/v1/affiliates/commissions?status=approved')).pagination.total).toBe(0);
    });

    it(`reviews ${TO_REVIEW} commissions in 3 clicks`, async () => {
      const { page } = open;
      await walk(3, async (press) => {
        await press(page.getByRole('link', { name: `${TO_REVIEW} commissions to approve`, exact: true }));
        await page.locator('.table-top').getByText(`${TO_REVIEW} commissions`, { exact: true }).waitFor();
        await press(page.getByRole('checkbox', { name: 'Select all shown', exact: true }));
        await press(button('Approve'));
        await page.getByText(`${TO_REVIEW} approved`).waitFor();
      });
      expect((await read('/v1/affiliates/commissions?status=approved')).pagination.total).toBe(TO_REVIEW);
    });

    it('records a payout and settles it', async () => {
      const { page } = open;
      await open.go('/payouts');
      await page.getByRole('button', { name: 'Record a payout' }).click();
      const form = page.getByRole('dialog', { name: 'Record a payout' });
      await form.getByLabel('Creator').fill('nobody@else.example');
      await form.getByLabel('Amount').fill('30');
      await form.getByRole('button', { name: 'Record the payout' }).click();
      await form.getByRole('alert').waitFor();
      await clean();
      await form.getByLabel('Creator').fill(creator.email);
      await form.getByRole('button', { name: 'Record the payout' }).click();
      await form.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Settle' }).click();
      await page.getByLabel('Reference').fill('SEPA 1');
      await page.getByRole('button', { name: 'Settle the payout' }).click();
      await page.getByText('Settle the payout').waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Ann Lee', exact: true }).first().click();
      const statement = page.getByRole('dialog', { name: 'Payout to Ann Lee, $30.00', exact: true });
      await statement.getByText('SEPA 1').waitFor();
      await shoot(page, 'jobs-statement');
      await clean();
      await page.keyboard.press('Escape');
    });

    it('pays what is due in 4 clicks', async () => {
      await walk(4, async (press) => {
        await press(open.page.getByRole('link', { name: '$270.00 due to one creator', exact: true }));
        await press(open.page.getByRole('button', { name: /^Pay \$/ }));
        const form = dialog('Pay what is due');
        await press(button('Record 1 payout, $270.00', form));
        await form.getByLabel('Reference', { exact: true }).fill('March');
        await press(button('Mark as paid', form));
        await form.waitFor({ state: 'hidden' });
      });
      expect((await read('/v1/payouts')).data[0]).toMatchObject({ amount: 270, status: 'paid', reference: 'March' });
    });

    it('exports the month in 3 clicks: the file has the API’s own rows', async () => {
      const { page } = open;
      await walk(3, async (press) => {
        await press(link('Payouts'));
        await press(link('Journal', 'Section'));
        const asked = page.waitForRequest((one) => (one.headers().accept ?? '').startsWith('text/csv'));
        const saved = page.waitForEvent('download');
        await press(button('Download CSV'));
        const { pathname, search } = new URL((await asked).url());
        const file = await buffer(await (await saved).createReadStream());
        const accept = (await asked).headers().accept ?? '';
        const own = await fetch(`${app.url}${pathname}${search}`, {
          headers: { accept, authorization: `Bearer ${nextKey()}` },
        });
        expect(search).toMatch(/from=\d{4}-\d\d-01\b/);
        expect(file.toString()).toContain('commission');
        expect(file).toEqual(Buffer.from(await own.arrayBuffer()));
      });
    });

    it('creates a key in 4 clicks, which is shown once and works, and the log names the person', async () => {
      const { page } = open;
      const shown = dialog('Your new key');
      await walk(4, async (press) => {
        await press(link('Settings'));
        await press(link('API keys', 'Section'));
        await press(button('Create a key'));
        await page.getByRole('textbox', { name: 'Name', exact: true }).fill('website');
        await press(button('Create the key'));
        await shown.waitFor();
      });
      const key = (await shown.getByTestId('key').textContent()) ?? '';
      expect(key).toMatch(/^svk_\w{40}$/);
      await clean();
      await shoot(page, 'jobs-key');
      expect((await call(`${app.url}/v1/brand`, key)).status).toBe(200);
      await button('I have saved it', shown).click();
      await page.getByRole('cell', { name: /^website/ }).waitFor();
      expect(await page.content()).not.toContain(key);
      await open.go('/audit?operation=create_key');
      await page.getByRole('cell', { name: 'Owner' }).waitFor();
      await clean();
    });

    it('shows a failing webhook and sends its delivery again in 2 clicks', async () => {
      const { page } = open;
      const key = nextKey();
      receiver.answer = (_received, response) => void response.writeHead(410).end('gone away');
      const url = `${receiver.url}/hook`;
      const made = await send(`${app.url}/v1/webhooks`, key, 'POST', { url, events: ['payout.created'] });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      await open.go('/webhooks');
      await page.getByRole('row', { name: /Active –/ }).waitFor();
      await page.getByRole('button', { name: `Actions for ${url}` }).click();
      await page.getByRole('button', { name: `Send a test to ${url}` }).click();
      await until('the receiver was asked', () => receiver.at('/hook').length > 0);
      await page.getByRole('button', { name: url, exact: true }).click();
      const deliveries = dialog('Webhook');
      await deliveries.getByText(/response 410/).waitFor();
      await button('Details', deliveries).first().click();
      await deliveries.getByText('gone away').waitFor();
      await shoot(page, 'jobs-failed');
      await clean();
      await open.go('/webhooks');
      await page.getByRole('row', { name: /Failing .*\b410\b/ }).waitFor();
      expect((await call(`${app.url}/v1/webhooks/${made.body.data.id}`, key)).body.data.status).toBe('failing');
      await shoot(page, 'jobs-webhook-failing');
      receiver.answer = (_received, response) => void response.end('ok');
      const before = receiver.at('/hook').length;
      await walk(2, async (press) => {
        await press(page.getByRole('link', { name: '1 failing webhook', exact: true }));
        await press(button('Send again', deliveries).first());
        await until('the delivery to come again', () => receiver.at('/hook').length > before);
      });
      await until(
        'the webhook to be well',
        async () => (await read(`/v1/webhooks/${made.body.data.id}`)).data.status === 'active',
      );
      await open.go('/webhooks');
      await page.getByRole('row', { name: /Active .*\b200\b/ }).waitFor();
      await clean();
    });
  },
);
