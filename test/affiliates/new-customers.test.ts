import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintClick } from '../../src/kit/values/click-token.ts';
import { DAY_MS } from '../../src/kit/values/duration.ts';
import { syncOrders } from '../harness/analytics/figures.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
let shop: TermsShop;
beforeAll(async () => {
  app = await startApp();
  shop = await openShop(app);
});
afterAll(() => app?.close());

const PERCENT = { rate: { percent: 10 } };
const FOR_EVER = { ...PERCENT, covers: 'customer' };
const buyer = () => `${unique('buyer')}@mail.example`;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const add = (body: object) => shop.tell('POST', '/v1/customers', body);
const [HAND, AMOUNT] = [{ reason: 'Told on the phone' }, { amount: 100 }];

describe('A lead', () => {
  it('by a code makes the first order pay its creator without any code, and later ones as far as the terms cover them', async () => {
    const [once, ever] = [await shop.makeCode(PERCENT), await shop.makeCode(FOR_EVER)];
    for (const [code, second] of [
      [once, null],
      [ever, 10],
    ] as const) {
      const customer_email = buyer();
      const { status, body } = await add({ customer_email, code: code.value.toLowerCase() });
      expect([status, body.created]).toEqual([201, true]);
      expect(body.data).toMatchObject({
        ...{ origin: 'lead', state: 'open', link_id: code.id, first_order_id: null },
        ...{ creator_email: code.creator_email, payments: { made: 0, of: null }, customer_email: /^b\*\*\*@/ },
      });
      const first = await shop.place({ customer_email: customer_email.toUpperCase(), ...AMOUNT });
      expect(first).toMatchObject({ commission: 10, rule: 'customer', customer_id: body.data.id });
      expect((await shop.explain(first)).candidates).toMatchObject([{ by: 'lead', payment: 1, outcome: 'won' }]);
      expect(await shop.place({ customer_email, ...AMOUNT })).toMatchObject({ commission: second });
    }
    expect(await shop.listProblems()).toEqual([]);
  });

  it('by a click within its window is known by the id at its store, and at no other', async () => {
    const code = await shop.makeCode(FOR_EVER);
    const link = (
      await shop.tell('POST', '/v1/affiliates/links', {
        ...{ creator_email: code.creator_email, value: unique('link'), type: 'link', terms: FOR_EVER },
        ...{ destination_url: 'https://shop.example', attribution_days: 7 },
      })
    ).body.data;
    const clickAt = (days: number) =>
      mintClick(app.context.secrets.key('click'), { linkId: link.id, atMs: Date.now() - days * DAY_MS });
    const customer = { customer_external_id: unique('c'), source: 'saas' };
    const late = await add({ ...customer, click_id: clickAt(8) });
    expect([late.status, late.body.details]).toMatchObject([
      422,
      [{ field: 'click_id', code: 'click_outside_window' }],
    ]);
    expect((await add({ ...customer, click_id: clickAt(2) })).status).toBe(201);
    const { customer_external_id } = customer;
    expect(await shop.place({ customer_external_id, source: 'saas', ...AMOUNT })).toMatchObject({ commission: 10 });
    expect(await shop.place({ customer_external_id, source: 'till', ...AMOUNT })).toMatchObject({ commission: null });
  });

  it('by a code or click that does not qualify is refused with its reason, and writes nothing', async () => {
    const code = await shop.makeCode(PERCENT);
    await shop.tell('PATCH', `/v1/affiliates/links/${code.id}`, { active: false });
    const customer_email = buyer();
    for (const [carried, field, reason] of [
      [{ code: 'NOBODYS' }, 'code', 'unknown_code'],
      [{ code: code.value }, 'code', 'code_inactive'],
      [{ code: code.value, at: daysAgo(30) }, 'code', 'code_inactive'],
      [{ click_id: 'clk_forged' }, 'click_id', 'invalid_signature'],
    ] as const) {
      const { status, body } = await add({ customer_email, ...carried });
      expect([status, body.details]).toMatchObject([422, [{ field, code: reason }]]);
    }
    const list = await shop.tell('GET', `/v1/customers?customer_email=${customer_email}`);
    expect(list.body.data).toEqual([]);
  });
});

describe('A customer who is added by hand', () => {
  it('earns on renewals that paid nobody since then, oldest first, and the same again changes nothing', async () => {
    const code = await shop.makeCode({ ...PERCENT, covers: 'subscription', payments: 2 });
    const subscription_id = unique('sub');
    const at = (days: number) => ({ placed_at: daysAgo(days), paid_at: daysAgo(days) });
    const renewals = [];
    for (const days of [95, 40, 10, 20]) {
      renewals.push(await shop.place({ subscription_id, kind: 'renewal', ...AMOUNT, ...at(days) }));
    }
    expect(renewals.map(({ commission }) => commission)).toEqual([null, null, null, null]);
    const body = { subscription_id, source: 'shop', link_id: code.id, since: daysAgo(300), ...HAND };
    const added = await add(body);
    expect([added.status, added.body.data]).toMatchObject([
      201,
      { origin: 'hand', ...HAND, subscription_ids: [subscription_id], payments: { made: 2, of: 2 }, state: 'over' },
    ]);
    const explained = [];
    for (const one of renewals) explained.push(await shop.explain(one));
    const paid = explained.map(({ commission }) => commission?.commission ?? null);
    expect(paid).toEqual([null, 10, null, 10]);
    expect(explained[1].decisions.at(-1)).toMatchObject({ cause: 'first_order_known', rule: 'subscription' });
    expect(await shop.listProblems()).toEqual([]);
  });

  it('stays with the creator whom a key belongs to already, as long as that row runs', async () => {
    const [ana, ben] = [await shop.makeCode(FOR_EVER), await shop.makeCode(FOR_EVER)];
    const customer_email = buyer();
    const first = await add({ customer_email, code: ana.value });
    const again = await add({ customer_email, link_id: ben.id, ...HAND });
    expect([again.status, again.body.created, again.body.data.id]).toEqual([200, false, first.body.data.id]);
    await shop.tell('PATCH', `/v1/customers/${first.body.data.id}`, { ended: true, ...HAND });
    const moved = await add({ customer_email, link_id: ben.id, ...HAND });
    expect([moved.status, moved.body.data.link_id]).toEqual([201, ben.id]);
    expect(await shop.place({ customer_email, ...AMOUNT })).toMatchObject({ customer_id: moved.body.data.id });
  });

  it('twice at once becomes one', async () => {
    const code = await shop.makeCode(FOR_EVER);
    const body = { customer_email: buyer(), link_id: code.id, ...HAND };
    const answers = await Promise.all([1, 2, 3, 4].map(() => add(body)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201]);
    expect(new Set(answers.map((one) => one.body.data.id)).size).toBe(1);
  });

  it('is refused with each field that is missing or does not fit', async () => {
    const { id: link_id } = await shop.makeCode(PERCENT);
    const customer_email = buyer();
    for (const [body, field, reason] of [
      [{ code: 'ANA' }, 'customer_email', 'required'],
      [{ subscription_id: 's', code: 'ANA' }, 'source', 'required'],
      [{ subscription_id: 's', source: 'a', integration_id: 'b', code: 'ANA' }, 'integration_id', 'conflict'],
      [{ customer_email }, 'code', 'required'],
      [{ customer_email, code: 'ANA', click_id: 'clk' }, 'click_id', 'conflict'],
      [{ customer_email, link_id }, 'reason', 'required'],
      [{ customer_email, link_id, ...HAND, at: daysAgo(1) }, 'at', 'conflict'],
      [{ customer_email, code: 'ANA', since: daysAgo(1) }, 'since', 'conflict'],
      [{ customer_email, link_id, ...HAND, since: daysAgo(401) }, 'since', 'too_early'],
      [{ customer_email, link_id, ...HAND, since: daysAgo(-1) }, 'since', 'in_future'],
      [{ customer_email, link_id: 'lnk_nobody', ...HAND }, 'link_id', 'not_found'],
      [{ subscription_id: 's', integration_id: 'int_nobody', link_id, ...HAND }, 'integration_id', 'not_found'],
    ] as const) {
      const answer = await add(body);
      expect([answer.status, answer.body.details]).toMatchObject([422, [{ field, code: reason }]]);
    }
  });
});

it('A batch adds whom it can, and says of each other why not', async () => {
  const code = await shop.makeCode(FOR_EVER);
  const [known, fresh] = [buyer(), buyer()];
  await add({ customer_email: known, code: code.value });
  const { status, body } = await shop.tell('POST', '/v1/customers/batch', {
    import: true,
    customers: [
      { customer_email: known, code: code.value },
      { customer_email: buyer(), code: 'NOBODYS' },
      { customer_email: fresh, link_id: code.id, reason: 'From another tool' },
    ],
  });
  expect([status, body.data]).toMatchObject([
    200,
    {
      ...{ created: 1, known: 1, failed: 1 },
      customers: [{ outcome: 'known' }, { outcome: 'failed', id: null, code: 'unknown_code' }, { outcome: 'created' }],
    },
  ]);
  const list = await shop.tell('GET', `/v1/customers?origin=import&customer_email=${fresh}`);
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([body.data.customers[2].id]);
});

it('The list filters by state, group, terms and what they cover', async () => {
  const own = await openShop(app);
  const code = await own.makeCode({ ...PERCENT, covers: 'subscription', payments: 1 });
  const group = (await own.tell('POST', '/v1/groups', { name: unique('group') })).body.data;
  const people = { creator_emails: [code.creator_email] };
  const joined = await own.tell('POST', `/v1/groups/${group.id}/creators`, people);
  expect(joined.status).toBe(200);
  const tellOf = async (customer_email: string, more: object) =>
    (await own.tell('POST', '/v1/customers', { customer_email, code: code.value, ...more })).body.data.id;
  const ids = { open: await tellOf(buyer(), {}), ended: await tellOf(buyer(), {}), over: '' };
  await own.tell('PATCH', `/v1/customers/${ids.ended}`, { ended: true });
  const sold = await own.place({ customer_email: buyer(), codes: [code.value], ...AMOUNT });
  const { customer_id } = (await own.tell('GET', `/v1/orders/${sold.id}`)).body.data;
  ids.over = customer_id;
  const other = await own.makeCode(FOR_EVER);
  const running = await own.place({ customer_email: buyer(), codes: [other.value], ...AMOUNT });
  const list = async (query: string) =>
    (await own.tell('GET', `/v1/customers?${query}`)).body.data.map(({ id }: { id: string }) => id).toSorted();
  for (const [state, id] of Object.entries(ids)) expect(await list(`state=${state}`)).toEqual([id]);
  const [rest] = await list('state=running');
  expect(await list(`first_order_id=${running.id}`)).toEqual([rest]);
  expect(await list('covers=customer')).toEqual([rest]);
  expect(await list(`group_id=${group.id}`)).toEqual(Object.values(ids).toSorted());
  const { terms_id, group_id } = (await own.tell('GET', `/v1/customers/${rest}`)).body.data;
  expect([await list(`terms_id=${terms_id}`), group_id]).toEqual([[rest], null]);
});

it('First orders that come at the same moment as their renewals make these pay, and all again changes nothing', async () => {
  const own = await openShop(app, 6);
  const code = await own.makeCode({ ...PERCENT, covers: 'subscription', months: 12 });
  const [first, renewal] = [own.next(), new Date(Date.now() + 5_000).toISOString()];
  const reports = [1, 2, 3, 4, 5, 6].flatMap((number) => {
    const of = { subscription_id: `s${number}`, customer_email: buyer(), ...AMOUNT };
    return [
      { ...of, order_id: `r${number}`, kind: 'renewal', placed_at: renewal },
      { ...of, order_id: `f${number}`, kind: 'first', codes: [code.value], placed_at: first },
    ];
  });
  const listCommissions = async () => {
    const { data } = (await own.tell('GET', '/v1/orders?limit=50')).body;
    return data.map((one: { order_id: string; commission: number }) => [one.order_id, one.commission]).toSorted();
  };
  await Promise.all(reports.map((report) => own.place(report)));
  const expected = reports.map(({ order_id }) => [order_id, 10]).toSorted();
  expect(await listCommissions()).toEqual(expected);
  await Promise.all(reports.toReversed().map((report) => own.place(report)));
  expect(await listCommissions()).toEqual(expected);
  expect(await own.listProblems()).toEqual([]);
  expect((await own.tell('GET', '/v1/customers')).body.pagination.total).toBe(6);
});

it('Orders, commissions, codes and figures filter by group and customer, and name kind, subscription and terms', async () => {
  const own = await openShop(app);
  const [ana, ben] = [await own.makeCode({ ...FOR_EVER, months: 3 }), await own.makeCode(PERCENT)];
  const group = (await own.tell('POST', '/v1/groups', { name: 'Ambassadors' })).body.data;
  await own.tell('POST', `/v1/groups/${group.id}/creators`, { creator_emails: [ana.creator_email] });
  const of = { customer_email: buyer(), subscription_id: 's1', ...AMOUNT };
  const first = await own.place({ ...of, kind: 'first', codes: [ana.value] });
  const renewal = await own.place({ ...of, kind: 'renewal' });
  await own.place({ customer_email: buyer(), codes: [ben.value], ...AMOUNT });
  const { id: customer_id } = (await own.tell('GET', `/v1/customers?first_order_id=${first.id}`)).body.data[0];
  const list = async (path: string, field: string) =>
    (await own.tell('GET', path)).body.data.map((one: Record<string, string>) => one[field]).toSorted();
  const both = [first, renewal].map(({ order_id }) => order_id).toSorted();
  for (const path of ['/v1/orders', '/v1/commissions', '/v1/affiliates/commissions']) {
    expect(await list(`${path}?customer_id=${customer_id}`, 'order_id')).toEqual(both);
    expect(await list(`${path}?group_id=${group.id}`, 'order_id')).toEqual(both);
    expect(await list(`${path}?kind=renewal`, 'order_id')).toEqual([renewal.order_id]);
  }
  const { body } = await own.tell('GET', `/v1/commissions?kind=renewal`);
  expect(body.data).toMatchObject([
    { kind: 'renewal', subscription_id: 's1', customer_id, terms_id: expect.stringMatching(/^trm_/) },
  ]);
  expect((await own.tell('GET', '/v1/orders?kind=renewal')).body.data[0].terms_id).toBe(body.data[0].terms_id);
  expect(await list(`/v1/affiliates/links?group_id=${group.id}`, 'id')).toEqual([ana.id]);
  await syncOrders(app, own.brand.id);
  const figures = (await own.tell('GET', '/v1/analytics/breakdown?by=group&to=2099-01-01&from=2026-01-01')).body.data;
  expect(figures).toMatchObject([
    { key: group.id, label: 'Ambassadors', orders: 2, commission_minor: 2_000 },
    { key: null, label: null, orders: 1, commission_minor: 1_000 },
  ]);
  const some = await own.tell('GET', `/v1/analytics/breakdown?by=link&group=${group.id}&to=2099-01-01&from=2026-01-01`);
  expect(some.body.data).toMatchObject([{ key: ana.id, orders: 2 }]);
});
