import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  WEBHOOK_SECRET,
} from '../../harness/affiliates/store.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

describe('a generic store', () => {
  it('whose answer about a coupon has another shape causes an error that names the field', async () => {
    const wrong = createServer((_request, response) => response.end('{"code":"X","percentage":"ten","active":true}'));
    wrong.listen(0, '127.0.0.1');
    await once(wrong, 'listening');
    const address = wrong.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    const store = await startStore('generic');
    const integration = await connectTestStore(app.context, brand.id, store);
    const { db } = app.context.postgres;
    await db.updateTable('integrations').set({ baseUrl: url }).where('id', '=', integration).execute();
    await send(`${app.url}/v1/roster`, key, 'POST', { creator_email: 'bea@mail.example' });
    const offer = { creator_email: 'bea@mail.example', value: 'X', integration_id: integration };
    const { status, body } = await send(`${app.url}/v1/affiliates/links`, key, 'POST', offer);
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.error).toBe(
      'The store\'s answer to GET /coupons/X is invalid: percentage must be a number; got the string "ten".',
    );
    wrong.close();
    await store.close();
  });

  it.each([
    [114.99999999999999, 200, 115],
    ['114.99999999999999', 200, 115],
    [0.1 + 0.2, 200, 0.3],
    [114.994, 422, undefined],
    [114.99999, 422, undefined],
  ])('reports %s, and is answered %s', async (amount, status, kept) => {
    const store = await startStore('generic');
    const integration = await connectTestStore(app.context, brand.id, store);
    const at = new Date().toISOString();
    const order = { order_id: unique('o'), currency: 'USD', amount, placed_at: at, paid_at: at };
    const delivery = signedDelivery('generic', WEBHOOK_SECRET, 'order.paid', order);
    expect((await deliver(app.url, 'generic', integration, delivery)).status).toBe(status);
    const { db } = app.context.postgres;
    const row = await db
      .selectFrom('orders')
      .select('baseMinor')
      .where('orderId', '=', order.order_id)
      .executeTakeFirst();
    expect(row?.baseMinor).toBe(kept === undefined ? undefined : kept * 100);
    await store.close();
  });
});
