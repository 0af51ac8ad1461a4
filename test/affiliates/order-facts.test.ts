import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoredPostings } from '../../src/kit/outbox/ledger-entry.ts';
import { commissionsOf, later, makeSeller, order, orderedAt } from '../harness/affiliates/ordering.ts';
import { balancesOf, makeSale, report, reportRefunds } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

describe('once a commission is paid,', () => {
  async function paidSale() {
    const { brand, key } = await makeSeller(app);
    const sale = await makeSale(app.context, brand, { occurredAt: orderedAt });
    await send(`${app.url}/v1/commissions`, key, 'POST', { status: 'approved', event_id: sale.id });
    const requested = { creator_email: sale.email, amount: 10, method: 'manual' };
    const payout = (await send(`${app.url}/v1/payouts`, key, 'POST', requested)).body.data;
    const paid = await send(`${app.url}/v1/payouts/${payout.id}`, key, 'PATCH', { status: 'paid' });
    expect(paid.status).toBe(200);
    return { brand, key, sale };
  }
  const adjustments = async (brand: TestBrand) =>
    await app.context.postgres.db
      .selectFrom('commissionAdjustments')
      .select(['cause', 'amountMinor', 'at'])
      .where('brandId', '=', brand.id)
      .orderBy('cause')
      .execute();

  it('a refund takes its share back as a separate adjustment, once, and the commission stays', async () => {
    const { brand, key, sale } = await paidSale();
    const refunds = [{ refundId: 'r', amountMinor: 2_500, at: later(90) }];
    for (let i = 0; i < 3; i += 1) await reportRefunds(app.context, sale.source, sale.orderId, refunds);
    expect(await commissionsOf(app, key)).toMatchObject([{ status: 'paid', commission: 10 }]);
    expect(await adjustments(brand)).toEqual([{ cause: 'r', amountMinor: 250, at: later(90) }]);
    expect(await balancesOf(app.context, brand)).toMatchObject({ commission_paid: -1_000, refund_adjustment: 250 });
  });

  it('a cancellation takes back what is left, whether a refund comes before or after it', async () => {
    for (const refundFirst of [true, false]) {
      const { brand, sale } = await paidSale();
      const refund = () =>
        reportRefunds(app.context, sale.source, sale.orderId, [{ refundId: 'r', amountMinor: 2_500, at: later(90) }]);
      const cancel = () => report(app.context, sale, { ...sale.facts, cancelledAt: later(95), updatedAt: later(95) });
      for (const step of refundFirst ? [refund, cancel] : [cancel, refund]) await step();
      expect(await adjustments(brand)).toEqual([
        { cause: 'cancelled', amountMinor: 750, at: later(95) },
        { cause: 'r', amountMinor: 250, at: later(90) },
      ]);
      expect(await balancesOf(app.context, brand)).toMatchObject({ sales_refunds: 10_000, refund_adjustment: 1_000 });
    }
  });
});

describe('the ledger', () => {
  /** Sums per account and time. */
  async function sums(brand: TestBrand, orderId: string) {
    const rows = await app.context.postgres.db
      .selectFrom('ledgerEntries')
      .innerJoin('orders', 'orders.id', 'ledgerEntries.orderId')
      .select('postings')
      .where('ledgerEntries.brandId', '=', brand.id)
      .where('orders.orderId', '=', orderId)
      .execute();
    const found = new Map<string, number>();
    for (const { account, at, amount_minor } of rows.flatMap(({ postings }) => StoredPostings.parse(postings))) {
      found.set(`${account} ${at}`, (found.get(`${account} ${at}`) ?? 0) + amount_minor);
    }
    return [...found].filter(([, sum]) => sum !== 0).sort();
  }

  it('is the same whether deliveries come one by one or all at once, in any order', async () => {
    const { brand, assignment } = await makeSeller(app);
    const minute = fc.integer({ min: 1, max: 5 });
    const snapshot = fc.record({ baseMinor: fc.nat(20_000), paid: fc.boolean(), cancelled: fc.nat(9), at: minute });
    const refund = fc.record({ id: fc.nat(2), amountMinor: fc.nat(15_000), at: minute });
    const history = fc.tuple(fc.array(snapshot, { minLength: 1, maxLength: 4 }), fc.array(refund, { maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(history, async ([snapshots, refunds]) => {
        const steps = (orderId: string) => [
          ...snapshots.map(({ baseMinor, paid, cancelled, at }) => () => {
            const times = { paidAt: paid ? later(at) : null, cancelledAt: cancelled === 0 ? later(at) : null };
            const reported = { orderId, baseMinor, updatedAt: later(at), ...times };
            return report(app.context, assignment, order(assignment, reported));
          }),
          ...refunds.map(
            ({ id, amountMinor, at }) =>
              () =>
                reportRefunds(app.context, assignment.source, orderId, [
                  { refundId: `r${id}`, amountMinor, at: later(at) },
                ]),
          ),
        ];
        const [one, all, reversed] = [unique('order'), unique('order'), unique('order')];
        for (const step of steps(one)) await step();
        for (const step of steps(reversed).reverse()) await step();
        await Promise.all([...steps(all), ...steps(all)].map((step) => step()));
        expect(await sums(brand, all)).toEqual(await sums(brand, one));
        expect(await sums(brand, reversed)).toEqual(await sums(brand, one));
      }),
      { numRuns: 15 },
    );
  });
});
