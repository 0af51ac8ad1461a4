import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, type TermsShop } from '../../affiliates/terms-shop.ts';
import { startApp, type TestApp, unique } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(!hasBrowser('Terms in the web app'))('in the web app, terms', () => {
  let app: TestApp;
  let shop: TermsShop;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    shop = await openShop(app);
    browser = await openBrowser();
    open = await openWebApp(browser, app, shop.brand.id, { viewport: WIDE, hasTouch: false });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const read = async (path: string) => (await shop.tell('GET', path)).body.data;
  /** Behind what is open, the page itself cannot be reached. */
  const visit = (to: string) => open.page.goto(`${app.url}/app${to}`);
  const dialog = (name: string | RegExp): Locator => open.page.getByRole('dialog', { name });

  /** The page as it is, in both schemes and on a phone, without complaints of axe or of the browser. */
  async function look(name: string): Promise<void> {
    const { page, complaints } = open;
    for (const [kind, viewport] of [
      ['desktop', WIDE],
      ['phone', PHONE],
    ] as const) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await shoot(page, `${name}-${kind}-${colorScheme}`);
        expect(await axe(page, colorScheme === 'light' ? 'all' : 'colours'), `${name}, ${kind}`).toEqual([]);
      }
      await expectToFit(page);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(WIDE);
    expect(complaints.splice(0)).toEqual([]);
  }

  it('of a code are edited with rules and limits, show errors at their fields, and are dropped again', async () => {
    const { page } = open;
    const code = await shop.makeCode({ rate: { percent: 10 } });
    await visit(`/links?open=${code.id}`);
    await dialog(code.value).getByRole('button', { name: 'Terms' }).click();
    const terms = dialog(`Terms of ${code.value}`);
    await terms.getByText('10% of each order.').first().waitFor();
    await terms.getByLabel('Percent', { exact: true }).fill('12');
    await terms.getByLabel('Pays for').selectOption('subscription');
    await terms.getByLabel('Months').fill('12');
    await terms.getByRole('button', { name: 'Add a rule' }).click();
    const first = terms.getByRole('group', { name: 'Rule 1' });
    await first.getByLabel('Name of the rule').fill('Germany');
    await first.getByLabel(/^Applies to all orders/).selectOption('Countries');
    await first.getByRole('textbox', { name: 'Countries' }).fill('XX, de');
    await first.getByLabel('Percent').fill('20');
    await terms.getByRole('button', { name: 'Add a rule' }).click();
    const second = terms.getByRole('group', { name: 'Rule 2' });
    await second.getByLabel('Name of the rule').fill('Serums');
    await second.getByLabel(/^Applies to all orders/).selectOption('Products');
    await second.getByRole('textbox', { name: 'Products' }).fill('SERUM-30\nSERUM-50');
    await second.getByLabel('Then it pays').selectOption('A fixed amount for each item');
    await second.getByLabel('Amount, in USD').fill('5');
    await terms.getByRole('button', { name: 'Limit each order' }).click();
    await terms.getByLabel('At most for an order, in USD').fill('30');
    await terms.getByLabel('Budget for all orders').selectOption('For each month');
    await terms.getByRole('button', { name: 'Budget: add an amount' }).click();
    await terms.getByLabel('Budget, in USD').fill('5000');
    await terms.getByRole('button', { name: 'Save' }).click();
    await first.getByText('must be a country of ISO 3166 such as DE').waitFor();
    await look('terms-refused');
    await first.getByRole('textbox', { name: 'Countries' }).fill('de');
    await terms.getByRole('button', { name: 'Move Rule 2 up' }).click();
    const said = terms.getByRole('region', { name: 'The deal' });
    await said.getByText(/^12% of each order; \$5 an item for SERUM-30 or SERUM-50 \(Serums\); 20% in DE/).waitFor();
    await said.getByLabel('Country', { exact: true }).fill('DE');
    await said.getByLabel('Try an order').fill('200');
    await said.getByText('$30.00').waitFor();
    await said.getByText('$10.00 less by a limit').waitFor();
    const past = terms.getByRole('region', { name: 'The last 90 days' });
    await past.getByRole('button', { name: 'What would the last 90 days have paid?' }).click();
    await past.getByText(/paid orders would have paid something else|No creator has earned/).waitFor();
    await look('terms-editor');
    await terms.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. Later orders are decided by these terms.').waitFor();
    const saved = await read(`/v1/affiliates/links/${code.id}`);
    expect(saved).toMatchObject({
      terms_source: 'link',
      terms: {
        ...{ rate: { percent: 12 }, covers: 'subscription', months: 12, payments: null },
        rules: [
          { name: 'Serums', when: { product: ['SERUM-30', 'SERUM-50'] }, rate: { flat: { USD: 5 }, per: 'item' } },
          { name: 'Germany', when: { country: ['DE'] }, rate: { percent: 20 } },
        ],
        ...{ caps: { order: { USD: 30 } }, budget: { per: 'month', amount: { USD: 5_000 } } },
      },
    });
    await dialog(code.value).getByText(saved.terms_summary).waitFor();
    await look('terms-link');
    await dialog(code.value).getByRole('button', { name: 'Terms' }).click();
    await terms.getByText('$0.00 of $5,000.00 this month').waitFor();
    await terms.getByRole('button', { name: 'Remove Rule 1' }).click();
    await terms.getByRole('button', { name: 'Save' }).click();
    await terms.waitFor({ state: 'hidden' });
    expect((await read(`/v1/affiliates/links/${code.id}`)).terms.rules).toHaveLength(1);
    await dialog(code.value).getByRole('button', { name: 'Terms' }).click();
    const versions = terms.locator('.card', { has: page.getByRole('heading', { name: 'Versions' }) });
    await expect.poll(() => versions.getByRole('listitem').count()).toBeGreaterThanOrEqual(2);
    await terms.getByRole('button', { name: 'Drop these terms' }).click();
    await dialog(/^Drop the terms/)
      .getByRole('button', { name: 'Drop them' })
      .click();
    await dialog(code.value).getByText('The brand’s usual terms', { exact: true }).waitFor();
    expect(await read(`/v1/affiliates/links/${code.id}`)).toMatchObject({ terms: null, terms_source: 'brand' });
  });

  it('are given to a new code, to a campaign and to the brand', async () => {
    const { page } = open;
    const creator_email = `${unique('eve')}@mail.example`;
    await shop.tell('POST', '/v1/roster', { creator_email });
    const value = unique('NEW').toUpperCase();
    await visit('/links?dialog=create');
    const form = dialog('Create a link or code');
    await form.getByLabel('Type').selectOption('discount_code');
    await form.getByLabel('Deal').selectOption('Terms: rules, renewals, limits');
    await form.getByLabel('Creator', { exact: true }).fill(creator_email);
    await form.getByLabel('Code', { exact: true }).fill(value);
    await form.getByLabel('Percent', { exact: true }).fill('7.5');
    await form.getByLabel('Pays for').selectOption('customer');
    await form.getByLabel('Payments').fill('3');
    await look('terms-create');
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog(value)
      .getByText(/^7\.5% of each order; also on all later orders of the customer/)
      .waitFor();
    const campaign = (await shop.tell('POST', '/v1/campaigns', { name: 'Summer' })).body.data;
    await open.go(`/campaigns/${campaign.id}`);
    await page.getByRole('button', { name: 'Terms of Summer' }).click();
    await dialog('Terms of Summer').getByLabel('Percent', { exact: true }).fill('9');
    await dialog('Terms of Summer').getByRole('button', { name: 'Save' }).click();
    await dialog('Terms of Summer').waitFor({ state: 'hidden' });
    await page.getByText('9% of each order.').waitFor();
    await look('terms-campaign');
    await open.go('/settings?tab=attribution');
    await page.getByRole('button', { name: 'Terms of the brand' }).click();
    await dialog('Terms of the brand').getByLabel('Pays', { exact: true }).selectOption('order');
    await dialog('Terms of the brand').getByLabel('Amount, in USD').fill('4');
    await dialog('Terms of the brand').getByRole('button', { name: 'Save' }).click();
    await dialog('Terms of the brand').waitFor({ state: 'hidden' });
    await page.getByText('$4 an order.').waitFor();
    expect((await read('/v1/affiliates/rules')).terms.rate).toEqual({ flat: { USD: 4 }, per: 'order' });
    await look('terms-brand');
  });

  it('are the deal of a group, whose creators are added and taken out by their addresses', async () => {
    const { page } = open;
    const [ana, ben] = [`${unique('ana')}@mail.example`, `${unique('ben')}@mail.example`];
    for (const creator_email of [ana, ben]) await shop.tell('POST', '/v1/roster', { creator_email });
    await open.go('/groups');
    await page.getByRole('button', { name: 'Create a group' }).click();
    const form = dialog('Create a group');
    await form.getByLabel('Name').fill('Ambassadors');
    await form.getByLabel('Deal').selectOption('Terms: rules, renewals, limits');
    await form.getByLabel('Percent', { exact: true }).fill('12');
    await form.getByLabel('Budget for all orders').selectOption('In all');
    await form.getByRole('button', { name: 'Budget: add an amount' }).click();
    await form.getByLabel('Budget, in USD').fill('20');
    await form.getByRole('button', { name: 'Create the group' }).click();
    const group = dialog('Ambassadors');
    await group.getByText('12% of each order; within a budget of $20 for all.').waitFor();
    await group.getByRole('button', { name: 'Edit: Terms of Ambassadors' }).click();
    await dialog('Terms of Ambassadors').getByLabel('Review period, in days').fill('21');
    await dialog('Terms of Ambassadors').getByRole('button', { name: 'Save' }).click();
    await group.getByText('21 days').waitFor();
    await group.getByText('12% of each order; within a budget of $20 for all.').waitFor();
    await group.getByRole('button', { name: 'Add creators' }).click();
    const adding = dialog('Add creators to Ambassadors');
    await adding.getByLabel('Email addresses').fill(`${ana}\n${ben}\nnobody@mail.example`);
    await adding.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('2 added; not on the roster: nobody@mail.example.').waitFor();
    const row = group.getByRole('row').filter({ hasText: ben });
    await row.getByRole('button', { name: /^More actions for / }).click();
    await row.getByRole('button', { name: 'Remove from the group' }).click();
    await dialog(/^Remove .* from Ambassadors/)
      .getByRole('button', { name: 'Remove' })
      .click();
    await row.waitFor({ state: 'hidden' });
    const code = (await shop.tell('POST', '/v1/affiliates/links', { creator_email: ana, value: unique('G') })).body
      .data;
    await shop.place({ amount: 500, codes: [code.value] });
    await open.go('/groups');
    const listed = page.getByRole('row', { name: /Ambassadors.*12% of each order/ });
    await listed.getByText('$20.00 of $20.00: spent').waitFor();
    await look('groups');
    await page.getByRole('button', { name: 'Ambassadors' }).click();
    await group.getByText(ana).waitFor();
    await look('group');
    await visit(`/links?open=${code.id}`);
    await dialog(code.value).getByText('The creator’s group').waitFor();
  });

  it('that cover a subscription show the customer, why and until when, who is ended, and each rule of an order', async () => {
    const { page } = open;
    const code = await shop.makeCode({
      rate: { percent: 10 },
      rules: [{ name: 'Serums', when: { product: ['SERUM'] }, rate: { percent: 20 } }],
      ...{ covers: 'subscription', payments: 3 },
    });
    const subscription = unique('sub');
    const of = { subscription_id: subscription, customer_email: `${unique('c')}@mail.example`, amount: 150 };
    const items = [
      { sku: 'SERUM', title: 'Serum', quantity: 1, amount: 100 },
      { sku: 'BALM', title: 'Balm', quantity: 1, amount: 50 },
    ];
    await shop.place({ ...of, items, kind: 'first', codes: [code.value] });
    const renewal = await shop.place({ ...of, items, kind: 'renewal' });
    await open.go('/customers');
    await page.getByText('Customers of creators').click();
    await page.getByLabel('Subscription').fill(subscription);
    await page.keyboard.press('Enter');
    const row = page.getByRole('row', { name: /Earns.*2 of 3/ });
    await row.waitFor();
    await look('customers-each');
    await row.getByRole('button').click();
    const panel = page.getByRole('dialog');
    await panel.getByText('An order that a code or click won').waitFor();
    await look('customer');
    await panel.getByRole('link', { name: '2', exact: true }).click();
    await page.getByText('2 orders', { exact: true }).first().waitFor();
    await page.goBack();
    await panel.getByRole('button', { name: 'End', exact: true }).click();
    await dialog('End this customer?').getByRole('button', { name: 'End', exact: true }).click();
    await panel.getByText('Ended', { exact: true }).waitFor();
    expect((await read(`/v1/customers?subscription_id=${subscription}`))[0].state).toBe('ended');
    await visit(`/orders?open=${renewal.id}`);
    const order = page.getByRole('dialog');
    await order
      .getByRole('table', { name: 'What each rule pays' })
      .getByRole('row', { name: /Serums.*\$20\.00/ })
      .waitFor();
    await order.getByText('Renewal', { exact: true }).waitFor();
    await look('order-parts');
    await order.getByRole('link', { name: 'See who brought them, and until when' }).click();
    await page.getByRole('dialog').getByText('Ended', { exact: true }).waitFor();
  });

  it('cover the customers of another tool’s list, whose lines that are refused are named', async () => {
    const { page } = open;
    const code = await shop.makeCode({ rate: { percent: 10 }, covers: 'customer' });
    const email = `${unique('c')}@mail.example`;
    await open.go('/customers');
    await page.getByText('Customers of creators').click();
    await page.getByRole('button', { name: 'Import customers', exact: true }).click();
    const form = dialog('Import customers');
    await form.getByLabel('Link or code').fill(code.value);
    await page.getByRole('option', { name: code.value }).click();
    await form.getByLabel('Customers', { exact: true }).fill(`Email\n${email}\nno one@\n`);
    await look('customers-import');
    await form.getByRole('button', { name: 'Import', exact: true }).click();
    await form.getByText(/^Line 3: /).waitFor();
    await form.getByRole('button', { name: 'Cancel', exact: true }).click();
    const [customer] = await read(`/v1/customers?link_id=${code.id}`);
    expect(customer).toMatchObject({ origin: 'import', state: 'open', covers: 'customer' });
    expect(await shop.place({ customer_email: email, amount: 50 })).toMatchObject({ commission: 5 });
  });
});
