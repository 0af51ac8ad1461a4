import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalsOf, codeOf, problemsOf } from '../harness/affiliates/paying.ts';
import {
  balancesOf,
  makeAssignment,
  makeSale,
  makeSales,
  makeUnapprovable,
  refund,
} from '../harness/affiliates/sales.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../harness/app.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const sale = (options: Parameters<typeof makeSale>[2] = {}, owner = brand) => makeSale(app.context, owner, options);
const get = (path: string, caller = key) => call(`${app.url}${path}`, caller);
const read = async (id: string) => (await get(`/v1/affiliates/commissions/${id}`)).body.data;
const review = (body: object, headers: object = {}, caller = key) =>
  send(`${app.url}/v1/commissions`, caller, 'POST', body, headers);
const patch = (id: string, body: object, caller = key) =>
  send(`${app.url}/v1/affiliates/commissions/${id}`, caller, 'PATCH', body);
const bulk = (body: object, caller = key) => patch('bulk', body, caller);

const approvals = (owner = brand) => approvalsOf(app, owner);

describe('a bulk review', () => {
  it('of more than 100 is 422', async () => {
    const event_ids = Array.from({ length: 101 }, (_, i) => `com_${i}`);
    expect(codeOf(await review({ event_ids, status: 'rejected' }))).toEqual([422, 'VALIDATION_ERROR']);
    expect(codeOf(await bulk({ event_ids, status: 'rejected' }))).toEqual([422, 'VALIDATION_ERROR']);
  });

  it('moves all, and counts those that already had the status', async () => {
    const ids = [(await sale()).id, (await sale()).id, (await sale()).id];
    await patch(ids[0] ?? '', { status: 'approved' });
    const { status, body } = await bulk({ event_ids: [...ids, ids[2]], status: 'approved' });
    expect(status).toBe(200);
    expect(body.data).toEqual({ status: 'approved', updated_count: 2, skipped_count: 2, total_requested: 4 });
    expect((await bulk({ event_ids: ids, status: 'approved' })).body.data).toMatchObject({
      updated_count: 0,
      skipped_count: 3,
    });
    expect((await review({ event_ids: ids, status: 'rejected', note: 'returned' })).body.data).toEqual({ updated: 3 });
    expect(await read(ids[1] ?? '')).toMatchObject({ status: 'rejected', status_note: 'returned' });
    const reported = await approvals();
    for (const id of ids) expect(reported.filter((one) => one === id)).toHaveLength(1);
  });

  it('takes 100 at once', async () => {
    const assignment = await makeAssignment(app.context, brand);
    const sales = await makeSales(app.context, brand, 100, assignment);
    const event_ids = sales.map(({ id }) => id);
    expect((await bulk({ event_ids, status: 'approved' })).body.data).toMatchObject({ updated_count: 100 });
  });

  it('refuses all if one cannot be moved, with a code per id, before any change', async () => {
    const fine = await sale();
    const refusedOnes = await makeUnapprovable(app.context, brand);
    const foreign = await makeSale(app.context, await makeBrand(app.context));
    const event_ids = [
      fine.id,
      refusedOnes.unpaid.id,
      refusedOnes.cancelled.id,
      refusedOnes.refunded.id,
      refusedOnes.held.id,
      foreign.id,
      'com_nothing',
    ];
    const answer = await bulk({ event_ids, status: 'approved' });
    expect(codeOf(answer)).toEqual([422, 'INVALID_SELECTION']);
    expect(problemsOf(answer)).toEqual([
      ['event_ids.1', 'order_not_paid'],
      ['event_ids.2', 'order_not_paid'],
      ['event_ids.3', 'order_not_paid'],
      ['event_ids.4', 'review_period_active'],
      ['event_ids.5', 'not_found'],
      ['event_ids.6', 'not_found'],
    ]);
    expect(codeOf(await review({ event_ids, status: 'approved' }))).toEqual([422, 'INVALID_SELECTION']);
    expect((await read(fine.id)).status).toBe('pending');
    expect(await approvals()).not.toContain(fine.id);
  });

  it.each([{ status: 'approved' }, { status: 'approved', event_ids: [] }, { event_ids: ['a'] }])(
    'with %j is 422',
    async (body) => {
      expect(codeOf(await bulk(body))).toEqual([422, 'VALIDATION_ERROR']);
    },
  );
});

describe('concurrent reviews', () => {
  it('by 20 callers approve one commission once: all get 200, and the event is sent once', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const { id } = await sale({}, owner);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => review({ event_id: id, status: 'approved' }, {}, caller)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.filter(({ body }) => body.data.updated === 1)).toHaveLength(1);
    expect(await approvals(owner)).toEqual([id]);
    expect(await balancesOf(app.context, owner)).toMatchObject({ commission_approved: -1_000 });
  });

  it('of selections that overlap in opposite orders all finish, without a deadlock', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const assignment = await makeAssignment(app.context, owner);
    const ids: string[] = [];
    for (let i = 0; i < 10; i += 1) ids.push((await sale({ assignment }, owner)).id);
    const orders = Array.from({ length: 20 }, (_, i) => (i % 2 ? ids : ids.toReversed()));
    const answers = await Promise.all(
      orders.map((event_ids, i) => bulk({ event_ids, status: i % 3 ? 'approved' : 'rejected' }, caller)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await approvals(owner)).sort()).toEqual(ids.toSorted());
    const { commission_approved: approved = 0, commission_pending: pending = 0 } = await balancesOf(app.context, owner);
    const { data } = (await get('/v1/commissions?limit=100&status=approved', caller)).body;
    expect([approved, pending]).toEqual([0 - 1_000 * data.length, 0]);
  });

  it('and refunds race, and the ledger shows what is owed', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const sales = await Promise.all(Array.from({ length: 8 }, () => sale({}, owner)));
    await Promise.all(
      sales.flatMap((one, i) => [
        refund(app.context, one, i % 2 ? 10_000 : 2_500),
        patch(one.id, { status: 'approved' }, caller),
      ]),
    );
    const { data } = (await get('/v1/commissions?limit=100', caller)).body;
    const owed = data.filter(({ status }: { status: string }) => status === 'approved');
    expect(owed).toHaveLength(4);
    expect(owed.map(({ commission }: { commission: number }) => commission)).toEqual([7.5, 7.5, 7.5, 7.5]);
    const { commission_approved, commission_pending } = await balancesOf(app.context, owner);
    expect([commission_approved, commission_pending]).toEqual([-3_000, undefined]);
  });

  it('under one Idempotency-Key get the first answer', async () => {
    const { id } = await sale();
    const headers = { 'idempotency-key': `review-${id}` };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => review({ event_id: id, status: 'approved' }, headers)),
    );
    expect(answers.map(({ body }) => body.data.updated)).toEqual([1, 1, 1, 1, 1]);
  });
});
