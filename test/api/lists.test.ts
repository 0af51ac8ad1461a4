import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operations } from '../../src/resources/nouns.ts';
import { call, keysInTurn, made, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../harness/applying.ts';
import { creator, putDirectory } from '../harness/directory.ts';
import { makeAssignment } from '../harness/sales.ts';
import { file, upload } from '../harness/uploading.ts';

const alias = unique('lists');
let app: TestApp;
let nextKey: () => string;
let campaign: string;
let webhook: string;
let store: string;

const ROWS = 5;

/** Its page is one more than a number holds exactly. */
const FARTHEST = `limit=1&offset=${2 ** 53 - 1}`;

beforeAll(async () => {
  app = await startApp({ alias, env: BEHIND_PROXY });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2)]);
  const brand = await makeBrand(app.context);
  nextKey = await keysInTurn(brand, 40);
  const key = nextKey();
  const hook = { url: 'https://receiver.invalid/', events: ['payout.created'] };
  webhook = (await made(`${app.url}/v1/webhooks`, key, hook)).id;
  store = (await makeAssignment(app.context, brand)).source.id;
  for (let i = 0; i < ROWS; i += 1) campaign = await makeCampaign(app, key, { name: `=c${i}` });
  for (let i = 0; i < ROWS; i += 1) {
    await apply(app, campaign, { email: `p${i}@mail.example`, name: `@p${i}`, message: '+1, "quoted"\nline' });
    await made(`${app.url}/v1/roster`, key, { creator_email: `r${i}@mail.example` });
    await made(`${app.url}/v1/contracts`, key, { creator_email: `r${i}@mail.example`, title: `=c ${i}` });
    await made(`${app.url}/v1/briefs`, key, { title: `=b ${i}`, instructions: '+1' });
    await made(`${app.url}/v1/deliverables`, key, { creator_email: `r${i}@mail.example`, type: `=reel ${i}` });
    await made(`${app.url}/v1/affiliates/links`, key, { creator_email: `r${i}@mail.example`, value: `=code ${i}` });
    const payout = { creator_email: `r${i}@mail.example`, amount: 1 + i, method: 'manual', note: '=1+1' };
    await made(`${app.url}/v1/payouts`, key, payout);
    await send(`${app.url}/v1/payouts?mode=plan`, key, 'POST', payout);
    await upload(app, key, file(`f${i}`, `=f${i}.txt`));
    await made(`${app.url}/v1/assets/folders`, key, { name: `=f${i}` });
  }
});
afterAll(() => app?.close());

const read = (path: string, accept = 'application/json') => {
  const own = path
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
    expect((await read(`${path}?created_after=soon`)).status).toBe(422);
    expect((await read(`${path}?sort=best`)).status).toBe(422);
  });

  it('is CSV on request: the fields of an item, all rows in the same order, no formulas', async () => {
    const { rows, total } = await walk('sort=oldest');
    const { status, headers, body } = await read(`${path}?sort=oldest&limit=1`, 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const lines: string[] = body.split('\n');
    // A field of an object is a column of its own, after the object's name.
    const columns = lines[0]?.split(',').map((column) => column.split('.')[0]);
    expect([...new Set(columns)]).toEqual(Object.keys(rows[0] ?? {}));
    const ids = rows.map(({ id }) => id ?? '');
    expect(lines.flatMap((line) => ids.find((id) => line.startsWith(`${id},`)) ?? [])).toEqual(ids);
    expect(ids).toHaveLength(total);
    expect(body).not.toMatch(/(^|,)"?[=+@-]/m);
  });
});

describe('CSV', () => {
  it("is available for every list except the directory's", () => {
    const without = operations.filter((operation) => isList(operation) && !operation.hasCsv).map(({ path }) => path);
    expect(without.filter((path) => !/^\/v1\/creators\/(?:search|dictionary\/)/.test(path))).toEqual([]);
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
