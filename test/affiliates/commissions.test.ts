import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalsOf, codeOf, problemsOf } from '../harness/affiliates/paying.ts';
import {
  balancesOf,
  daysAgo,
  makeAssignment,
  makeSale,
  makeUnapprovable,
  report,
} from '../harness/affiliates/sales.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { listEvents } from '../harness/workflow/applying.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
let stranger: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
  stranger = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const sale = (options: Parameters<typeof makeSale>[2] = {}, owner = brand) => makeSale(app.context, owner, options);
const get = (path: string, caller = key) => call(`${app.url}${path}`, caller);
const read = async (id: string) => (await get(`/v1/affiliates/commissions/${id}`)).body.data;
const review = (body: object, headers: object = {}, caller = key) =>
  send(`${app.url}/v1/commissions`, caller, 'POST', body, headers);
const patch = (id: string, body: object, caller = key) =>
  send(`${app.url}/v1/affiliates/commissions/${id}`, caller, 'PATCH', body);

const approvals = (owner = brand) => approvalsOf(app, owner);

describe('the list of commissions', () => {
  it('shows a sale with the order at its store, the masked customer and money in major units', async () => {
    const made = await sale({ name: 'Ann', rate: 12.5, amountMinor: 19_999, customerEmail: 'jane@shop.example' });
    const event = {
      id: made.id,
      link_id: made.linkId,
      creator_email: made.email,
      creator_name: 'Ann',
      campaign_id: null,
      type: 'sale',
      source: expect.stringMatching(/^generic:store-.+\.example$/),
      integration_id: made.source.id,
      amount: 199.99,
      commission: 25,
      commission_at_rate: 25,
      commission_rate: 12.5,
      order_id: made.orderId,
      order_number: null,
      order_paid: true,
      order_paid_at: made.facts.occurredAt.toISOString(),
      approvable_at: new Date(made.facts.occurredAt.getTime() + 30 * 86_400_000).toISOString(),
      customer_email: 'j***@s***.example',
      discount_code: made.code,
      affiliate_code: made.code,
      currency: 'USD',
      status: 'pending',
      status_updated_at: null,
      status_note: null,
      rejected_by: null,
      clawed_back_at: null,
      claw_back_reason: null,
      kind: 'once',
      subscription_id: null,
      customer_id: null,
      terms_id: null,
      fraud_flags: [],
      occurred_at: made.facts.occurredAt.toISOString(),
      synced_at: expect.any(String),
    };
    const filter = `creator_email=${made.email.toUpperCase()}`;
    expect((await get(`/v1/commissions?${filter}`)).body.data).toEqual([event]);
    expect((await get(`/v1/commissions/${made.id}`)).body.data).toEqual(event);
    const more = { ...event, click_id: null, created_at: expect.any(String) };
    expect((await get(`/v1/affiliates/commissions?${filter}`)).body.data).toEqual([more]);
    expect(await read(made.id)).toEqual(more);
  });

  it('shows amounts with the decimals of their currency', async () => {
    const yen = await sale({ currency: 'JPY', amountMinor: 1_234 });
    const dinar = await sale({ currency: 'KWD', amountMinor: 1_235 });
    expect(await read(yen.id)).toMatchObject({ amount: 1_234, commission: 123, currency: 'JPY' });
    expect(await read(dinar.id)).toMatchObject({ amount: 1.235, commission: 0.124, currency: 'KWD' });
  });

  it('pages without overlap, filters by status and creator, walks a window, and streams as CSV', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const assignment = await makeAssignment(app.context, owner);
    const ids: string[] = [];
    for (let i = 0; i < 7; i += 1) ids.unshift((await sale({ assignment }, owner)).id);
    await review({ event_id: ids[0], status: 'rejected' }, {}, caller);
    for (const path of ['/v1/commissions', '/v1/affiliates/commissions']) {
      const list = async (query: string) => (await get(`${path}?${query}`, caller)).body;
      const pages = [await list('limit=3'), await list('limit=3&page=2'), await list('limit=3&page=3')];
      expect(pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id))).toEqual(ids);
      expect(pages[2].pagination).toEqual({ page: 3, limit: 3, total: 7, has_more: false });
      expect((await list('status=rejected')).data.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
      expect((await list('creator_email=nobody@mail.example')).data).toEqual([]);
      expect((await list('sort=oldest')).data[0].id).toBe(ids[6]);
      expect((await list('created_after=2099-01-01')).data).toEqual([]);
      const { body } = await call(`${app.url}${path}`, caller, { headers: { accept: 'text/csv' } });
      const lines = body.trim().split('\n');
      expect(lines).toHaveLength(8);
      expect(lines[0]).toMatch(/^id,link_id,creator_email,/);
      expect(lines.slice(1).map((line: string) => line.split(',')[0])).toEqual(ids);
    }
  });

  it('filters by the store of the order, by its id and as rows show it, in both lists and their exports', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const [here, there] = [await sale({}, owner), await sale({}, owner)];
    const { source, integration_id } = (await get(`/v1/commissions/${here.id}`, caller)).body.data;
    expect(integration_id).toBe(here.source.id);
    for (const path of ['/v1/commissions', '/v1/affiliates/commissions']) {
      const ids = async (query: string) =>
        (await get(`${path}?${query}`, caller)).body.data.map(({ id }: { id: string }) => id);
      expect(await ids(`integration_id=${integration_id}`)).toEqual([here.id]);
      expect(await ids(`source=${encodeURIComponent(source)}`)).toEqual([here.id]);
      expect(await ids('source=generic')).toEqual([there.id, here.id]);
      expect(await ids(`integration_id=${there.source.id}&source=${encodeURIComponent(source)}`)).toEqual([]);
      const url = `${app.url}${path}?integration_id=${there.source.id}`;
      const csv = await call(url, caller, { headers: { accept: 'text/csv' } });
      expect(csv.body.trim().split('\n').slice(1).join()).toMatch(new RegExp(`^${there.id},`));
      for (const unlike of ['source=generic:', 'source=ebay']) {
        expect(codeOf(await get(`${path}?${unlike}`, caller))).toEqual([422, 'VALIDATION_ERROR']);
      }
    }
  });

  it('finds with approvable=true exactly what a review would approve now', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const due = await sale({}, owner);
    const approved = await sale({}, owner);
    expect((await review({ event_id: approved.id, status: 'approved' }, {}, caller)).status).toBe(200);
    const others = await makeUnapprovable(app.context, owner);
    const ids = async (query: string) =>
      (await get(`/v1/commissions?${query}`, caller)).body.data.map(({ id }: { id: string }) => id).sort();
    expect(await ids('approvable=true')).toEqual([due.id]);
    const { unpaid, held, cancelled, refunded } = others;
    expect(await ids('approvable=false')).toEqual(
      [unpaid, held, cancelled, refunded, approved].map(({ id }) => id).sort(),
    );
    expect(await ids('approvable=false&status=pending')).toEqual([unpaid.id, held.id].sort());
    const csv = await call(`${app.url}/v1/commissions?approvable=true`, caller, { headers: { accept: 'text/csv' } });
    expect(csv.body.trim().split('\n')).toHaveLength(2);
  });

  it.each(['status=done', 'approvable=maybe', 'creator_email=ann', 'created_after=soon'])(
    'with %s is 422',
    async (query) => {
      expect(codeOf(await get(`/v1/commissions?${query}`))).toEqual([422, 'VALIDATION_ERROR']);
    },
  );
});

describe('a review of one commission', () => {
  it('approves a paid order past its review period, emits one event, and moves it in the ledger', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const { id } = await sale({ name: 'Ann' }, owner);
    const { status, body } = await review({ event_id: id, status: 'approved', note: 'fine' }, {}, caller);
    expect([status, body]).toEqual([200, { data: { updated: 1 } }]);
    const { data } = (await get(`/v1/commissions/${id}`, caller)).body;
    expect(data).toMatchObject({ status: 'approved', status_note: 'fine', status_updated_at: expect.any(String) });
    const events = (await listEvents(app, owner.id)).filter(({ event }) => event === 'commission.approved');
    expect(events.map((event) => event.data)).toEqual([{ ...data, creator_name: 'Ann', commission_amount: 10 }]);
    expect(await balancesOf(app.context, owner)).toEqual({
      customers: 10_000,
      sales: -10_000,
      commission_expense: 1_000,
      commission_approved: -1_000,
    });
    const audit = (await get(`/v1/audit-log?resource_id=${id}`, caller)).body.data;
    expect(audit[0]).toMatchObject({ operation: 'review_commissions', resource_id: id });
  });

  it('can switch between approved and rejected until payment, and each commission emits its event once', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const { id } = await sale({}, owner);
    for (const status of ['rejected', 'approved', 'rejected', 'approved']) {
      const { body } = await patch(id, { status, note: `to ${status}` }, caller);
      expect(body.data).toEqual({
        id,
        status,
        status_note: `to ${status}`,
        status_updated_at: expect.any(String),
      });
    }
    expect(await approvals(owner)).toEqual([id]);
    expect(await balancesOf(app.context, owner)).toMatchObject({
      commission_approved: -1_000,
      commission_expense: 1_000,
    });
    await patch(id, { status: 'rejected' }, caller);
    expect(await balancesOf(app.context, owner)).toEqual({ customers: 10_000, sales: -10_000 });
  });

  it('can reject during the review period and before the order is paid', async () => {
    for (const options of [{ occurredAt: daysAgo(3) }, { paidAt: null }]) {
      const { id } = await sale(options);
      expect((await patch(id, { status: 'rejected' })).body.data.status).toBe('rejected');
    }
  });

  it('changes nothing and emits nothing when it is repeated', async () => {
    const { id } = await sale();
    await patch(id, { status: 'approved', note: 'first' });
    const before = await read(id);
    const reported = (await approvals()).length;
    expect((await patch(id, { status: 'approved', note: 'second' })).body.data.status_note).toBe('first');
    expect((await review({ event_id: id, status: 'approved' })).body.data).toEqual({ updated: 0 });
    expect(await read(id)).toEqual(before);
    expect(await approvals()).toHaveLength(reported);
  });

  it.each<[string, (id: string, note: string, caller: string) => ReturnType<typeof patch>, object | undefined]>([
    ['PATCH', (id, note, caller) => patch(id, { status: 'rejected', note }, caller), undefined],
    ['POST', (id, note, caller) => review({ event_id: id, status: 'rejected', note }, {}, caller), { updated: 0 }],
    [
      'bulk PATCH',
      (id, note, caller) => patch('bulk', { event_ids: [id], status: 'rejected', note }, caller),
      { status: 'rejected', updated_count: 0, skipped_count: 1, total_requested: 1 },
    ],
  ])(
    'by %s that rejects what a cancellation had rejected keeps its note, and stays when the store reverts the cancellation',
    async (_door, reject, counts) => {
      const owner = await makeBrand(app.context);
      const caller = await owner.key('brand');
      const made = await sale({}, owner);
      const reported = async (days: number, cancelledAt: Date | null) =>
        await report(app.context, made, { ...made.facts, cancelledAt, updatedAt: daysAgo(days) });
      const shown = async () => (await get(`/v1/commissions/${made.id}`, caller)).body.data;
      await reported(20, daysAgo(20));
      expect(await shown()).toMatchObject({ status: 'rejected', status_note: 'order_refunded' });
      const before = await balancesOf(app.context, owner);
      const { status, body } = await reject(made.id, 'a fraud', caller);
      expect(status).toBe(200);
      if (counts) expect(body.data).toEqual(counts);
      await reject(made.id, 'said again', caller);
      expect(await shown()).toMatchObject({ status: 'rejected', status_note: 'a fraud' });
      expect(await balancesOf(app.context, owner)).toEqual(before);
      await reported(10, null);
      expect(await shown()).toMatchObject({ status: 'rejected', status_note: 'a fraud' });
      expect(await balancesOf(app.context, owner)).toEqual({ customers: 10_000, sales: -10_000 });
    },
  );

  it('answers 409 with the reason and changes nothing when the commission cannot be approved', async () => {
    const { held, ...notPaid } = await makeUnapprovable(app.context, brand);
    for (const one of Object.values(notPaid)) {
      const before = await read(one.id);
      expect(codeOf(await patch(one.id, { status: 'approved' }))).toEqual([409, 'ORDER_NOT_PAID']);
      expect(codeOf(await review({ event_id: one.id, status: 'approved' }))).toEqual([409, 'ORDER_NOT_PAID']);
      expect(await read(one.id)).toEqual(before);
    }
    const { status, body } = await patch(held.id, { status: 'approved' });
    expect([status, body.code]).toEqual([409, 'REVIEW_PERIOD_ACTIVE']);
    expect(body.approvable_at).toBe(daysAgo(-30, held.facts.occurredAt).toISOString());
  });

  it('can approve at the moment when the review period ends, and not a millisecond earlier', async () => {
    let now = new Date('2027-03-31T11:59:59.999Z');
    const timed = await startApp({ clock: { now: () => now } });
    const owner = await makeBrand(timed.context);
    const caller = await owner.key('brand');
    const { id } = await makeSale(timed.context, owner, { occurredAt: new Date('2027-03-01T12:00:00Z'), holdDays: 30 });
    const approve = () => send(`${timed.url}/v1/affiliates/commissions/${id}`, caller, 'PATCH', { status: 'approved' });
    const early = await approve();
    expect([early.status, early.body.approvable_at]).toEqual([409, '2027-03-31T12:00:00.000Z']);
    now = new Date('2027-03-31T12:00:00.000Z');
    expect((await approve()).status).toBe(200);
    await timed.close();
  });

  it('answers 404 for an unknown commission or one of another brand', async () => {
    const { id } = await sale();
    expect(codeOf(await review({ event_id: 'com_nothing', status: 'rejected' }))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await review({ event_id: id, status: 'rejected' }, {}, stranger))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await patch(id, { status: 'rejected' }, stranger))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await get(`/v1/commissions/${id}`, stranger))).toEqual([404, 'NOT_FOUND']);
    expect((await read(id)).status).toBe('pending');
  });

  it.each([
    [{ status: 'approved' }, 'event_id'],
    [{ status: 'approved', event_id: 'a', event_ids: ['b'] }, 'event_id'],
    [{ event_id: 'a' }, 'status'],
    [{ status: 'paid', event_id: 'a' }, 'status'],
    [{ status: 'approved', event_ids: [] }, 'event_ids'],
    [{ status: 'approved', event_ids: 'a' }, 'event_ids'],
  ])('with %j is 422', async (body, field) => {
    const answer = await review(body);
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(problemsOf(answer)).toContainEqual([field, expect.any(String)]);
  });
});
