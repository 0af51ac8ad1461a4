import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStore, verifyCoupon } from '../../../src/affiliates/stores/connections/connect.ts';
import { getAccess } from '../../../src/affiliates/stores/connections/connections.ts';
import { countFailure } from '../../../src/affiliates/stores/connections/health.ts';
import { getClient } from '../../../src/affiliates/stores/formats/clients.ts';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { openStoreSecrets } from '../../../src/affiliates/stores/formats/store-secrets.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { makeAssignment } from '../../harness/affiliates/sales.ts';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../../harness/affiliates/store.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { runCli } from '../../harness/process/cli.ts';

const PATH = '/v1/affiliates/integrations';
let app: TestApp;
let brand: TestBrand;
let key: string;
const stores: TestStore[] = [];

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await app?.close();
});

async function newStore(...args: Parameters<typeof startStore>): Promise<TestStore> {
  const store = await startStore(...args);
  stores.push(store);
  return store;
}
async function connected(provider: TestStore['provider'] = 'shopify', owner = brand) {
  const store = await newStore(provider);
  return { store, id: await connectTestStore(app.context, owner.id, store) };
}
const read = async (id: string) => (await call(`${app.url}${PATH}/${id}`, key)).body.data;

describe('the list of stores', () => {
  it('requires a key, and shows nothing to another brand', async () => {
    const { id } = await connected();
    expect((await call(app.url + PATH)).status).toBe(401);
    const stranger = await (await makeBrand(app.context)).key('brand');
    expect((await call(app.url + PATH, stranger)).body).toEqual({
      data: [],
      pagination: { page: 1, limit: 20, total: 0, has_more: false },
    });
    expect((await call(`${app.url}${PATH}/${id}`, stranger)).status).toBe(404);
    expect((await send(`${app.url}${PATH}/${id}`, stranger, 'DELETE')).status).toBe(404);
  });

  it('refuses an invalid page number', async () => {
    const { status, body } = await call(`${app.url}${PATH}?page=0`, key);
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
  });

  it('shows the capabilities and webhook health of each, and no secret', async () => {
    const owner = await makeBrand(app.context);
    const { store, id } = await connected('shopify', owner);
    const { body } = await call(app.url + PATH, await owner.key('brand'));
    expect(body.data).toEqual([
      {
        ...{ id, provider: 'shopify', name: 'A store', storefront_url: `https://${store.host}`, currency: 'USD' },
        status: 'connected',
        capabilities: { discounts: { read: true, create: false }, orders: { read: true, refunds: true } },
        webhook_url: `https://go.example/ingest/shopify/${id}`,
        webhook_health: { status: 'silent', last_received_at: null, failures_24h: 0, forged_24h: 0 },
        webhook_setup: {
          ...{ status: 'manual', missing: [], problem: null, checked_at: null },
          topics: getClient('shopify').topics,
        },
        warnings: [],
        ...{ last_swept_at: null, renewal_tags: [], first_tags: [], time_zone: null },
        referral_tracking: { ready: false, missing: ['order_webhook'], status: 'never_seen', click_share: null },
        ...{ connected_at: expect.stringMatching(/Z$/), last_sync_at: null },
      },
    ]);
  });

  it('is newest first, in pages, and in CSV', async () => {
    const owner = await makeBrand(app.context);
    const first = (await connected('generic', owner)).id;
    const second = (await connected('woocommerce', owner)).id;
    const mine = await owner.key('brand');
    const { body } = await call(`${app.url}${PATH}?limit=1`, mine);
    expect([body.data.map(({ id }: { id: string }) => id), body.pagination.total]).toEqual([[second], 2]);
    expect((await call(`${app.url}${PATH}?limit=1&page=2`, mine)).body.data[0].id).toBe(first);
    const csv = await call(app.url + PATH, mine, { headers: { accept: 'text/csv' } });
    expect(csv.body.split('\n').map((line: string) => line.split(',')[0])).toEqual(['id', second, first, '']);
  });

  it('can be limited to the stores of a campaign’s links', async () => {
    const owner = await makeBrand(app.context);
    const mine = await owner.key('brand');
    await connected('generic', owner);
    const { linkId, source } = await makeAssignment(app.context, owner);
    const campaign = (await send(`${app.url}/v1/campaigns`, mine, 'POST', { name: 'x' })).body.data.id;
    const change = { campaignId: campaign, integrationId: source.id };
    await app.context.postgres.db.updateTable('links').set(change).where('id', '=', linkId).execute();
    const idsOf = async (id: string) => {
      const { body } = await call(`${app.url}${PATH}?campaign_id=${id}`, mine);
      return [body.data.map((row: { id: string }) => row.id), body.pagination.total];
    };
    expect(await idsOf(campaign)).toEqual([[source.id], 1]);
    expect(await idsOf('cmp_none')).toEqual([[], 0]);
  });
});

describe('a store', () => {
  it.each(PROVIDERS)(
    'of %s is connected with its secrets sealed, and found again under the same id',
    async (provider) => {
      const { store, id } = await connected(provider);
      const { postgres, secrets } = app.context;
      const { secrets: sealed } = await getAccess(postgres.db, { brandId: brand.id, id });
      expect(sealed.toString('latin1')).not.toContain(store.token);
      expect(openStoreSecrets(secrets, sealed, id)).toEqual({ token: store.token, webhookSecret: WEBHOOK_SECRET });
      expect(() => openStoreSecrets(secrets, sealed, `${id}x`)).toThrow();
      expect(await connectTestStore(app.context, brand.id, store)).toBe(id);
      const other = await makeBrand(app.context);
      expect(await connectTestStore(app.context, other.id, store)).not.toBe(id);
    },
  );

  it('that several calls connect at once is one integration', async () => {
    const store = await newStore('generic');
    const owner = await makeBrand(app.context);
    const all = await Promise.allSettled(
      Array.from({ length: 6 }, () => connectTestStore(app.context, owner.id, store)),
    );
    const ids = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(new Set(ids).size).toBe(1);
    for (const one of all) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'CONFLICT' });
    expect((await call(app.url + PATH, await owner.key('brand'))).body.pagination.total).toBe(1);
  });

  it('is disconnected once, loses its secrets, and keeps its id when it is connected again', async () => {
    const { store, id } = await connected();
    const url = `${app.url}${PATH}/${id}`;
    for (const _again of [1, 2]) {
      const { status, body } = await send(url, key, 'DELETE');
      expect([status, body]).toEqual([200, { data: { id, status: 'disconnected', disconnected: true } }]);
    }
    expect((await getAccess(app.context.postgres.db, { brandId: brand.id, id })).secrets).toHaveLength(0);
    expect(await read(id)).toMatchObject({
      status: 'disconnected',
      capabilities: { discounts: { read: false }, orders: { read: false, refunds: false } },
      referral_tracking: { ready: false, missing: ['connection', 'order_webhook'] },
    });
    expect((await deliver(app.url, 'shopify', id, signedDelivery('shopify', WEBHOOK_SECRET, 'x', {}))).status).toBe(
      404,
    );
    const audit = await call(`${app.url}/v1/audit-log?resource_id=${id}`, key);
    expect(audit.body.data.map(({ operation }: { operation: string }) => operation)).toEqual([
      'disconnect_affiliate_store',
      'test',
    ]);
    expect(JSON.stringify(audit.body)).not.toMatch(new RegExp(`secret|${store.token}`));
    expect(await connectTestStore(app.context, brand.id, store)).toBe(id);
    expect(await read(id)).toMatchObject({ status: 'connected' });
  });

  it('is failing for a day after a refused delivery', async () => {
    const { id } = await connected();
    const now = app.context.clock.now().getTime();
    await countFailure(app.context.postgres.db, id, new Date(now - 26 * 3_600_000));
    expect((await read(id)).webhook_health).toMatchObject({ status: 'silent', failures_24h: 0 });
    for (const _twice of [1, 2]) await countFailure(app.context.postgres.db, id, new Date(now));
    expect((await read(id)).webhook_health).toMatchObject({ status: 'failing', failures_24h: 2 });
  });
});

describe('a coupon', () => {
  const verify = (id: string, code: string) => verifyCoupon(app.context, brand.id, id, code);

  it.each(PROVIDERS)(
    'of %s that is an active percentage returns the store’s currency and host, and the percentage',
    async (provider) => {
      const { store, id } = await connected(provider);
      store.coupons.set('ana10', { kind: 'percentage', amount: 10, active: true });
      expect(await verify(id, 'ANA10')).toMatchObject({
        ...{ currency: 'USD', storefrontHost: store.host },
        coupon: { percentage: 10, endsAt: null },
      });
    },
  );

  it('is refused on `value` when it is missing, inactive or not a percentage', async () => {
    const { store, id } = await connected();
    store.coupons.set('old', { kind: 'percentage', amount: 10, active: false });
    store.coupons.set('five', { kind: 'fixed', amount: 5, active: true });
    for (const [code, problem] of [
      ['none', 'coupon_not_found'],
      ['old', 'coupon_inactive'],
      ['five', 'coupon_not_percentage'],
    ] as const)
      await expect(verify(id, code)).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ field: 'value', code: problem }],
      });
  });

  it('is refused on `integration_id` when the store is unknown, another brand’s or disconnected', async () => {
    const { id } = await connected();
    const foreign = await connected('shopify', await makeBrand(app.context));
    const refused = (code: string) => ({ code: 'VALIDATION_ERROR', details: [{ field: 'integration_id', code }] });
    await expect(verify('int_none', 'x')).rejects.toMatchObject(refused('not_found'));
    await expect(verify(foreign.id, 'x')).rejects.toMatchObject(refused('not_found'));
    await send(`${app.url}${PATH}/${id}`, key, 'DELETE');
    await expect(verify(id, 'x')).rejects.toMatchObject(refused('not_connected'));
  });

  it('is 503 if the store does not answer, and 409 if it refuses the token, which the store shows until it works again', async () => {
    const { store, id } = await connected();
    store.coupons.set('ana10', { kind: 'percentage', amount: 10, active: true });
    store.failWith = 502;
    await expect(verify(id, 'ana10')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await read(id)).status).toBe('connected');
    for (const status of [401, 403]) {
      store.failWith = status;
      await expect(verify(id, 'ana10')).rejects.toMatchObject({ code: 'CONFLICT' });
    }
    expect(await read(id)).toMatchObject({ status: 'reauth_required', capabilities: { discounts: { read: false } } });
    store.failWith = undefined;
    await verify(id, 'ana10');
    expect((await read(id)).status).toBe('connected');
    await store.close();
    await expect(verify(id, 'ana10')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('the command line', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'integration-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const cli = (...args: string[]) => runCli(['integration', ...args], { LINKS_URL: 'https://go.example' });
  function file(name: string, content: string): string {
    const at = path.join(folder, name);
    writeFileSync(at, content);
    return at;
  }

  it('connects a store with secrets from files, lists it and disconnects it', async () => {
    const store = await newStore('woocommerce');
    const owner = await makeBrand(app.context);
    const files = [
      ...['--token-file', file('token', `${store.token}\n`)],
      ...['--webhook-secret-file', file('secret', `${WEBHOOK_SECRET}\n`)],
    ];
    const connect = ['connect', '--brand', owner.id, '--provider', 'woocommerce', '--url', `${store.url}/`];
    const made = await cli(...connect, ...files);
    expect(made.status, made.said).toBe(0);
    expect(made.out).toMatch(/^int_\w+\n$/);
    const id = made.out.trim();
    expect(made.said).toContain('Rollcall created them and checks them every 15 minutes');
    expect(store.hooks.all.map(({ url }) => url)).toContain(`https://go.example/ingest/woocommerce/${id}`);
    expect(made.said + made.out).not.toContain(store.token);
    expect((await cli('list', '--brand', owner.id)).out).toBe(
      `${[id, 'woocommerce', 'connected', 'silent', `https://${store.host}`, 'A store'].join('\t')}\n`,
    );
    expect(await cli('disconnect', id)).toMatchObject({ status: 0, out: `${id}\n` });
    expect((await cli('list', '--brand', owner.id)).out).toContain('\tdisconnected\t');
  });

  it("connects Shopify by an app's id and secret, and says what is wrong with them and how to fix it", async () => {
    const store = await newStore('shopify');
    const { app: its } = store.access;
    const connect = ['connect', '--brand', brand.id, '--provider', 'shopify', '--url', store.url];
    const secretFile = ['--client-secret-file', file('client', its.secret)];
    const made = await cli(...connect, '--client-id', its.id, ...secretFile);
    expect([made.status, made.said]).toEqual([0, expect.stringContaining('Rollcall created them')]);
    expect(made.said + made.out).not.toContain(its.secret);
    const other = await cli(...connect, '--client-id', its.id, '--client-secret-file', file('other', 'shpss_other'));
    expect(other).toMatchObject({ status: 1, said: expect.stringContaining("client secret is not the app's") });
    its.isOfOrganization = false;
    const foreign = await cli(...connect, '--client-id', its.id, ...secretFile);
    expect(foreign.said).toContain("must belong to the shop's organization");
    expect((await cli(...connect, ...secretFile)).said).toContain('Give --client-id as well');
    expect((await cli('connect', '--help')).out).toContain('Build apps in Dev Dashboard');
  });

  it('says which webhooks to create by hand, in the admin’s own words, and warns of an address that the store cannot reach', async () => {
    const store = await newStore('woocommerce');
    store.hooks.mayBeMade = false;
    const files = ['--token-file', file('t2', store.token), '--webhook-secret-file', file('s2', 'whsec')];
    const connect = ['integration', 'connect', '--brand', brand.id, '--provider', 'woocommerce', '--url', store.url];
    const made = await runCli([...connect, ...files], { LINKS_URL: 'https://go.example:8081' });
    expect(made.status).toBe(0);
    expect(made.said.split('\n')).toEqual([
      expect.stringContaining('Warning: WooCommerce delivers webhooks to the ports 80, 443 and 8080 only'),
      expect.stringContaining('is connected'),
      expect.stringContaining('a key with the permission Read/Write'),
      expect.stringContaining('Settings, Advanced, Webhooks, Add webhook'),
      '  order.created, order.updated, order.deleted, order.restored',
      expect.stringContaining('to https://go.example:8081/ingest/woocommerce/int_'),
      '',
    ]);
  });

  it('checks a connection step by step: each passes, or fails with the fix', async () => {
    const store = await newStore('shopify');
    const { app: its } = store.access;
    const connect = ['connect', '--brand', brand.id, '--provider', 'shopify', '--url', store.url];
    const { out } = await cli(...connect, '--client-id', its.id, '--client-secret-file', file('client', its.secret));
    const id = out.trim();
    const check = () => runCli(['integration', 'check', id], { LINKS_URL: app.links });
    const linesOf = ({ out: said }: { out: string }) =>
      said
        .trim()
        .split('\n')
        .map((line) => line.split(':')[0]);
    const first = await check();
    expect([first.status, linesOf(first)]).toEqual([
      1,
      [
        ...['token', 'store', 'orders', 'webhooks', 'address', 'version'].map((what) => `pass  ${what}`),
        'FAIL  deliveries',
      ],
    ]);
    expect(first.out).toContain('Place a test order, then check again.');
    const sent = signedDelivery('shopify', its.secret, 'products/update', {});
    await deliver(app.url, 'shopify', id, sent);
    const second = await check();
    expect([second.status, second.out]).toEqual([0, expect.not.stringContaining('FAIL')]);
    its.isInstalled = false;
    const third = await check();
    expect([third.status, third.out]).toEqual([1, expect.stringMatching(/FAIL {2}token: .*install it/)]);
  });

  it('explains a refused token and missing secrets', async () => {
    const store = await newStore('shopify');
    const connect = ['connect', '--brand', brand.id, '--provider', 'shopify', '--url', store.url];
    const wrong = [...connect, '--token-file', file('wrong', 'x'), '--webhook-secret-file', file('s', 'y')];
    expect(await cli(...wrong)).toMatchObject({
      status: 1,
      out: '',
      said: expect.stringContaining('refuses its access'),
    });
    expect(await cli(...connect)).toMatchObject({ status: 1, said: expect.stringContaining('Give the access token') });
    const piped = ['integration', ...connect, '--token-file', '-', '--webhook-secret-file', '-'];
    expect(await runCli(piped, {}, `${store.token}\nwhsec\n`)).toMatchObject({ status: 0 });
    expect((await cli('disconnect', 'int_none')).said).toContain('No integration "int_none"');
  });
});

it('a change that fails leaves no store behind', async () => {
  const store = await newStore('generic');
  const owner = await makeBrand(app.context);
  const { postgres, secrets, clock } = app.context;
  const actor = { brandId: owner.id, keyId: null, operation: 'test', requestId: null };
  const place = { provider: 'generic' as const, baseUrl: store.url, apiVersion: null };
  const facts = { name: 'x', currency: 'USD', storefrontUrl: 'https://x.example' };
  const failing = inWork(postgres.db, clock, actor, async (work) => {
    await connectStore(work, secrets, { ...place, facts, secrets: { token: 't', webhookSecret: 's' } });
    throw new Error('after');
  });
  await expect(failing).rejects.toThrow('after');
  expect((await call(app.url + PATH, await owner.key('brand'))).body.data).toEqual([]);
});
