import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allocate } from '../../src/affiliates/payouts/allocate.ts';
import { approved, codeOf, get, makePayer, recorded, settle, statusOf } from '../harness/affiliates/paying.ts';
import { balancesOf, makeAssignment, makeSales, refund, report } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

it('an allocation never exceeds its budget, and skips only what does not fit when its turn comes', () => {
  const commissions = fc.array(fc.record({ commissionMinor: fc.nat({ max: 10_000 }) }), { maxLength: 50 });
  fc.assert(
    fc.property(commissions, fc.nat({ max: 100_000 }), (all, budget) => {
      const { chosen, passedOver, allocatedMinor } = allocate(all, budget);
      let left = budget;
      for (const one of all) {
        const fits = one.commissionMinor <= left;
        expect(chosen.includes(one)).toBe(fits);
        expect(passedOver.includes(one)).toBe(!fits);
        if (fits) left -= one.commissionMinor;
      }
      expect(left).toBe(budget - allocatedMinor);
    }),
  );
});

describe('a refund after payment', () => {
  it('is netted from the next payout, once, and the ledger shows it', async () => {
    const owner = await makePayer(app);
    const first = await approved(owner, { amountMinor: 100_000 });
    await settle(owner, (await recorded(owner, { amount: 100 })).id);
    await refund(app.context, first, 30_000);
    expect(await statusOf(owner, first)).toBe('paid');
    const second = await approved(owner, { amountMinor: 100_000 });
    const { id } = await recorded(owner, { amount: 70 });
    expect((await settle(owner, id)).body.data).toMatchObject({
      allocated_amount: 100,
      netted_amount: 30,
      unallocated_amount: 0,
      commission_ids: [second.id],
    });
    expect(await balancesOf(app.context, owner.brand)).toEqual({
      customers: 170_000,
      sales: -200_000,
      sales_refunds: 30_000,
      commission_expense: 17_000,
      commission_paid: -20_000,
      refund_adjustment: 3_000,
      commission_settled: 20_000,
      adjustments_netted: -3_000,
      cash: -17_000,
    });
    await approved(owner, { amountMinor: 100_000 });
    const third = await settle(owner, (await recorded(owner, { amount: 99.99 })).id);
    expect(third.body.data).toMatchObject({ allocated_amount: 0, netted_amount: 0, unallocated_amount: 99.99 });
  });

  it('that is larger than what is approved pays it without a payment, and leaves the rest for the next payout', async () => {
    const owner = await makePayer(app);
    const first = await approved(owner, { amountMinor: 100_000 });
    await settle(owner, (await recorded(owner, { amount: 100 })).id);
    await refund(app.context, first, 100_000);
    expect(await statusOf(owner, await approved(owner, { amountMinor: 40_000 }))).toBe('paid');
    const one = await settle(owner, (await recorded(owner, { amount: 1 })).id);
    expect(one.body.data).toMatchObject({ allocated_amount: 0, netted_amount: 0, unallocated_amount: 1 });
    await approved(owner, { amountMinor: 90_000 });
    const two = await settle(owner, (await recorded(owner, { amount: 30 })).id);
    // The first one's rest pays 1 of them, the oldest payout first.
    expect(two.body.data).toMatchObject({ allocated_amount: 89, netted_amount: 60, unallocated: 1 });
    expect(
      (await get(owner, '/v1/payouts')).body.data.map((payout: { unallocated: number }) => payout.unallocated),
    ).toEqual([1, 0, 0]);
  });

  it('is never netted from another creator’s or another currency’s payout', async () => {
    const owner = await makePayer(app);
    const bob = await makeAssignment(app.context, owner.brand);
    for (const options of [{ assignment: bob }, { currency: 'EUR' }]) {
      const sale = await approved(owner, options);
      const input = options.currency ? options : { creator_email: bob.email };
      await settle(owner, (await recorded(owner, { amount: 10, ...input })).id);
      await refund(app.context, sale, 10_000);
    }
    await approved(owner);
    const { body } = await settle(owner, (await recorded(owner, { amount: 10 })).id);
    expect(body.data).toMatchObject({ allocated_amount: 10, netted_amount: 0 });
  });
});

describe('a refund after payment that the store reverts', () => {
  it('is given back from what later payouts leave over, once; commissions come first, and a fee stays a fee', async () => {
    const owner = await makePayer(app);
    const first = await approved(owner, { amountMinor: 100_000 });
    await settle(owner, (await recorded(owner, { amount: 100 })).id);
    await report(app.context, first, { ...first.facts, baseMinor: 70_000, updatedAt: new Date(Date.now() - 1_000) });
    await approved(owner, { amountMinor: 100_000 });
    const netted = await settle(owner, (await recorded(owner, { amount: 70 })).id);
    expect(netted.body.data).toMatchObject({ allocated_amount: 100, netted_amount: 30, unallocated_amount: 0 });
    await report(app.context, first, { ...first.facts, updatedAt: new Date() });

    const pay = async (amount: number, body: object = {}) => {
      const { data } = (await settle(owner, (await recorded(owner, { amount })).id, body)).body;
      return [data.allocated_amount, data.netted_amount, data.unallocated_amount];
    };
    expect(await pay(50, { commission_ids: [] })).toEqual([0, 0, 50]);
    await approved(owner, { amountMinor: 100_000 });
    expect(await pay(110)).toEqual([100, -10, 0]);
    expect(await pay(25)).toEqual([0, -20, 5]);
    expect(await pay(25)).toEqual([0, 0, 25]);
    expect(await balancesOf(app.context, owner.brand)).toEqual({
      ...{ customers: 300_000, sales: -300_000, commission_expense: 30_000, commission_paid: -30_000 },
      ...{ commission_settled: 30_000, fees: 5_000, unallocated: 3_000, cash: -38_000 },
    });
  });
});

describe('concurrent payments', () => {
  it('of the same commissions never pay one twice', async () => {
    const owner = await makePayer(app);
    const sales = await makeSales(app.context, owner.brand, 20, owner.ann);
    const event_ids = sales.map(({ id }) => id);
    await send(`${app.url}/v1/affiliates/commissions/bulk`, owner.key, 'PATCH', { status: 'approved', event_ids });
    const payouts = await Promise.all(Array.from({ length: 6 }, () => recorded(owner, { amount: 50 })));
    const answers = await Promise.all(payouts.map(({ id }) => settle(owner, id)));
    const paid = answers.flatMap(({ body }) => body.data.commission_ids);
    expect(paid.toSorted()).toEqual(event_ids.toSorted());
    expect(answers.map(({ body }) => body.data.allocated_amount).sort()).toEqual([0, 0, 50, 50, 50, 50]);
    expect(await balancesOf(app.context, owner.brand)).toMatchObject({ commission_paid: -20_000 });
  });

  it('that settle one payout 10 times pay once; under one Idempotency-Key all get the same answer', async () => {
    const owner = await makePayer(app);
    await approved(owner);
    const { id } = await recorded(owner, { amount: 10 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => settle(owner, id, {}, i % 2 ? { 'idempotency-key': 'settle' } : {})),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await balancesOf(app.context, owner.brand)).toMatchObject({ commission_paid: -1_000 });
  });

  it('and a refund and a rejection of the same commission leave balanced books', async () => {
    const owner = await makePayer(app);
    for (let round = 0; round < 5; round += 1) {
      const sale = await approved(owner);
      const { id } = await recorded(owner, { amount: 10 });
      const url = `${app.url}/v1/affiliates/commissions/${sale.id}`;
      const [paid, rejected] = await Promise.all([
        settle(owner, id),
        send(url, owner.key, 'PATCH', { status: 'rejected' }),
        refund(app.context, sale, 5_000),
      ]);
      expect(paid.status).toBe(200);
      const isPaid = (await statusOf(owner, sale)) === 'paid';
      expect(codeOf(rejected)).toEqual(isPaid ? [409, 'COMMISSION_PAID'] : [200, undefined]);
    }
    const { commission_pending, commission_approved } = await balancesOf(app.context, owner.brand);
    expect([commission_pending, commission_approved]).toEqual([undefined, undefined]);
  });
});
