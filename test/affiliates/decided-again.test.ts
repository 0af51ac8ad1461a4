import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertLinks, insertStates } from '../../src/affiliates/links/links.ts';
import { type ReconsiderationOutcome, reconsiderOrderById } from '../../src/affiliates/orders/record.ts';
import type { OrderFacts } from '../../src/affiliates/stores/formats/facts.ts';
import { mintClick } from '../../src/kit/values/click-token.ts';
import { newId } from '../../src/kit/values/ids.ts';
import {
  type Assignment,
  asTest,
  balancesOf,
  daysAgo,
  makeAssignment,
  orderFacts,
  report,
} from '../harness/affiliates/sales.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { listEvents } from '../harness/workflow/applying.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const HOUR_MS = 60 * 60 * 1_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS);

interface Shop {
  brand: TestBrand;
  key: string;
  assignment: Assignment;
  linkId: string;
  /** A click on the brand's link, hours before now. */
  clickAt(hours: number): string;
  report(facts: OrderFacts): Promise<void>;
  again(orderId: string, late: { codes?: string[]; clickIds?: string[] }): Promise<ReconsiderationOutcome>;
  explain(orderId: string): Promise<Record<string, never>>;
}

async function openShop(): Promise<Shop> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const assignment = await makeAssignment(app.context, brand);
  const { creatorId, source } = assignment;
  const createdAt = daysAgo(100);
  const linkId = await asTest(app.context, brand, async ({ db, brandId }) => {
    const id = newId('lnk', createdAt.getTime());
    const value = unique('link');
    const terms = { commissionRatePpm: 200_000, holdDays: 0, attributionDays: 7, currency: 'USD' };
    const link = { id, brandId, creatorId, type: 'link' as const, value, slug: value, active: true };
    await insertLinks(db, [{ ...link, ...terms, destinationUrl: 'https://shop.example', createdAt }]);
    await insertStates(db, [{ brandId, linkId: id, at: createdAt, active: true }]);
    return id;
  });
  return {
    ...{ brand, key, assignment, linkId },
    clickAt: (hours) => mintClick(app.context.secrets.key('click'), { linkId, atMs: hoursAgo(hours).getTime() }),
    report: (facts) => report(app.context, assignment, facts),
    again: (orderId, { codes = [], clickIds = [] }) =>
      asTest(app.context, brand, (work) =>
        reconsiderOrderById(work, app.context.secrets, source, orderId, { codes, clickIds }),
      ),
    explain: async (orderId) =>
      (await send(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, key, 'GET')).body.data,
  };
}

const createdEvents = async ({ brand }: Shop) =>
  (await listEvents(app, brand.id)).filter(({ event }) => event === 'commission.created');

describe('An order that paid nobody', () => {
  it('is decided again by a click from before it: it pays as a first decision does, and both decisions are explained', async () => {
    const shop = await openShop();
    const facts = orderFacts(hoursAgo(1));
    await shop.report(facts);
    expect(await shop.again(facts.orderId, { clickIds: [shop.clickAt(2)] })).toBe('pays');
    expect(await balancesOf(app.context, shop.brand)).toEqual({
      ...{ customers: 10_000, sales: -10_000, commission_expense: 2_000, commission_pending: -2_000 },
    });
    expect(await createdEvents(shop)).toMatchObject([{ data: { status: 'pending', commission: 20 } }]);
    expect(await shop.explain(facts.orderId)).toMatchObject({
      ...{ attributed: true, rule: 'last_click', reason: null, commission: { commission: 20 } },
      candidates: [{ type: 'click', outcome: 'won', link_id: shop.linkId }],
      decisions: [
        { cause: 'first_report', rule: null, reason: 'no_candidates', explanation: expect.stringContaining('nobody') },
        { cause: 'checkout_pixel', rule: 'last_click', reason: null },
      ],
    });
  });

  it('is decided again once, however many reports arrive at the same moment', async () => {
    const shop = await openShop();
    const facts = orderFacts(hoursAgo(1));
    await shop.report(facts);
    const token = shop.clickAt(2);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => shop.again(facts.orderId, { clickIds: [token] })),
    );
    expect(answers.toSorted()).toEqual(['pays', ...Array.from({ length: 7 }, () => 'stands')]);
    expect(await balancesOf(app.context, shop.brand)).toMatchObject({ sales: -10_000, commission_pending: -2_000 });
    expect(await createdEvents(shop)).toHaveLength(1);
  });

  it('is not decided again by a click or code that came after it, and says why', async () => {
    const shop = await openShop();
    const facts = orderFacts(hoursAgo(3));
    await shop.report(facts);
    expect(await shop.again(facts.orderId, { clickIds: [shop.clickAt(1)], codes: ['NOBODYS'] })).toBe('pays_nobody');
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
    expect(await shop.explain(facts.orderId)).toMatchObject({
      reason: 'no_candidate_qualified',
      candidates: [
        { code: 'NOBODYS', reason: 'unknown_code' },
        { type: 'click', reason: 'click_after_order' },
      ],
      decisions: [{ cause: 'first_report' }, { cause: 'checkout_pixel', reason: 'no_candidate_qualified' }],
    });
  });

  it('is not decided again 24 hours after it was placed, nor if it was never reported', async () => {
    const shop = await openShop();
    const facts = orderFacts(hoursAgo(24.1));
    await shop.report(facts);
    expect(await shop.again(facts.orderId, { clickIds: [shop.clickAt(25)] })).toBe('too_late');
    expect(await shop.again('nobody-reported-it', { clickIds: [shop.clickAt(25)] })).toBe('unknown_order');
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
  });

  it('pays by a coupon that a later report names, when the store changed the order within 24 hours', async () => {
    const shop = await openShop();
    const [early, late] = [daysAgo(3), daysAgo(3)];
    const after = (at: Date, hours: number) => new Date(at.getTime() + hours * HOUR_MS);
    const [one, other] = [orderFacts(early), orderFacts(late)];
    for (const facts of [one, other]) await shop.report(facts);
    const codes = [shop.assignment.code];
    await shop.report({ ...one, codes, baseMinor: 8_000, updatedAt: after(early, 23) });
    await shop.report({ ...other, codes, updatedAt: after(late, 25) });
    expect(await shop.explain(one.orderId)).toMatchObject({
      ...{ attributed: true, rule: 'code', amount: 80, commission: { commission: 8 } },
      decisions: [{ cause: 'first_report' }, { cause: 'later_report', rule: 'code' }],
    });
    expect(await shop.explain(other.orderId)).toMatchObject({
      attributed: false,
      decisions: [{ cause: 'first_report' }],
    });
  });

  it('pays less what was refunded before the decision, and is the same when reports are repeated', async () => {
    const shop = await openShop();
    const placedAt = hoursAgo(5);
    const refunds = [{ refundId: 'r', amountMinor: 2_500, at: hoursAgo(4) }];
    const facts = orderFacts(placedAt, { refunds, hasAllRefunds: true });
    const named = { ...facts, codes: [shop.assignment.code], updatedAt: hoursAgo(3) };
    for (const one of [facts, named, named, facts, named]) await shop.report(one);
    expect(await balancesOf(app.context, shop.brand)).toEqual({
      ...{ customers: 7_500, sales: -10_000, sales_refunds: 2_500 },
      ...{ commission_expense: 750, commission_pending: -750 },
    });
    expect(await createdEvents(shop)).toHaveLength(1);
  });
});

it('A decision that paid stays, whatever code or click comes later', async () => {
  const shop = await openShop();
  const facts = orderFacts(hoursAgo(1), { codes: [shop.assignment.code] });
  await shop.report(facts);
  expect(await shop.again(facts.orderId, { clickIds: [shop.clickAt(2)] })).toBe('stands');
  expect(await shop.explain(facts.orderId)).toMatchObject({ rule: 'code', decisions: [{ cause: 'first_report' }] });
});

it('An order from before any creator had the code pays nobody, even if a later report names the code', async () => {
  const shop = await openShop();
  const placedAt = daysAgo(2_000);
  const facts = orderFacts(placedAt);
  await shop.report(facts);
  await shop.report({ ...facts, codes: [shop.assignment.code], updatedAt: new Date(placedAt.getTime() + HOUR_MS) });
  expect(await shop.explain(facts.orderId)).toMatchObject({
    attributed: false,
    candidates: [{ reason: 'code_inactive' }],
  });
});

it('Codes and clicks that lose are recorded for at most ten decisions', async () => {
  const shop = await openShop();
  const facts = orderFacts(hoursAgo(1));
  await shop.report(facts);
  for (let i = 0; i < 15; i += 1) await shop.again(facts.orderId, { codes: [`GUESS${i}`] });
  const { decisions, candidates } = await shop.explain(facts.orderId);
  expect([decisions, candidates]).toMatchObject([{ length: 10 }, { length: 9 }]);
  expect(await shop.again(facts.orderId, { clickIds: [shop.clickAt(2)] })).toBe('pays');
});
