import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/affiliates/stores/connections/access.ts';
import { getAccess, getIntegration } from '../../../src/affiliates/stores/connections/connections.ts';
import { getClient } from '../../../src/affiliates/stores/formats/clients.ts';
import { openStoreSecrets } from '../../../src/affiliates/stores/formats/store-secrets.ts';
import { deliver, signedDelivery, startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { type SignedIn, signIn } from '../../harness/platform/session.ts';

const PATH = '/v1/affiliates/integrations';
const HOUR_MS = 3_600_000;

let now = new Date();
const clock = { now: () => now };
const pass = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

const apps: TestApp[] = [];
const stores: TestStore[] = [];
let brand: TestBrand;
let owner: SignedIn;

beforeAll(async () => {
  // Two processes of one installation.
  apps.push(await startApp({ clock }), await startApp({ clock }));
  brand = await makeBrand(first().context);
  owner = await signIn(first(), brand.id);
});
afterAll(async () => {
  for (const store of stores) await store.close();
  for (const app of apps) await app.close();
});

function first(): TestApp {
  const [app] = apps;
  if (!app) throw new Error('No app.');
  return app;
}

async function newShop(): Promise<TestStore> {
  const store = await startStore('shopify');
  store.access.now = clock.now;
  store.coupons.set('ana10', { kind: 'percentage', amount: 10, active: true });
  stores.push(store);
  return store;
}

const entryOf = ({ url, access: { app } }: TestStore) => ({
  ...{ provider: 'shopify', url, client_id: app.id, client_secret: app.secret },
});

async function connected() {
  const store = await newShop();
  const { status, body } = await owner.send('POST', PATH, entryOf(store));
  expect(status).toBe(201);
  return { store, id: String(body.data.id) };
}

const tokenCalls = ({ requests }: TestStore) => requests.filter((line) => line.includes('/oauth/')).length;

async function findCoupon(app: TestApp, id: string) {
  const row = await getIntegration(app.context.postgres.db, brand.id, id);
  return await getClient('shopify').findCoupon(await openStore(app.context, row), 'ANA10', now);
}

const FOUND = { state: 'active', percentage: 10, endsAt: null };

describe("A Shopify store that is connected by an app's id and secret", () => {
  it('says who it is, and its webhooks are signed with the client secret', async () => {
    const { store, id } = await connected();
    const order = signedDelivery('shopify', store.access.app.secret, 'products/update', {});
    expect((await deliver(first().url, 'shopify', id, order)).status).toBe(200);
    const forged = signedDelivery('shopify', 'another', 'products/update', {});
    expect((await deliver(first().url, 'shopify', id, forged)).status).toBe(401);
  });

  it('keeps its secret and its token sealed', async () => {
    const { store, id } = await connected();
    const { postgres, secrets } = first().context;
    const { secrets: sealed } = await getAccess(postgres.db, { brandId: brand.id, id });
    const [token = ''] = store.access.tokens.keys();
    for (const text of [token, store.access.app.secret]) expect(sealed.toString('latin1')).not.toContain(text);
    expect(openStoreSecrets(secrets, sealed, id)).toMatchObject({ token, webhookSecret: store.access.app.secret });
  });

  it('gets a new token when less than an hour is left, not before', async () => {
    const { store, id } = await connected();
    pass(22 * HOUR_MS);
    expect(await findCoupon(first(), id)).toEqual(FOUND);
    expect(tokenCalls(store)).toBe(1);
    pass(1.5 * HOUR_MS);
    expect(await findCoupon(first(), id)).toEqual(FOUND);
    expect(tokenCalls(store)).toBe(2);
    expect(store.access.tokens.size).toBe(2);
  });

  it('gets one token when twenty calls of two processes find that it has expired', async () => {
    const { store, id } = await connected();
    pass(30 * HOUR_MS);
    const calls = Array.from({ length: 20 }, (_, i) => findCoupon(apps[i % 2] ?? first(), id));
    for (const found of await Promise.all(calls)) expect(found).toEqual(FOUND);
    expect(tokenCalls(store)).toBe(2);
  });

  it('gets a new token when the store refuses its current one, and the call succeeds', async () => {
    const { store, id } = await connected();
    store.access.tokens.clear();
    const calls = Array.from({ length: 10 }, (_, i) => findCoupon(apps[i % 2] ?? first(), id));
    for (const found of await Promise.all(calls)) expect(found).toEqual(FOUND);
    expect(tokenCalls(store)).toBe(2);
  });

  it('uses its old token while it is valid and the store issues no new one', async () => {
    const { store, id } = await connected();
    pass(23.5 * HOUR_MS);
    const { secret } = store.access.app;
    store.access.app.secret = 'rotated';
    expect(await findCoupon(first(), id)).toEqual(FOUND);
    pass(HOUR_MS);
    await expect(findCoupon(first(), id)).rejects.toMatchObject({
      code: 'CONFLICT',
      facts: { integration_status: 'reauth_required' },
    });
    store.access.app.secret = secret;
    expect(await findCoupon(first(), id)).toEqual(FOUND);
  });

  it('keeps its id when the app replaces a token that was entered by hand', async () => {
    const store = await newShop();
    const byHand = { provider: 'shopify', url: store.url, token: store.token, webhook_secret: 'by hand' };
    const { id } = (await owner.send('POST', PATH, byHand)).body.data;
    expect((await owner.send('POST', PATH, entryOf(store))).body.data).toMatchObject({ id, status: 'connected' });
    expect(await findCoupon(first(), id)).toEqual(FOUND);
  });
});

describe("An app's credentials that Shopify refuses", () => {
  const problemOf = async (body: object) => {
    const { status, body: answer } = await owner.send('POST', PATH, body);
    const [{ field, code, message }] = answer.details;
    return { status, field, code, message };
  };

  it('are a 422 with the field and how to fix it', async () => {
    const store = await newShop();
    const { app } = store.access;
    const entry = entryOf(store);
    const secret = 'shpss-of-another-app';
    const wrongSecret = await problemOf({ ...entry, client_secret: secret });
    expect(wrongSecret).toMatchObject({ status: 422, field: 'client_secret', code: 'refused' });
    expect(wrongSecret.message).not.toContain(secret);
    expect(await problemOf({ ...entry, client_id: 'none' })).toMatchObject({ field: 'client_id', code: 'refused' });
    app.isOfOrganization = false;
    const { field, message } = await problemOf(entry);
    expect([field, message]).toEqual(['client_id', expect.stringContaining("must belong to the shop's organization")]);
    Object.assign(app, { isOfOrganization: true, isInstalled: false });
    expect((await problemOf(entry)).message).toContain('install it');
  });

  it('must be both present or both absent, without a token, and for Shopify only', async () => {
    const store = await newShop();
    const { client_id, client_secret, ...place } = entryOf(store);
    const fieldsOf = async (body: object) => {
      const { status, body: answer } = await owner.send('POST', PATH, body);
      return [status, ...answer.details.map((one: { field: string; code: string }) => `${one.field} ${one.code}`)];
    };
    expect(await fieldsOf({ ...place, client_id })).toEqual([422, 'client_secret required']);
    expect(await fieldsOf({ ...place, client_secret })).toEqual([422, 'client_id required']);
    expect(await fieldsOf({ ...place, client_id, client_secret, token: 't' })).toEqual([422, 'token invalid']);
    const generic = { ...place, client_id, client_secret, provider: 'generic' };
    expect(await fieldsOf(generic)).toEqual([422, 'client_id invalid']);
    expect(await fieldsOf(place)).toEqual([422, 'token required', 'webhook_secret required']);
    expect(store.requests).toEqual([]);
  });
});
