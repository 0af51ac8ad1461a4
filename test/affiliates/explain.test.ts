import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertLinks, updateLink } from '../../src/affiliates/links/links.ts';
import type { OrderFacts } from '../../src/affiliates/stores/formats/facts.ts';
import { mintClick } from '../../src/kit/values/click-token.ts';
import { newId } from '../../src/kit/values/ids.ts';
import {
  type Assignment,
  asTest,
  daysAgo,
  makeAssignment,
  makeSale,
  makeUnapprovable,
  orderFacts,
  refund,
  report,
  reportRefunds,
} from '../harness/affiliates/sales.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const DAY_MS = 24 * 60 * 60 * 1_000;
const orderedAt = daysAgo(10);
const path = (query: object) => `${app.url}/v1/affiliates/explain?${new URLSearchParams({ ...query })}`;
const explain = (query: object, requested = key) => send(path(query), requested, 'GET');

const order = (more: Partial<OrderFacts>): OrderFacts => orderFacts(orderedAt, more);

async function makeLink({ creatorId }: Assignment): Promise<string> {
  return await asTest(app.context, brand, async ({ db, now, brandId }) => {
    const id = newId('lnk', now.getTime());
    const value = unique('link');
    const terms = { commissionRatePpm: 200_000, holdDays: 30, attributionDays: 7, currency: 'USD' };
    const link = { id, brandId, creatorId, type: 'link' as const, value, slug: value, active: true };
    await insertLinks(db, [{ ...link, ...terms, destinationUrl: 'https://shop.example', createdAt: now }]);
    return id;
  });
}

const clickBefore = (linkId: string, ms: number) =>
  mintClick(app.context.secrets.key('click'), { linkId, atMs: orderedAt.getTime() - ms });

describe('the explanation of an order', () => {
  it('requires a brand key and an order id', async () => {
    expect((await send(path({ order_id: 'x' }), '', 'GET')).body.code).toBe('AUTH_REQUIRED');
    expect((await explain({ order_id: 'x' }, await brand.key('data'))).body.code).toBe('BRAND_KEY_REQUIRED');
    const { status, body } = await explain({});
    expect([status, body.details.map((one: { field: string }) => one.field)]).toEqual([422, ['order_id']]);
  });

  it('answers 404 for an unknown order and for one of another brand', async () => {
    const sale = await makeSale(app.context, brand);
    const stranger = await makeBrand(app.context);
    const foreign = await explain({ order_id: sale.orderId }, await stranger.key('brand'));
    expect([foreign.status, foreign.body.code]).toEqual([404, 'NOT_FOUND']);
    expect((await explain({ order_id: 'nothing' })).status).toBe(404);
    const elsewhere = await explain({ order_id: sale.orderId, integration_id: 'int_other' });
    expect(elsewhere.status).toBe(404);
  });

  it('shows the rule, why each other candidate lost, the window test, the copied terms, the review period and the refunds', async () => {
    const assignment = await makeAssignment(app.context, brand, { name: 'Ann', holdDays: 30 });
    const link = await makeLink(assignment);
    const facts = order({
      codes: ['NOBODYS', assignment.code],
      clickIds: [clickBefore(link, 60_000), clickBefore(link, 8 * DAY_MS), 'clk_forged'],
      refunds: [{ refundId: 'r1', amountMinor: 2_500, at: daysAgo(9) }],
    });
    await report(app.context, assignment, facts);
    const change = { commissionRatePpm: 900_000, holdDays: 1 };
    await asTest(app.context, brand, ({ db }) => updateLink(db, { brandId: brand.id, id: assignment.linkId }, change));
    const { status, body } = await explain({ order_id: facts.orderId });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      ...{ order_id: facts.orderId, integration_id: assignment.source.id, source: 'generic', currency: 'USD' },
      ...{ amount: 100, customer_email: 'j***@e***.com', attributed: true, rule: 'code', reason: null },
      explanation: 'Attributed to Ann: $7.50 for a redeemed code; the commission is pending.',
      terms: { commission_rate: 10, hold_days: 30, attribution_days: 30, currency: 'USD' },
      candidates: [
        {
          type: 'code',
          code: 'NOBODYS',
          link_id: null,
          outcome: 'lost',
          reason: 'unknown_code',
          active_at_order: null,
        },
        {
          ...{ type: 'code', code: assignment.code, link_id: assignment.linkId, outcome: 'won', reason: null },
          ...{ active_at_order: true, creator_email: assignment.email, creator_name: 'Ann' },
        },
        { type: 'click', link_id: link, outcome: 'lost', reason: 'code_wins', window: { inside: true } },
        {
          ...{ type: 'click', outcome: 'lost', reason: 'click_outside_window' },
          window: {
            ...{ clicked_at: new Date(orderedAt.getTime() - 8 * DAY_MS).toISOString(), attribution_days: 7 },
            ...{ window_ends_at: new Date(orderedAt.getTime() - DAY_MS).toISOString(), inside: false },
            ordered_at: orderedAt.toISOString(),
          },
        },
        { type: 'click', click_id: 'clk_forged', reason: 'invalid_signature', window: null, link_value: null },
      ],
      commission: {
        ...{ link_id: assignment.linkId, status: 'pending', amount: 100, commission: 7.5, fraud_flags: [] },
        hold_ends_at: new Date(orderedAt.getTime() + 30 * DAY_MS).toISOString(),
        ...{ hold_over: false, blocked_by: ['review_period_active'], adjustments: [] },
      },
      refunds: [{ refund_id: 'r1', amount: 25, counted: 25 }],
    });
    for (const { explanation } of body.data.candidates) expect(explanation).toMatch(/^[A-Z].*\.$/);
    expect(JSON.stringify(body)).not.toContain('jane@');
  });

  it('of an order with a code of one creator and a click on another’s link says who gets it and why, by the brand’s rules', async () => {
    const own = await makeBrand(app.context);
    const ownKey = await own.key('brand');
    const [ana, ben] = [
      await makeAssignment(app.context, own, { name: 'Ana' }),
      await makeAssignment(app.context, own, { name: 'Ben', rate: 20 }),
    ];
    const place = async () => {
      const at = new Date();
      const clickId = mintClick(app.context.secrets.key('click'), { linkId: ben.linkId, atMs: at.getTime() - 60_000 });
      const facts = orderFacts(at, { codes: [ana.code], clickIds: [clickId] });
      await report(app.context, ana, facts);
      const { explanation, rule, candidates } = (await explain({ order_id: facts.orderId }, ownKey)).body.data;
      const told = candidates.map((one: { creator_name: string; reason: string; explanation: string }) => [
        ...[one.creator_name, one.reason, one.explanation],
      ]);
      const won = await send(`${app.url}/v1/affiliates/commissions?click_id=${clickId.slice(0, 24)}`, ownKey, 'GET');
      const wonOrders = won.body.data.map(({ order_id }: { order_id: string }) => order_id === facts.orderId);
      return { explanation, rule, told, wonOrders };
    };
    expect(await place()).toEqual({
      explanation: 'Attributed to Ana: $10.00 for a redeemed code; the commission is pending.',
      rule: 'code',
      told: [
        ['Ana', null, 'First qualifying code used on this order.'],
        ['Ben', 'code_wins', 'A redeemed code wins over any click.'],
      ],
      wonOrders: [],
    });
    const rules = `${app.url}/v1/affiliates/rules`;
    expect((await send(rules, ownKey, 'PATCH', { coupon_policy: 'click_wins' })).status).toBe(200);
    expect(await place()).toEqual({
      explanation: 'Attributed to Ben: $20.00 for the last click within its window; the commission is pending.',
      rule: 'last_click',
      told: [
        ['Ana', 'click_wins', 'A click within its window wins over any code, by your rules.'],
        ['Ben', null, 'It is the last click within its window.'],
      ],
      wonOrders: [true],
    });
  });

  it('says why an order earned nobody a commission', async () => {
    const assignment = await makeAssignment(app.context, brand);
    const bare = order({});
    await report(app.context, assignment, bare);
    expect((await explain({ order_id: bare.orderId })).body.data).toMatchObject({
      ...{ attributed: false, rule: null, reason: 'no_candidates', terms: null, candidates: [], commission: null },
      explanation: 'It paid nobody: it came without a code and without a click.',
    });
    const lost = order({ codes: ['NOBODYS'], refunds: [{ refundId: 'r', amountMinor: 99_999, at: orderedAt }] });
    await report(app.context, assignment, lost);
    expect((await explain({ order_id: lost.orderId })).body.data).toMatchObject({
      ...{ attributed: false, reason: 'no_candidate_qualified', refunds: [{ amount: 999.99, counted: 100 }] },
      candidates: [{ reason: 'unknown_code', explanation: 'No assignment of the brand has this code.' }],
    });
  });

  it('follows the commission through rejection, payment and refund', async () => {
    const sale = await makeSale(app.context, brand, { email: `${unique('a')}@mail.example` });
    const reported = async () => (await explain({ order_id: sale.orderId })).body.data.commission;
    expect(await reported()).toMatchObject({ status: 'pending', hold_over: true, blocked_by: [] });
    const review = (status: string, note: string) =>
      send(`${app.url}/v1/commissions`, key, 'POST', { status, event_id: sale.id, note });
    await review('rejected', 'own purchase');
    expect(await reported()).toMatchObject({
      status: 'rejected',
      status_note: 'own purchase',
      blocked_by: ['rejected'],
    });
    await review('approved', 'mended');
    const payout = { creator_email: sale.email, amount: 10, method: 'manual' };
    const { id } = (await send(`${app.url}/v1/payouts`, key, 'POST', payout)).body.data;
    await send(`${app.url}/v1/payouts/${id}`, key, 'PATCH', { status: 'paid' });
    const refunds = [{ refundId: 'r', amountMinor: 5_000, at: daysAgo(1) }];
    const { source, orderId } = sale;
    await reportRefunds(app.context, source, orderId, refunds);
    expect(await reported()).toMatchObject({
      ...{ status: 'paid', commission: 10, blocked_by: [] },
      adjustments: [{ cause: 'r', amount: 5 }],
    });
  });

  it('lists exactly the reasons that would refuse a review', async () => {
    const sales = {
      ...(await makeUnapprovable(app.context, brand)),
      cancelledInReview: await makeSale(app.context, brand, { occurredAt: daysAgo(3) }),
      free: await makeSale(app.context, brand, { amountMinor: 0 }),
    };
    const { facts, ...cancelled } = sales.cancelledInReview;
    await report(app.context, cancelled, { ...facts, cancelledAt: daysAgo(1), updatedAt: daysAgo(1) });
    const review = async (id: string, status: string) => {
      const answer = await send(`${app.url}/v1/commissions`, key, 'POST', { status, event_id: id });
      return answer.status === 200 ? undefined : answer.body.code.toLowerCase();
    };
    const reported = async (orderId: string) => (await explain({ order_id: orderId })).body.data.commission;
    const found = Object.entries(sales).map(async ([name, { id, orderId }]) => {
      const own = (await reported(orderId)).blocked_by;
      await review(id, 'rejected');
      const rejected = (await reported(orderId)).blocked_by;
      const [first] = rejected.filter((block: string) => block !== 'rejected');
      expect([name, await review(id, 'approved')]).toEqual([name, first]);
      return [name, [own, rejected]];
    });
    const refused = (...blockers: string[]) => [
      blockers,
      ['rejected', ...blockers.filter((block) => block !== 'rejected')],
    ];
    expect(Object.fromEntries(await Promise.all(found))).toEqual({
      unpaid: refused('order_not_paid'),
      cancelled: refused('rejected', 'order_not_paid'),
      refunded: refused('rejected', 'order_not_paid'),
      held: refused('review_period_active'),
      cancelledInReview: refused('rejected', 'order_not_paid', 'review_period_active'),
      free: refused(),
    });
  });

  it('says that the order was cancelled, even after the brand rejected its commission', async () => {
    const [refunded, cancelled] = [await makeSale(app.context, brand), await makeSale(app.context, brand)];
    for (const { id } of [refunded, cancelled]) {
      await send(`${app.url}/v1/commissions`, key, 'POST', { status: 'rejected', event_id: id, note: 'own purchase' });
    }
    await refund(app.context, refunded, refunded.facts.baseMinor);
    await report(app.context, cancelled, { ...cancelled.facts, cancelledAt: new Date(), updatedAt: new Date() });
    for (const { id, orderId } of [refunded, cancelled]) {
      const { commission } = (await explain({ order_id: orderId })).body.data;
      expect(commission).toMatchObject({ status_note: 'own purchase', blocked_by: ['rejected', 'order_not_paid'] });
      const approval = await send(`${app.url}/v1/commissions`, key, 'POST', { status: 'approved', event_id: id });
      expect([approval.status, approval.body.code]).toEqual([409, 'ORDER_NOT_PAID']);
    }
  });

  it('requires the store when two stores have an order with the same id', async () => {
    const [one, two] = [await makeAssignment(app.context, brand), await makeAssignment(app.context, brand)];
    const facts = order({ codes: [one.code] });
    await report(app.context, one, facts);
    await report(app.context, two, facts);
    const { status, body } = await explain({ order_id: facts.orderId });
    expect([status, body.details[0]]).toMatchObject([422, { field: 'integration_id', code: 'ambiguous' }]);
    const meant = await explain({ order_id: facts.orderId, integration_id: two.source.id });
    expect(meant.body.data.integration_id).toBe(two.source.id);
  });
});
