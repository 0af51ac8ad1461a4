import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyReportedClicks } from '../../../src/affiliates/orders/order-clicks.ts';
import { mintClick } from '../../../src/kit/values/click-token.ts';
import { openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
import { call, keysInTurn, startApp, type TestApp } from '../../harness/app.ts';
import { someAddress } from '../../harness/workflow/applying.ts';

const MINUTE = 60_000;
let app: TestApp;
let shop: Shop;
let nextKey: () => string;

beforeAll(async () => {
  app = await startApp({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  shop = await openShop(app, 'shopify');
  nextKey = await keysInTurn(shop.brand, 10);
});
afterAll(async () => {
  await shop?.store.close();
  await app?.close();
});

const clickOf = (linkId = shop.assignment.linkId, minutesAgo = 5, key = app.context.secrets.key('click')) =>
  mintClick(key, { linkId, atMs: Date.now() - minutesAgo * MINUTE, days: 30 });

let customers = 0;
/** Sends what a pixel does, from an address of its own unless told otherwise. */
async function pixel(body: unknown, { id = shop.id, from = '' } = {}) {
  customers += 1;
  const address = from || `198.51.${customers >> 8}.${customers & 255}`;
  const response = await fetch(`${app.links}/ingest/shopify/${id}/clicks`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'text/plain', origin: 'null', 'x-forwarded-for': address },
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

const sell = async (id: number, at = new Date(), more: object = {}) =>
  expect((await shop.report('orders/create', shopifyOrder({ id, at, ...more }))).status).toBe(200);

async function explain(id: number) {
  const { body } = await call(`${app.url}/v1/affiliates/explain?order_id=${id}`, nextKey());
  return body.data;
}

describe('a pixel', () => {
  it.each(['before', 'after'])('pays the creator of a click for an order that came %s it', async (when) => {
    const [id, click] = [orderNumber(), clickOf()];
    if (when === 'before') await sell(id);
    expect(await pixel({ order_id: `gid://shopify/OrderIdentity/${id}`, click_id: click })).toMatchObject({
      status: 200,
      body: '{"received":true}',
    });
    await applyReportedClicks(app.context);
    if (when === 'after') await sell(id);
    await applyReportedClicks(app.context);
    const data = await explain(id);
    expect(data).toMatchObject({ attributed: true, rule: 'last_click' });
    // Reported again, it changes nothing.
    await pixel({ order_id: id, click_id: click });
    await applyReportedClicks(app.context);
    expect(await explain(id)).toEqual(data);
  });

  it('changes no order that already pays a creator', async () => {
    const id = orderNumber();
    await sell(id, new Date(), { codes: [shop.assignment.code] });
    const before = await explain(id);
    await pixel({ order_id: id, click_id: clickOf() });
    await applyReportedClicks(app.context);
    expect(before).toMatchObject({ attributed: true, rule: 'code' });
    expect(await explain(id)).toEqual(before);
  });

  it.each([
    ['a click that nobody signed', () => ({ click_id: `${clickOf().slice(0, -1)}~` })],
    ['a click of another installation', () => ({ click_id: clickOf(undefined, 5, Buffer.alloc(32, 7)) })],
    ['a click on a link of another brand', () => ({ click_id: clickOf('lnk_0Tb5wZk3aBcDeFgHiJkL') })],
    [
      'an order more than an hour old',
      () => ({ at: new Date(Date.now() - 61 * MINUTE), click_id: clickOf(undefined, 90) }),
    ],
    ['an order from before the click', () => ({ at: new Date(Date.now() - 10 * MINUTE), click_id: clickOf() })],
    ['a store that does not exist', () => ({ store: 'int_0Tb5wZk3aBcDeFgHiJkL', click_id: clickOf() })],
  ])('pays nobody by %s, and answers the same', async (_what, make) => {
    const id = orderNumber();
    const { at = new Date(), store = shop.id, click_id }: { at?: Date; store?: string; click_id: string } = make();
    await sell(id, at);
    const answer = await pixel({ order_id: id, click_id }, { id: store });
    expect([answer.status, answer.body]).toEqual([200, '{"received":true}']);
    await applyReportedClicks(app.context);
    expect((await explain(id)).attributed).toBe(false);
  });

  it('cannot name orders that are placed later', async () => {
    const id = orderNumber();
    await pixel({ order_id: id, click_id: clickOf() });
    await sell(id, new Date(Date.now() + 5 * MINUTE));
    await applyReportedClicks(app.context);
    expect((await explain(id)).attributed).toBe(false);
  });

  it('may call from a sandbox that has no origin', async () => {
    const url = `${app.links}/ingest/shopify/${shop.id}/clicks`;
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'null', 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type');
    const { headers } = await pixel({ order_id: orderNumber(), click_id: 'clk_1' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect((await fetch(url)).status).toBe(405);
  });

  it.each([
    ['{', 'body'],
    [{ click_id: 'clk_1' }, 'order_id'],
    [{ order_id: 'x', click_id: 'clk_1' }, 'order_id'],
    [{ order_id: 1 }, 'click_id'],
  ])('that sends %s is refused for its %s', async (body, field) => {
    const answer = await pixel(body);
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body).details).toMatchObject([{ field }]);
  });

  it('is refused when it sends too much', async () => {
    expect((await pixel({ order_id: 1, click_id: 'x'.repeat(3_000) })).status).toBe(413);
  });

  it('is accepted sixty times a minute from one address', async () => {
    const from = someAddress();
    const answers = await Promise.all(
      Array.from({ length: 62 }, () => pixel({ order_id: orderNumber(), click_id: 'clk_1' }, { from })),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  it('is accepted 300 times a minute for one store, from all callers together', async () => {
    const other = await openShop(app, 'shopify');
    const click = clickOf(other.assignment.linkId);
    for (let sent = 0; sent < 403; sent += 31) {
      await Promise.all(
        Array.from({ length: 31 }, () => pixel({ order_id: orderNumber(), click_id: click }, { id: other.id })),
      );
    }
    const { db } = app.context.postgres;
    const kept = await db.selectFrom('orderClicks').select('orderId').where('integrationId', '=', other.id).execute();
    expect(kept.length).toBeGreaterThanOrEqual(270);
    expect(kept.length).toBeLessThanOrEqual(331);
    await other.store.close();
  });
});
