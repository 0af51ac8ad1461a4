import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { returnNextPart } from '../../src/affiliates/payouts/corrections.ts';
import { createManualCommission } from '../../src/affiliates/reviews/reviews.ts';
import {
  approved,
  codeOf,
  get,
  makePayer,
  type Payer,
  recorded,
  settle,
  statusOf,
} from '../harness/affiliates/paying.ts';
import { asTest, balancesOf, makeAssignment, refund, type Sale } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';
import { randomRuns } from '../harness/kit/random-runs.ts';
import { listEvents } from '../harness/workflow/applying.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const act = (
  { app: { url }, key }: Payer,
  path: string,
  body: object = { reason: 'a mistake' },
  headers: object = {},
) => send(`${url}/v1${path}`, key, 'POST', body, headers);

/** A payout to Ann that was paid. */
async function paid(payer: Payer, amount: number, body: object = {}): Promise<string> {
  const { id } = await recorded(payer, { amount });
  const { status, body: answer } = await settle(payer, id, body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return id;
}

const problemsOf = async ({ brand }: Payer) =>
  (await inSnapshot(app.context.postgres.db, (trx) => verifyRecords(trx, brand.id))).problems;

async function balanceOf(payer: Payer) {
  const { body } = await get(payer, `/v1/roster/${payer.ann.creatorId}/balance`);
  return body.data.by_currency[0];
}

const payoutOf = async (payer: Payer, id: string) => (await get(payer, `/v1/payouts/${id}`)).body.data;

async function statementOf(payer: Payer) {
  const day = new Date().toISOString().slice(0, 10);
  const period = { creator_email: payer.ann.email, from: '2020-01-01', to: day };
  const { data } = (await act(payer, '/statements', period)).body;
  return (await get(payer, `/v1/statements/${data.id}`)).body.data;
}

describe('voiding a payout', () => {
  it('withdraws it for good: nothing of it is recorded as due, and it is never paid', async () => {
    const payer = await makePayer(app);
    await approved(payer);
    const { id } = await recorded(payer, { amount: 9_999 });
    expect(await balanceOf(payer)).toMatchObject({ recorded: 9_999, payable_now: 10 });
    const voided = await act(payer, `/payouts/${id}/void`);
    expect([voided.status, voided.body.data]).toMatchObject([
      200,
      { status: 'voided', correction_reason: 'a mistake', amount: 9_999, paid_at: null },
    ]);
    expect(await balanceOf(payer)).toMatchObject({ recorded: 0, payable_now: 10 });
    expect(codeOf(await settle(payer, id))).toEqual([409, 'INVALID_STATE_TRANSITION']);
    expect(codeOf(await act(payer, `/payouts/${id}/return`))).toEqual([409, 'INVALID_STATE_TRANSITION']);
    const again = await act(payer, `/payouts/${id}/void`, { reason: 'another' });
    expect([again.status, again.body.data.correction_reason]).toEqual([200, 'a mistake']);
    const { lines, total } = (await get(payer, `/v1/payouts/${id}/statement`)).body.data;
    expect([lines, total]).toMatchObject([[{ type: 'voided', amount: 9_999 }], 9_999]);
    const { data: entries } = (await get(payer, '/v1/affiliates/ledger')).body;
    expect(entries.filter(({ kind }: { kind: string }) => kind === 'void')).toMatchObject([{ payout_id: id }]);
    const events = (await listEvents(app, payer.brand.id)).filter(({ event }) => event === 'payout.created');
    expect(events.map(({ data }) => Object(data).status)).toEqual(['completed', 'voided']);
    expect(await problemsOf(payer)).toEqual([]);
  });

  it('is refused for one that was paid, of a wallet too', async () => {
    const payer = await makePayer(app);
    const { id } = await recorded(payer, { method: 'wallet', amount: 5, wallet_email: payer.ann.email });
    for (const one of [id, await paid(payer, 1)]) {
      expect(codeOf(await act(payer, `/payouts/${one}/void`))).toEqual([409, 'INVALID_STATE_TRANSITION']);
    }
    expect((await act(payer, `/payouts/${id}/void`, {})).body.details).toMatchObject([{ field: 'reason' }]);
  });
});

describe('returning a paid payout', () => {
  it('makes what it paid due again, and restores what it withheld for refunds', async () => {
    const payer = await makePayer(app);
    const first = await approved(payer, { amountMinor: 100_000 });
    await paid(payer, 100);
    await refund(app.context, first, 30_000);
    const second = await approved(payer, { amountMinor: 100_000 });
    const before = [await balanceOf(payer), await balancesOf(app.context, payer.brand)];
    const id = await paid(payer, 70, { reference: 'TX-1' });
    expect(await statusOf(payer, second)).toBe('paid');

    const { status, body } = await act(payer, `/payouts/${id}/return`, { reason: 'account closed' });
    expect([status, body.data]).toMatchObject([
      200,
      { status: 'returned', allocated_amount: 0, netted_amount: 0, unallocated: 0, commission_ids: [] },
    ]);
    expect([await balanceOf(payer), await balancesOf(app.context, payer.brand)]).toEqual(before);
    expect(await statusOf(payer, second)).toBe('approved');
    const { lines, total } = (await get(payer, `/v1/payouts/${id}/statement`)).body.data;
    expect([lines, total]).toMatchObject([
      [
        { type: 'commission', commission_id: second.id, amount: 100 },
        { type: 'refunds', amount: -30 },
        { type: 'returned', amount: -70 },
      ],
      0,
    ]);
    expect((await statementOf(payer)).lines).toContainEqual(
      expect.objectContaining({ type: 'return', id, paid_out: -70, reason: 'account closed' }),
    );
    expect((await statementOf(payer)).totals).toMatchObject([{ paid_out: 100, taken_back: 30, closing: 70 }]);
    const journal = (await get(payer, '/v1/affiliates/ledger/journal?account=cash&from=2020-01-01')).body;
    expect(journal.summary.by_account).toMatchObject([{ debit: 70, credit: 170 }]);
    expect(codeOf(await settle(payer, id))).toEqual([409, 'INVALID_STATE_TRANSITION']);
    await paid(payer, 70);
    expect(await statusOf(payer, second)).toBe('paid');
    expect(await problemsOf(payer)).toEqual([]);
  });

  it('leaves the part of a commission that another payout paid with that payout, which pays what fits', async () => {
    const payer = await makePayer(app);
    const small = await paid(payer, 6);
    const shared = await approved(payer, { amountMinor: 10_000 });
    const id = await paid(payer, 4);
    expect(await statusOf(payer, shared)).toBe('paid');
    await act(payer, `/payouts/${id}/return`);
    expect([await statusOf(payer, shared), (await payoutOf(payer, small)).unallocated]).toEqual(['approved', 6]);
    const fitting = await approved(payer, { amountMinor: 5_000 });
    expect([await statusOf(payer, fitting), (await payoutOf(payer, small)).unallocated]).toEqual(['paid', 1]);
    expect(await balanceOf(payer)).toMatchObject({ approved: 10, unallocated: 1, payable_now: 9 });
    expect(await problemsOf(payer)).toEqual([]);
  });

  it('lets a commission that was refunded since be as large as its order is now', async () => {
    const payer = await makePayer(app);
    const [part, all] = [
      await approved(payer, { amountMinor: 20_000 }),
      await approved(payer, { amountMinor: 30_000 }),
    ];
    const id = await paid(payer, 50);
    await refund(app.context, part, 5_000);
    await refund(app.context, all, 30_000);
    expect(await balanceOf(payer)).toMatchObject({ owed_back: 35 });
    await act(payer, `/payouts/${id}/return`);
    expect([await statusOf(payer, part), await statusOf(payer, all)]).toEqual(['approved', 'rejected']);
    expect(await balanceOf(payer)).toMatchObject({ approved: 15, owed_back: 0, payable_now: 15 });
    expect(await problemsOf(payer)).toEqual([]);
  });

  it('returns a fee, and takes a day that is at most one in the future or before the payment', async () => {
    const payer = await makePayer(app);
    const id = await paid(payer, 12, { commission_ids: [] });
    for (const returned_at of ['2020-01-01', '2999-01-01']) {
      const { body } = await act(payer, `/payouts/${id}/return`, { reason: 'bounced', returned_at });
      expect(body.details).toMatchObject([{ field: 'returned_at' }]);
    }
    const today = { reason: 'bounced', returned_at: new Date().toISOString().slice(0, 10) };
    expect((await act(payer, `/payouts/${id}/return`, today)).status).toBe(200);
    const { data } = (await get(payer, `/v1/affiliates/ledger?creator_email=${payer.ann.email}`)).body;
    const [back] = data.filter(({ kind }: { kind: string }) => kind === 'return');
    const { paid_at } = await payoutOf(payer, id);
    expect(back.postings.map(({ at }: { at: string }) => at)).toEqual([paid_at, paid_at]);
    expect(await balancesOf(app.context, payer.brand)).toEqual({});
    expect(await problemsOf(payer)).toEqual([]);
  });

  it('counts once, however many return it at once, and beside those who pay', async () => {
    const payer = await makePayer(app);
    await approved(payer);
    const id = await paid(payer, 10);
    const others = await Promise.all([1, 2, 3].map(() => recorded(payer, { amount: 10 })));
    const headers = { 'Idempotency-Key': 'once' };
    const answers = await Promise.all([
      ...[1, 2, 3, 4].map(() => act(payer, `/payouts/${id}/return`)),
      ...[1, 2].map(() => act(payer, `/payouts/${id}/return`, { reason: 'a mistake' }, headers)),
      ...others.map((one) => settle(payer, one.id)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await balancesOf(app.context, payer.brand)).toMatchObject({ commission_paid: -1_000, cash: -3_000 });
    expect(await problemsOf(payer)).toEqual([]);
  });
});

describe('clawing back a paid commission', () => {
  it('deducts it from the next payout, once, with its reason', async () => {
    const payer = await makePayer(app);
    const fraud = await approved(payer, { amountMinor: 20_000 });
    expect(codeOf(await act(payer, `/commissions/${fraud.id}/claw-back`))).toEqual([409, 'INVALID_STATE_TRANSITION']);
    await paid(payer, 20);
    await refund(app.context, fraud, 5_000);
    const answers = await Promise.all(
      [1, 2, 3].map(() => act(payer, `/commissions/${fraud.id}/claw-back`, { reason: 'stolen card' })),
    );
    for (const { status, body } of answers) {
      expect([status, body.data.status, body.data.claw_back_reason]).toEqual([200, 'paid', 'stolen card']);
    }
    expect(await balanceOf(payer)).toMatchObject({ owed_back: 20 });
    // A later refund takes back what was taken back already.
    await refund(app.context, fraud, 15_000);
    expect(await balanceOf(payer)).toMatchObject({ owed_back: 20 });
    await approved(payer, { amountMinor: 50_000 });
    const id = await paid(payer, 30);
    expect(await payoutOf(payer, id)).toMatchObject({ allocated_amount: 50, netted_amount: 20 });
    expect((await statementOf(payer)).lines).toContainEqual(
      expect.objectContaining({ id: fraud.id, taken_back: 20, reason: 'stolen card' }),
    );
    expect(await problemsOf(payer)).toEqual([]);
  });

  it('takes back a manual one; if its payout comes back, it is rejected', async () => {
    const payer = await makePayer(app);
    const { id: manual } = await asTest(app.context, payer.brand, (work) =>
      createManualCommission(work, { creator_email: payer.ann.email, amount: 25, status: 'approved' }),
    );
    const id = await paid(payer, 25);
    await act(payer, `/commissions/${manual}/claw-back`, { reason: 'paid twice' });
    await act(payer, `/payouts/${id}/return`);
    const { data } = (await get(payer, `/v1/commissions/${manual}`)).body;
    expect(data).toMatchObject({ status: 'rejected', status_note: 'paid twice', clawed_back_at: null });
    expect(await balancesOf(app.context, payer.brand)).toEqual({});
    expect(await problemsOf(payer)).toEqual([]);
  });

  it('of another brand, creator or nothing is not found', async () => {
    const [payer, stranger] = [await makePayer(app), await makePayer(app)];
    const sale = await approved(payer);
    const id = await paid(payer, 10);
    for (const path of [`/commissions/${sale.id}/claw-back`, `/payouts/${id}/return`, `/payouts/${id}/void`]) {
      expect(codeOf(await act(stranger, path))).toEqual([404, 'NOT_FOUND']);
    }
  });
});

describe('what is owed back', () => {
  it('pays approved commissions without a payment, if it covers all of them', async () => {
    const payer = await makePayer(app);
    const first = await approved(payer, { amountMinor: 12_870 });
    await paid(payer, 12.87);
    await refund(app.context, first, 12_870);
    const larger = await approved(payer, { amountMinor: 20_000 });
    expect([await statusOf(payer, larger), await balanceOf(payer)]).toMatchObject([
      'approved',
      { owed_back: 12.87, payable_now: 7.13 },
    ]);
    await send(`${app.url}/v1/affiliates/commissions/${larger.id}`, payer.key, 'PATCH', { status: 'rejected' });
    const covered = await approved(payer, { amountMinor: 3_870 });
    expect([await statusOf(payer, covered), await balanceOf(payer)]).toMatchObject([
      'paid',
      { approved: 0, owed_back: 9, payable_now: 0 },
    ]);
    expect(await problemsOf(payer)).toEqual([]);
  });
});

it('any history of payments, returns, claw-backs and refunds owes a creator what is earned and not sent', async () => {
  const step = fc.record({
    kind: fc.constantFrom('sell', 'sell', 'pay', 'pay', 'return', 'part', 'claw_back', 'refund', 'void'),
    which: fc.nat(),
    minor: fc.integer({ min: 1, max: 4_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const payer = await makePayer(app);
      await makeAssignment(app.context, payer.brand);
      const sales: Sale[] = [];
      const payouts: string[] = [];
      const begun = new Set<string>();
      for (const { kind, which, minor } of steps) {
        const [sale, payout] = [sales[which % sales.length], payouts[which % payouts.length]];
        if (kind === 'sell') sales.push(await approved(payer, { amountMinor: minor * 10 }));
        else if (kind === 'pay') payouts.push(await paid(payer, minor / 100));
        else if (kind === 'refund' && sale) await refund(app.context, sale, minor);
        else if (kind === 'claw_back' && sale) await act(payer, `/commissions/${sale.id}/claw-back`);
        else if (kind === 'part' && payout && (await payoutOf(payer, payout)).status === 'paid') {
          // A worker that is killed here leaves the rest of the return to another, and others go on meanwhile.
          await asTest(app.context, payer.brand, (work) => returnNextPart(work, payout, { reason: 'a mistake' }, 1));
          begun.add(payout);
        } else if (payout) await act(payer, `/payouts/${payout}/${kind === 'void' ? 'void' : 'return'}`);
      }
      expect(await problemsOf(payer)).toEqual([]);
      for (const payout of begun) await act(payer, `/payouts/${payout}/return`);
      const books = await balancesOf(app.context, payer.brand);
      const of = (account: string) => books[account] ?? 0;
      const earned = -of('commission_paid') - of('commission_approved') - of('refund_adjustment');
      const balance = await balanceOf(payer);
      const due = Math.max(0, earned + of('cash')) / 100;
      expect(balance === undefined ? 0 : balance.payable_now).toBeCloseTo(due, 6);
      expect(of('commission_settled') + of('commission_paid')).toBe(0);
      expect(await problemsOf(payer)).toEqual([]);
    }),
    { numRuns: randomRuns(3) },
  );
});
