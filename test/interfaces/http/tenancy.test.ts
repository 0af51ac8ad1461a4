import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertSchedule } from '../../../src/analytics/exports/schedules.ts';
import { operations } from '../../../src/interfaces/nouns.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { systemClock } from '../../../src/kit/values/clock.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { ensureCreator } from '../../../src/workflow/creators/creators.ts';
import { makeSale } from '../../harness/affiliates/sales.ts';
import { type Answer, call, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { signIn } from '../../harness/platform/session.ts';
import { file, upload } from '../../harness/platform/uploading.ts';
import { BEHIND_PROXY, someAddress } from '../../harness/workflow/applying.ts';

const alias = unique('tenancy');
let app: TestApp;
let owner: TestBrand;
let stranger: TestBrand;
/** An id of the owner's for every path that has one. */
let ids: Record<string, string>;

async function send(method: string, path: string, key: string, body?: object): Promise<Answer> {
  const init = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return await call(`${app.url}${path}`, key, { method, ...init });
}

async function makeApplication(campaignId: string): Promise<string> {
  const { db } = app.context.postgres;
  const actor = { brandId: owner.id, keyId: null, operation: 'test', requestId: null };
  return await inWork(db, systemClock, actor, async (work) => {
    const { now } = work;
    const email = `${unique('a')}@example.com`;
    const creatorId = await ensureCreator(work, { email, name: 'A', igHandle: null, ttHandle: null });
    const id = newId('app', now.getTime());
    const row = {
      id,
      brandId: owner.id,
      campaignId,
      creatorId,
      creatorEmail: email,
      status: 'pending' as const,
      appliedAt: now,
    };
    await work.db.insertInto('applications').values(row).execute();
    return id;
  });
}

/** A daily export, as it is stored once its bucket was checked. */
async function makeSchedule(): Promise<string> {
  const id = newId('exs', Date.now());
  const at = new Date();
  await insertSchedule(app.context.postgres.db, {
    ...{ id, brandId: owner.id, of: 'orders', format: 'csv', columns: null, bucket: 'secret', prefix: '' },
    ...{ endpoint: 'https://storage.example', region: 'eu-1', credentials: app.context.secrets.seal('{}', id) },
    ...{ untilAt: null, nextAt: new Date(at.getTime() + 86_400_000), failingSince: null, error: null },
    ...{ createdAt: at, updatedAt: null, deletedAt: null },
  });
  return id;
}

beforeAll(async () => {
  app = await startApp({ alias, env: BEHIND_PROXY });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
  owner = await makeBrand(app.context, { plan: 'scale' });
  stranger = await makeBrand(app.context, { plan: 'scale' });
  const key = await owner.key('brand');
  const campaign = (await send('POST', '/v1/campaigns', key, { name: 'secret' })).body.data.id;
  const entry = (await send('POST', '/v1/roster', key, { creator_email: 'secret@example.com' })).body.data.id;
  const { id: commission, source } = await makeSale(app.context, owner, { email: 'secret@example.com' });
  const input = { creator_email: 'secret@example.com', amount: 5, method: 'manual' };
  const payout = (await send('POST', '/v1/payouts', key, input)).body.data.id;
  const plan = (await send('POST', '/v1/campaigns?mode=plan', key, { name: 'secret' })).body.plan_id;
  const code = { creator_email: 'secret@example.com', value: 'secret' };
  const link = (await send('POST', '/v1/affiliates/links', key, code)).body.data.id;
  const hook = { url: 'https://receiver.invalid/secret', events: ['payout.created'] };
  const webhook = (await send('POST', '/v1/webhooks', key, hook)).body.data.id;
  const deliveries = (await send('POST', `/v1/webhooks/${webhook}/test`, key, {})).body.data.id;
  ids = {
    links: link,
    deliveries,
    webhooks: webhook,
    campaigns: campaign,
    roster: entry,
    applications: await makeApplication(campaign),
  };
  const requested = { creator_email: 'secret@example.com', type: 'reel' };
  const deliverable = (await send('POST', '/v1/deliverables', key, requested)).body.data.id;
  const asset = (await upload(app, key, file('secret', 'secret.txt'))).body.data.id;
  const folder = (await send('POST', '/v1/assets/folders', key, { name: 'secret' })).body.data.id;
  Object.assign(ids, { assets: asset, folders: folder });
  const said = { creator_email: 'secret@example.com', body: 'secret' };
  const message = (await send('POST', '/v1/messages', key, said)).body.data.conversation_id;
  Object.assign(ids, { messages: message });
  const shipment = (await send('POST', '/v1/shipments', key, { creator_email: 'secret@example.com' })).body.data.id;
  const content = (await send('POST', '/v1/content', key, { url: 'https://photo.app/p/secret' })).body.data.id;
  const share = (await send('POST', '/api/brand/shipments/share', key, { title: 'secret' })).body.shareId;
  Object.assign(ids, { shipments: shipment, content, shares: share });
  const period = { creator_email: 'secret@example.com', from: '2026-01-01', to: '2026-01-31' };
  const statement = (await send('POST', '/v1/statements', key, period)).body.data;
  const { pathname } = new URL(statement.url);
  const form = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
  const headers = { ...form, 'x-forwarded-for': someAddress() };
  await fetch(app.url + pathname, { method: 'POST', headers, body: 'message=secret', redirect: 'manual' });
  const [dispute] = (await send('GET', '/v1/disputes', key)).body.data;
  Object.assign(ids, { statements: statement.id, disputes: dispute.id });
  const told = { kind: 'access', creator_email: 'secret@example.com', reason: 'secret' };
  ids['data-requests'] = (await send('POST', '/v1/data-requests', key, told)).body.data.id;
  Object.assign(ids, {
    commissions: commission,
    payouts: payout,
    plans: plan,
    integrations: source.id,
    deliverables: deliverable,
  });
  await send('POST', `/v1/affiliates/integrations/${ids.integrations}/backfill`, key, {});
  const past = {
    creator_email: 'secret@example.com',
    reference: 'secret',
    amount: 1,
    currency: 'EUR',
    paid_at: '2025-01-01T00:00:00Z',
  };
  await send('POST', '/v1/past-commissions/batch', key, { source: 'secret', past_commissions: [past] });
  ids['past-commissions'] = (await send('GET', '/v1/past-commissions', key)).body.data[0].id;
  ids.imports = (
    await send('POST', '/v1/imports', key, { of: 'roster', text: 'email,name\na@x.example,secret\n' })
  ).body.data.id;
  const stored = {
    id: `imm_${owner.id.slice(4)}`,
    brandId: owner.id,
    of: 'roster' as const,
    source: 'secret',
    headers: ['secret'],
  };
  await app.context.postgres.db
    .insertInto('importMappings')
    .values({ ...stored, headerHash: 'x', mapping: '{}', createdAt: new Date() })
    .execute();
  ids.mappings = stored.id;
  const contract = { creator_email: 'secret@example.com', title: 'secret', send_for_signature: true };
  ids.contracts = (await send('POST', '/v1/contracts', key, contract)).body.data.id;
  const search = { name: 'secret', filters: {} };
  ids['saved-searches'] = (await send('POST', '/v1/saved-searches', key, search)).body.data.id;
  ids.lists = (await send('POST', '/v1/lists', key, { name: 'secret' })).body.data.id;
  const cost = { kind: 'per_order', amount: 1, note: 'secret' };
  ids.jobs = (await send('POST', '/v1/exports', key, { of: 'orders' })).body.data.id;
  ids.schedules = await makeSchedule();
  ids.costs = (await send('POST', '/v1/costs', key, cost)).body.data.id;
  const mailed = { name: 'secret', to: [(await (await signIn(app, owner.id)).get('/v1/people')).body.data[0].email] };
  const report = { ...mailed, operation: 'share', every: 'day' };
  ids.reports = (await send('POST', '/v1/reports', key, report)).body.data.id;
  const alert = { ...mailed, metric: 'clicks', condition: 'above', threshold: 1 };
  ids.alerts = (await send('POST', '/v1/alerts', key, alert)).body.data.id;
  ids.orders = (await send('GET', '/v1/orders', key)).body.data[0].id;
  ids['audit-log'] = (await send('GET', '/v1/audit-log', key)).body.data[0].id;
  const trial = {
    source: 'secret',
    order_id: 'trial',
    currency: 'USD',
    amount: 0,
    customer_email: 'secret@example.com',
  };
  const started = { ...trial, codes: ['secret'], placed_at: new Date().toISOString() };
  ids.customers = (await send('POST', '/v1/orders', key, started)).body.data.customer_id;
  const named = { name: 'secret', terms: { rate: { percent: 1 } } };
  ids.groups = (await send('POST', '/v1/groups', key, named)).body.data.id;
  ids.terms = (await send('GET', `/v1/affiliates/terms?group_id=${ids.groups}`, key)).body.data[0].id;
  ids.briefs = (await send('POST', '/v1/briefs', key, { title: 'secret' })).body.data.id;
});
afterAll(() => app?.close());

const isDirectory = (path: string) => path.startsWith('/v1/creators/');
const noun = (path: string) =>
  path.startsWith('/api/brand/shipments/share')
    ? 'shares'
    : (path
        .replace(
          /\/(affiliates|exports(?=\/schedules)|imports(?=\/mappings)|assets(?=\/folders)|webhooks(?=\/deliveries))\//,
          '/',
        )
        .split('/')[2] ?? '');
/** test/directory/lists.test.ts sends a file as a stranger. */
const withId = operations.filter(({ path, takesFile }) => path.includes('{') && !isDirectory(path) && !takesFile);
const takesBody = (method: string, path: string) =>
  method === 'DELETE' ? path === '/v1/lists/{id}/creators' : method !== 'GET';
/** Asked of one order by its id: test/affiliates/explain.test.ts asks as a stranger. */
const isOfOne = (path: string) => path === '/v1/affiliates/explain';
const lists = operations.filter(
  ({ path, method }) => method === 'GET' && !path.includes('{') && !isDirectory(path) && !isOfOne(path),
);
const QUERIES: Record<string, string> = { 'DELETE /v1/groups/{id}/creators': '?creator_email=ana@pay.example' };
const at = (path: string, id: string, method = '') =>
  path.replace(/\{\w+\}/, id) + (QUERIES[`${method} ${path}`] ?? '');
const PATCHES: Record<string, object> = {
  applications: { status: 'rejected' },
  commissions: { status: 'rejected' },
  payouts: { status: 'paid' },
  disputes: { answer: 'no' },
  'data-requests': { reason: 'no' },
  orders: { refund_id: 're_1', amount: 1, at: '2026-01-01T00:00:00Z' },
  briefs: { action: 'send' },
  roster: { into: 'rst_nobody' },
  imports: { reading_id: 'none' },
  lists: { pks: [1] },
  integrations: { since: '2026-01-01' },
  webhooks: { since: '2026-01-01T00:00:00Z' },
  'payouts/void': { reason: 'A typo' },
  'payouts/return': { reason: 'A typo' },
  'commissions/claw-back': { reason: 'A typo' },
  'groups/creators': { creator_emails: ['ana@pay.example'] },
  'roster/payment': { wallet_email: 'ana@pay.example' },
};
const patchBody = (path: string) => PATCHES[`${noun(path)}/${path.split('/').at(-1)}`] ?? PATCHES[noun(path)] ?? {};

const without = ({ status, body }: Answer) => ({ status, body: { ...body, request_id: '' } });

describe('another brand’s id', () => {
  it.each(withId.map(({ method, path }) => [method, path]))(
    'in %s %s is 404, like one that does not exist',
    async (method, path) => {
      const id = ids[noun(path)];
      if (!id) throw new Error(`Make an example for ${path} in this test.`);
      const key = await stranger.key('brand');
      const body = takesBody(method, path) ? patchBody(path) : undefined;
      const foreign = await send(method, at(path, id, method), key, body);
      const missing = await send(method, at(path, `${id.slice(0, 4)}nothing`, method), key, body);
      expect([foreign.status, foreign.body.code]).toEqual([404, 'NOT_FOUND']);
      expect(without(foreign)).toEqual(without(missing));
      if (method === 'GET') expect((await send(method, at(path, id), await owner.key('brand'))).status).toBe(200);
    },
  );

  it.each(lists.map(({ path }) => path))('is never shown by GET %s', async (path) => {
    const { status, body } = await send('GET', path, await stranger.key('brand'));
    expect(status).toBe(200);
    // The stranger's own calls have names such as `rotate_webhook_secret`.
    const text = JSON.stringify(body).replaceAll(/"operation":"\w+"/g, '');
    for (const secret of [owner.id, ...Object.values(ids), 'secret']) expect(text).not.toContain(secret);
  });
});

describe('a data key', () => {
  const brandOnly = operations.filter(({ callers }) => !callers.includes('data'));
  it.each(brandOnly.map(({ method, path }) => [method, path]))(
    'gets 403 BRAND_KEY_REQUIRED from %s %s',
    async (method, path) => {
      const { status, body } = await send(
        method,
        at(path, 'x'),
        await owner.key('data'),
        method === 'GET' ? undefined : {},
      );
      expect([status, body.code]).toEqual([403, 'BRAND_KEY_REQUIRED']);
    },
  );

  it('may call exactly the search and one creator', () => {
    const allowed = operations.filter(({ callers }) => callers.includes('data')).map(({ path }) => path);
    expect(allowed).toEqual(['/v1/creators/search', '/v1/creators/{pk}']);
  });
});
