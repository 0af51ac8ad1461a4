import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approved, get, makePayer, type Payer, recorded, settle, statusOf } from '../harness/affiliates/paying.ts';
import {
  balancesOf,
  daysAgo,
  makeAssignment,
  makeSale,
  refund,
  report,
  type Sale,
} from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const batch = (owner: Payer, body: object = {}) =>
  send(`${app.url}/v1/payouts/batch`, owner.key, 'POST', { method: 'bank_transfer', ...body });
const previewOf = async (owner: Payer, query = '') => (await get(owner, `/v1/payouts/preview${query}`)).body.data;
const balanceOf = async (owner: Payer) =>
  (await get(owner, `/v1/roster/${owner.ann.creatorId}/balance`)).body.data.by_currency[0];
const payoutOf = async (owner: Payer, id: string) => (await get(owner, `/v1/payouts/${id}`)).body.data;

/** What the whole order is, as its store has it, with these refunds alone. */
let revision = 0;
async function reportRefunded(sale: Sale, minors: readonly number[]): Promise<void> {
  revision += 1;
  const at = new Date(Date.now() - 60_000 + revision);
  const refunds = minors.map((amountMinor, i) => ({ refundId: `${sale.orderId}-${i}`, amountMinor, at }));
  await report(app.context, sale, { ...sale.facts, refunds, updatedAt: at, hasAllRefunds: true });
}

async function refuse(owner: Payer, { id }: Sale): Promise<void> {
  await send(`${app.url}/v1/affiliates/commissions/${id}`, owner.key, 'PATCH', { status: 'rejected' });
}

describe('the amount that becomes due again when a store reverts a netted refund', () => {
  /** A commission of 10 was paid, 4 of it were netted, and are due again. */
  async function dueAgain(): Promise<Payer> {
    const owner = await makePayer(app);
    const first = await approved(owner);
    await settle(owner, (await recorded(owner, { amount: 10 })).id);
    await reportRefunded(first, [4_000]);
    await approved(owner, { amountMinor: 8_000 });
    await settle(owner, (await recorded(owner, { amount: 4 })).id);
    await reportRefunded(first, []);
    return owner;
  }

  it('is in the preview for all creators and for one, as in the balance', async () => {
    const owner = await dueAgain();
    expect(await balanceOf(owner)).toMatchObject({ approved: 0, owed_back: -4, unallocated: 0, payable_now: 4 });
    const due = { commission_count: 0, commissions_amount: 0, netted_amount: -4, unallocated_used: 0, total: 4 };
    expect(await previewOf(owner)).toMatchObject([due]);
    expect(await previewOf(owner, `?creator_email=${owner.ann.email}`)).toMatchObject([
      { ...due, payable: [], passed_over: [] },
    ]);
  });

  it('is paid by the batch, once, and is not a fee', async () => {
    const owner = await dueAgain();
    const { body } = await batch(owner);
    expect(body.data).toMatchObject({
      payouts: [{ amount: 4, netted_amount: -4, allocated_amount: 0, unallocated: 0, is_fee: false }],
      skipped: [],
    });
    const { lines, total } = (await get(owner, `/v1/payouts/${body.data.payouts[0].id}/statement`)).body.data;
    expect([lines.map(({ type, amount }: Record<string, unknown>) => [type, amount]), total]).toEqual([
      [['refunds', 4]],
      4,
    ]);
    expect(await balanceOf(owner)).toMatchObject({ owed_back: 0, payable_now: 0 });
    expect((await batch(owner)).body.data).toMatchObject({ payouts: [], skipped: [] });
    expect(await previewOf(owner)).toEqual([]);
  });

  it('is paid by a batch to named creators, without commissions past the cutoff', async () => {
    const owner = await dueAgain();
    const young = await approved(owner, { amountMinor: 3_000, occurredAt: daysAgo(40) });
    const body = { creator_emails: [owner.ann.email], cutoff: daysAgo(50).toISOString() };
    expect((await batch(owner, body)).body.data).toMatchObject({
      payouts: [{ amount: 4, netted_amount: -4, allocated_amount: 0, commission_ids: [] }],
    });
    expect(await statusOf(owner, young)).toBe('approved');
    expect(await balanceOf(owner)).toMatchObject({ approved: 3, owed_back: 0, payable_now: 3 });
  });

  it('is given back first from what earlier payouts left over, oldest first', async () => {
    const owner = await makePayer(app);
    const first = await approved(owner);
    await settle(owner, (await recorded(owner, { amount: 10 })).id);
    await reportRefunded(first, [4_000]);
    await approved(owner, { amountMinor: 8_000 });
    await settle(owner, (await recorded(owner, { amount: 4 })).id);
    const [one, two] = [
      await recorded(owner, { method: 'wallet', amount: 3 }),
      await recorded(owner, { method: 'wallet', amount: 6 }),
    ];
    await reportRefunded(first, []);
    expect(await payoutOf(owner, one.id)).toMatchObject({ netted_amount: -3, unallocated: 0 });
    expect(await payoutOf(owner, two.id)).toMatchObject({ netted_amount: -1, unallocated: 5 });
    expect(await balanceOf(owner)).toMatchObject({ owed_back: 0, unallocated: 5, payable_now: 0 });
    expect(await previewOf(owner)).toEqual([]);
  });
});

describe('leftover payout money', () => {
  it('pays an approved commission as soon as a refund makes it fit, before any younger one', async () => {
    const owner = await makePayer(app);
    const sale = await approved(owner, { amountMinor: 20_000, occurredAt: daysAgo(60) });
    const { id } = await recorded(owner, { method: 'wallet', amount: 10 });
    expect(await payoutOf(owner, id)).toMatchObject({ allocated_amount: 0, unallocated: 10 });
    await refund(app.context, sale, 12_000);
    expect(await statusOf(owner, sale)).toBe('paid');
    expect(await payoutOf(owner, id)).toMatchObject({ allocated_amount: 8, unallocated: 2, commission_ids: [sale.id] });
    const younger = await approved(owner, { amountMinor: 3_000, occurredAt: daysAgo(40) });
    expect(await statusOf(owner, younger)).toBe('approved');
    expect(await balanceOf(owner)).toMatchObject({ approved: 3, unallocated: 2, payable_now: 1 });
    expect(await balancesOf(app.context, owner.brand)).toMatchObject({ commission_paid: -800, unallocated: 200 });
  });

  it('pays what a refund of a paid commission makes fit together with it', async () => {
    const owner = await makePayer(app);
    const paid = await approved(owner);
    await settle(owner, (await recorded(owner, { amount: 10 })).id);
    const waiting = await approved(owner, { amountMinor: 12_000 });
    const { id } = await recorded(owner, { method: 'wallet', amount: 10 });
    await refund(app.context, paid, 2_000);
    expect(await statusOf(owner, waiting)).toBe('paid');
    expect(await payoutOf(owner, id)).toMatchObject({ allocated_amount: 12, netted_amount: 2, unallocated: 0 });
  });

  it('pays a commission that is approved again because its full refund was reverted', async () => {
    const owner = await makePayer(app);
    const sale = await approved(owner);
    await reportRefunded(sale, [10_000]);
    await recorded(owner, { method: 'wallet', amount: 10 });
    expect(await statusOf(owner, sale)).toBe('rejected');
    await reportRefunded(sale, []);
    expect(await statusOf(owner, sale)).toBe('paid');
    expect(await balanceOf(owner)).toMatchObject({ approved: 0, unallocated: 0, payable_now: 0 });
  });

  it('pays whatever is approved at an approval, oldest first, not only what was approved just now', async () => {
    const owner = await makePayer(app);
    const [older, listed] = [
      await approved(owner, { amountMinor: 5_000, occurredAt: daysAgo(60) }),
      await approved(owner, { amountMinor: 3_000, occurredAt: daysAgo(50) }),
    ];
    await recorded(owner, { method: 'wallet', amount: 9, commission_ids: [listed.id] });
    expect(await statusOf(owner, older)).toBe('approved');
    const younger = await approved(owner, { amountMinor: 4_000, occurredAt: daysAgo(40) });
    expect([await statusOf(owner, older), await statusOf(owner, younger)]).toEqual(['paid', 'approved']);
  });

  it('does not pay what is rejected, pending, another creator’s or in another currency', async () => {
    const owner = await makePayer(app);
    const bob = await makeAssignment(app.context, owner.brand);
    const rejected = await approved(owner);
    await refuse(owner, rejected);
    const pending = await makeSale(app.context, owner.brand, { assignment: owner.ann });
    const others = [await approved(owner, { assignment: bob }), await approved(owner, { currency: 'EUR' })];
    const { id } = await recorded(owner, { method: 'wallet', amount: 50 });
    for (const sale of [rejected, pending, ...others]) await refund(app.context, sale, 1_000);
    expect(await payoutOf(owner, id)).toMatchObject({ allocated_amount: 0, unallocated: 50 });
  });
});

describe('a refund during a batch', () => {
  const ROUNDS = 25;

  it(`is either deducted by it or owed back: in ${ROUNDS} rounds no batch pays more than is due`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const owner = await makePayer(app);
      const paid = await approved(owner);
      await settle(owner, (await recorded(owner, { amount: 10 })).id);
      await approved(owner, { amountMinor: 150_000 });
      const [, ...answers] = await Promise.all([
        refund(app.context, paid, 7_000),
        ...Array.from({ length: 4 }, () => batch(owner)),
      ]);
      const made = answers.flatMap(({ body }) => body.data.payouts);
      expect(made, `round ${round}`).toMatchObject([{ allocated_amount: 150, unallocated: 0 }]);
      const [{ amount, netted_amount }] = made;
      const { owed_back } = await balanceOf(owner);
      expect([amount + netted_amount, netted_amount + owed_back], `round ${round}`).toEqual([150, 7]);
    }
  });
});
