import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  approvalsOf,
  approved,
  codeOf,
  get,
  makePayer,
  type Payer,
  problemsOf,
  recorded,
  settle,
  statusOf,
} from '../harness/affiliates/paying.ts';
import { balancesOf, daysAgo, makeAssignment, makeSale } from '../harness/affiliates/sales.ts';
import { call, send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const earnedBy = async (owner: Payer) => (await get(owner, `/v1/roster/${owner.ann.creatorId}`)).body.data.total_earned;

describe('a payment', () => {
  it('covers approved commissions oldest first, each whole or not at all, never above the amount', async () => {
    const owner = await makePayer(app);
    const newest = await approved(owner, { occurredAt: daysAgo(40), amountMinor: 20_000 });
    const oldest = await approved(owner, { occurredAt: daysAgo(60), amountMinor: 10_000 });
    const large = await approved(owner, { occurredAt: daysAgo(50), amountMinor: 90_000 });
    const pending = await makeSale(app.context, owner.brand, { assignment: owner.ann, occurredAt: daysAgo(70) });
    const { id } = await recorded(owner, { amount: 45.5, note: 'March' });
    const paid_at = daysAgo(10).toISOString().slice(0, 10);
    const { status, body } = await settle(owner, id, { paid_at, reference: 'SEPA 1' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      status: 'paid',
      paid_at: `${paid_at}T00:00:00.000Z`,
      reference: 'SEPA 1',
      note: 'March',
      allocated_amount: 30,
      netted_amount: 0,
      unallocated_amount: 15.5,
      commission_ids: [oldest.id, newest.id],
    });
    expect((await get(owner, `/v1/payouts/${id}`)).body.data).toEqual(body.data);
    const states = await Promise.all([newest, oldest, large, pending].map((sale) => statusOf(owner, sale)));
    expect(states).toEqual(['paid', 'paid', 'approved', 'pending']);
    expect(await balancesOf(app.context, owner.brand)).toEqual({
      customers: 130_000,
      sales: -130_000,
      commission_expense: 13_000,
      commission_pending: -1_000,
      commission_approved: -9_000,
      commission_paid: -3_000,
      commission_settled: 3_000,
      unallocated: 1_550,
      cash: -4_550,
    });
    expect(await earnedBy(owner)).toBe(30);
  });

  it('covers the listed commissions in the list’s order, or nothing for an empty list', async () => {
    const owner = await makePayer(app);
    const [first, second] = [await approved(owner), await approved(owner)];
    const fee = await recorded(owner, { amount: 10 });
    expect((await settle(owner, fee.id, { commission_ids: [] })).body.data).toMatchObject({
      status: 'paid',
      allocated_amount: 0,
      unallocated_amount: 10,
      commission_ids: [],
    });
    const { id } = await recorded(owner, { amount: 10 });
    expect((await settle(owner, id, { commission_ids: [second.id] })).body.data.commission_ids).toEqual([second.id]);
    expect([await statusOf(owner, first), await statusOf(owner, second)]).toEqual(['approved', 'paid']);
  });

  it('is refused as a whole, with a code per id, if a listed commission cannot be paid', async () => {
    const owner = await makePayer(app);
    const other = await makePayer(app);
    const fine = await approved(owner);
    const paid = await approved(owner);
    await settle(owner, (await recorded(owner, { amount: 10 })).id, { commission_ids: [paid.id] });
    const bob = await makeAssignment(app.context, owner.brand);
    const commission_ids = [
      fine.id,
      (await makeSale(app.context, owner.brand, { assignment: owner.ann })).id,
      (await approved(owner, { assignment: bob })).id,
      (await approved(owner, { currency: 'EUR' })).id,
      paid.id,
      (await approved(other)).id,
      'com_nothing',
    ];
    const { id } = await recorded(owner, { amount: 1_000 });
    const answer = await settle(owner, id, { commission_ids });
    expect(codeOf(answer)).toEqual([422, 'INVALID_SELECTION']);
    expect(problemsOf(answer)).toEqual([
      ['commission_ids.1', 'not_approved'],
      ['commission_ids.2', 'other_creator'],
      ['commission_ids.3', 'other_currency'],
      ['commission_ids.4', 'paid'],
      ['commission_ids.5', 'not_found'],
      ['commission_ids.6', 'not_found'],
    ]);
    expect(await statusOf(owner, fine)).toBe('approved');
    expect((await get(owner, `/v1/payouts/${id}`)).body.data.status).toBe('completed');
  });

  it('is refused for a list above the amount, and names what fits', async () => {
    const owner = await makePayer(app);
    const [one, two, three] = [await approved(owner), await approved(owner), await approved(owner)];
    const { id } = await recorded(owner, { amount: 25 });
    const answer = await settle(owner, id, { commission_ids: [three.id, one.id, two.id] });
    expect(codeOf(answer)).toEqual([422, 'INVALID_SELECTION']);
    expect(problemsOf(answer)).toEqual([['commission_ids.2', 'exceeds_amount']]);
    expect(answer.body).toMatchObject({ fits: [three.id, one.id], available_amount: 25 });
    const again = await settle(owner, id, { commission_ids: answer.body.fits });
    expect(again.body.data).toMatchObject({ allocated_amount: 20, unallocated_amount: 5 });
  });

  it('keeps currencies separate, also what is left of it; earned counts the brand’s own', async () => {
    const owner = await makePayer(app);
    const euro = await approved(owner, { currency: 'EUR' });
    const dollar = await approved(owner);
    const { id } = await recorded(owner, { amount: 500, currency: 'EUR' });
    expect((await settle(owner, id)).body.data.commission_ids).toEqual([euro.id]);
    expect([await statusOf(owner, dollar), await earnedBy(owner)]).toEqual(['approved', 0]);
    await settle(owner, (await recorded(owner, { amount: 10 })).id);
    expect(await earnedBy(owner)).toBe(10);
    const { body } = await get(owner, '/v1/roster');
    expect(body.data.map(({ total_earned }: { total_earned: number }) => total_earned)).toEqual([10]);
    // What is left in euros pays nothing in dollars.
    expect(await statusOf(owner, await approved(owner))).toBe('approved');
  });

  it('can be made with the id in the body', async () => {
    const owner = await makePayer(app);
    const { id } = await recorded(owner, { amount: 5 });
    const url = `${app.url}/v1/payouts`;
    const { body } = await send(url, owner.key, 'PATCH', { id, status: 'paid' });
    expect(body.data).toMatchObject({ id, status: 'paid' });
    expect(codeOf(await send(url, owner.key, 'PATCH', { status: 'paid' }))).toEqual([422, 'VALIDATION_ERROR']);
    const missing = await send(url, owner.key, 'PATCH', { id: 'pay_nothing', status: 'paid' });
    expect(codeOf(missing)).toEqual([404, 'NOT_FOUND']);
  });

  it('from a wallet is 409, of another brand 404, and dated the day after tomorrow 422', async () => {
    const owner = await makePayer(app);
    const wallet = await settle(owner, (await recorded(owner, { amount: 5, method: 'wallet' })).id);
    expect(codeOf(wallet)).toEqual([409, 'INVALID_STATE_TRANSITION']);
    expect(wallet.body).toMatchObject({ current_status: 'completed', allowed: [] });
    const { id } = await recorded(owner, { amount: 5 });
    expect(codeOf(await settle(await makePayer(app), id))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await settle(owner, id, { paid_at: daysAgo(-2).toISOString() }))).toEqual([422, 'VALIDATION_ERROR']);
    expect(codeOf(await settle(owner, id, { status: 'completed' }))).toEqual([422, 'VALIDATION_ERROR']);
  });

  it('that is repeated changes nothing, and with other values is 409', async () => {
    const owner = await makePayer(app);
    const sale = await approved(owner);
    const { id } = await recorded(owner, { amount: 50 });
    const reported = { reference: 'R1', commission_ids: [sale.id] };
    await settle(owner, id, reported);
    const later = await approved(owner, { amountMinor: 90_000 });
    const first = (await get(owner, `/v1/payouts/${id}`)).body;
    expect((await settle(owner, id)).body).toEqual(first);
    expect((await settle(owner, id, reported)).body).toEqual(first);
    expect((await settle(owner, id, { paid_at: first.data.paid_at })).body).toEqual(first);
    for (const other of [
      { reference: 'R2' },
      { commission_ids: [later.id] },
      { note: 'x' },
      { paid_at: '2026-01-01' },
    ]) {
      const answer = await settle(owner, id, other);
      expect(codeOf(answer)).toEqual([409, 'INVALID_STATE_TRANSITION']);
      expect(answer.body).toMatchObject({ current_status: 'paid', allowed: [] });
    }
    expect(await statusOf(owner, later)).toBe('approved');
  });

  it('locks what it paid: a rejection is 409 COMMISSION_PAID, in a selection `paid`', async () => {
    const owner = await makePayer(app);
    const sale = await approved(owner);
    await settle(owner, (await recorded(owner, { amount: 10 })).id);
    const url = `${app.url}/v1/affiliates/commissions`;
    const one = await send(`${url}/${sale.id}`, owner.key, 'PATCH', { status: 'rejected' });
    expect(codeOf(one)).toEqual([409, 'COMMISSION_PAID']);
    const many = await send(`${url}/bulk`, owner.key, 'PATCH', { status: 'rejected', event_ids: [sale.id] });
    expect([...codeOf(many), problemsOf(many)]).toEqual([422, 'INVALID_SELECTION', [['event_ids.0', 'paid']]]);
  });

  it('that used leftover money at an approval makes a repeated approval succeed, also in a selection', async () => {
    const owner = await makePayer(app);
    await settle(owner, (await recorded(owner, { amount: 10 })).id);
    const covered = await approved(owner);
    expect(await statusOf(owner, covered)).toBe('paid');
    const { body: before } = await get(owner, `/v1/commissions/${covered.id}`);
    const open = await makeSale(app.context, owner.brand, { assignment: owner.ann });
    const url = `${app.url}/v1/affiliates/commissions`;
    const one = await send(`${url}/${covered.id}`, owner.key, 'PATCH', { status: 'approved', note: 'again' });
    expect([one.status, one.body.data?.status]).toEqual([200, 'paid']);
    const many = await send(`${url}/bulk`, owner.key, 'PATCH', {
      status: 'approved',
      event_ids: [covered.id, open.id],
    });
    expect(many.body.data).toMatchObject({ updated_count: 1, skipped_count: 1 });
    expect((await get(owner, `/v1/commissions/${covered.id}`)).body).toEqual(before);
    expect(await statusOf(owner, open)).toBe('approved');
    expect(await approvalsOf(app, owner.brand)).toEqual([covered.id, open.id]);
  });

  it('more than a day before the brand’s first sale, or ahead, is 422, as the sentence of `paid_at` says, for one payout and for a batch', async () => {
    const owner = await makePayer(app);
    const { id } = await recorded(owner, { amount: 10 });
    const first = await approved(owner, { occurredAt: daysAgo(60) });
    const dayOf = (days: number) => daysAgo(days).toISOString().slice(0, 10);
    const pay = (paid_at: string) =>
      send(`${app.url}/v1/payouts/batch`, owner.key, 'POST', { method: 'manual', paid_at });
    for (const answer of [
      await settle(owner, id, { paid_at: dayOf(61) }),
      await pay(dayOf(61)),
      await pay('1970-01-01'),
      await pay(daysAgo(-1.01).toISOString()),
      await settle(owner, id, { paid_at: daysAgo(61.01).toISOString() }),
    ]) {
      expect([...codeOf(answer), problemsOf(answer)]).toEqual([422, 'VALIDATION_ERROR', [['paid_at', 'invalid']]]);
    }
    expect(await statusOf(owner, first)).toBe('approved');
    expect((await settle(owner, id, { paid_at: dayOf(60) })).body.data.commission_ids).toEqual([first.id]);
    const ahead = await recorded(owner, { amount: 10 });
    expect((await settle(owner, ahead.id, { paid_at: daysAgo(-0.99).toISOString() })).status).toBe(200);
    const { components } = (await call(`${app.url}/openapi.json`)).body;
    for (const shape of ['PayoutPatch', 'PayoutBatch']) {
      expect(components.schemas[shape].properties.paid_at.description).toContain(
        "At most a day in the future, or before the brand's first sale.",
      );
    }
  });

  it('covers a commission of zero, too', async () => {
    const owner = await makePayer(app);
    const free = await approved(owner, { amountMinor: 0 });
    const { id } = await recorded(owner, { amount: 1 });
    expect((await settle(owner, id)).body.data).toMatchObject({ allocated_amount: 0, commission_ids: [free.id] });
  });
});
