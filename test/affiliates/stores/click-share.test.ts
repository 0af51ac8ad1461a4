import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drainClicks } from '../../../src/interfaces/links-host/jobs.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { deskOf } from '../../harness/affiliates/affiliates.ts';
import { click, makeLink } from '../../harness/affiliates/clicks.ts';
import { openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
import { call, startApp, type TestApp } from '../../harness/app.ts';
import { ownRedis } from '../../harness/database.ts';

const MINUTE = 60_000;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ urls: { redis: ownRedis() } });
});
afterAll(async () => await app?.close());

async function read({ brand, id }: Shop, path = '') {
  const { status, body } = await call(`${app.url}/v1/affiliates/integrations/${id}${path}`, await brand.key('brand'));
  return { status, data: body.data };
}

let placed = 0;
/** An order later than those before it, with the click that it carried. */
async function sell(shop: Shop, clickId?: string): Promise<string> {
  placed += 1;
  const at = new Date(Date.now() + placed * 10);
  const noteAttributes = clickId ? [{ name: 'click_id', value: clickId }] : [];
  const order = shopifyOrder({ at, noteAttributes });
  expect((await shop.report('orders/create', order)).status).toBe(200);
  return String(order.id);
}

describe('a store', () => {
  it('says which share of its last 50 orders carried a click of the brand', async () => {
    const shop = await openShop(app, 'shopify');
    const { slug } = await makeLink(await deskOf(app, shop.brand), 'https://shop.example/');
    const tracking = async () => (await read(shop)).data.referral_tracking;
    expect(await tracking()).toEqual({
      ...{ ready: false, missing: ['order_webhook'], status: 'never_seen', click_share: null },
    });
    await sell(shop);
    await sell(shop, 'clk_of_somebody_else');
    expect(await tracking()).toEqual({ ready: true, missing: [], status: 'never_seen', click_share: 0 });
    const { clickId } = await click(app, slug);
    await sell(shop, clickId);
    await sell(shop, clickId);
    expect(await tracking()).toMatchObject({ status: 'seen', click_share: 0.5 });
    for (let more = 0; more < 48; more += 1) await sell(shop);
    expect(await tracking()).toMatchObject({ status: 'seen', click_share: 0.04 });
    for (let more = 0; more < 2; more += 1) await sell(shop);
    // None of the last 50, but one before.
    expect(await tracking()).toMatchObject({ status: 'seen', click_share: 0 });
    await shop.store.close();
  });

  it('shows the last visit by one of its links and the last order that carried one', async () => {
    const shop = await openShop(app, 'shopify');
    const desk = await deskOf(app, shop.brand);
    expect((await read(shop, '/tracking')).data).toEqual({
      ...{ last_click: null, last_order: null, checked_at: expect.stringMatching(/Z$/) },
    });
    const [mine, other] = [await makeLink(desk, 'https://shop.example/'), await makeLink(desk, 'https://b.example/')];
    const { db } = app.context.postgres;
    const second = {
      ...(await db.selectFrom('integrations').selectAll().where('id', '=', shop.id).executeTakeFirstOrThrow()),
    };
    second.id = newId('int', Date.now());
    await db.insertInto('integrations').values(second).execute();
    await db.updateTable('links').set({ integrationId: second.id }).where('id', '=', other.id).execute();
    const from = Date.now();
    const { clickId } = await click(app, mine.slug);
    await click(app, other.slug);
    await click(app, mine.slug, { 'user-agent': 'curl/8.0' });
    await drainClicks(app.context);
    const orderId = await sell(shop, clickId);
    await sell(shop);
    const { data } = await read(shop, '/tracking');
    expect(data).toMatchObject({ last_click: { link_id: mine.id }, last_order: { order_id: orderId } });
    expect(Date.parse(data.last_click.at)).toBeGreaterThanOrEqual(from);
    expect(Date.parse(data.last_click.at)).toBeLessThan(from + MINUTE);
    await shop.store.close();
  });

  it('is tested by its own brand alone', async () => {
    const [shop, stranger] = [await openShop(app, 'generic'), await openShop(app, 'generic')];
    expect((await read({ ...shop, brand: stranger.brand }, '/tracking')).status).toBe(404);
    await shop.store.close();
    await stranger.store.close();
  });
});
