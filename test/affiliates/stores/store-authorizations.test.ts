import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteExpired } from '../../../src/affiliates/stores/authorizations.ts';
import { openStore } from '../../../src/affiliates/stores/connections/access.ts';
import { getIntegration } from '../../../src/affiliates/stores/connections/connections.ts';
import { getClient } from '../../../src/affiliates/stores/formats/clients.ts';
import { keepStoreWebhooks } from '../../../src/affiliates/stores/webhooks.jobs.ts';
import { deliver, signedDelivery, startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { approve } from '../../harness/affiliates/store-access.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { startReceiver } from '../../harness/kit/receiver.ts';
import { type SignedIn, signIn } from '../../harness/platform/session.ts';

const STORES = '/v1/affiliates/integrations';
const PATH = `${STORES}/authorizations`;
const RETURN_URL = 'https://app.example/app/stores';

let now = new Date();
const clock = { now: () => now };
/** Webhooks of all stores are looked after: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;
const closing: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  database = await makeDatabase('hooks');
  app = await startApp({ clock, urls: { postgres: database.url } });
  brand = await makeBrand(app.context);
  owner = await signIn(app, brand.id);
});
afterAll(async () => {
  for (const one of closing) await one.close();
  await app?.close();
  await database?.drop();
});

async function newStore(): Promise<TestStore> {
  const store = await startStore('woocommerce');
  closing.push(store);
  return store;
}

async function makeLink({ url }: TestStore) {
  const { status, body } = await owner.send('POST', PATH, { url, return_url: RETURN_URL });
  expect(status).toBe(201);
  return body.data;
}

const connect = (id: string) => owner.send('POST', `${PATH}/${id}/connect`);

const hand = (callback: string, token: string) => {
  const [consumer_key, consumer_secret] = token.split(':');
  return send(app.links + new URL(callback).pathname, '', 'POST', { consumer_key, consumer_secret });
};

const callbackOf = (link: { authorize_url: string }) =>
  new URL(link.authorize_url).searchParams.get('callback_url') ?? '';

describe('A WooCommerce store whose owner approves the access on its own page', () => {
  it('is connected, and its webhooks are created', async () => {
    const store = await newStore();
    const link = await makeLink(store);
    const requested = new URL(link.authorize_url);
    expect([requested.origin, requested.pathname]).toEqual([store.url, '/wc-auth/v1/authorize']);
    expect(Object.fromEntries(requested.searchParams)).toMatchObject({ app_name: 'Rollcall', scope: 'read_write' });
    const { returnTo } = await approve(store, link.authorize_url, app.links);
    expect(returnTo?.searchParams.get('user_id')).toBe(link.id);
    const { status, body } = await connect(link.id);
    expect([status, body.data]).toMatchObject([201, { provider: 'woocommerce', status: 'connected' }]);
    await keepStoreWebhooks.run(app.context);
    expect(store.hooks.all).toHaveLength(4);
    const [{ secret } = { secret: '' }] = store.hooks.all;
    const sent = signedDelivery('woocommerce', secret, 'products/update', {});
    expect((await deliver(app.url, 'woocommerce', body.data.id, sent)).status).toBe(200);
  });

  it('that was connected before keeps its id, and signs its old webhooks with the new secret', async () => {
    const store = await newStore();
    const before = { provider: 'woocommerce', url: store.url, token: store.token, webhook_secret: 'an earlier secret' };
    const { id } = (await owner.send('POST', STORES, before)).body.data;
    await keepStoreWebhooks.run(app.context);
    const link = await makeLink(store);
    await approve(store, link.authorize_url, app.links);
    expect((await connect(link.id)).body.data.id).toBe(id);
    await keepStoreWebhooks.run(app.context);
    expect(store.hooks.all).toHaveLength(4);
    for (const { secret } of store.hooks.all) {
      expect(secret).not.toBe('an earlier secret');
      const sent = signedDelivery('woocommerce', secret, 'products/update', {});
      expect((await deliver(app.url, 'woocommerce', id, sent)).status).toBe(200);
    }
  });
});

describe('A link that connects a WooCommerce store', () => {
  it('connects nothing before the store has sent its keys', async () => {
    const link = await makeLink(await newStore());
    const { status, body } = await connect(link.id);
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
  });

  it('accepts keys once, and connects once, even from ten concurrent calls', async () => {
    const store = await newStore();
    const link = await makeLink(store);
    const handed = await Promise.all(Array.from({ length: 10 }, () => hand(callbackOf(link), store.token)));
    expect(handed.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 404)]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => connect(link.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 404)]);
  });

  it('expires after an hour, with its keys', async () => {
    const store = await newStore();
    const [used, unused] = [await makeLink(store), await makeLink(store)];
    await hand(callbackOf(used), store.token);
    now = new Date(now.getTime() + 3_601_000);
    expect((await hand(callbackOf(unused), store.token)).status).toBe(404);
    expect((await connect(used.id)).status).toBe(404);
    await deleteExpired(app.context.postgres.db, now);
    const { db } = app.context.postgres;
    const left = await db.selectFrom('storeAuthorizations').select('id').where('brandId', '=', brand.id).execute();
    expect(left.map(({ id }) => id)).not.toContain(used.id);
  });

  it('works for its brand only, and its database row has neither its token nor the keys in the clear', async () => {
    const store = await newStore();
    const link = await makeLink(store);
    await hand(callbackOf(link), store.token);
    const stranger = await signIn(app, (await makeBrand(app.context)).id);
    expect((await stranger.send('POST', `${PATH}/${link.id}/connect`)).status).toBe(404);
    const { db } = app.context.postgres;
    const row = await db
      .selectFrom('storeAuthorizations')
      .selectAll()
      .where('id', '=', link.id)
      .executeTakeFirstOrThrow();
    const bytes = Buffer.concat([row.tokenHash, row.keys ?? Buffer.alloc(0)]).toString('latin1');
    const token = callbackOf(link).split('/').at(-1) ?? '';
    for (const secret of [token, ...store.token.split(':')]) expect(bytes).not.toContain(secret);
  });

  it('is created by people only, and only if WooCommerce can call back', async () => {
    const store = await newStore();
    const body = { url: store.url, return_url: RETURN_URL };
    const byKey = await send(app.url + PATH, await brand.key('brand'), 'POST', body);
    expect([byKey.status, byKey.body.code]).toEqual([403, 'SESSION_REQUIRED']);
    const local = await startApp({ urls: { postgres: database.url }, env: { LINKS_URL: 'http://127.0.0.1:8081' } });
    closing.push(local);
    const person = await signIn(local, brand.id);
    const { status, body: answer } = await person.send('POST', PATH, body);
    expect([status, answer.details[0].field, answer.details[0].code]).toEqual([422, 'url', 'not_callable']);
  });

  it('answers guessed addresses, and bodies without keys, with 404', async () => {
    const store = await newStore();
    const link = await makeLink(store);
    const at = (path: string, body: object) => send(`${app.links}/ingest/woocommerce/keys/${path}`, '', 'POST', body);
    const token = callbackOf(link).split('/').at(-1) ?? '';
    expect((await at('x'.repeat(43), { consumer_key: 'ck', consumer_secret: 'cs' })).status).toBe(404);
    expect((await at(token, { consumer_key: 'a b', consumer_secret: 'cs' })).status).toBe(404);
    expect((await at(token, [])).status).toBe(404);
    expect((await hand(callbackOf(link), store.token)).status).toBe(200);
  });
});

describe('A WooCommerce store whose host drops the Authorization header', () => {
  const entryOf = (url: string, { token }: TestStore) => ({
    ...{ provider: 'woocommerce', url, token, webhook_secret: unique('whsec') },
  });

  async function behindTls(store: TestStore): Promise<string> {
    const proxy = await startReceiver();
    closing.push(proxy);
    proxy.answer = ({ path, body, headers }, response) => {
      const { authorization = '' } = headers;
      const sent = {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body ? { method: 'POST', body } : {}),
      };
      fetch(store.url + path, sent)
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        .catch(() => response.destroy());
    };
    return proxy.url;
  }

  it('is queried again with its keys in the URL over https, and from then on only in that way', async () => {
    const store = await newStore();
    store.access.dropsAuthorization = true;
    const { status, body } = await owner.send('POST', STORES, entryOf(await behindTls(store), store));
    expect([status, body.data?.status]).toEqual([201, 'connected']);
    const before = store.requests.length;
    const row = await getIntegration(app.context.postgres.db, brand.id, body.data.id);
    await getClient('woocommerce').findCoupon(await openStore(app.context, row), 'ANA10', now);
    expect(store.requests.slice(before)).toEqual([expect.stringContaining('consumer_key=ck_')]);
  });

  it('that begins to drop it later is recognized too', async () => {
    const store = await newStore();
    const { body } = await owner.send('POST', STORES, entryOf(await behindTls(store), store));
    store.access.dropsAuthorization = true;
    const row = await getIntegration(app.context.postgres.db, brand.id, body.data.id);
    const before = store.requests.length;
    for (const _again of [1, 2]) {
      await getClient('woocommerce').findCoupon(await openStore(app.context, row), 'ANA10', now);
    }
    expect(store.requests.slice(before).map((line) => line.includes('consumer_key='))).toEqual([false, true, true]);
  });

  it('never gets its keys in a URL over http, nor if it refuses the keys themselves', async () => {
    const plain = await newStore();
    plain.access.dropsAuthorization = true;
    const refused = await owner.send('POST', STORES, entryOf(plain.url, plain));
    expect([refused.status, refused.body.details[0].field]).toEqual([422, 'token']);
    const other = await newStore();
    const wrong = { ...entryOf(await behindTls(other), other), token: 'ck_wrong:cs_wrong' };
    expect((await owner.send('POST', STORES, wrong)).status).toBe(422);
    for (const { requests } of [plain, other]) expect(requests.join()).not.toContain('consumer_key');
  });
});
