import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAssignment, makeSale } from '../harness/affiliates/sales.ts';
import { call, made, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { makeCampaign } from '../harness/workflow/applying.ts';

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await startApp();
  const brand = await makeBrand(app.context);
  key = await brand.key('brand');
  const add = (path: string, body: object) => made(`${app.url}/v1/${path}`, key, body);
  const ann = await add('roster/add', {
    ig_handle: '@Ann.Photos',
    tt_handle: 'ann',
    name: 'Ann Lee',
    tags: ['Travel'],
  });
  await send(`${app.url}/v1/roster/${ann.id}`, key, 'PATCH', { creator_email: 'ann@mail.example', note: 'kind' });
  await add('roster', { creator_email: 'bea@mail.example' });
  const cid = await add('roster/add', { ig_handle: 'cid_100%', tags: ['food', 'travel'] }).catch(() => undefined);
  if (!cid) await add('roster/add', { ig_handle: 'cid_100', tags: ['food', 'travel'] });
  const [removed] = (await call(`${app.url}/v1/roster?creator_email=bea@mail.example`, key)).body.data;
  await send(`${app.url}/v1/roster/${removed.id}`, key, 'DELETE');
});
afterAll(() => app?.close());

const list = async (path: string, caller = key) => {
  const { status, body } = await call(`${app.url}/v1/${path}`, caller);
  expect([path, status]).toEqual([path, 200]);
  expect(body.pagination.total).toBe(body.data.length);
  return body.data;
};

describe.each([
  ['roster', 'ig_handle'],
  ['creators', 'photo_app'],
])('GET /v1/%s', (path, handle) => {
  it.each([
    ['creator_email=ANN@mail.example', ['Ann.Photos']],
    ['creator_email=nobody@mail.example', []],
    ['handle=@ann.photos', ['Ann.Photos']],
    ['handle=ANN', ['Ann.Photos']],
    ['handle=an', []],
    ['tag=travel', ['cid_100', 'Ann.Photos']],
    ['tag=food', ['cid_100']],
    ['tag=trav', []],
    ['search=lee', ['Ann.Photos']],
    ['search=cid_', ['cid_100']],
    ['search=%25', []],
    ['search=mail.example', [null, 'Ann.Photos']],
    ['tag=travel&search=ann', ['Ann.Photos']],
  ])('filters by %s', async (query, handles) => {
    const data = await list(`${path}?${query}`);
    expect(data.map((one: Record<string, string>) => one[handle])).toEqual(handles);
  });

  it('shows handles, tags and note of each', async () => {
    const [ann] = await list(`${path}?handle=ann`);
    expect(ann).toMatchObject({ [handle]: 'Ann.Photos', tags: ['Travel'], note: 'kind' });
  });

  it('answers 422 to a filter that no value can match', async () => {
    for (const query of ['creator_email=ann', 'handle=a%20b', `tag=${'x'.repeat(51)}`]) {
      expect((await call(`${app.url}/v1/${path}?${query}`, key)).status).toBe(422);
    }
  });
});

it('creators show whether they are on the roster', async () => {
  const data = await list('creators');
  const onRoster = data.map(({ email, on_roster }: { email: string; on_roster: boolean }) => [email, on_roster]);
  expect(onRoster).toContainEqual(['bea@mail.example', false]);
  expect(onRoster).toContainEqual(['ann@mail.example', true]);
  const [ann] = await list('creators?handle=ann');
  expect((await call(`${app.url}/v1/roster/${ann.roster_id}`, key)).body.data.creator_id).toBe(ann.id);
});

it('links can be filtered by campaign, type, whether they are active and part of their value', async () => {
  const own = await (await makeBrand(app.context)).key('brand');
  const campaign = await makeCampaign(app, own);
  await made(`${app.url}/v1/roster`, own, { creator_email: 'ann@mail.example' });
  const make = (fields: object) =>
    made(`${app.url}/v1/affiliates/links`, own, { creator_email: 'ann@mail.example', ...fields });
  const code = await make({ value: unique('CODE'), campaign_id: campaign });
  const link = await make({ value: unique('shop'), type: 'link', destination_url: 'https://shop.example/' });
  await send(`${app.url}/v1/affiliates/links/${link.id}`, own, 'PATCH', { active: false });
  const ids = async (query: string) =>
    (await list(`affiliates/links?${query}`, own)).map(({ id }: { id: string }) => id);
  expect(await ids(`campaign_id=${campaign}`)).toEqual([code.id]);
  expect(await ids('type=link')).toEqual([link.id]);
  expect(await ids('active=true')).toEqual([code.id]);
  expect(await ids('active=false')).toEqual([link.id]);
  expect(await ids('search=SHOP')).toEqual([link.id]);
  expect(await ids('type=link&active=true')).toEqual([]);
  const { summary } = (await call(`${app.url}/v1/affiliates?active=false`, own)).body;
  expect(summary.total_clicks).toBe(0);
  expect((await call(`${app.url}/v1/affiliates/links?active=yes`, own)).status).toBe(422);
});

it('commissions can be filtered by campaign, link and type', async () => {
  const brand = await makeBrand(app.context);
  const own = await brand.key('brand');
  const campaign = await makeCampaign(app, own);
  const [first, second] = [await makeAssignment(app.context, brand), await makeAssignment(app.context, brand)];
  await send(`${app.url}/v1/affiliates/links/${first.linkId}`, own, 'PATCH', { campaign_id: campaign });
  const [one, two] = [
    await makeSale(app.context, brand, { assignment: first }),
    await makeSale(app.context, brand, { assignment: second }),
  ];
  for (const path of ['commissions', 'affiliates/commissions']) {
    const ids = async (query: string) => (await list(`${path}?${query}`, own)).map(({ id }: { id: string }) => id);
    expect(await ids(`campaign_id=${campaign}`)).toEqual([one.id]);
    expect(await ids(`link_id=${second.linkId}`)).toEqual([two.id]);
    expect(new Set(await ids('type=sale'))).toEqual(new Set([one.id, two.id]));
    expect(await ids('type=manual')).toEqual([]);
  }
});
