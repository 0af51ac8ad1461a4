import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  approved,
  codeOf,
  get,
  makePayer,
  post,
  problemsOf,
  recorded,
  settle,
  statusOf,
} from '../harness/affiliates/paying.ts';
import { balancesOf, makeSale, refund, report } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

describe('a wallet’s payout', () => {
  it('is allocated when it is recorded, by the same rules as a paid one, and cannot be paid again by hand', async () => {
    const owner = await makePayer(app);
    const [one, two] = [await approved(owner), await approved(owner)];
    const made = await recorded(owner, { method: 'wallet', amount: 20 });
    expect(made).toMatchObject({ status: 'completed', allocated_amount: 20, unallocated: 0 });
    expect([await statusOf(owner, one), await statusOf(owner, two)]).toEqual(['paid', 'paid']);
    const again = await settle(owner, (await recorded(owner, { amount: 20 })).id);
    expect(again.body.data).toMatchObject({ allocated_amount: 0, unallocated: 20, commission_ids: [] });
    expect(await balancesOf(app.context, owner.brand)).toMatchObject({ cash: -4_000, commission_paid: -2_000 });
  });

  it('pays what it lists; the list for another method is sent with PATCH', async () => {
    const owner = await makePayer(app);
    const [one, two] = [await approved(owner), await approved(owner)];
    await recorded(owner, { method: 'wallet', amount: 10, commission_ids: [two.id] });
    expect([await statusOf(owner, one), await statusOf(owner, two)]).toEqual(['approved', 'paid']);
    const input = { creator_email: owner.ann.email, amount: 10, commission_ids: [one.id] };
    const refused = await post(owner, { ...input, method: 'manual' });
    expect([codeOf(refused), problemsOf(refused)]).toEqual([
      [422, 'VALIDATION_ERROR'],
      [['commission_ids', 'invalid']],
    ]);
    const dear = await post(owner, { ...input, method: 'wallet', amount: 9 });
    expect(codeOf(dear)).toEqual([422, 'INVALID_SELECTION']);
    expect((await get(owner, '/v1/payouts')).body.pagination.total).toBe(1);
  });
});

describe('the money that a payout leaves over', () => {
  it('is used by later approvals, oldest payout first, also from two payouts together', async () => {
    const owner = await makePayer(app);
    const first = await recorded(owner, { method: 'wallet', amount: 8 });
    const second = await recorded(owner, { method: 'wallet', amount: 15 });
    expect([first.unallocated, second.unallocated]).toEqual([8, 15]);
    expect(await balancesOf(app.context, owner.brand)).toEqual({ unallocated: 2_300, cash: -2_300 });
    const sale = await approved(owner);
    expect(await statusOf(owner, sale)).toBe('paid');
    const read = async (id: string) => (await get(owner, `/v1/payouts/${id}`)).body.data;
    expect(await read(first.id)).toMatchObject({ allocated_amount: 8, unallocated: 0, commission_ids: [sale.id] });
    expect(await read(second.id)).toMatchObject({ allocated_amount: 2, unallocated: 13, commission_ids: [sale.id] });
    const large = await approved(owner, { amountMinor: 20_000 });
    expect(await statusOf(owner, large)).toBe('approved');
    await recorded(owner, { method: 'wallet', amount: 7 });
    expect(await statusOf(owner, large)).toBe('paid');
    expect(await read(second.id)).toMatchObject({ allocated_amount: 15, unallocated: 0 });
    expect(await balancesOf(app.context, owner.brand)).toMatchObject({ cash: -3_000, commission_settled: 3_000 });
  });

  it('of a fee pays no later approval', async () => {
    const owner = await makePayer(app);
    const fee = await recorded(owner, { method: 'wallet', amount: 50, commission_ids: [] });
    expect(fee).toMatchObject({ is_fee: true, unallocated: 0, unallocated_amount: 50 });
    expect(await statusOf(owner, await approved(owner))).toBe('approved');
    expect(await balancesOf(app.context, owner.brand)).toMatchObject({ fees: 5_000, cash: -5_000 });
  });

  it('pays of 20 concurrent approvals what it covers, and no more', async () => {
    const owner = await makePayer(app);
    const sales = [];
    for (let i = 0; i < 20; i += 1) sales.push(await makeSale(app.context, owner.brand, { assignment: owner.ann }));
    const { id } = await recorded(owner, { method: 'wallet', amount: 125 });
    const url = `${app.url}/v1/affiliates/commissions`;
    const answers = await Promise.all(
      sales.map((sale) => send(`${url}/${sale.id}`, owner.key, 'PATCH', { status: 'approved' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { body } = await get(owner, `/v1/payouts/${id}`);
    expect(body.data).toMatchObject({ allocated_amount: 120, unallocated: 5 });
    expect(body.data.commission_ids).toHaveLength(12);
  });

  it('does not count as earned, and neither does what was netted', async () => {
    const owner = await makePayer(app);
    const sale = await approved(owner, { amountMinor: 100_000 });
    await recorded(owner, { method: 'wallet', amount: 150 });
    await refund(app.context, sale, 50_000);
    await approved(owner, { amountMinor: 100_000 });
    await approved(owner, { currency: 'EUR' });
    await recorded(owner, { method: 'wallet', amount: 10, currency: 'EUR' });
    expect((await get(owner, `/v1/roster/${owner.ann.creatorId}`)).body.data).toMatchObject({
      total_earned: 150,
      by_currency: [{ currency: 'EUR', total_earned: 10 }],
    });
  });
});

describe('a rejected commission', () => {
  it('looks the same however it was rejected: nothing is owed, and it says by whom', async () => {
    const owner = await makePayer(app);
    const url = `${app.url}/v1/affiliates/commissions`;
    const byReview = await makeSale(app.context, owner.brand, { assignment: owner.ann });
    await send(`${url}/${byReview.id}`, owner.key, 'PATCH', { status: 'rejected' });
    const refunded = await makeSale(app.context, owner.brand, { assignment: owner.ann });
    await refund(app.context, refunded, 10_000);
    const cancelled = await makeSale(app.context, owner.brand, { assignment: owner.ann, paidAt: null });
    await report(app.context, cancelled, { ...cancelled.facts, cancelledAt: new Date(), updatedAt: new Date() });
    const read = async ({ id }: { id: string }) => (await get(owner, `/v1/commissions/${id}`)).body.data;
    expect(await read(byReview)).toMatchObject({ commission: 0, commission_at_rate: 10, rejected_by: 'review' });
    expect(await read(refunded)).toMatchObject({ commission: 0, commission_at_rate: 0, rejected_by: 'order' });
    expect(await read(cancelled)).toMatchObject({ commission: 0, rejected_by: 'order', order_paid: false });
  });

  it('returns to its earlier status, with the review’s note, when the refund that rejected it is reverted', async () => {
    const owner = await makePayer(app);
    const sale = await makeSale(app.context, owner.brand, { assignment: owner.ann });
    const url = `${app.url}/v1/affiliates/commissions/${sale.id}`;
    await send(url, owner.key, 'PATCH', { status: 'approved', note: 'checked by Eva' });
    const at = new Date(Date.now() - 5_000);
    const refunds = [{ refundId: 'r1', amountMinor: 10_000, at }];
    await report(app.context, sale, { ...sale.facts, refunds, hasAllRefunds: true, updatedAt: at });
    const read = async () => (await get(owner, `/v1/commissions/${sale.id}`)).body.data;
    expect(await read()).toMatchObject({ status: 'rejected', status_note: 'order_refunded' });
    await report(app.context, sale, { ...sale.facts, refunds: [], hasAllRefunds: true, updatedAt: new Date() });
    expect(await read()).toMatchObject({ status: 'approved', status_note: 'checked by Eva', commission: 10 });
  });
});
