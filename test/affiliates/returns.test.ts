import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAssignment, makeSale, refund } from '../harness/affiliates/sales.ts';
import { syncOrders } from '../harness/analytics/figures.ts';
import { type Answer, startApp, type TestApp } from '../harness/app.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../harness/workflow/work.ts';

const NOW = new Date('2026-03-20T12:00:00Z');
const PERIOD = 'from=2026-03-01&to=2026-03-20';
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock: { now: () => NOW } });
});
afterAll(() => app?.close());

type Row = Answer['body'];

const enter = async (desk: WorkDesk, cost: object): Promise<string> => {
  const { status, body } = await desk.post('/v1/costs', cost);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data.id;
};
const returnsOf = async (desk: WorkDesk, query: string): Promise<Row> => {
  const { status, body } = await desk.get(`/v1/analytics/returns?${PERIOD}&limit=100&${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

const on = (day: string) => new Date(`2026-03-${day}T10:00:00Z`);

/** A creator whose code is of a campaign, one without, and three orders, one of which is refunded in part. */
async function makeSold() {
  const desk = await openWorkDesk(app);
  const [ofCampaign, other] = await Promise.all([
    makeAssignment(app.context, desk.brand, { email: desk.creator }),
    makeAssignment(app.context, desk.brand),
  ]);
  const inCampaign = { campaign_id: desk.campaign };
  expect((await desk.send('PATCH', `/v1/affiliates/links/${ofCampaign.linkId}`, inCampaign)).status).toBe(200);
  const sell = (assignment: typeof other, day: string, amountMinor: number) =>
    makeSale(app.context, desk.brand, { assignment, occurredAt: on(day), amountMinor });
  const first = await sell(ofCampaign, '05', 10_000);
  await sell(ofCampaign, '12', 20_001);
  await sell(other, '08', 3_333);
  await refund(app.context, first, 5_000, on('15'));
  await syncOrders(app, desk.brand.id);
  return { desk, ofCampaign, other };
}

async function sign(desk: WorkDesk, compensation: object): Promise<void> {
  const contract = { creator_email: desk.creator, campaign_id: desk.campaign, title: 'Launch', compensation };
  const { status } = await desk.post('/v1/contracts', { ...contract, send_for_signature: true });
  expect(status).toBe(201);
  expect((await desk.fill(await desk.linkTo('sign'), { name: 'Ana Diaz', agree: 'yes' })).status).toBe(303);
}

async function ship(desk: WorkDesk, products: object): Promise<void> {
  const parcel = { creator_email: desk.creator, campaign_id: desk.campaign, ...products };
  const { id } = (await desk.post('/v1/shipments', parcel)).body.data;
  expect((await desk.send('PATCH', `/v1/shipments/${id}`, { status: 'shipped' })).status).toBe(200);
}

const AMOUNTS = [
  ...['orders', 'revenue_minor', 'refunds_minor', 'goods_minor', 'commission_minor', 'contract_fees_minor'],
  ...['fee_payouts_minor', 'fees_minor', 'gifts_minor', 'fixed_minor', 'profit_minor'],
];
const totalOf = (rows: readonly Row[]) =>
  Object.fromEntries(AMOUNTS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]));

describe('returns', () => {
  it('are revenue minus everything that was entered and paid, add up by each dimension, and agree with the journal to the cent', async () => {
    const { desk, ofCampaign, other } = await makeSold();
    await enter(desk, { kind: 'cogs_percent', amount: 40 });
    await enter(desk, {
      ...{ scope: 'campaign', campaign_id: desk.campaign, kind: 'cogs_percent', amount: 30, from: '2026-03-10' },
    });
    await enter(desk, { kind: 'per_order', amount: 1.5 });
    await enter(desk, { kind: 'fixed', amount: 31, from: '2026-03-01', to: '2026-03-31' });
    await enter(desk, { scope: 'campaign', campaign_id: desk.campaign, kind: 'fixed', amount: 20, from: '2026-03-05' });
    await enter(desk, { scope: 'product', sku: 'SERUM-30', kind: 'per_item', amount: 12 });
    await sign(desk, { type: 'fixed', amount: 500, currency: 'USD' });
    const fee = { creator_email: desk.creator, amount: 500, method: 'wallet', commission_ids: [] };
    expect((await desk.post('/v1/payouts', fee)).body.data.is_fee).toBe(true);
    await ship(desk, { products: [{ name: 'Serum', sku: 'SERUM-30', quantity: 2 }] });
    await syncOrders(app, desk.brand.id);

    const { data, meta } = await returnsOf(desk, 'by=campaign');
    expect(data).toEqual([
      {
        ...{ key: desk.campaign, label: 'Launch', currency: 'USD', orders: 2, revenue_minor: 25_001 },
        // 40% of 100.00, 30% of 200.01 and of 50.00 back, and two orders.
        ...{ refunds_minor: 5_000, goods_minor: 4_000 + 6_000 - 1_500 + 300, commission_minor: 2_500 },
        ...{ contract_fees_minor: 50_000, fee_payouts_minor: 0, fees_minor: 50_000, gifts_minor: 2_400 },
        ...{ fixed_minor: 2_000, profit_minor: -40_699, return_on_spend: 0.44, orders_to_break_even: 8, missing: [] },
      },
      {
        ...{ key: null, label: null, currency: 'USD', orders: 1, revenue_minor: 3_333, refunds_minor: 0 },
        ...{ goods_minor: 1_333 + 150, commission_minor: 333, contract_fees_minor: 0, fee_payouts_minor: 50_000 },
        // The fee that was paid is the one that was agreed.
        ...{ fees_minor: 0, gifts_minor: 0, fixed_minor: 2_000, profit_minor: -483, return_on_spend: 1.43 },
        ...{ orders_to_break_even: 2, missing: [] },
      },
    ]);
    expect(meta).toEqual({ period: { from: '2026-03-01', to: '2026-03-20' }, time_zone: 'UTC', missing: [] });

    const totals = totalOf(data);
    for (const by of ['creator', 'link', 'month']) {
      expect(totalOf((await returnsOf(desk, `by=${by}`)).data), by).toEqual(totals);
    }
    const byCreator = (await returnsOf(desk, 'by=creator')).data;
    expect(byCreator.map(({ key, fees_minor }: Row) => [key, fees_minor])).toEqual([
      ...[
        [ofCampaign.creatorId, 50_000],
        [other.creatorId, 0],
        [null, 0],
      ],
    ]);
    const [month] = (await returnsOf(desk, 'by=month')).data;
    expect([month.key, month.label]).toEqual(['2026-03', '2026-03']);
    expect((await returnsOf(desk, 'by=month&currency=EUR')).data).toEqual([]);

    const { by_account } = (await desk.get(`/v1/affiliates/ledger/journal?${PERIOD}`)).body.summary;
    const credit = (...accounts: string[]) =>
      by_account
        .filter(({ account }: Row) => accounts.includes(account))
        .reduce((sum: number, row: Row) => sum + Math.round(100 * row.credit) - Math.round(100 * row.debit), 0);
    expect({
      revenue_minor: credit('sales', 'sales_refunds'),
      refunds_minor: -credit('sales_refunds'),
      commission_minor: -credit('commission_expense'),
      fee_payouts_minor: -credit('fees'),
    }).toEqual({
      revenue_minor: totals.revenue_minor,
      refunds_minor: totals.refunds_minor,
      commission_minor: totals.commission_minor,
      fee_payouts_minor: totals.fee_payouts_minor,
    });

    const csv = (await desk.get(`/v1/analytics/returns?${PERIOD}&by=campaign`, 'text/csv')).body.trim().split('\n');
    expect(csv).toHaveLength(3);
    expect(csv[1]).toContain(desk.campaign);
  });

  it('that lack a cost are null and named, never 0', async () => {
    const { desk } = await makeSold();
    await sign(desk, { type: 'fixed' });
    await ship(desk, { product_description: 'A surprise' });
    const { data, meta } = await returnsOf(desk, 'by=campaign');
    expect(meta.missing).toEqual(['contract_fees', 'gifts', 'goods']);
    expect(data).toMatchObject([
      {
        ...{
          key: desk.campaign,
          revenue_minor: 25_001,
          goods_minor: null,
          contract_fees_minor: null,
          fees_minor: null,
        },
        ...{ gifts_minor: null, fixed_minor: 0, profit_minor: null, return_on_spend: null },
        ...{ orders_to_break_even: null, missing: ['contract_fees', 'gifts', 'goods'] },
      },
      { key: null, goods_minor: null, contract_fees_minor: 0, gifts_minor: 0, profit_minor: null, missing: ['goods'] },
    ]);
    await enter(desk, { kind: 'per_order', amount: 2, currency: 'EUR' });
    expect((await returnsOf(desk, 'by=month')).data, 'a cost in euros is none of orders in dollars').toMatchObject([
      { key: '2026-03', currency: 'USD', goods_minor: null },
    ]);
    await enter(desk, { kind: 'cogs_percent', amount: 0 });
    expect((await returnsOf(desk, 'by=link')).meta.missing).toEqual(['contract_fees', 'gifts']);
  });

  it('have the same goods by each dimension as an oracle, whatever costs are entered', async () => {
    const { desk } = await makeSold();
    const flows = [
      { day: '05', minor: 10_000, orders: 1, isOfCampaign: true },
      { day: '12', minor: 20_001, orders: 1, isOfCampaign: true },
      { day: '08', minor: 3_333, orders: 1, isOfCampaign: false },
      { day: '15', minor: -5_000, orders: 0, isOfCampaign: true },
    ];
    const day = fc.option(fc.integer({ min: 1, max: 20 }));
    const cost = fc.record({
      ...{ isPercent: fc.boolean(), isOfCampaign: fc.boolean(), amount: fc.integer({ min: 0, max: 10_000 }) },
      ...{ first: day, last: day },
    });
    const text = (n: number | null) => (n === null ? null : `2026-03-${String(n).padStart(2, '0')}`);
    const rounded = (value: number) => Math.sign(value) * Math.round(Math.abs(value));
    await fc.assert(
      fc.asyncProperty(fc.array(cost, { minLength: 1, maxLength: 4 }), async (drawn) => {
        const costs = drawn.filter(({ first, last }) => first === null || last === null || first <= last);
        const ids: string[] = [];
        for (const { isPercent, isOfCampaign, amount, first, last } of costs) {
          const scope = isOfCampaign ? { scope: 'campaign', campaign_id: desk.campaign } : {};
          const kind = isPercent ? { kind: 'cogs_percent' } : { kind: 'per_order', currency: 'USD' };
          const days = { from: text(first), to: text(last) };
          ids.push(await enter(desk, { ...scope, ...kind, ...days, amount: amount / 100 }));
        }
        let isMissing = false;
        let goods = 0;
        for (const flow of flows) {
          const at = Number(flow.day);
          const sum = (isPercent: boolean) => {
            const valid = costs.filter(
              (one) => one.isPercent === isPercent && (one.first ?? 0) <= at && at <= (one.last ?? 99),
            );
            const own = valid.filter(({ isOfCampaign }) => isOfCampaign && flow.isOfCampaign);
            const its = own.length > 0 ? own : valid.filter(({ isOfCampaign }) => !isOfCampaign);
            return its.length === 0 ? undefined : its.reduce((total, { amount }) => total + amount, 0);
          };
          const [percent, perOrder] = [sum(true), sum(false)];
          if (percent === undefined && perOrder === undefined) isMissing = true;
          goods += rounded((flow.minor * (percent ?? 0)) / 10_000) + flow.orders * (perOrder ?? 0);
        }
        for (const by of ['campaign', 'creator', 'link', 'month']) {
          const { data, meta } = await returnsOf(desk, `by=${by}`);
          expect(meta.missing, by).toEqual(isMissing ? ['goods'] : []);
          if (!isMissing) expect(totalOf(data).goods_minor, by).toBe(goods);
        }
        for (const id of ids) expect((await desk.send('DELETE', `/v1/costs/${id}`)).status).toBe(200);
      }),
      { numRuns: 12 },
    );
  });
});

describe('a cost', () => {
  it('is entered, read, changed and deleted by the brand, and is refused where it is ambiguous', async () => {
    const desk = await openWorkDesk(app);
    const id = await enter(desk, { kind: 'per_order', amount: 1.5, note: 'Packing' });
    expect(await desk.read(`/v1/costs/${id}`)).toEqual({
      ...{ id, scope: 'brand', campaign_id: null, sku: null, kind: 'per_order', amount: 1.5, currency: 'USD' },
      ...{ from: null, to: null, note: 'Packing', created_at: NOW.toISOString(), updated_at: null },
    });
    const changed = await desk.send('PATCH', `/v1/costs/${id}`, { amount: 2, from: '2026-03-02' });
    expect(changed.body.data).toMatchObject({ amount: 2, from: '2026-03-02', to: null, note: 'Packing' });
    const wrongly = await desk.send('PATCH', `/v1/costs/${id}`, { to: '2026-03-01', amount: 1.555 });
    expect([wrongly.status, wrongly.body.details.map(({ field }: Row) => field)]).toEqual([422, ['to', 'amount']]);
    await enter(desk, { kind: 'cogs_percent', amount: 35.25 });
    expect((await desk.read('/v1/costs?kind=cogs_percent')).map(({ amount }: Row) => amount)).toEqual([35.25]);

    for (const [cost, fields] of [
      [{ kind: 'cogs_percent', amount: 101 }, ['amount']],
      [{ kind: 'cogs_percent', amount: 5, currency: 'USD' }, ['currency']],
      [{ kind: 'fixed', amount: 5 }, ['from']],
      [{ kind: 'per_item', amount: 5 }, ['scope']],
      [{ kind: 'fixed', scope: 'product', sku: 'A', amount: 5, from: '2026-03-01' }, ['scope']],
      [{ kind: 'per_item', scope: 'product', amount: 5 }, ['sku']],
      [{ kind: 'per_order', scope: 'campaign', amount: 5 }, ['campaign_id']],
      [{ kind: 'per_order', campaign_id: desk.campaign, amount: 5 }, ['campaign_id']],
    ] as const) {
      const { status, body } = await desk.post('/v1/costs', cost);
      expect([status, body.details?.map(({ field }: Row) => field)], JSON.stringify(cost)).toEqual([422, fields]);
    }
    const nowhere = { kind: 'per_order', scope: 'campaign', campaign_id: 'cmp_nothing', amount: 5 };
    expect((await desk.post('/v1/costs', nowhere)).status).toBe(404);

    expect((await desk.send('DELETE', `/v1/costs/${id}`)).status).toBe(200);
    expect((await desk.get(`/v1/costs/${id}`)).status).toBe(404);
  });
});
