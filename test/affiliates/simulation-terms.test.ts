import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const PLAIN = { rate: { percent: 10 } };
const TERMS = {
  ...PLAIN,
  rules: [
    { name: 'New', when: { customer: 'new', amount_from: { USD: 200 } }, rate: { flat: { USD: 5 }, per: 'order' } },
    { name: 'Serums', when: { product: ['SERUM'] }, rate: { percent: 15 } },
    { name: 'Many', when: { volume: { per: 'month', orders_from: 4 } }, rate: { percent: 20 } },
  ],
  caps: { order: { USD: 30 }, month: { USD: 60 } },
  budget: { per: 'month', amount: { USD: 75 } },
};

const email = () => `${unique('buyer')}@mail.example`;
const [jane, joe] = [email(), email()];
const item = (sku: string, amount: number) => ({ sku, title: sku, quantity: 1, amount });
const ORDERS = [
  { amount: 43.28, customer_email: jane, items: [item('SERUM', 33.33), item('BALM', 9.95)] },
  { amount: 250, customer_email: joe, items: [item('BALM', 250)] },
  { amount: 100, customer_email: jane, items: [item('SERUM', 100)] },
  { amount: 80, customer_email: joe, items: [] },
  { amount: 220, customer_email: jane, items: [item('SERUM', 20), item('BALM', 200)] },
  { amount: 90, customer_email: joe, items: [item('BALM', 90)] },
];

const simulate = async (shop: TermsShop, body: object) =>
  await shop.tell('POST', '/v1/affiliates/simulate', { to: new Date(Date.now() + 60_000).toISOString(), ...body });

/** Reports the orders with a code, and refunds a part of the third. */
async function sell(shop: TermsShop, codes: string[]) {
  const placed = [];
  for (const order of ORDERS) placed.push(await shop.place({ ...order, codes }));
  return placed;
}

const sumUp = (commissions: readonly (number | null)[]) =>
  Math.round(commissions.reduce<number>((sum, one) => sum + (one ?? 0) * 100, 0));

describe('A simulation of terms', () => {
  it('says to the cent what the orders pay where these terms stood from the start, with caps and a budget', async () => {
    const [before, after] = [await openShop(app), await openShop(app)];
    const [plain, code] = [await before.makeCode(PLAIN), await after.makeCode(TERMS)];
    const [now, real] = [await sell(before, [plain.value]), await sell(after, [code.value])];
    const { status, body } = await simulate(before, { rules: { terms: TERMS }, of: { link_id: plain.id } });
    expect(status).toBe(200);
    const sums = {
      orders_now: 6,
      orders_simulated: 6,
      commission_now_minor: sumUp(now.map(({ commission }) => commission)),
      commission_simulated_minor: sumUp(real.map(({ commission }) => commission)),
    };
    expect(body.data.totals).toMatchObject([sums]);
    expect(body.meta).toMatchObject({ orders: 6, without_lines: 1, without_categories: 0 });
    const paid = body.data.changed.map((one: { order_id: string; simulated: { commission_minor: number } }) => [
      now.findIndex(({ order_id }) => order_id === one.order_id),
      one.simulated.commission_minor,
    ]);
    for (const [place, minor] of paid) expect(minor).toBe(sumUp([real[place]?.commission ?? null]));
    const same = await simulate(after, { rules: { terms: TERMS }, of: { link_id: code.id } });
    expect(same.body.meta.changed).toBe(0);
  });

  it('concerns the codes that take their terms from the place, and no others', async () => {
    const shop = await openShop(app);
    const [own, taking] = [await shop.makeCode(PLAIN), await shop.makeCode(PLAIN)];
    const group = (await shop.tell('POST', '/v1/groups', { name: unique('group'), terms: PLAIN })).body.data;
    const people = { creator_emails: [own.creator_email, taking.creator_email] };
    await shop.tell('POST', `/v1/groups/${group.id}/creators`, people);
    await shop.tell('PATCH', `/v1/affiliates/links/${taking.id}`, { terms: null });
    for (const { value } of [own, taking]) await shop.place({ amount: 100, codes: [value] });
    const rules = { terms: { rate: { percent: 25 } } };
    const tried = await simulate(shop, { rules, of: { group_id: group.id } });
    expect(tried.body.data.changed).toMatchObject([
      { now: { commission_minor: 1_000 }, simulated: { link_id: taking.id, commission_minor: 2_500 } },
    ]);
    expect((await simulate(shop, { rules })).body.meta.changed).toBe(0);
  });

  it('is refused beside a rate, without its terms, and for a place that is not there', async () => {
    const shop = await openShop(app);
    for (const [body, field, code] of [
      [{ rules: { terms: PLAIN, rate: 5 } }, 'rules.rate', 'conflict'],
      [{ rules: { rate: 5 }, of: { link_id: 'lnk_x' } }, 'of', 'conflict'],
      [{ rules: { terms: PLAIN }, of: { link_id: 'lnk_x', group_id: 'grp_x' } }, 'of.group_id', 'conflict'],
      [{ rules: { terms: PLAIN }, of: { campaign_id: 'cmp_x' } }, 'of.campaign_id', 'not_found'],
    ] as const) {
      const answer = await simulate(shop, body);
      expect([answer.status, answer.body.details]).toMatchObject([422, [{ field, code }]]);
    }
  });
});
