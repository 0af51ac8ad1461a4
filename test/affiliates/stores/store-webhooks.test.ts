import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getClient } from '../../../src/affiliates/stores/formats/clients.ts';
import { keepStoreWebhooks } from '../../../src/affiliates/stores/webhooks.jobs.ts';
import { deliver, signedDelivery, startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { makeBrand, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { type SignedIn, signIn } from '../../harness/platform/session.ts';

const PATH = '/v1/affiliates/integrations';
const QUARTER_MS = 15 * 60_000;

let now = new Date();
const clock = { now: () => now };
/** Webhooks of all stores are looked after: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;
const stores: TestStore[] = [];

beforeAll(async () => {
  database = await makeDatabase('hooks');
  app = await startApp({ clock, urls: { postgres: database.url } });
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await app?.close();
  await database?.drop();
});

async function newBrand(): Promise<void> {
  brand = await makeBrand(app.context);
  owner = await signIn(app, brand.id);
  await owner.send('PATCH', '/v1/brand', { contact_email: `${unique('shop')}@brand.example` });
}

async function newStore(provider: TestStore['provider']): Promise<TestStore> {
  const store = await startStore(provider);
  store.access.now = clock.now;
  stores.push(store);
  return store;
}

const SECRET = 'whsec of this test';
const entryOf = ({ provider, url, token, access: { app: its } }: TestStore) =>
  provider === 'shopify'
    ? { provider, url, client_id: its.id, client_secret: its.secret }
    : { provider, url, token, webhook_secret: SECRET };

async function connected(provider: TestStore['provider'], change: (store: TestStore) => void = () => undefined) {
  await newBrand();
  const store = await newStore(provider);
  change(store);
  const { body } = await owner.send('POST', PATH, entryOf(store));
  const { id } = body.data;
  const read = async () => (await owner.get(`${PATH}/${id}`)).body.data;
  expect((await read()).webhook_setup.status).toBe('pending');
  await keepStoreWebhooks.run(app.context);
  return { store, id, read };
}

/** The next time that the job runs for the stores. */
async function lookAgain(): Promise<void> {
  now = new Date(now.getTime() + QUARTER_MS);
  await keepStoreWebhooks.run(app.context);
}

const topicsOf = ({ hooks }: TestStore) =>
  hooks.all.filter(({ state }) => state === 'active').map(({ topic }) => topic);

const SHOPIFY = [
  'ORDERS_CREATE',
  'ORDERS_PAID',
  'ORDERS_UPDATED',
  'ORDERS_CANCELLED',
  'ORDERS_DELETE',
  'REFUNDS_CREATE',
];
const WOOCOMMERCE = ['order.created', 'order.updated', 'order.deleted', 'order.restored'];

describe('The webhooks of a store', () => {
  it('are created at Shopify by an app, including the one for its uninstallation, but not those for disputes without the scope', async () => {
    const { store, id, read } = await connected('shopify');
    expect(topicsOf(store)).toEqual([...SHOPIFY, 'APP_UNINSTALLED']);
    expect(store.hooks.all.map(({ url }) => url)).toContain(`https://go.example/ingest/shopify/${id}`);
    expect((await read()).webhook_setup).toEqual({
      ...{ status: 'active', topics: getClient('shopify').topics, missing: [], problem: null },
      checked_at: now.toISOString(),
    });
    store.hooks.outOfScope = [];
    await lookAgain();
    expect(topicsOf(store)).toEqual(expect.arrayContaining(['DISPUTES_CREATE', 'DISPUTES_UPDATE']));
  });

  it('are created at WooCommerce with our secret, and their deliveries are accepted', async () => {
    const { store, id, read } = await connected('woocommerce');
    expect(topicsOf(store)).toEqual(WOOCOMMERCE);
    for (const { secret } of store.hooks.all) {
      const sent = signedDelivery('woocommerce', secret, 'products/update', {});
      expect((await deliver(app.url, 'woocommerce', id, sent)).status).toBe(200);
    }
    expect((await read()).webhook_setup.status).toBe('active');
  });

  it('are not created a second time beside those that are on', async () => {
    const { store } = await connected('woocommerce');
    await lookAgain();
    await lookAgain();
    expect(store.hooks.all).toHaveLength(4);
  });

  it('are left to the owner, with the reason, if the key may only read', async () => {
    const { read } = await connected('woocommerce', (store) => {
      store.hooks.mayBeMade = false;
    });
    expect(await read()).toMatchObject({
      status: 'connected',
      webhook_health: { status: 'silent' },
      webhook_setup: { status: 'manual', missing: WOOCOMMERCE, problem: expect.stringContaining('Read/Write') },
    });
    expect(await mailsOf(app.context, brand.id)).toEqual([]);
  });

  it('are left to the owner if the app lacks the scope', async () => {
    const { read } = await connected('shopify', (store) => {
      store.hooks.mayBeMade = false;
    });
    const { webhook_setup: setup } = await read();
    expect([setup.status, setup.problem]).toEqual(['manual', expect.stringContaining('read_orders')]);
  });

  it('are left to the owner of a Shopify store whose secret is not the app’s, and of a generic store', async () => {
    await newBrand();
    for (const provider of ['shopify', 'generic'] as const) {
      const store = await newStore(provider);
      const { url, token } = store;
      const { body } = await owner.send('POST', PATH, { provider, url, token, webhook_secret: SECRET });
      expect(body.data.webhook_setup).toMatchObject({ status: 'manual', missing: [], checked_at: null });
      const before = store.requests.length;
      await lookAgain();
      expect(store.requests).toHaveLength(before);
    }
  });
});

describe('A webhook that is disabled or missing', () => {
  it('is created again within 15 minutes, and reported by one mail', async () => {
    const { store, read } = await connected('woocommerce');
    const [first] = store.hooks.all;
    if (first) first.state = 'disabled';
    await lookAgain();
    expect(topicsOf(store).sort()).toEqual([...WOOCOMMERCE].sort());
    expect(store.hooks.all).toHaveLength(4);
    expect((await read()).webhook_setup.status).toBe('active');
    store.hooks.all = [];
    await lookAgain();
    expect(topicsOf(store)).toHaveLength(4);
    const mails = await mailsOf(app.context, brand.id);
    expect(mails.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['store_webhook_disabled', 'We repaired a webhook of A store'],
    ]);
  });

  it('that cannot be created again is `disabled` until it can, and reported by one mail', async () => {
    const { store, read } = await connected('shopify');
    store.hooks.all = store.hooks.all.filter(({ topic }) => topic !== 'ORDERS_PAID');
    store.hooks.mayBeMade = false;
    for (const _again of [1, 2, 3]) await lookAgain();
    expect(await read()).toMatchObject({
      webhook_health: { status: 'disabled' },
      webhook_setup: { status: 'disabled', missing: ['orders/paid'], problem: expect.stringContaining('read_orders') },
    });
    expect((await mailsOf(app.context, brand.id)).map(({ subject }) => subject)).toEqual([
      'A webhook of A store is off',
    ]);
    store.hooks.mayBeMade = true;
    await lookAgain();
    expect((await read()).webhook_setup).toMatchObject({ status: 'active', missing: [], problem: null });
    expect(await mailsOf(app.context, brand.id)).toHaveLength(1);
  });

  it('that its owner paused stays paused, and is reported', async () => {
    const { store, read } = await connected('woocommerce');
    const [first] = store.hooks.all;
    if (first) first.state = 'paused';
    await lookAgain();
    expect(store.hooks.all).toHaveLength(4);
    expect((await read()).webhook_setup).toMatchObject({
      status: 'disabled',
      problem: expect.stringContaining('paused'),
    });
  });

  it('is looked for once at a due store, even by many workers', async () => {
    const { store } = await connected('woocommerce');
    now = new Date(now.getTime() + QUARTER_MS);
    const before = store.requests.length;
    await Promise.all(Array.from({ length: 6 }, () => keepStoreWebhooks.run(app.context)));
    expect(store.requests.length - before).toBe(1);
  });
});

describe('A store', () => {
  it('whose app was uninstalled must be connected again, and works after that', async () => {
    const { store, id, read } = await connected('shopify');
    const { secret } = store.access.app;
    const farewell = signedDelivery('shopify', secret, 'app/uninstalled', { id: 1 });
    const at = (ms: number) => ({ 'x-shopify-triggered-at': new Date(now.getTime() + ms).toISOString() });
    const late = { ...farewell, headers: { ...farewell.headers, ...at(-86_400_000) } };
    expect((await deliver(app.url, 'shopify', id, late)).status).toBe(200);
    expect((await read()).status).toBe('connected');
    const sent = { ...farewell, headers: { ...farewell.headers, ...at(1) } };
    expect((await deliver(app.url, 'shopify', id, sent)).status).toBe(200);
    expect((await read()).status).toBe('reauth_required');
    store.hooks.all = [];
    await owner.send('POST', PATH, entryOf(store));
    await keepStoreWebhooks.run(app.context);
    expect(await read()).toMatchObject({ status: 'connected', webhook_setup: { status: 'active' } });
  });

  it('that refuses access while its webhooks are checked must be connected again', async () => {
    const { store, read } = await connected('woocommerce');
    store.failWith = 401;
    await lookAgain();
    expect((await read()).status).toBe('reauth_required');
  });

  it('that answers with another version of its API has a warning until it answers with ours', async () => {
    const { store, read } = await connected('shopify');
    expect((await read()).warnings).toEqual([]);
    const { versions } = store.access;
    store.access.versions = ['2027-01', '2027-04'];
    await lookAgain();
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    expect(metrics).toMatch(
      /rollcall_store_api_versions\{provider="shopify",version="2027-01",current="false"\} [1-9]/,
    );
    expect((await read()).warnings).toEqual([
      { code: 'api_version', message: expect.stringContaining('2027-01 of its API instead of 2026-10') },
    ]);
    store.access.versions = versions;
    await lookAgain();
    expect((await read()).warnings).toEqual([]);
  });
});
