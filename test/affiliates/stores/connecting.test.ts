import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { deliver, signedDelivery, startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { openSession, type SignedIn, signIn } from '../../harness/platform/session.ts';

const PATH = '/v1/affiliates/integrations';
let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;
const stores: TestStore[] = [];

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  owner = await signIn(app, brand.id);
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await app?.close();
});

async function newStore(provider: TestStore['provider']): Promise<TestStore> {
  const store = await startStore(provider);
  stores.push(store);
  return store;
}

const bodyOf = ({ provider, url, token }: TestStore) => ({ provider, url, token, webhook_secret: unique('whsec') });

async function signInAs(role: string): Promise<SignedIn> {
  const email = `${unique(role)}@brand.example`;
  const { body } = await owner.send('POST', '/v1/people', { email, role, name: role });
  return await openSession(app.url, body.data.sign_in_path.split('#')[1]);
}

describe('a store that is connected in the web app', () => {
  it.each(PROVIDERS)(
    'of %s reports its name and the address of its webhooks, and their deliveries are accepted',
    async (provider) => {
      const store = await newStore(provider);
      const sent = bodyOf(store);
      const { status, body } = await owner.send('POST', PATH, { ...sent, url: `${store.url}/?from=page#x` });
      expect([status, body.data]).toMatchObject([
        201,
        { provider, name: 'A store', storefront_url: `https://${store.host}`, currency: 'USD', status: 'connected' },
      ]);
      const { id } = body.data;
      expect(body.data.webhook_url).toBe(`https://go.example/ingest/${provider}/${id}`);
      expect((await owner.get(`${PATH}/${id}`)).body).toEqual(body);
      const order = signedDelivery(provider, sent.webhook_secret, 'order.unheard', {});
      expect((await deliver(app.url, provider, id, order)).status).toBe(200);
      const forged = signedDelivery(provider, 'another', 'order.unheard', {});
      expect((await deliver(app.url, provider, id, forged)).body.code).toBe('INVALID_SIGNATURE');
    },
  );

  it("says its own time zone, if it has one, and the brand's stays as it is", async () => {
    const connect = async (provider: TestStore['provider'], timeZone?: string) => {
      const store = await newStore(provider);
      store.timeZone = timeZone;
      return (await owner.send('POST', PATH, bodyOf(store))).body.data.time_zone;
    };
    expect(await connect('shopify', 'Australia/Sydney')).toBe('Australia/Sydney');
    expect(await connect('woocommerce', 'Asia/Kolkata')).toBe('Asia/Kolkata');
    // WordPress has an empty text where its owner chose an offset.
    expect(await connect('woocommerce')).toBeNull();
    expect(await connect('shopify', 'Mars/Olympus')).toBeNull();
    expect((await owner.get('/v1/brand')).body.data.settings.time_zone).toBe('UTC');
  });

  it('keeps its secrets out of every answer, the audit log and the stored request', async () => {
    const store = await newStore('generic');
    const sent = bodyOf(store);
    const { body } = await owner.send('POST', PATH, sent, { 'idempotency-key': unique('key') });
    const { id } = body.data;
    const audit = (await owner.get(`/v1/audit-log?resource_id=${id}`)).body;
    expect(audit.data[0]).toMatchObject({ operation: 'connect_affiliate_store', person_id: expect.any(String) });
    const { db } = app.context.postgres;
    const rows = await db.selectFrom('integrations').selectAll().where('id', '=', id).execute();
    const kept = await db.selectFrom('idempotencyKeys').selectAll().where('brandId', '=', brand.id).execute();
    const texts = [JSON.stringify([body, audit]), ...[...rows, ...kept].flatMap(textsOf)];
    for (const text of texts) {
      expect(text).not.toContain(sent.token);
      expect(text).not.toContain(sent.webhook_secret);
    }
  });

  it('is contacted once when a call is sent twice with one Idempotency-Key', async () => {
    const store = await newStore('generic');
    const sent = bodyOf(store);
    const once = { 'idempotency-key': unique('key') };
    const first = await owner.send('POST', PATH, sent, once);
    const before = store.requests.length;
    const second = await owner.send('POST', PATH, sent, once);
    expect([second.status, second.body, second.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
    expect(store.requests).toHaveLength(before);
  });

  it('keeps its id when it is connected again, even after a disconnection; of ten concurrent calls one creates it', async () => {
    const store = await newStore('shopify');
    const answers = await Promise.all(Array.from({ length: 10 }, () => owner.send('POST', PATH, bodyOf(store))));
    const ids = new Set(answers.map(({ body }) => body.data.id));
    expect(ids.size).toBe(1);
    const [id] = ids;
    expect((await owner.send('DELETE', `${PATH}/${id}`)).status).toBe(200);
    expect((await owner.send('POST', PATH, bodyOf(store))).body.data).toMatchObject({ id, status: 'connected' });
  });

  it('is a separate integration for another brand', async () => {
    const store = await newStore('shopify');
    const mine = (await owner.send('POST', PATH, bodyOf(store))).body.data.id;
    const stranger = await signIn(app, (await makeBrand(app.context)).id);
    const theirs = (await stranger.send('POST', PATH, bodyOf(store))).body.data.id;
    expect(theirs).not.toBe(mine);
    expect((await stranger.get(`${PATH}/${mine}`)).status).toBe(404);
  });
});

describe('a store that cannot be connected', () => {
  const refusalOf = async (body: object) => {
    const answer = await owner.send('POST', PATH, body);
    return {
      ...answer,
      problems: answer.body.details?.map(({ field, code }: Record<string, string>) => [field, code]),
    };
  };

  it('leaves nothing behind when its token is refused, and says so', async () => {
    const store = await newStore('shopify');
    const before = (await owner.get(PATH)).body.pagination.total;
    const refused = await refusalOf({ ...bodyOf(store), token: 'another-token' });
    expect([refused.status, refused.problems]).toEqual([422, [['token', 'refused']]]);
    store.denyWith = 'ACCESS_DENIED';
    expect((await refusalOf(bodyOf(store))).problems).toEqual([['token', 'refused']]);
    expect((await owner.get(PATH)).body.pagination.total).toBe(before);
  });

  it('is refused with the reason: no store at the address, no answer, or a private network', async () => {
    const store = await newStore('woocommerce');
    const sent = bodyOf(store);
    for (const [url, why] of [
      [`${store.url}/elsewhere`, /not lead to a woocommerce store\. .*(?:404|has no)/],
      ['http://127.0.0.1:9', /not lead to a woocommerce store\. Nothing listens there \(ECONNREFUSED\)\.$/],
      [
        'https://nowhere.invalid',
        /not lead to a woocommerce store\. Its name (?:leads nowhere \(ENOTFOUND|cannot be looked up just now \(EAI_AGAIN)\)\.$/,
      ],
      [
        app.url.replace('http:', 'https:'),
        /not lead to a woocommerce store\. It has no valid certificate, or speaks no TLS there \(\w+\)\.$/,
      ],
      ['https://10.1.2.3', /leads to a private or reserved address/],
      ['http://192.0.2.1', /private or reserved address/],
    ] as const) {
      const { status, problems, body } = await refusalOf({ ...sent, url });
      expect([status, problems], url).toEqual([422, [['url', 'no_store']]]);
      expect(body.details[0].message).toMatch(why);
    }
    store.failWith = 500;
    expect((await refusalOf(sent)).body.details[0].message).toContain('It answered 500.');
  });

  it('is refused for its shape before it is contacted, with every wrong field and without repeating a secret', async () => {
    const none = await refusalOf({});
    expect(none.problems).toEqual(['provider', 'url', 'token', 'webhook_secret'].map((field) => [field, 'required']));
    const secret = 'a-secret-without-a-colon';
    const bad = await refusalOf({ provider: 'woocommerce', url: 'shop', token: secret, webhook_secret: 12_345_678 });
    expect(bad.status).toBe(422);
    expect(new Set(bad.body.details.map(({ field }: { field: string }) => field))).toEqual(
      new Set(['url', 'token', 'webhook_secret']),
    );
    expect(JSON.stringify(bad.body)).not.toMatch(/a-secret|12345678/);
    const long = await refusalOf({ ...bodyOf(await newStore('generic')), token: 'x'.repeat(5_000) });
    expect([long.problems, JSON.stringify(long.body)]).toEqual([
      [['token', 'too_big']],
      expect.not.stringContaining('xxx'),
    ]);
  });
});

describe('Connecting a store', () => {
  it('is allowed to owners and managers, and to no viewer or API key', async () => {
    const store = await newStore('generic');
    const { status, body } = await (await signInAs('viewer')).send('POST', PATH, bodyOf(store));
    expect([status, body.code, body.allowed]).toEqual([403, 'ROLE_REQUIRED', ['owner', 'manager']]);
    const byKey = await send(app.url + PATH, await brand.key('brand'), 'POST', bodyOf(store));
    expect([byKey.status, byKey.body.code]).toEqual([403, 'SESSION_REQUIRED']);
    expect((await call(app.url + PATH, undefined, { method: 'POST' })).status).toBe(401);
    expect(store.requests).toEqual([]);
    expect((await (await signInAs('manager')).send('POST', PATH, bodyOf(store))).status).toBe(201);
  });
});

/** A row's values as text; bytes as they are, for a secret would stand in them. */
function textsOf(row: object): string[] {
  return Object.values(row).map((value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : (JSON.stringify(value) ?? ''),
  );
}
