import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchLeaks } from '../../src/affiliates/leaks/leaks.jobs.ts';
import { runReferrerChecks } from '../../src/affiliates/orders/referrers.ts';
import { approveDue } from '../../src/affiliates/reviews/reviews.jobs.ts';
import { drainClicks } from '../../src/interfaces/links-host/jobs.ts';
import { deskOf, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, makeLink } from '../harness/affiliates/clicks.ts';
import {
  type Assignment,
  daysAgo,
  makeAssignment,
  makeSale,
  orderFacts,
  refund,
  report,
} from '../harness/affiliates/sales.ts';
import { makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';

let at = new Date();
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ urls: { redis: ownRedis() }, env: BEHIND_PROXY, clock: { now: () => at } });
});
afterAll(() => app?.close());

async function makeOwner(rules?: object) {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const owner = {
    ...{ brand, key, assignment: await makeAssignment(app.context, brand, { holdDays: 0 }) },
    rules: async (method: 'GET' | 'PATCH', body?: object) => await send(`${app.url}/v1/fraud-rules`, key, method, body),
    flagsOf: async (id: string): Promise<string[]> =>
      (await send(`${app.url}/v1/commissions/${id}`, key, 'GET')).body.data.fraud_flags.map(
        ({ code, severity }: { code: string; severity: string }) => `${code} ${severity}`,
      ),
    sale: async (more: Parameters<typeof makeSale>[2] = {}) =>
      await makeSale(app.context, brand, { assignment: owner.assignment, ...more }),
  };
  if (rules) expect((await owner.rules('PATCH', rules)).status).toBe(200);
  return owner;
}

describe('fraud rules', () => {
  it('are those of earlier releases until they are changed, and a patch changes only what it names', async () => {
    const owner = await makeOwner();
    const defaults = {
      self_referral: { action: 'hold' },
      velocity: { action: 'flag', customer_orders: 3, link_orders: 30, minutes: 10 },
      code_leak: { action: 'off', score: 50 },
      disposable_address: { action: 'off' },
      refund_rate: { action: 'off', percent: 40, orders: 20 },
      returning_customer: { action: 'off' },
      forbidden_referrer: { action: 'off', hosts: [] },
    };
    expect((await owner.rules('GET')).body.data).toEqual({ ...defaults, updated_at: null });
    const { body } = await owner.rules('PATCH', {
      velocity: { minutes: 5 },
      forbidden_referrer: { hosts: ['A.example'] },
    });
    const changed = {
      ...defaults,
      velocity: { ...defaults.velocity, minutes: 5 },
      forbidden_referrer: { action: 'off', hosts: ['a.example'] },
    };
    expect(body.data).toEqual({ ...changed, updated_at: at.toISOString() });
    expect((await owner.rules('GET')).body).toEqual(body);
    const audited = `${app.url}/v1/audit-log?resource_id=${owner.brand.id}`;
    const [audit] = (await send(audited, owner.key, 'GET')).body.data;
    expect(audit).toMatchObject({ operation: 'update_fraud_rules', resource_id: owner.brand.id });
  });

  it.each([
    [{ velocity: { minutes: 0 } }, 'velocity.minutes'],
    [{ self_referral: { action: 'pay' } }, 'self_referral.action'],
    [{ refund_rate: { orders: 9 } }, 'refund_rate.orders'],
    [{ forbidden_referrer: { hosts: ['https://coupons.example/'] } }, 'forbidden_referrer.hosts.0'],
  ])('refuse %j with 422 that names %s', async (patch, field) => {
    const { status, body } = await (await makeOwner()).rules('PATCH', patch);
    expect([status, body.details[0].field]).toEqual([422, field]);
  });

  it('do nothing while they are off, and change nothing that was decided', async () => {
    const owner = await makeOwner({ self_referral: { action: 'off' } });
    const own = await owner.sale({ customerEmail: owner.assignment.email });
    expect(await owner.flagsOf(own.id)).toEqual([]);
    await owner.rules('PATCH', { self_referral: { action: 'flag' } });
    expect(await owner.flagsOf(own.id)).toEqual([]);
    expect(await owner.flagsOf((await owner.sale({ customerEmail: owner.assignment.email })).id)).toEqual([
      'self_referral medium',
    ]);
  });

  it('flag disposable addresses, also at a subdomain and of a customer who is named later', async () => {
    const owner = await makeOwner({ disposable_address: { action: 'flag' } });
    const of = async (customerEmail: string) => await owner.flagsOf((await owner.sale({ customerEmail })).id);
    expect(await of('x@mailinator.com')).toEqual(['disposable_address medium']);
    expect(await of('x@any.Mailinator.com')).toEqual(['disposable_address medium']);
    expect(await of('x@mailinator.com.example')).toEqual([]);
    const unnamed = await owner.sale({ customerEmail: null });
    const named = { ...unnamed.facts, customerEmail: 'y@mailinator.com', updatedAt: at };
    await report(app.context, owner.assignment, named);
    expect(await owner.flagsOf(unnamed.id)).toEqual(['disposable_address medium']);
  });

  it('hold the commissions of returning customers, which explain names, until a person approves them', async () => {
    const owner = await makeOwner({ returning_customer: { action: 'hold' } });
    await send(`${app.url}/v1/brand`, owner.key, 'PATCH', { settings: { auto_approve_commissions: true } });
    const customerEmail = `${unique('c')}@shop.example`;
    const first = await owner.sale({ customerEmail, occurredAt: daysAgo(50, at) });
    const second = await owner.sale({ customerEmail, occurredAt: daysAgo(40, at) });
    expect([await owner.flagsOf(first.id), await owner.flagsOf(second.id)]).toEqual([[], ['returning_customer high']]);
    await approveDue(app.context);
    const explain = async (orderId: string) =>
      (await send(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, owner.key, 'GET')).body.data.commission;
    expect(await explain(first.orderId)).toMatchObject({ status: 'approved' });
    expect(await explain(second.orderId)).toMatchObject({
      ...{ status: 'pending', blocked_by: ['high_fraud_flag'] },
      fraud_flags: [{ code: 'returning_customer', detail: 'The customer had bought before.' }],
    });
    const approve = { status: 'approved' };
    const reviewed = await send(`${app.url}/v1/affiliates/commissions/${second.id}`, owner.key, 'PATCH', approve);
    expect(reviewed.body.data.status).toBe('approved');
  });

  it('flag a code whose last orders were often refunded', async () => {
    const owner = await makeOwner({ refund_rate: { action: 'flag', orders: 10, percent: 30 } });
    for (let i = 0; i < 10; i += 1) {
      const sale = await owner.sale({ occurredAt: daysAgo(60 - i, at) });
      expect(await owner.flagsOf(sale.id)).toEqual([]);
      if (i < 3) await refund(app.context, sale, 5_000, daysAgo(5, at));
    }
    expect(await owner.flagsOf((await owner.sale({ occurredAt: daysAgo(3, at) })).id)).toEqual(['refund_rate medium']);
  });

  it('hold an order by a click from a forbidden page, which is not approved automatically before that is known', async () => {
    const owner = await makeOwner({ forbidden_referrer: { action: 'hold', hosts: ['coupons.example'] } });
    await send(`${app.url}/v1/brand`, owner.key, 'PATCH', { settings: { auto_approve_commissions: true } });
    const link = await makeLink(await deskOf(app, owner.brand), SHOP, { hold_days: 0 });
    const orderBy = async (referer: string) => {
      const { clickId } = await click(app, link.slug, { referer, 'x-forwarded-for': unique('10.0.0.') });
      const facts = orderFacts(at, { clickIds: [clickId], customerEmail: `${unique('c')}@shop.example` });
      await report(app.context, owner.assignment, facts);
      return facts.orderId;
    };
    const [forbidden, other] = [
      await orderBy('https://www.coupons.example/shop'),
      await orderBy('https://friends.example/'),
    ];
    const commissionOf = async (orderId: string) =>
      (await send(`${app.url}/v1/affiliates/commissions?order_id=${orderId}`, owner.key, 'GET')).body.data[0];
    await approveDue(app.context);
    await runReferrerChecks(app.context);
    await approveDue(app.context);
    expect((await commissionOf(other)).status).toBe('pending');
    await drainClicks(app.context);
    at = new Date(at.getTime() + 20_000);
    await runReferrerChecks(app.context);
    await approveDue(app.context);
    expect(await commissionOf(other)).toMatchObject({ status: 'approved', fraud_flags: [] });
    expect(await commissionOf(forbidden)).toMatchObject({
      status: 'pending',
      fraud_flags: [{ code: 'forbidden_referrer', detail: 'The click came from www.coupons.example.' }],
    });
  });

  it('know a creator by every address that they have, had or are to be paid at, also where only its hash is kept', async () => {
    const owner = await makeOwner();
    const { creatorId, code } = owner.assignment;
    const post = async (path: string, body: object, method = 'POST') => {
      const answer = await send(`${app.url}/v1${path}`, owner.key, method, body);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body.data;
    };
    const pay = (wallet_email: string) => post(`/roster/${creatorId}/payment`, { wallet_email }, 'PUT');
    const own = (name: string) => `${unique(name)}@mail.example`;
    const [first, second, third, mail, merged] = ['first', 'second', 'third', 'mail', 'merged'].map(own);
    const isOwn = async (customerEmail = '') => {
      const sale = await owner.sale({ occurredAt: at, customerEmail });
      return (await owner.flagsOf(sale.id)).includes('self_referral high');
    };
    // The code becomes known later, in a report that does not name the customer again.
    const box = unique('late');
    await post(`/roster/${creatorId}`, { creator_email: `l.a.te.${box}@gmail.com` }, 'PATCH');
    const order = {
      source: 'till',
      order_id: unique('order'),
      currency: 'USD',
      amount: 10,
      placed_at: at,
      paid_at: at,
    };
    await post('/orders', { ...order, customer_email: `late${box}+shop@googlemail.com` });
    const known = await post('/orders', { ...order, codes: [code] });
    expect(JSON.stringify(known)).toContain('self_referral');
    await pay(first ?? '');
    expect(await pay(second ?? '')).toMatchObject({ state: 'waiting' });
    expect(await isOwn(second)).toBe(true);
    at = new Date(at.getTime() + 73 * 3_600_000);
    expect(await isOwn(second)).toBe(true);
    expect(await pay(third ?? '')).toMatchObject({ state: 'waiting', wallet_email: second });
    const other = await post('/roster', { creator_email: merged });
    await post(`/roster/${other.id}/merge`, { into: creatorId });
    await post(`/roster/${creatorId}`, { creator_email: mail }, 'PATCH');
    for (const address of [first, second, third, mail, merged, owner.assignment.email]) {
      expect([address, await isOwn(address)]).toEqual([address, true]);
    }
    expect(await isOwn(`x.${merged}`)).toBe(false);
    // As somebody typed it at the shop.
    for (const typed of [`Ana <${mail}>`, `mailto:${mail}`, `${mail}.`, `\u202a${mail}\u202c`]) {
      const sent = { ...order, order_id: unique('order'), customer_email: typed, codes: [code] };
      expect([typed, JSON.stringify(await post('/orders', sent)).includes('self_referral')]).toEqual([typed, true]);
    }
  });

  it('flag the orders of a code with a high leak score, once it was scored', async () => {
    const owner = await makeOwner({ code_leak: { action: 'hold', score: 30 } });
    const sell = async (assignment: Assignment, when: Date, more: object = {}) =>
      await makeSale(app.context, owner.brand, { assignment, occurredAt: when, ...more });
    for (let i = 0; i < 8; i += 1) await sell(owner.assignment, daysAgo(80 - 5 * i, at));
    const known = await Promise.all(
      Array.from({ length: 5 }, () =>
        sell(owner.assignment, daysAgo(40, at), { customerEmail: `${unique('k')}@a.example` }),
      ),
    );
    for (let i = 0; i < 30; i += 1) {
      const { facts } = known[i % known.length] ?? { facts: orderFacts(at) };
      await sell(owner.assignment, daysAgo(2 + (i % 3), at), { customerEmail: facts.customerEmail });
    }
    const { status, body } = await send(`${app.url}/v1/affiliates/leaks`, owner.key, 'GET');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.data).toMatchObject([
      { value: owner.assignment.code, orders: 30, without_click: 100, new_customers: 0, without_click_before: 100 },
    ]);
    expect(body.data[0].score).toBeGreaterThan(30);
    expect(body.data[0].reasons[0]).toMatch(/^\d+ points: /);
    expect(body.meta.flagged_from).toBe(30);
    const before = await sell(owner.assignment, daysAgo(1, at));
    await searchLeaks.run(app.context);
    const after = await sell(owner.assignment, daysAgo(1, at));
    expect(await owner.flagsOf(before.id)).toEqual([]);
    expect(await owner.flagsOf(after.id)).toContain('code_leak high');
    const csv = await fetch(`${app.url}/v1/affiliates/leaks?min_score=30`, {
      headers: { authorization: `Bearer ${owner.key}`, accept: 'text/csv' },
    });
    expect((await csv.text()).split('\n')[1]).toContain(owner.assignment.code);
    expect((await send(`${app.url}/v1/affiliates/leaks?from=2020-01-01`, owner.key, 'GET')).status).toBe(422);
  });
});
