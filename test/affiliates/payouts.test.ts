import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, get, makePayer, post, problemsOf, recorded } from '../harness/affiliates/paying.ts';
import { daysAgo, makeAssignment } from '../harness/affiliates/sales.ts';
import { call, send, startApp, type TestApp } from '../harness/app.ts';
import { listEvents } from '../harness/workflow/applying.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

describe('a payout', () => {
  it('is recorded as completed, read and listed, and its event carries the item of the list', async () => {
    const owner = await makePayer(app);
    const input = { amount: 99.5, method: 'wallet', wallet_email: 'ann@wallet.example', description: 'March' };
    const payout = await recorded(owner, input);
    expect(payout).toEqual({
      id: expect.stringMatching(/^pay_/),
      creator_email: owner.ann.email,
      creator_name: 'Ann',
      amount: 99.5,
      currency: 'USD',
      method: 'wallet',
      wallet_email: 'ann@wallet.example',
      status: 'completed',
      note: 'March',
      created_at: expect.any(String),
      reference: null,
      paid_at: expect.any(String),
      corrected_at: null,
      correction_reason: null,
      is_fee: false,
      allocated_amount: 0,
      netted_amount: 0,
      unallocated_amount: 99.5,
      unallocated: 99.5,
    });
    expect((await get(owner, '/v1/payouts')).body.data).toEqual([payout]);
    expect((await get(owner, `/v1/payouts/${payout.id}`)).body.data).toEqual({ ...payout, commission_ids: [] });
    const events = await listEvents(app, owner.brand.id);
    expect(events.filter(({ event }) => event === 'payout.created').map(({ data }) => data)).toEqual([payout]);
  });

  it('accepts the decimals of its currency, and prefers `note` over `description`', async () => {
    const owner = await makePayer(app);
    expect(await recorded(owner, { amount: 1.234, currency: 'KWD' })).toMatchObject({ amount: 1.234, currency: 'KWD' });
    expect(await recorded(owner, { amount: 500, currency: 'JPY', note: 'a', description: 'b' })).toMatchObject({
      amount: 500,
      note: 'a',
    });
  });

  it.each([
    [{ amount: undefined }, 'amount', 'required'],
    [{ amount: 0 }, 'amount', 'too_small'],
    [{ amount: -5 }, 'amount', 'too_small'],
    [{ amount: 1.005 }, 'amount', 'invalid'],
    [{ amount: 1.5, currency: 'JPY' }, 'amount', 'invalid'],
    [{ amount: 1e30 }, 'amount', 'invalid'],
    [{ currency: 'usd' }, 'currency', 'invalid_format'],
    [{ method: 'cheque' }, 'method', 'invalid_value'],
    [{ method: undefined }, 'method', 'required'],
    [{ creator_email: undefined }, 'creator_email', 'required'],
    [{ creator_email: 'stranger@mail.example' }, 'creator_email', 'not_on_roster'],
    [{ wallet_email: 'x' }, 'wallet_email', 'invalid_format'],
  ])('with %j is 422 at %s: %s', async (input, field, code) => {
    const owner = await makePayer(app);
    const valid = { creator_email: owner.ann.email, amount: 5, method: 'manual' };
    const answer = await post(owner, { ...valid, ...input });
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(problemsOf(answer)).toContainEqual([field, code]);
  });

  it('is refused for another brand’s creator, and accepted for one who was removed from the roster', async () => {
    const owner = await makePayer(app);
    const other = await makePayer(app);
    const answer = await post(owner, { creator_email: other.ann.email, amount: 5, method: 'manual' });
    expect(problemsOf(answer)).toEqual([['creator_email', 'not_on_roster']]);
    await send(`${app.url}/v1/roster/${owner.ann.creatorId}`, owner.key, 'DELETE');
    await recorded(owner, { amount: 5 });
  });

  it('filters by creator, method, state and time, pages, and streams as CSV', async () => {
    const owner = await makePayer(app);
    const bob = await makeAssignment(app.context, owner.brand);
    const ids: string[] = [];
    for (const method of ['wallet', 'manual', 'bank_transfer', 'manual'])
      ids.unshift((await recorded(owner, { amount: 5, method })).id);
    ids.unshift((await recorded(owner, { amount: 5, creator_email: bob.email.toUpperCase() })).id);
    const list = async (query: string) =>
      (await get(owner, `/v1/payouts?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await list('')).toEqual(ids);
    expect([...(await list('limit=2')), ...(await list('limit=2&page=2')), ...(await list('limit=2&page=3'))]).toEqual(
      ids,
    );
    expect(await list(`creator_email=${bob.email}`)).toEqual([ids[0]]);
    expect(await list('method=manual')).toEqual([ids[0], ids[1], ids[3]]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await list(`from=${today}&to=${today}`)).toEqual(ids);
    expect(await list(`to=${daysAgo(1).toISOString()}`)).toEqual([]);
    expect(await list('from=2099-01-01')).toEqual([]);
    expect(codeOf(await get(owner, '/v1/payouts?from=2027-02-01&to=2027-01-01'))).toEqual([422, 'VALIDATION_ERROR']);
    // A wallet is paid once it is recorded.
    expect(await list('settled=true')).toEqual([ids[4]]);
    expect(await list('settled=false')).toEqual(ids.slice(0, 4));
    expect(codeOf(await get(owner, '/v1/payouts?method=cheque'))).toEqual([422, 'VALIDATION_ERROR']);
    const headers = { accept: 'text/csv' };
    const { body } = await call(`${app.url}/v1/payouts`, owner.key, { headers });
    expect(
      body
        .trim()
        .split('\n')
        .slice(1)
        .map((line: string) => line.split(',')[0]),
    ).toEqual(ids);
  });

  it('is recorded once by 20 calls with one Idempotency-Key', async () => {
    const owner = await makePayer(app);
    const input = { creator_email: owner.ann.email, amount: 5, method: 'manual' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(owner, input, { 'idempotency-key': 'once' })),
    );
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect((await get(owner, '/v1/payouts')).body.pagination.total).toBe(1);
  });
});
