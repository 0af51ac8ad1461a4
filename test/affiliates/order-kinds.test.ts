import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { recordDispute } from '../../src/affiliates/orders/record.ts';
import type { BankDispute } from '../../src/affiliates/stores/formats/facts.ts';
import {
  asTest,
  balancesOf,
  daysAgo,
  makeAssignment,
  makeSale,
  orderFacts,
  report,
  type Sale,
} from '../harness/affiliates/sales.ts';
import { inEveryOrder } from '../harness/affiliates/store.ts';
import { syncOrders } from '../harness/analytics/figures.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { openShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const explain = async (brand: TestBrand, orderId: string) =>
  (await send(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, await brand.key('brand'), 'GET')).body.data;

/** What `ledger verify` reports, seals of the new table included. */
const problemsOf = async ({ id }: TestBrand) =>
  (await inSnapshot(app.context.postgres.db, (trx) => verifyRecords(trx, id))).problems;

const disputed = (sale: Pick<Sale, 'source' | 'orderId'>, dispute: BankDispute) =>
  asTest(app.context, { id: sale.source.brandId }, (work) =>
    recordDispute(work, sale.source, { orderId: sale.orderId, ...dispute }),
  );

const dispute = (status: BankDispute['status'], days: number): BankDispute => ({
  ...{ disputeId: '285332461', status, at: daysAgo(days) },
});

describe('A test order', () => {
  it('pays nobody and counts in no figure, and its explanation says so', async () => {
    const brand = await makeBrand(app.context);
    const assignment = await makeAssignment(app.context, brand);
    const facts = orderFacts(daysAgo(1), { codes: [assignment.code], isTest: true });
    await report(app.context, assignment, facts);
    expect(await explain(brand, facts.orderId)).toMatchObject({
      ...{ is_test: true, attributed: false, reason: 'test_order', commission: null },
      explanation: 'It paid nobody: it is a test order.',
      candidates: [{ outcome: 'lost', reason: 'test_order', link_id: assignment.linkId }],
    });
    expect(await balancesOf(app.context, brand)).toEqual({});
    expect(await problemsOf(brand)).toEqual([]);
  });

  it('that its store first reported as a real one gives everything back, also what was paid', async () => {
    const brand = await makeBrand(app.context);
    const sale = await makeSale(app.context, brand);
    await report(app.context, sale, { ...sale.facts, isTest: true, updatedAt: daysAgo(1) });
    expect(await balancesOf(app.context, brand)).toEqual({});
    expect((await explain(brand, sale.orderId)).commission).toMatchObject({
      ...{ status: 'rejected', status_note: 'test_order', commission: 0 },
      blocked_by: expect.arrayContaining(['rejected']),
    });
    expect(await problemsOf(brand)).toEqual([]);
  });

  it('that its store first reported as a real one counts as no order in any figure, whenever it was paid', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const assignment = await makeAssignment(app.context, brand);
    const make = (minor: number, paidAt: Date | null = daysAgo(2)) =>
      orderFacts(daysAgo(2), { codes: [assignment.code], baseMinor: minor, paidAt });
    const tell = (facts: ReturnType<typeof make>) => report(app.context, assignment, facts);
    const [kept, refunded, unpaid] = [make(5_000), make(10_000), make(7_000, null)];
    const refunds = [{ refundId: 'r', amountMinor: 3_000, at: daysAgo(1) }];
    for (const facts of [kept, make(10_000), { ...refunded, refunds }, unpaid]) await tell(facts);
    await syncOrders(app, brand.id);
    const day = (days: number) => daysAgo(days).toISOString().slice(0, 10);
    const read = async (path: string) => (await send(`${app.url}${path}`, key, 'GET')).body;
    const windows = [
      `from=${day(3)}&to=${day(0)}`,
      `from=${daysAgo(2.5).toISOString()}&to=${daysAgo(0).toISOString()}`,
    ];
    expect((await read(`/v1/analytics/breakdown?by=link&from=${day(4)}&to=${day(0)}`)).data).toMatchObject([
      { orders: 3, revenue_minor: 22_000 },
    ]);

    const later = { isTest: true, updatedAt: daysAgo(0.5) };
    const real = make(4_000);
    await tell(real);
    for (const facts of [
      { ...refunded, refunds, ...later },
      { ...unpaid, paidAt: daysAgo(1), ...later },
    ]) {
      await tell(facts);
      await tell(facts);
    }
    await syncOrders(app, brand.id);
    for (const window of windows) {
      for (const by of ['link', 'creator', 'kind', 'click_kind']) {
        const rows = (await read(`/v1/analytics/breakdown?by=${by}&${window}`)).data;
        expect(rows, `${by} ${window}`).toMatchObject([{ orders: 3, revenue_minor: 19_000, commission_minor: 1_900 }]);
      }
      expect((await read(`/v1/analytics?${window}`)).summary, window).toMatchObject({ total_conversions: 3 });
    }
    expect((await read(`/v1/affiliates/links/${assignment.linkId}`)).data).toMatchObject({ conversions: 3 });
    expect((await read('/v1/affiliates/performance')).data).toMatchObject([{ conversions: 3 }]);
    expect((await read(`/v1/analytics/returns?by=link&${windows[0]}`)).data).toMatchObject([{ orders: 3 }]);
    expect(await problemsOf(brand)).toEqual([]);
    const engines = { db: app.context.postgres.db, clickhouse: app.context.clickhouse };
    expect(await compareFigures(engines, brand.id)).toEqual([]);
    await rebuildFigures(app.context, brand.id);
    expect(await compareFigures(engines, brand.id)).toEqual([]);
    expect((await read(`/v1/analytics/breakdown?by=store&${windows[0]}`)).data).toMatchObject([{ orders: 3 }]);
  });

  it.each([
    ['a percentage', {}],
    [
      'rules',
      { terms: { rate: { percent: 10 }, rules: [{ name: 'First', when: { kind: ['first'] }, rate: { percent: 5 } }] } },
    ],
  ])('that was paid by %s before its shop says so leaves a ledger that verifies', async (_, terms) => {
    const shop = await openShop(app);
    const link = await shop.makeCode({ rate: { percent: 10 }, ...('terms' in terms ? terms.terms : {}) });
    const at = shop.next();
    const order = { order_id: 'o', amount: 100, placed_at: at, paid_at: at, codes: [link.value] };
    await shop.place(order);
    const { commission } = await shop.explain({ order_id: 'o' });
    await shop.tell('PATCH', `/v1/affiliates/commissions/${commission.id}`, { status: 'approved' });
    const payout = { creator_email: link.creator_email, amount: 10, method: 'wallet' };
    expect((await shop.tell('POST', '/v1/payouts', payout)).status).toBe(201);
    await shop.place({ ...order, test: true });
    expect((await shop.explain({ order_id: 'o' })).commission).toMatchObject({ commission: 10, status: 'paid' });
    expect(await shop.listProblems()).toEqual([]);
  });
});

describe('A renewal of a subscription', () => {
  it('pays only an assignment that pays renewals', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const assignment = await makeAssignment(app.context, brand);
    const renewal = () => orderFacts(daysAgo(1), { codes: [assignment.code], kind: 'renewal' });
    const [before, after] = [renewal(), renewal()];
    await report(app.context, assignment, before);
    const path = `${app.url}/v1/affiliates/links/${assignment.linkId}`;
    expect((await send(path, key, 'GET')).body.data).toMatchObject({ pays_renewals: false });
    const patched = await send(path, key, 'PATCH', { pays_renewals: true });
    expect([patched.status, patched.body.data.pays_renewals]).toEqual([200, true]);
    await report(app.context, assignment, after);
    expect(await explain(brand, before.orderId)).toMatchObject({
      ...{ is_renewal: true, attributed: false, candidates: [{ reason: 'renewal' }] },
    });
    expect(await explain(brand, after.orderId)).toMatchObject({ is_renewal: true, attributed: true });
    expect(await balancesOf(app.context, brand)).toMatchObject({ sales: -10_000, commission_pending: -1_000 });
    expect(await problemsOf(brand)).toEqual([]);
  });
});

describe('A dispute over an order', () => {
  it('that is lost rejects its commission, and one that is won then restores it', async () => {
    const brand = await makeBrand(app.context);
    const sale = await makeSale(app.context, brand);
    await disputed(sale, dispute('open', 9));
    expect((await explain(brand, sale.orderId)).commission).toMatchObject({ status: 'pending', commission: 10 });
    await disputed(sale, dispute('lost', 5));
    expect(await explain(brand, sale.orderId)).toMatchObject({
      commission: { status: 'rejected', status_note: 'dispute_lost', commission: 0 },
      refunds: [{ refund_id: 'dispute_lost', counted: 100 }],
      disputes: [{ dispute_id: '285332461', status: 'lost', lost_at: expect.any(String) }],
    });
    expect(await balancesOf(app.context, brand)).toEqual({ sales: -10_000, sales_refunds: 10_000 });
    await disputed(sale, dispute('won', 2));
    expect((await explain(brand, sale.orderId)).commission).toMatchObject({ status: 'pending', commission: 10 });
    expect(await balancesOf(app.context, brand)).toMatchObject({ customers: 10_000, commission_pending: -1_000 });
    expect(await problemsOf(brand)).toEqual([]);
  });

  it('deducts a paid commission from the next payout, like a cancellation', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const sale = await makeSale(app.context, brand);
    await send(`${app.url}/v1/affiliates/commissions/${sale.id}`, key, 'PATCH', { status: 'approved' });
    const payout = { creator_email: sale.email, amount: 10, method: 'wallet' };
    expect((await send(`${app.url}/v1/payouts`, key, 'POST', payout)).status).toBe(201);
    await disputed(sale, dispute('lost', 5));
    expect((await explain(brand, sale.orderId)).commission).toMatchObject({
      ...{ status: 'paid', commission: 10, adjustments: [{ cause: 'dispute_lost', amount: 10 }] },
    });
    expect(await balancesOf(app.context, brand)).toMatchObject({ refund_adjustment: 1_000 });
    await disputed(sale, dispute('won', 2));
    expect((await explain(brand, sale.orderId)).commission.adjustments).toEqual([]);
    expect(await problemsOf(brand)).toEqual([]);
  });

  it('ends the same in whichever order it and its order are reported, and however often', async () => {
    const brand = await makeBrand(app.context);
    const assignment = await makeAssignment(app.context, brand);
    for (const [reports, isLost] of [
      [[dispute('open', 9), dispute('lost', 5), dispute('open', 3)], true],
      [[dispute('open', 9), dispute('lost', 5), dispute('won', 3)], false],
    ] as const) {
      const results = [];
      for (const some of inEveryOrder(['order', ...reports] as const)) {
        const facts = orderFacts(daysAgo(20), { codes: [assignment.code] });
        const { orderId } = facts;
        for (const one of [...some, ...some]) {
          if (one === 'order') await report(app.context, assignment, facts);
          else await disputed({ ...assignment, orderId }, one);
        }
        const { commission, refunds, disputes } = await explain(brand, orderId);
        results.push({ status: commission.status, amount: commission.commission, refunds, disputes });
      }
      expect(new Set(results.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(results[0]).toMatchObject({ status: isLost ? 'rejected' : 'pending', amount: isLost ? 0 : 10 });
    }
    expect(await problemsOf(brand)).toEqual([]);
  });
});
