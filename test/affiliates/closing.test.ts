import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
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
import { daysAgo, makeAssignment, makeSale, refund } from '../harness/affiliates/sales.ts';
import { call, send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const batch = (owner: Payer, body: object, headers: object = {}) =>
  send(`${app.url}/v1/payouts/batch`, owner.key, 'POST', { method: 'bank_transfer', ...body }, headers);
const preview = async (owner: Payer, query = '') => (await get(owner, `/v1/payouts/preview${query}`)).body;
const csvOf = async (owner: Payer, path: string): Promise<string[]> =>
  (await call(`${app.url}${path}`, owner.key, { headers: { accept: 'text/csv' } })).body.trim().split('\n');

describe('A creator’s balance', () => {
  it('shows, for each currency, what is pending, held, approved, owed back, left over and payable now', async () => {
    const owner = await makePayer(app);
    const paid = await approved(owner, { amountMinor: 50_000 });
    await settle(owner, (await recorded(owner, { amount: 50 })).id);
    await refund(app.context, paid, 20_000);
    await approved(owner, { amountMinor: 100_000 });
    await makeSale(app.context, owner.brand, { assignment: owner.ann, amountMinor: 30_000 });
    await makeSale(app.context, owner.brand, { assignment: owner.ann, amountMinor: 40_000, occurredAt: daysAgo(2) });
    await makeSale(app.context, owner.brand, { assignment: owner.ann, amountMinor: 5_000, paidAt: null });
    await recorded(owner, { method: 'wallet', amount: 3, currency: 'EUR' });
    await recorded(owner, { amount: 12 });
    const { body } = await get(owner, `/v1/roster/${owner.ann.creatorId}/balance`);
    const none = {
      pending: 0,
      held: 0,
      order_unpaid: 0,
      approved: 0,
      owed_back: 0,
      payable_now: 0,
      recorded: 0,
      earned: 0,
    };
    expect(body.data).toMatchObject({
      creator_email: owner.ann.email,
      by_currency: [
        { ...none, currency: 'EUR', unallocated: 3 },
        {
          ...{ currency: 'USD', pending: 30, held: 40, order_unpaid: 5, approved: 100, owed_back: 20, unallocated: 0 },
          ...{ payable_now: 80, recorded: 12, earned: 50 },
        },
      ],
    });
    expect(codeOf(await get(await makePayer(app), `/v1/roster/${owner.ann.creatorId}/balance`))).toEqual([
      404,
      'NOT_FOUND',
    ]);
  });
});

describe('the preview of payouts', () => {
  it('shows what a payout then pays: with commissions for one creator, one row each for all, also as CSV', async () => {
    const owner = await makePayer(app);
    const bob = await makeAssignment(app.context, owner.brand, { name: 'Bob' });
    const newer = await approved(owner, { occurredAt: daysAgo(40), amountMinor: 20_000 });
    const older = await approved(owner, { occurredAt: daysAgo(50), amountMinor: 10_000 });
    await approved(owner, { assignment: bob, amountMinor: 7_000 });
    const all = await preview(owner);
    expect(all.data.map((row: { creator_email: string; total: number }) => [row.creator_email, row.total])).toEqual(
      [
        [owner.ann.email, 30],
        [bob.email, 7],
      ].sort(),
    );
    expect(all.summary).toEqual({ by_currency: [{ currency: 'USD', total: 37, payees: 2 }] });
    expect((await preview(owner, '?minimum=10')).pagination.total).toBe(1);
    expect(
      (await preview(owner, `?cutoff=${daysAgo(45).toISOString()}&creator_email=${owner.ann.email}`)).data,
    ).toMatchObject([{ commission_count: 1, total: 10 }]);
    const [one] = (await preview(owner, `?creator_email=${owner.ann.email}&amount=15.5`)).data;
    expect(one).toMatchObject({
      ...{ commissions_amount: 10, total: 10, unallocated: 5.5, netted_amount: 0, unallocated_used: 0 },
      payable: [{ commission_id: older.id, amount: 10 }],
      passed_over: [{ commission_id: newer.id, amount: 20 }],
    });
    const paid = (await settle(owner, (await recorded(owner, { amount: 15.5 })).id)).body.data;
    expect(paid).toMatchObject({ allocated_amount: 10, unallocated: 5.5, commission_ids: [older.id] });
    expect((await preview(owner, `?creator_email=${owner.ann.email}`)).data).toMatchObject([
      { commissions_amount: 20, unallocated_used: 5.5, total: 14.5, passed_over: [] },
    ]);
    const [header, ...lines] = await csvOf(owner, '/v1/payouts/preview');
    expect(header).toMatch(/^creator_id,creator_email,creator_name,currency,commission_count,.*,total,/);
    expect(lines).toHaveLength(2);
    expect(problemsOf(await get(owner, '/v1/payouts/preview?amount=5'))).toEqual([['amount', 'invalid']]);
  });
});

describe('the file for PayPal', () => {
  const paypal = (owner: Payer, query = '', profile = 'paypal') =>
    call(`${app.url}/v1/payouts/preview${query}`, owner.key, { headers: { accept: `text/csv; profile=${profile}` } });

  it('has a line for each creator to pay, without a header, with amounts in the decimals of its currency', async () => {
    const owner = await makePayer(app);
    const bob = await makeAssignment(app.context, owner.brand, { name: 'Bob' });
    await approved(owner, { amountMinor: 20_000 });
    await approved(owner, { assignment: bob, amountMinor: 7_005, currency: 'JPY' });
    const { status, headers, body } = await paypal(owner, '?currency=USD');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(body).toBe(`${owner.ann.email},20.00,USD,${owner.ann.creatorId},,PAYPAL\n`);
    expect((await paypal(owner, '?currency=JPY')).body).toBe(`${bob.email},700,JPY,${bob.creatorId},,PAYPAL\n`);
    const both = await paypal(owner);
    expect([codeOf(both), problemsOf(both)]).toEqual([[422, 'VALIDATION_ERROR'], [['currency', 'ambiguous']]]);
  });

  it('leaves out creators who are owed nothing, and is the only other layout', async () => {
    const owner = await makePayer(app);
    await approved(owner, { amountMinor: 10_000 });
    await recorded(owner, { method: 'wallet', amount: 30 });
    await approved(owner, { amountMinor: 30_000 });
    expect((await paypal(owner)).body).toBe(`${owner.ann.email},10.00,USD,${owner.ann.creatorId},,PAYPAL\n`);
    expect((await paypal(owner, '?minimum=11')).body).toBe('');
    const other = await paypal(owner, '', 'bank');
    expect(codeOf(other)).toEqual([406, 'NOT_ACCEPTABLE']);
    expect(other.body.error).toContain('text/csv; profile=paypal');
  });
});

describe('a batch of payouts', () => {
  it('pays everyone exactly what the preview shows, and nothing when it is repeated', async () => {
    const owner = await makePayer(app);
    const bob = await makeAssignment(app.context, owner.brand);
    const small = await makeAssignment(app.context, owner.brand);
    const first = await approved(owner, { amountMinor: 50_000 });
    await settle(owner, (await recorded(owner, { amount: 50 })).id);
    await refund(app.context, first, 10_000);
    await approved(owner, { amountMinor: 30_000 });
    await approved(owner, { assignment: bob, amountMinor: 12_340 });
    await approved(owner, { assignment: bob, currency: 'EUR', amountMinor: 9_000 });
    await approved(owner, { assignment: small, amountMinor: 1_000 });
    const wanted = (await preview(owner, '?minimum=5')).data;
    const { status, body } = await batch(owner, { minimum: 5, reference: 'March', paid_at: daysAgo(3).toISOString() });
    expect(status).toBe(201);
    const shown = (rows: Record<string, unknown>[], amount: string) =>
      rows.map((row) => `${row.creator_email} ${row.currency} ${row[amount]}`).sort();
    expect(shown(body.data.payouts, 'amount')).toEqual(shown(wanted, 'total'));
    for (const payout of body.data.payouts) {
      expect(payout).toMatchObject({ status: 'paid', unallocated: 0, reference: 'March', method: 'bank_transfer' });
      const statement = (await get(owner, `/v1/payouts/${payout.id}/statement`)).body.data;
      expect(statement.total).toBe(payout.amount);
    }
    expect(body.data.skipped).toEqual([
      { creator_email: small.email, currency: 'USD', reason: 'below_minimum', total: 1 },
    ]);
    expect((await batch(owner, { minimum: 5 })).body.data.payouts).toEqual([]);
  });

  it('pays only the named creators, up to the cutoff, and 10 concurrent batches pay once', async () => {
    const owner = await makePayer(app);
    const bob = await makeAssignment(app.context, owner.brand);
    const [old, recent] = [await approved(owner, { occurredAt: daysAgo(70) }), await approved(owner)];
    const other = await approved(owner, { assignment: bob });
    const body = { creator_emails: [owner.ann.email, 'nobody@mail.example'], cutoff: daysAgo(65).toISOString() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => batch(owner, { ...body, method: 'wallet' })));
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(201));
    const made = answers.flatMap((answer) => answer.body.data.payouts);
    expect(made).toMatchObject([{ amount: 10, status: 'completed', commission_ids: [old.id] }]);
    expect(answers[0]?.body.data.skipped).toContainEqual(
      expect.objectContaining({ creator_email: 'nobody@mail.example', reason: 'not_found' }),
    );
    const reasons = answers
      .flatMap((answer) => answer.body.data.skipped)
      .filter(({ reason }) => reason !== 'not_found');
    expect(reasons).toEqual(
      Array(9).fill({ creator_email: owner.ann.email, currency: null, reason: 'nothing_due', total: null }),
    );
    expect([await statusOf(owner, recent), await statusOf(owner, other)]).toEqual(['approved', 'approved']);
  });

  it('gives the same answer again for the same Idempotency-Key', async () => {
    const owner = await makePayer(app);
    await approved(owner);
    const headers = { 'idempotency-key': 'close-march' };
    const [one, two] = [await batch(owner, {}, headers), await batch(owner, {}, headers)];
    expect(one.body.data.payouts).toHaveLength(1);
    expect(two.body).toEqual(one.body);
  });
});

describe('a payout’s statement', () => {
  it('breaks down the amount line by line, and equally as CSV and as a printable page', async () => {
    const owner = await makePayer(app);
    const first = await approved(owner, { amountMinor: 50_000 });
    await settle(owner, (await recorded(owner, { amount: 50 })).id);
    await refund(app.context, first, 10_000);
    const sale = await approved(owner, { amountMinor: 30_000, customerEmail: 'jane@shop.example' });
    const { id } = await recorded(owner, { method: 'wallet', amount: 25 });
    const path = `/v1/payouts/${id}/statement`;
    const { body } = await get(owner, path);
    expect(body.data).toMatchObject({ total: 25, payout: { id, amount: 25 } });
    expect(body.data.lines).toMatchObject([
      {
        ...{ type: 'commission', commission_id: sale.id, order_id: sale.orderId, customer_email: 'j***@s***.example' },
        ...{ sale_amount: 300, refunded_amount: 0, commission: 30, amount: 30, code: sale.code },
      },
      { type: 'refunds', amount: -10 },
      { type: 'unallocated', amount: 5 },
    ]);
    expect(await csvOf(owner, path)).toHaveLength(4);
    const page = await fetch(`${app.url}${new URL(body.data.page_url).pathname}`);
    const text = await page.text();
    expect([page.status, text.includes(sale.orderId), text.includes('jane@')]).toEqual([200, true, false]);
    expect(codeOf(await get(await makePayer(app), path))).toEqual([404, 'NOT_FOUND']);
  });
});

describe('the journal of a month', () => {
  it('has one line for each posting, with debit and credit columns, and is balanced', async () => {
    const owner = await makePayer(app);
    const sale = await approved(owner, { occurredAt: new Date('2026-02-10T12:00:00Z') });
    await settle(owner, (await recorded(owner, { amount: 12 })).id, { paid_at: '2026-03-31', reference: 'SEPA 7' });
    const path = '/v1/affiliates/ledger/journal?from=2026-03-01&to=2026-03-31';
    const { body } = await get(owner, path);
    const cash = body.data.filter(({ account }: { account: string }) => account === 'cash');
    expect(cash).toMatchObject([
      { date: '2026-03-31', debit: null, credit: 12, account_name: 'Cash', document: 'SEPA 7', text: 'Payout' },
    ]);
    expect(body.pagination.total).toBe(body.data.length);
    const today = new Date().toISOString().slice(0, 10);
    const recordedToday = await get(
      owner,
      `/v1/affiliates/ledger/journal?from=${today}&to=${today}&by=recorded&limit=100`,
    );
    const lines = recordedToday.body.data;
    const sum = (side: string) =>
      lines.reduce(
        (total: number, line: Record<string, number | null>) => total + Math.round((line[side] ?? 0) * 100),
        0,
      );
    expect(sum('debit')).toBe(sum('credit'));
    expect(lines).toContainEqual(
      expect.objectContaining({ account: 'sales', credit: 100, order_id: sale.orderId, document: sale.orderId }),
    );
    const [header, ...rows] = await csvOf(owner, path);
    expect(header).toBe(
      'date,entry,kind,account,account_name,text,debit,credit,currency,document,creator_email,order_id,commission_id,payout_id,recorded_at,entry_id,order_number',
    );
    expect(rows).toHaveLength(body.data.length);
    expect(problemsOf(await get(owner, '/v1/affiliates/ledger/journal?from=2026-04-01&to=2026-03-01'))).toEqual([
      ['from', 'invalid'],
    ]);
  });
});
