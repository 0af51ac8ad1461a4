import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../src/interfaces/nouns.ts';
import { makeAssignment } from '../../harness/affiliates/sales.ts';
import { call, keysInTurn, made, makeBrand, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { signIn } from '../../harness/platform/session.ts';
import { file, upload } from '../../harness/platform/uploading.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../../harness/workflow/applying.ts';

const alias = unique('lists');
let app: TestApp;
let nextKey: () => string;
let campaign: string;
let list: string;
let webhook: string;
let store: string;
let imported: string;
let group: string;

const ROWS = 5;

/** What a table has no columns for: rules within rules. `terms_summary` says them in a sentence. */
const NESTED: readonly string[] = ['terms', 'effective_terms', 'budget'];

/** Its page is one more than a number holds exactly. */
const FARTHEST = `limit=1&offset=${2 ** 53 - 1}`;

beforeAll(async () => {
  app = await startApp({ alias, env: BEHIND_PROXY });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2)]);
  const brand = await makeBrand(app.context);
  nextKey = await keysInTurn(brand, 80);
  const hook = { url: 'https://receiver.invalid/', events: ['payout.created'] };
  webhook = (await made(`${app.url}/v1/webhooks`, nextKey(), hook)).id;
  list = (await made(`${app.url}/v1/lists`, nextKey(), { name: '=l' })).id;
  group = (await made(`${app.url}/v1/groups`, nextKey(), { name: '=g' })).id;
  store = (await makeAssignment(app.context, brand)).source.id;
  const owner = (await (await signIn(app, brand.id)).get('/v1/people')).body.data[0].email;
  for (let i = 0; i < ROWS; i += 1) campaign = await makeCampaign(app, nextKey(), { name: `=c${i}` });
  for (let i = 0; i < ROWS; i += 1) {
    await apply(app, campaign, { email: `p${i}@mail.example`, name: `@p${i}`, message: '+1, "quoted"\nline' });
    await made(`${app.url}/v1/roster`, nextKey(), { creator_email: `r${i}@mail.example` });
    await made(`${app.url}/v1/contracts`, nextKey(), { creator_email: `r${i}@mail.example`, title: `=c ${i}` });
    await made(`${app.url}/v1/briefs`, nextKey(), { title: `=b ${i}`, instructions: '+1' });
    await made(`${app.url}/v1/deliverables`, nextKey(), { creator_email: `r${i}@mail.example`, type: `=reel ${i}` });
    await made(`${app.url}/v1/affiliates/links`, nextKey(), {
      creator_email: `r${i}@mail.example`,
      value: `=code ${i}`,
    });
    const payout = { creator_email: `r${i}@mail.example`, amount: 1 + i, method: 'manual', note: '=1+1' };
    await made(`${app.url}/v1/payouts`, nextKey(), payout);
    const told = { kind: 'access', creator_email: `r${i}@mail.example`, reason: `=d${i}` };
    await made(`${app.url}/v1/data-requests`, nextKey(), told);
    await send(`${app.url}/v1/payouts?mode=plan`, nextKey(), 'POST', payout);
    await upload(app, nextKey(), file(`f${i}`, `=f${i}.txt`));
    await made(`${app.url}/v1/assets/folders`, nextKey(), { name: `=f${i}` });
    await made(`${app.url}/v1/saved-searches`, nextKey(), { name: `=s${i}`, filters: { q: '+1' } });
    await made(`${app.url}/v1/costs`, nextKey(), { kind: 'per_order', amount: i, note: `=n${i}` });
    const mailed = { name: `=r${i}`, to: [owner] };
    const text = `email,name\n=a${i}@mail.example,=n${i}\n`;
    const sent = { of: 'roster', source: `=s${i}`, text };
    imported = (await send(`${app.url}/v1/imports`, nextKey(), 'POST', sent)).body.data.id;
    await made(`${app.url}/v1/reports`, nextKey(), { ...mailed, operation: 'share', every: 'day' });
    await made(`${app.url}/v1/alerts`, nextKey(), { ...mailed, metric: 'clicks', condition: 'above', threshold: i });
  }
});
afterAll(() => app?.close());

const read = (path: string, accept = 'application/json') => {
  const own = path
    .replace('lists/{id}', `lists/${list}`)
    .replace('groups/{id}', `groups/${group}`)
    .replace('imports/{id}', `imports/${imported}`)
    .replace('webhooks/{id}', `webhooks/${webhook}`)
    .replace('integrations/{id}', `integrations/${store}`)
    .replace('{id}', campaign);
  return call(`${app.url}${own}`, nextKey(), { headers: { accept } });
};

const isList = ({ response }: (typeof operations)[number]) =>
  response instanceof z.ZodObject && Object.hasOwn(response.shape, 'pagination');
const lists = operations.filter(isList).map(({ path }) => path);

describe('every list', () => {
  it.each(lists)('%s clamps limits over 100 and rejects invalid pages', async (path) => {
    for (const limit of ['101', '1000000', '9'.repeat(30)]) {
      const { status, body } = await read(`${path}?limit=${limit}`);
      expect([status, body.pagination?.limit]).toEqual([200, 100]);
    }
    for (const query of ['limit=0', 'limit=-1', 'limit=1.5', 'limit=x', 'page=0', 'page=x', 'offset=-1']) {
      const { status, body } = await read(`${path}?${query}`);
      expect([status, body.code], query).toEqual([422, 'VALIDATION_ERROR']);
    }
    expect((await read(path)).body.pagination).toMatchObject({ page: 1, limit: 20 });
    expect((await read(`${path}?limit=2&page=9&offset=3`)).body.pagination).toMatchObject({ page: 2, limit: 2 });
    const { total } = (await read(path)).body.pagination;
    for (const query of ['limit=100&page=50', `page=${2 ** 53 - 1}`, `offset=${2 ** 53 - 1}`, FARTHEST]) {
      const { status, body } = await read(`${path}?${query}`);
      expect([status, body.data, body.pagination?.has_more, body.pagination?.total], query).toEqual([
        200,
        [],
        false,
        total,
      ]);
    }
    for (const query of [`page=${2n ** 53n}`, `offset=${2n ** 53n}`, `page=${'9'.repeat(30)}`]) {
      const { status, body } = await read(`${path}?${query}`);
      expect([status, body.details], query).toMatchObject([422, [{ code: 'too_big' }]]);
    }
  });
});

/** The time that each list is ordered by. */
const OWN = {
  '/v1/campaigns': 'created_at',
  '/v1/campaigns/{id}/applications': 'applied_at',
  '/v1/applications': 'applied_at',
  '/v1/creators': 'joined_at',
  '/v1/roster': 'added_at',
  '/v1/deliverables': 'created_at',
  '/v1/contracts': 'created_at',
  '/v1/briefs': 'created_at',
  '/v1/assets': 'created_at',
  '/v1/assets/folders': 'created_at',
  '/v1/payouts': 'created_at',
  '/v1/plans': 'created_at',
  '/v1/affiliates': 'created_at',
  '/v1/affiliates/links': 'created_at',
  '/v1/audit-log': 'created_at',
  '/v1/mails': 'created_at',
} as const;

describe.each(Object.entries(OWN))("the brand's own list %s", (path, time) => {
  const walk = async (query: string) => {
    const rows: Record<string, string>[] = [];
    for (let page = 1; ; page += 1) {
      const { body } = await read(`${path}?limit=2&page=${page}&${query}`);
      rows.push(...body.data);
      if (!body.pagination.has_more) return { rows, total: body.pagination.total };
    }
  };

  it('is newest first, or oldest first on request, with each row once', async () => {
    const { rows, total } = await walk('');
    expect(rows.length).toBe(total);
    expect(total).toBeGreaterThanOrEqual(ROWS);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(total);
    const times = rows.map((row) => row[time] ?? '');
    expect(times).toEqual(times.toSorted().toReversed());
    expect((await walk('sort=oldest')).rows).toEqual(rows.toReversed());
  });

  it('is limited by created_after, which is exclusive, and created_before, which is inclusive', async () => {
    const { rows, total } = await walk('');
    const moment = rows[2]?.[time] ?? '';
    const at = encodeURIComponent(moment);
    const [after, before] = [await walk(`created_after=${at}`), await walk(`created_before=${at}`)];
    expect(after.rows).toEqual(rows.filter((row) => (row[time] ?? '') > moment));
    expect(before.rows).toEqual(rows.filter((row) => (row[time] ?? '') <= moment));
    expect(after.total + before.total).toBe(total);
    expect((await walk(`created_after=${at}&created_before=${at}`)).total).toBe(0);
    const backwards = await read(`${path}?created_after=2026-03-05&created_before=2026-03-01`);
    expect([backwards.status, backwards.body.details]).toMatchObject([
      422,
      [{ field: 'created_after', message: expect.stringContaining('2026-03-05 is after 2026-03-01') }],
    ]);
    expect((await read(`${path}?created_after=soon`)).status).toBe(422);
    expect((await read(`${path}?sort=best`)).status).toBe(422);
  });

  it('is limited by updated_after to what was created or changed since', async () => {
    const { total } = await walk('');
    expect((await walk('updated_after=2000-01-01')).total).toBe(total);
    expect((await walk('updated_after=2100-01-01')).total).toBe(0);
    expect((await read(`${path}?updated_after=soon`)).status).toBe(422);
  });

  it('is CSV on request: the fields of an item, all rows in the same order, no formulas', async () => {
    const { rows, total } = await walk('sort=oldest');
    const { status, headers, body } = await read(`${path}?sort=oldest&limit=1`, 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const lines: string[] = body.split('\n');
    // A field of an object is a column of its own, after the object's name.
    const columns = lines[0]?.split(',').map((column) => column.split('.')[0]);
    expect([...new Set(columns)]).toEqual(Object.keys(rows[0] ?? {}).filter((name) => !NESTED.includes(name)));
    const ids = rows.map(({ id }) => id ?? '');
    expect(lines.flatMap((line) => ids.find((id) => line.startsWith(`${id},`)) ?? [])).toEqual(ids);
    expect(ids).toHaveLength(total);
    expect(body).not.toMatch(/(^|,)"?[=+@-]/m);
  });
});

/** A change of the newest row of a list. */
const CHANGES = {
  '/v1/campaigns': { title: 'Another' },
  '/v1/contracts': { title: 'Another' },
  '/v1/briefs': { title: 'Another' },
  '/v1/roster': { note: 'Another' },
  '/v1/affiliates/links': { commission_rate: 7 },
  '/v1/costs': { note: 'Another' },
  '/v1/reports': { name: 'Another' },
  '/v1/alerts': { name: 'Another' },
  '/v1/saved-searches': { name: 'Another' },
} as const;

describe('updated_after', () => {
  it('is a parameter of every list with a window of creation times, and of orders', () => {
    const lacking = operations.flatMap(({ method, path, query }) => {
      const has = (name: string) => Object.hasOwn(query.shape, name);
      const isOurs = has('created_after') || (method === 'GET' && path === '/v1/orders');
      return isOurs && !has('updated_after') ? [path] : [];
    });
    expect(lacking).toEqual([]);
  });

  it.each(Object.entries(CHANGES))(
    'finds a changed row of %s, which comes first only by its change',
    async (path, change) => {
      const oldest = (await read(`${path}?sort=oldest&limit=1`)).body.data[0];
      const since = encodeURIComponent(new Date().toISOString());
      expect((await read(`${path}?updated_after=${since}`)).body.data).toEqual([]);
      expect((await send(`${app.url}${path}/${oldest.id}`, nextKey(), 'PATCH', change)).status).toBe(200);
      const found = (await read(`${path}?updated_after=${since}`)).body.data;
      expect(found.map(({ id }: { id: string }) => id)).toEqual([oldest.id]);
    },
  );
});

describe('CSV', () => {
  it("is available for every list except the directory's", () => {
    const without = operations.filter((operation) => isList(operation) && !operation.hasCsv).map(({ path }) => path);
    expect(
      without.filter((path) => !/^\/v1\/creators\/(?:search|dictionary\/)|^\/v1\/lists\/{id}\/creators$/.test(path)),
    ).toEqual([]);
  });

  it("of a campaign that is not the brand's is 404, as JSON", async () => {
    const { status, headers, body } = await call(`${app.url}/v1/campaigns/cmp_missing/applications`, nextKey(), {
      headers: { accept: 'text/csv' },
    });
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('of the directory is 406', async () => {
    for (const path of ['/v1/creators/search', '/v1/creators/1']) {
      const { status, body } = await read(path, 'text/csv');
      expect([status, body.code]).toEqual([406, 'NOT_ACCEPTABLE']);
    }
  });
});

describe('a plan without the directory', () => {
  it.each(['/v1/creators/search', '/v1/creators/1'])('answers 403 SUBSCRIPTION_REQUIRED to %s', async (path) => {
    const brand = await makeBrand(app.context, { plan: 'growth', status: 'canceled' });
    const { status, body } = await send(`${app.url}${path}`, await brand.key('brand'), 'GET');
    expect([status, body.code]).toEqual([403, 'SUBSCRIPTION_REQUIRED']);
  });
});
