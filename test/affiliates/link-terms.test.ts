import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const SERUMS = {
  rate: { percent: 10 },
  rules: [{ name: 'Serums', when: { product: ['serum'] }, rate: { percent: 15 } }],
};
const both = [
  { sku: 'SERUM', amount: 33.33 },
  { sku: 'BALM', amount: 9.95 },
];

/** Sums what orders pay, in minor units. */
const sumPaid = (orders: readonly { commission: number | null }[]): number =>
  orders.reduce((total, { commission }) => total + Math.round((commission ?? 0) * 100), 0);

describe('The terms of a code', () => {
  it('are said in a sentence, copied with the order, and explained by rule and by line', async () => {
    const shop = await openShop(app);
    const code = await shop.makeCode(SERUMS);
    expect(code).toMatchObject({ commission_rate: 10, pays_renewals: false, terms_source: 'link' });
    expect(code.terms_summary).toBe('10% of each order; 15% for serum (Serums).');
    const order = await shop.place({ amount: 43.28, items: both, codes: [code.value] });
    await shop.refund(order, 8, { BALM: 5 });
    const { commission } = await shop.explain(order);
    expect(commission).toMatchObject({
      ...{ commission: 5.07, commission_rate: 13.8632, capped: null },
      parts: [
        { rule: 0, name: 'Serums', amount_minor: 3_333, refunded_minor: 261, commission_minor: 461 },
        { rule: null, name: null, amount_minor: 995, refunded_minor: 539, commission_minor: 46 },
      ],
      facts: { kind: 'once', by: 'code', payment: 1, customer: null },
    });
    expect(commission.terms_id).toMatch(/^trm_/);
  });

  it('of another percentage beside them are refused, and change nothing', async () => {
    const shop = await openShop(app);
    const { id } = await shop.makeCode(SERUMS);
    const path = `/v1/affiliates/links/${id}`;
    const { status, body } = await shop.tell('PATCH', path, { terms: SERUMS, commission_rate: 50 });
    expect([status, body.details]).toMatchObject([422, [{ field: 'commission_rate', code: 'conflict' }]]);
    const bad = { ...SERUMS, rules: [{ ...SERUMS.rules[0], when: { country: ['XX'] } }] };
    const refused = await shop.tell('PATCH', path, { terms: bad });
    expect([refused.status, refused.body.details[0].field]).toEqual([422, 'terms.rules[0].when.country[0]']);
    expect((await shop.tell('GET', path)).body.data).toMatchObject({ commission_rate: 10, terms: SERUMS });
  });

  it('end after the payments that they say, whatever code the renewal carries, and explain says why', async () => {
    const shop = await openShop(app);
    const ana = await shop.makeCode({ rate: { percent: 15 }, covers: 'subscription', payments: 2 });
    const of = { customer_email: `${unique('buyer')}@mail.example`, subscription_id: 's1', codes: [ana.value] };
    const paid = [
      await shop.place({ ...of, amount: 100, kind: 'first' }),
      await shop.place({ ...of, amount: 100, kind: 'renewal' }),
    ];
    const last = await shop.place({ ...of, amount: 100, kind: 'renewal' });
    expect([...paid, last].map(({ commission }) => commission)).toEqual([15, 15, null]);
    const { candidates } = await shop.explain(last);
    expect(candidates).toMatchObject([{ reason: 'customer_wins' }, { type: 'customer', reason: 'payments_over' }]);
    expect(candidates[1].explanation).toMatch(/; all 2 payments came before it\.$/);
    expect(await shop.listProblems()).toEqual([]);
  });

  it('with a budget or a cap a month are spent to the cent by orders that come at once', async () => {
    const shop = await openShop(app);
    const spent = [
      await shop.makeCode({ rate: { percent: 10 }, budget: { per: 'ever', amount: { USD: 20.5 } } }),
      await shop.makeCode({ rate: { percent: 10 }, caps: { month: { USD: 20.5 } } }),
    ];
    for (const { value } of spent) {
      const placed = await Promise.all(Array.from({ length: 12 }, () => shop.place({ amount: 30, codes: [value] })));
      expect(sumPaid(placed)).toBe(2_050);
    }
    expect(await shop.listProblems()).toEqual([]);
  });

  it('with a cap a customer leave to each order of one report what those before it left', async () => {
    const shop = await openShop(app);
    const { value } = await shop.makeCode({ rate: { percent: 10 }, caps: { customer: { USD: 7 } } });
    const [one, other] = [`${unique('one')}@mail.example`, `${unique('other')}@mail.example`];
    const orders = [one, other, one, one].map((customer_email) => {
      const at = shop.next();
      const sold = { placed_at: at, paid_at: at, currency: 'USD', amount: 40, codes: [value], customer_email };
      return { source: 'shop', order_id: unique('o'), ...sold };
    });
    await shop.tell('POST', '/v1/orders/batch', { orders });
    const explained = [];
    for (const { order_id } of orders) explained.push((await shop.explain({ order_id })).commission);
    expect(sumPaid(explained)).toBe(1_100);
    expect(explained.map(({ commission }) => commission)).toEqual([4, 4, 3, 0]);
    expect(await shop.listProblems()).toEqual([]);
  });

  it('fix the room of an order when it is paid, not when it is placed', async () => {
    const shop = await openShop(app);
    const { value } = await shop.makeCode({ rate: { percent: 10 }, budget: { per: 'month', amount: { USD: 5 } } });
    const unpaid = { order_id: unique('o'), amount: 40, codes: [value], paid_at: null };
    expect((await shop.place(unpaid)).commission).toBe(4);
    expect((await shop.place({ amount: 30, codes: [value] })).commission).toBe(3);
    const paid = await shop.place({ ...unpaid, paid_at: shop.next() });
    expect(paid.commission).toBe(2);
    const edited = await shop.place({ ...unpaid, amount: 100, paid_at: shop.next() });
    expect([edited.id, edited.commission]).toEqual([paid.id, 2]);
    expect(await shop.listProblems()).toEqual([]);
  });

  it('keep deciding their orders when they change, and null returns to the rate of the brand', async () => {
    const shop = await openShop(app);
    const code = await shop.makeCode(SERUMS);
    const order = { order_id: unique('o'), amount: 43.28, items: both, codes: [code.value] };
    const first = await shop.place(order);
    const patch = async (body: object) => (await shop.tell('PATCH', `/v1/affiliates/links/${code.id}`, body)).body.data;
    expect(await patch({ commission_rate: 20 })).toMatchObject({ commission_rate: 20, terms: { rules: SERUMS.rules } });
    expect((await shop.place({ amount: 43.28, items: both, codes: [code.value] })).commission).toBe(6.99);
    expect(await patch({ terms: null })).toMatchObject({ commission_rate: 0, terms: null, pays_renewals: false });
    const later = { updated_at: new Date(Date.now() + 60_000).toISOString(), items: [{ sku: 'SERUM', amount: 100 }] };
    expect(await shop.place({ ...order, ...later, amount: 100 })).toMatchObject({ id: first.id, commission: 15 });
    const { rows } = await sql`select from terms where brand_id = ${shop.brand.id} and replaced_at is null`.execute(
      app.context.postgres.db,
    );
    expect(rows).toHaveLength(0);
    expect(await shop.listProblems()).toEqual([]);
  });

  it('price an order again whose lines change while its amount stays', async () => {
    const shop = await openShop(app);
    const { value } = await shop.makeCode(SERUMS);
    const order = { order_id: unique('o'), amount: 100, codes: [value], items: [{ sku: 'SERUM', amount: 100 }] };
    expect((await shop.place(order)).commission).toBe(15);
    const updated_at = new Date(Date.now() + 60_000).toISOString();
    const halves = { items: [{ sku: 'BALM', amount: 100 }], updated_at };
    expect((await shop.place({ ...order, ...halves })).commission).toBe(10);
    expect(await shop.listProblems()).toEqual([]);
  });

  it('take back from a paid commission what the sum falls by, and all that is left when it is clawed back', async () => {
    const shop = await openShop(app);
    const code = await shop.makeCode(SERUMS);
    const order = await shop.place({ amount: 43.28, items: both, codes: [code.value] });
    const { commission } = await shop.explain(order);
    const path = `/v1/affiliates/commissions/${commission.id}`;
    expect((await shop.tell('PATCH', path, { status: 'approved' })).status).toBe(200);
    const payout = { creator_email: code.creator_email, amount: 6, method: 'wallet' };
    const paid = await shop.tell('POST', '/v1/payouts', payout);
    expect([paid.status, paid.body.details]).toEqual([201, undefined]);
    await shop.refund(order, 8, { BALM: 5 });
    const claw = await shop.tell('POST', `/v1/commissions/${commission.id}/claw-back`, { reason: 'Fraud' });
    expect([claw.status, claw.body.details]).toEqual([200, undefined]);
    const after = (await shop.explain(order)).commission;
    expect([after.status, after.commission]).toEqual(['paid', 6]);
    expect(after.adjustments.map(({ amount }: { amount: number }) => amount)).toEqual([0.93, 5.07]);
    expect(await shop.listProblems()).toEqual([]);
  });
});

describe('A tampered row that decides what an order pays is found by verify:', () => {
  const tamper = async (change: (shop: TermsShop) => ReturnType<typeof sql>) => {
    const shop = await openShop(app);
    const terms = { ...SERUMS, covers: 'customer', budget: { per: 'ever', amount: { USD: 500 } } };
    const { value } = await shop.makeCode(terms);
    const customer_email = `${unique('buyer')}@mail.example`;
    const order = { amount: 43.28, items: both, codes: [value], customer_email, subscription_id: 's1', kind: 'first' };
    await shop.place(order);
    expect(await shop.listProblems()).toEqual([]);
    await change(shop).execute(app.context.postgres.db);
    return (await shop.listProblems()).join('\n');
  };

  it('the text of a version', async () => {
    const problems = await tamper(
      ({ brand }) =>
        sql`update terms set terms = jsonb_set(terms, '{rate,percent}', '50') where brand_id = ${brand.id}`,
    );
    expect(problems).toMatch(/^version of terms trm_/m);
    expect(problems).toMatch(/^commission com_\w+: its parts are 0 500, base 100, by its terms/m);
  });

  it('a line of the order', async () => {
    const problems = await tamper(
      ({ brand }) =>
        sql`update order_items set items = jsonb_set(items, '{0,amountMinor}', '1') where brand_id = ${brand.id}`,
    );
    expect(problems).toMatch(/^commission com_\w+: it is 600, by its terms/m);
  });

  it('a part, the room, the owner of a customer, or a key', async () => {
    const problems = [
      await tamper(({ brand }) => sql`update commission_parts set commission_minor = 1 where brand_id = ${brand.id}`),
      await tamper(
        ({ brand }) => sql`update commissions set room = jsonb_set(room, '{minor}', '1') where brand_id = ${brand.id}`,
      ),
      await tamper(({ brand }) => sql`update customers set ended_at = now() where brand_id = ${brand.id}`),
      await tamper(({ brand }) => sql`update customer_keys set key = 'other' where brand_id = ${brand.id}`),
    ];
    expect(problems[0]).toMatch(/^part of commission com_/m);
    expect(problems[1]).toMatch(/^commission com_/m);
    expect(problems[2]).toMatch(/^customer cus_/m);
    expect(problems[3]).toMatch(/^key of customer cus_/m);
  });
});
