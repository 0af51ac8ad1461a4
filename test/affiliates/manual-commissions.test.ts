import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { listWrongCommissions, listWrongPayouts } from '../../src/affiliates/ledger/mismatches.ts';
import { approveDue } from '../../src/affiliates/reviews/reviews.jobs.ts';
import { createManualCommission, type ManualCommission } from '../../src/affiliates/reviews/reviews.ts';
import { approved, get, makePayer, type Payer, recorded } from '../harness/affiliates/paying.ts';
import { asTest, balancesOf } from '../harness/affiliates/sales.ts';
import { sync } from '../harness/analytics/figures.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';
import { listEvents } from '../harness/workflow/applying.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const record = async (owner: Payer, input: Partial<ManualCommission>) =>
  await asTest(app.context, owner.brand, (work) =>
    createManualCommission(work, { creator_email: owner.ann.email, amount: 25, ...input }),
  );

it('a commission that the brand records itself is in the ledger, sends one event, and is approved at once and paid like any other', async () => {
  const owner = await makePayer(app);
  const { id } = await record(owner, { description: 'for the launch' });
  const read = async () => (await get(owner, `/v1/commissions/${id}`)).body.data;
  expect(await read()).toMatchObject({
    ...{ type: 'manual', source: 'manual', order_id: null, link_id: null, amount: 0, commission: 25 },
    ...{ status: 'pending', status_note: 'for the launch', order_paid: false, affiliate_code: null },
  });
  expect(await balancesOf(app.context, owner.brand)).toEqual({ commission_expense: 2_500, commission_pending: -2_500 });
  const review = { event_id: id, status: 'approved' };
  expect((await send(`${app.url}/v1/commissions`, owner.key, 'POST', review)).body.data).toEqual({ updated: 1 });
  await recorded(owner, { method: 'wallet', amount: 25 });
  expect(await read()).toMatchObject({ status: 'paid', commission: 25 });
  expect(await balancesOf(app.context, owner.brand)).toEqual({
    ...{ commission_expense: 2_500, commission_paid: -2_500, commission_settled: 2_500, cash: -2_500 },
  });
  const events = (await listEvents(app, owner.brand.id)).map(({ event }) => event);
  expect(events.filter((event) => event.startsWith('commission.'))).toEqual([
    ...['commission.created', 'commission.approved'],
  ]);
  const { db } = app.context.postgres;
  expect([
    ...(await listWrongCommissions(db, owner.brand.id)),
    ...(await listWrongPayouts(db, owner.brand.id)),
  ]).toEqual([]);
});

it('a manual commission approved from the start is paid by leftover payout money; a brand with auto-approval approves it', async () => {
  const owner = await makePayer(app);
  await recorded(owner, { method: 'wallet', amount: 30 });
  expect((await record(owner, { status: 'approved' })).status).toBe('paid');
  const later = await record(owner, { amount: 10 });
  await send(`${app.url}/v1/brand`, owner.key, 'PATCH', { settings: { auto_approve_commissions: true } });
  await approveDue(app.context);
  expect((await get(owner, `/v1/commissions/${later.id}`)).body.data.status).toBe('approved');
});

it('a manual commission posted in another currency is booked, paid out and stated in it, and its decimals are that currency’s', async () => {
  const owner = await makePayer(app);
  const post = (body: object) =>
    send(`${app.url}/v1/commissions/manual`, owner.key, 'POST', { creator_email: owner.ann.email, ...body });
  const euros = await post({ amount: 12.5, currency: 'EUR', status: 'approved' });
  expect([euros.status, euros.body.data.currency, euros.body.data.commission]).toEqual([201, 'EUR', 12.5]);
  expect((await post({ amount: 300, currency: 'JPY', status: 'approved' })).body.data.commission).toBe(300);
  const refused = await post({ amount: 12.5, currency: 'JPY' });
  expect([refused.status, refused.body.details[0].field]).toEqual([422, 'amount']);
  const { data } = (await get(owner, '/v1/payouts/preview')).body;
  expect(data.map(({ currency, total }: Record<string, unknown>) => [currency, total]).sort()).toEqual([
    ['EUR', 12.5],
    ['JPY', 300],
  ]);
  expect(await balancesOf(app.context, owner.brand)).toEqual({
    ...{ 'EUR commission_expense': 1_250, 'EUR commission_approved': -1_250 },
    ...{ 'JPY commission_expense': 300, 'JPY commission_approved': -300 },
  });
});

it('a manual commission is refused for a stranger, for zero, and with more decimals than the currency has', async () => {
  const owner = await makePayer(app);
  const codes = async (input: Partial<ManualCommission>) =>
    await record(owner, input).then(
      () => [],
      (error: { details: { field: string; code: string }[] }) =>
        error.details.map(({ field, code }) => `${field} ${code}`),
    );
  expect(await codes({ creator_email: 'x@mail.example', amount: 0 })).toEqual([
    'creator_email not_on_roster',
    'amount invalid',
  ]);
  expect(await codes({ amount: 1.005 })).toEqual(['amount invalid']);
});

it('a manual commission counts as commission of its creator and of the brand, but not as a conversion, revenue or link', async () => {
  const owner = await makePayer(app);
  await approved(owner);
  await record(owner, { status: 'approved' });
  await sync(app, owner.brand.id);
  const { summary, top_creators } = (await get(owner, '/v1/analytics?from=2026-01-01')).body;
  expect(summary.total_commissions).toBe(35);
  expect([summary.total_conversions, summary.total_revenue]).toEqual([1, 100]);
  expect(top_creators).toMatchObject([{ name: 'Ann', conversions: 1, revenue: 100 }]);
  const { performance } = (await get(owner, `/v1/creators?limit=100`)).body.data[0];
  expect(performance).toMatchObject({ conversions: 1, commissions_earned: 35 });
  expect((await get(owner, '/v1/affiliates')).body.summary).toMatchObject({ total_commissions: 10 });
  expect((await get(owner, '/v1/affiliates/performance')).body.pagination.total).toBe(1);
  const { postgres, clickhouse } = app.context;
  expect(await compareFigures({ db: postgres.db, clickhouse }, owner.brand.id)).toEqual([]);
});
