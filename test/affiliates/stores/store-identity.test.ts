import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStore } from '../../../src/affiliates/stores/connections/connect.ts';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { openShop } from '../../harness/affiliates/shop.ts';
import { connectTestStore, deliver, signedDelivery, type TestStore } from '../../harness/affiliates/store.ts';
import { call, makeBrand, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
const stores: TestStore[] = [];

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await app?.close();
});

describe('a store that is connected again stays the same', () => {
  it.each(PROVIDERS)('of %s, when its visitors find it at another domain', async (provider) => {
    const { store, brand, id } = await openShop(app, provider);
    stores.push(store);
    store.host = `www.${store.host}`;
    expect(await connectTestStore(app.context, brand.id, store)).toBe(id);
    const { body } = await call(`${app.url}/v1/affiliates/integrations/${id}`, await brand.key('brand'));
    expect(body.data.storefront_url).toBe(`https://${store.host}`);
  });

  it('when its API is at another address', async () => {
    const { brand, id, store } = await openShop(app, 'generic');
    const moved = await openShop(app, 'generic');
    stores.push(store, moved.store);
    moved.store.host = store.host;
    expect(await connectTestStore(app.context, brand.id, moved.store)).toBe(id);
  });
});

it('two stores in folders of one host stay separate, each with its secret and its orders', async () => {
  const { id: brandId } = await makeBrand(app.context);
  const actor = { brandId, keyId: null, operation: 'test', requestId: null };
  const { postgres, clock, secrets } = app.context;
  const open = (folder: string, currency: string) => {
    const place = `https://multi.example/${folder}`;
    const kept = { token: 't', webhookSecret: `secret of ${folder}` };
    const facts = { name: folder, currency, storefrontUrl: place };
    const store = { provider: 'generic', baseUrl: place, apiVersion: null, facts, secrets: kept } as const;
    return inWork(postgres.db, clock, actor, (work) => connectStore(work, secrets, store));
  };
  const found = [await open('us', 'USD'), await open('de', 'EUR'), await open('us', 'USD')];
  const [us, de, again] = found.map(({ id }) => id);
  expect([us === de, us === again]).toEqual([false, true]);
  for (const [id, folder] of [
    [us, 'us'],
    [de, 'de'],
  ]) {
    const at = new Date().toISOString();
    const order = { order_id: '1', currency: 'USD', amount: '1.00', placed_at: at };
    const delivery = signedDelivery('generic', `secret of ${folder}`, 'order.created', order);
    expect((await deliver(app.url, 'generic', id ?? '', delivery)).status).toBe(200);
  }
});
