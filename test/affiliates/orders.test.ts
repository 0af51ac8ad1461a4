import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertLinks, insertStates, updateLink } from '../../src/affiliates/links/links.ts';
import { mintClick } from '../../src/kit/values/click-token.ts';
import { newId } from '../../src/kit/values/ids.ts';
import { commissionsOf, later, makeSeller, order, orderedAt } from '../harness/affiliates/ordering.ts';
import { type Assignment, asTest, balancesOf, report, reportRefunds } from '../harness/affiliates/sales.ts';
import { connectTestStore, deliver, signedDelivery, startStore, WEBHOOK_SECRET } from '../harness/affiliates/store.ts';
import { startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { listEvents } from '../harness/workflow/applying.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const attributionOf = async (brand: TestBrand, orderId: string) =>
  await app.context.postgres.db
    .selectFrom('orders')
    .selectAll()
    .where('brandId', '=', brand.id)
    .where('orderId', '=', orderId)
    .executeTakeFirstOrThrow();

/** A tracked link of the assignment's creator. */
async function makeLink(brand: TestBrand, { creatorId }: Assignment, attributionDays = 7): Promise<string> {
  return await asTest(app.context, brand, async ({ db, now, brandId }) => {
    const id = newId('lnk', now.getTime());
    const value = unique('link');
    const terms = { commissionRatePpm: 200_000, holdDays: 3, attributionDays, currency: 'USD' };
    const link = { id, brandId, creatorId, type: 'link' as const, value, slug: value, active: true };
    await insertLinks(db, [{ ...link, ...terms, destinationUrl: 'https://shop.example', createdAt: now }]);
    return id;
  });
}

const clickAt = (linkId: string, at: Date) =>
  mintClick(app.context.secrets.key('click'), { linkId, atMs: at.getTime() });

describe('an order that a store sends', () => {
  it('earns the code’s creator one commission with the current terms, and emits one event with the customer masked', async () => {
    const { brand, assignment, key } = await makeSeller(app, { rate: 12.5, holdDays: 14, email: 'ann@mail.example' });
    const store = await startStore('generic');
    const integration = await connectTestStore(app.context, brand.id, store);
    const data = {
      ...{ order_id: 'A-1', currency: 'USD', amount: '80.20', placed_at: orderedAt, paid_at: later(1) },
      ...{ customer_email: 'Jane.Doe@Example.com', codes: [assignment.code.toLowerCase()] },
    };
    const delivery = signedDelivery('generic', WEBHOOK_SECRET, 'order.paid', data);
    expect(await deliver(app.url, 'generic', integration, delivery)).toMatchObject({ status: 200 });
    await store.close();
    const [commission, ...others] = await commissionsOf(app, key);
    expect(others).toEqual([]);
    expect(commission).toMatchObject({
      ...{ link_id: assignment.linkId, creator_email: 'ann@mail.example', campaign_id: null, type: 'sale' },
      ...{
        source: `generic:${store.host}`,
        amount: 80.2,
        commission: 10.02,
        order_id: 'A-1',
        customer_email: 'J***@E***.com',
      },
      ...{ discount_code: assignment.code.toLowerCase(), affiliate_code: assignment.code, currency: 'USD' },
      ...{ status: 'pending', status_updated_at: null, status_note: null, fraud_flags: [], click_id: null },
      occurred_at: orderedAt.toISOString(),
    });
    const { click_id, created_at, ...item } = commission;
    expect((await listEvents(app, brand.id)).filter(({ event }) => event === 'commission.created')).toEqual([
      { event: 'commission.created', data: { ...item, creator_name: 'Ann', commission_amount: 10.02 } },
    ]);
    expect(await balancesOf(app.context, brand)).toEqual({
      ...{ customers: 8_020, sales: -8_020, commission_expense: 1_002, commission_pending: -1_002 },
    });
    expect(JSON.stringify(await attributionOf(brand, 'A-1')).toLowerCase()).not.toContain('jane');
  });

  it('is recorded as one sale when it is delivered 20 times at once', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const facts = order(assignment, { refunds: [{ refundId: 'r', amountMinor: 2_500, at: later(9) }] });
    await Promise.all(Array.from({ length: 20 }, () => report(app.context, assignment, facts)));
    expect(await commissionsOf(app, key)).toMatchObject([{ commission: 7.5, amount: 100 }]);
    expect(await balancesOf(app.context, brand)).toEqual({
      ...{ customers: 7_500, sales: -10_000, sales_refunds: 2_500 },
      ...{ commission_expense: 750, commission_pending: -750 },
    });
    expect((await listEvents(app, brand.id)).filter(({ event }) => event === 'commission.created')).toHaveLength(1);
  });

  it('counts a refund that arrived before it or at the same moment', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const first = order(assignment);
    await reportRefunds(app.context, assignment.source, first.orderId, [
      { refundId: 'r', amountMinor: 4_000, at: later(5) },
    ]);
    await report(app.context, assignment, first);
    const orders = Array.from({ length: 8 }, () => order(assignment));
    await Promise.all(
      orders.flatMap((facts) => [
        report(app.context, assignment, facts),
        reportRefunds(app.context, assignment.source, facts.orderId, [
          { refundId: 'r', amountMinor: 4_000, at: later(5) },
        ]),
      ]),
    );
    const found: { commission: number }[] = await commissionsOf(app, key);
    expect(found.map(({ commission }) => commission)).toEqual(Array.from({ length: 9 }, () => 6));
    expect(await balancesOf(app.context, brand)).toMatchObject({ sales_refunds: 36_000, commission_pending: -5_400 });
  });

  it('ignores an older snapshot that arrives late, and takes the smaller of two with the same time', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const orderId = unique('order');
    const snapshot = (baseMinor: number, minutes: number) =>
      report(app.context, assignment, order(assignment, { orderId, baseMinor, updatedAt: later(minutes) }));
    await snapshot(9_000, 2);
    await snapshot(20_000, 1);
    await snapshot(8_000, 2);
    await snapshot(9_000, 2);
    expect(await commissionsOf(app, key)).toMatchObject([{ amount: 80, commission: 8 }]);
    expect(await balancesOf(app.context, brand)).toMatchObject({ sales: -8_000, commission_pending: -800 });
  });

  it('has no entry in the ledger until it is paid; the hold counts from the payment', async () => {
    const { brand, assignment, key } = await makeSeller(app, { holdDays: 2 });
    const unpaid = order(assignment, { paidAt: null });
    await report(app.context, assignment, unpaid);
    expect(await commissionsOf(app, key)).toMatchObject([{ status: 'pending', commission: 10 }]);
    expect(await balancesOf(app.context, brand)).toEqual({});
    await report(app.context, assignment, { ...unpaid, paidAt: later(60), updatedAt: later(60) });
    expect(await balancesOf(app.context, brand)).toMatchObject({ sales: -10_000, commission_pending: -1_000 });
    const { db } = app.context.postgres;
    const row = await db.selectFrom('commissions').selectAll().where('brandId', '=', brand.id).executeTakeFirst();
    expect(row?.holdEndsAt).toEqual(new Date(later(60).getTime() + 2 * 24 * 60 * 60 * 1_000));
  });

  it('has its commission rejected when it is cancelled or refunded in full, and the sale is never erased', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const cancelled = { cancelledAt: later(30), updatedAt: later(30) };
    await report(app.context, assignment, order(assignment, { paidAt: null, ...cancelled }));
    const paid = order(assignment);
    await report(app.context, assignment, paid);
    await report(app.context, assignment, { ...paid, ...cancelled });
    expect(await commissionsOf(app, key)).toMatchObject([
      { status: 'rejected', status_note: 'order_cancelled', amount: 100 },
      { status: 'rejected', status_note: 'order_refunded', amount: 100, commission: 0 },
    ]);
    expect(await balancesOf(app.context, brand)).toEqual({ sales: -10_000, sales_refunds: 10_000 });
  });

  it('keeps its terms when the code changes, and a later order gets the new ones', async () => {
    const { brand, assignment, key } = await makeSeller(app, { rate: 10 });
    const first = order(assignment);
    await report(app.context, assignment, first);
    const change = { commissionRatePpm: 300_000 };
    await asTest(app.context, brand, ({ db }) => updateLink(db, { brandId: brand.id, id: assignment.linkId }, change));
    await report(app.context, assignment, { ...first, baseMinor: 5_000, updatedAt: later(1) });
    await report(app.context, assignment, order(assignment));
    expect(await commissionsOf(app, key)).toMatchObject([{ commission: 5 }, { commission: 30 }]);
  });

  it.each([
    ['JPY', 1_005, 1_005, 100],
    ['USD', 1_005, 10.05, 1],
    ['KWD', 1_005, 1.005, 0.1],
  ])('is paid in its own currency: %s', async (currency, baseMinor, amount, commission) => {
    const { brand, assignment, key } = await makeSeller(app);
    await report(app.context, assignment, order(assignment, { currency, baseMinor }));
    expect(await commissionsOf(app, key)).toMatchObject([{ currency, amount, commission }]);
    const prefix = currency === 'USD' ? '' : `${currency} `;
    expect(await balancesOf(app.context, brand)).toMatchObject({ [`${prefix}commission_pending`]: -100 });
  });

  it('is accepted even with codes that PostgreSQL cannot store', async () => {
    const { brand, assignment } = await makeSeller(app);
    const facts = order(assignment, { codes: ['\0', 'half \ud83d', 'x'.repeat(5_000)], clickIds: ['\0'] });
    await report(app.context, assignment, { ...facts, customerEmail: '\0\ud83d@\0' });
    expect((await attributionOf(brand, facts.orderId)).attribution).toMatchObject({ reason: 'no_candidate_qualified' });
  });
});

describe('the attribution of an order', () => {
  it('goes to the last click within its window, identified by the id that the redirect added', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const [older, last] = [await makeLink(brand, assignment), await makeLink(brand, assignment)];
    const clickIds = [clickAt(last, later(-10)), clickAt(older, later(-20)), clickAt(last, later(10))];
    await report(app.context, assignment, order(assignment, { codes: [], clickIds }));
    expect(await commissionsOf(app, key)).toMatchObject([
      { link_id: last, commission: 20, discount_code: null, click_id: clickIds[0]?.slice(0, 24) },
    ]);
  });

  it('goes to nobody, with the reason, when the code was inactive at the time of the order and is active again', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const { linkId } = assignment;
    const state = (minutes: number, active: boolean) => ({ brandId: brand.id, linkId, at: later(minutes), active });
    await asTest(app.context, brand, ({ db }) => insertStates(db, [state(-10, false)]));
    await asTest(app.context, brand, ({ db }) => insertStates(db, [state(10, true)]));
    const off = order(assignment);
    await report(app.context, assignment, off);
    expect((await attributionOf(brand, off.orderId)).attribution).toMatchObject({
      ...{ rule: null, reason: 'no_candidate_qualified' },
      candidates: [{ code: assignment.code, outcome: 'lost', reason: 'code_inactive' }],
    });
    await report(app.context, assignment, order(assignment, { occurredAt: later(20) }));
    expect(await commissionsOf(app, key)).toHaveLength(1);
    expect(await balancesOf(app.context, brand)).toMatchObject({ sales: -10_000 });
  });

  it('never goes to a code or click of another brand', async () => {
    const other = await makeSeller(app);
    const foreignLink = await makeLink(other.brand, other.assignment);
    const { brand, assignment } = await makeSeller(app);
    const facts = order(other.assignment, { clickIds: [clickAt(foreignLink, later(-1)), 'clk_forged'] });
    await report(app.context, assignment, facts);
    expect((await attributionOf(brand, facts.orderId)).attribution).toMatchObject({
      candidates: [{ reason: 'unknown_code' }, { reason: 'foreign_brand' }, { reason: 'invalid_signature' }],
    });
    expect(await commissionsOf(app, other.key)).toEqual([]);
  });

  it('is flagged when the customer is the creator, even if named later, and when orders come in a burst', async () => {
    const { assignment, key } = await makeSeller(app, { email: 'ann@mail.example' });
    await report(app.context, assignment, order(assignment, { customerEmail: 'Ann+me@Mail.example' }));
    const nameless = order(assignment, { customerEmail: null });
    await report(app.context, assignment, nameless);
    await report(app.context, assignment, { ...nameless, customerEmail: 'ann@mail.example' });
    for (let i = 0; i < 4; i += 1) await report(app.context, assignment, order(assignment, { occurredAt: later(i) }));
    const found: { fraud_flags: object[] }[] = await commissionsOf(app, key);
    const flags = found.map(({ fraud_flags }) => fraud_flags);
    expect(flags[0]).toMatchObject([{ code: 'self_referral', severity: 'high' }]);
    expect(flags[1]).toMatchObject([{ code: 'self_referral', severity: 'high' }]);
    expect(flags.slice(2, 5)).toEqual([[], [], []]);
    expect(flags[5]).toMatchObject([{ code: 'velocity', severity: 'medium' }]);
  });
});
