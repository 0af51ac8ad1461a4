import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listNamedLinks } from '../../src/affiliates/links/links.ts';
import { codeValue, type Desk, LINKS, openDesk, problemsOf, SHOP } from '../harness/affiliates/affiliates.ts';
import { connectTestStore, startStore, type TestStore } from '../harness/affiliates/store.ts';
import { send, startApp, type TestApp, unique } from '../harness/app.ts';

let app: TestApp;
let desk: Desk;

beforeAll(async () => {
  app = await startApp();
  desk = await openDesk(app);
});
afterAll(() => app?.close());

describe('a change', () => {
  it('sets what it names, and is audited with the old values', async () => {
    const { id, value } = await desk.made({
      type: 'link',
      value: unique('ana'),
      destination_url: SHOP,
      platform: 'video_app',
    });
    const { status, body } = await desk.send('PATCH', `${LINKS}/${id}`, {
      commission_rate: 7.5,
      creator_name: 'Ana B',
      platform: null,
      url: 'https://shop.example/winter',
    });
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({
        ...{ id, value, commission_rate: 7.5, creator_name: 'Ana B', platform: null },
        ...{ destination_url: 'https://shop.example/winter', url: `https://go.example/r/${value}`, active: true },
      }),
    ]);
    const audit = (await desk.get(`/v1/audit-log?limit=1`)).body.data?.[0];
    expect(audit).toMatchObject({ resource_id: id, operation: 'update_affiliate_link' });
  });

  it('of the campaign accepts one of the brand’s or none', async () => {
    const campaign = (await desk.send('POST', '/v1/campaigns', { name: 'Fall' })).body.data.id;
    const { id } = await desk.made({ value: codeValue() });
    expect((await desk.send('PATCH', `${LINKS}/${id}`, { campaign_id: campaign })).body.data.campaign_id).toBe(
      campaign,
    );
    expect((await desk.send('PATCH', `${LINKS}/${id}`, { campaign_id: null })).body.data.campaign_id).toBeNull();
    const answer = await desk.send('PATCH', `${LINKS}/${id}`, { campaign_id: 'cmp_x' });
    expect([answer.status, problemsOf(answer)]).toEqual([422, ['campaign_id not_found']]);
  });

  it.each([
    [{ destination_url: null }, 'destination_url required'],
    [{ destination_url: 'https://go.example/r/x' }, 'destination_url circular'],
    [{ destination_url: 'https://:pw@shop.example/' }, 'destination_url invalid'],
    [{ url: 'https://me@shop.example/' }, 'url invalid'],
    [{ url: 'nowhere' }, 'url invalid_format'],
    [{ value: SHOP }, 'value invalid'],
    [{ value: null }, 'value invalid_type'],
    [{ active: 'yes' }, 'active invalid_type'],
    [{ commission_rate: 101 }, 'commission_rate too_big'],
  ])('of a link to %j is 422: %s', async (patch, problem) => {
    const { id } = await desk.made({ type: 'link', value: unique('ana'), destination_url: SHOP });
    const answer = await desk.send('PATCH', `${LINKS}/${id}`, patch);
    expect([answer.status, problemsOf(answer)]).toEqual([422, [problem]]);
  });
});

describe('turning a link off', () => {
  async function wasActive(id: string, at: Date) {
    const named = { codes: [], linkIds: [id], first: at, last: at };
    return (await listNamedLinks(app.context.postgres.db, desk.brand.id, [named])).map((link) => link.wasActive)[0];
  }

  it('keeps it, changes nothing when repeated, and is remembered with its time', async () => {
    const { id, created_at } = await desk.made({ value: codeValue() });
    const gone = await desk.send('DELETE', `${LINKS}/${id}`);
    expect([gone.status, gone.body]).toEqual([200, { data: { id, active: false, deactivated: true } }]);
    expect((await desk.send('DELETE', `${LINKS}/${id}`)).body).toEqual(gone.body);
    expect((await desk.get(`${LINKS}/${id}`)).body.data.active).toBe(false);
    const off = new Date();
    expect((await desk.send('PATCH', `${LINKS}/${id}`, { active: true })).body.data.active).toBe(true);
    const madeAt = new Date(created_at);
    const moments = [new Date(madeAt.getTime() - 1), madeAt, off, new Date(Date.now() + 1_000)];
    expect(await Promise.all(moments.map((at) => wasActive(id, at)))).toEqual([false, true, false, true]);
    expect(
      await listNamedLinks(app.context.postgres.db, 'brd_other', [
        { codes: [], linkIds: [id], first: madeAt, last: madeAt },
      ]),
    ).toEqual([]);
  });

  it('and on concurrently ends as the row says', async () => {
    const { id } = await desk.made({ value: codeValue() });
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => desk.send('PATCH', `${LINKS}/${id}`, { active: i % 2 === 0 })),
    );
    const { active } = (await desk.get(`${LINKS}/${id}`)).body.data;
    expect(await wasActive(id, new Date(Date.now() + 60_000))).toBe(active);
  });
});

describe('a code of a connected store', () => {
  let store: TestStore;
  let integration_id: string;

  beforeAll(async () => {
    store = await startStore('generic', { currency: 'EUR' });
    integration_id = await connectTestStore(app.context, desk.brand.id, store);
  });
  afterAll(() => store?.close());

  const coupon = (value: string, active = true) =>
    void store.coupons.set(value.toLowerCase(), { kind: 'percentage', amount: 10, active });

  it('is created from a coupon that the store has, in the store’s currency', async () => {
    const value = codeValue();
    coupon(value);
    const data = await desk.made({ value, integration_id, currency: 'JPY' });
    expect(data).toMatchObject({ value, currency: 'EUR', last_sync_at: data.created_at });
  });

  it('is 422 and not created for a coupon that the store lacks or that is inactive', async () => {
    const creator_email = await desk.onRoster();
    const value = codeValue();
    const make = () => desk.send('POST', LINKS, { creator_email, value, integration_id });
    const missing = await make();
    expect([missing.status, problemsOf(missing)]).toEqual([422, ['value coupon_not_found']]);
    coupon(value, false);
    expect(problemsOf(await make())).toEqual(['value coupon_inactive']);
    coupon(value);
    expect((await make()).status).toBe(201);
  });

  it('created under an Idempotency-Key is returned again without contacting the store', async () => {
    const input = { creator_email: await desk.onRoster(), value: codeValue(), integration_id };
    coupon(input.value);
    const key = await desk.brand.key('brand');
    const make = () => send(`${app.url}${LINKS}`, key, 'POST', input, { 'idempotency-key': 'once' });
    const first = await make();
    const { length } = store.requests;
    const again = await make();
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
    expect(again.body).toEqual(first.body);
    expect(store.requests).toHaveLength(length);
  });

  it('leads to the store, and cannot be changed to lead elsewhere', async () => {
    const creator_email = await desk.onRoster();
    const shop = `https://${store.host}/summer`;
    const link = { creator_email, type: 'link', value: unique('ana'), integration_id };
    const elsewhere = await desk.send('POST', LINKS, { ...link, destination_url: SHOP });
    expect([elsewhere.status, problemsOf(elsewhere)]).toEqual([422, ['destination_url wrong_host']]);
    expect(problemsOf(await desk.send('POST', LINKS, { ...link, value: SHOP }))).toEqual([
      'destination_url wrong_host',
    ]);
    const { id, currency } = await desk.made({ ...link, destination_url: shop });
    expect(currency).toBe('EUR');
    expect(problemsOf(await desk.send('PATCH', `${LINKS}/${id}`, { url: SHOP }))).toEqual([
      'destination_url wrong_host',
    ]);
    const moved = await desk.send('PATCH', `${LINKS}/${id}`, { destination_url: `${shop}/2` });
    expect(moved.body.data.destination_url).toBe(`${shop}/2`);
  });

  it('changes to another code only if the store has it', async () => {
    const [value, next] = [codeValue(), codeValue()];
    coupon(value);
    const { id } = await desk.made({ value, integration_id });
    const refused = await desk.send('PATCH', `${LINKS}/${id}`, { value: next });
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['value coupon_not_found']]);
    coupon(next);
    expect((await desk.send('PATCH', `${LINKS}/${id}`, { value: next })).body.data.value).toBe(next);
    const { length } = store.requests;
    expect((await desk.send('PATCH', `${LINKS}/${id}`, { commission_rate: 5 })).status).toBe(200);
    expect(store.requests).toHaveLength(length);
  });
});
