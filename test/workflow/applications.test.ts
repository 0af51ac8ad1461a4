import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { apply, BEHIND_PROXY, listEvents, makeCampaign } from '../harness/workflow/applying.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

interface Owner {
  brand: TestBrand;
  key: string;
  campaign: string;
}

async function makeOwner(options: Parameters<typeof makeBrand>[1] = {}): Promise<Owner> {
  const brand = await makeBrand(app.context, options);
  const key = await brand.key('brand');
  return { brand, key, campaign: await makeCampaign(app, key) };
}

const read = async ({ key }: Owner, path: string) => (await call(`${app.url}${path}`, key)).body;

const patch = ({ key }: Pick<Owner, 'key'>, id: string, body: unknown) =>
  send(`${app.url}/v1/applications/${id}`, key, 'PATCH', body);

async function made(owner: Owner, fields: Record<string, string> = {}, campaign = owner.campaign): Promise<string> {
  const email = fields.email ?? `${unique('ann')}@mail.example`;
  expect((await apply(app, campaign, { ...fields, email })).status).toBe(303);
  const { data } = await read(owner, `/v1/campaigns/${campaign}/applications?limit=1`);
  return data[0].id;
}

const eventsNamed = async ({ brand }: Owner, name: string) =>
  (await listEvents(app, brand.id)).filter(({ event }) => event === name);

describe('an application', () => {
  it('is listed under its campaign and under the brand, and read by its id', async () => {
    const owner = await makeOwner();
    const id = await made(owner, {
      email: 'Ann@Mail.example',
      name: 'Ann',
      photo_app: '@ann.photos',
      message: 'Hello',
      portfolio_urls: 'https://ann.example/1\nhttps://ann.example/2',
    });
    const item = {
      id,
      campaign_id: owner.campaign,
      creator_email: 'Ann@Mail.example',
      creator_name: 'Ann',
      creator_photo_app: 'ann.photos',
      creator_video_app: null,
      status: 'pending',
      message: 'Hello',
      portfolio_urls: ['https://ann.example/1', 'https://ann.example/2'],
      applied_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    };
    expect((await read(owner, `/v1/campaigns/${owner.campaign}/applications`)).data).toEqual([item]);
    expect((await read(owner, '/v1/applications')).data).toEqual([{ ...item, campaign_title: 'Launch' }]);
    expect((await read(owner, `/v1/applications/${id}`)).data).toEqual({
      ...item,
      campaign_title: 'Launch',
      note: null,
      updated_at: null,
    });
  });

  it('appears in lists filtered by status, campaign, email in any case and time; pages neither overlap nor skip', async () => {
    const owner = await makeOwner();
    const other = await makeCampaign(app, owner.key, { name: 'Second' });
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      ids.unshift(await made(owner, { email: `${name}@mail.example` }, name === 'e' ? other : owner.campaign));
    }
    await patch(owner, ids[1] ?? '', { status: 'shortlisted' });
    const list = async (query: string, path = '/v1/applications') => {
      const { data, pagination } = await read(owner, `${path}?${query}`);
      expect(pagination.total).toBeGreaterThanOrEqual(data.length);
      return data.map((item: { id: string }) => item.id);
    };
    expect([...(await list('limit=2')), ...(await list('limit=2&page=2')), ...(await list('limit=2&page=3'))]).toEqual(
      ids,
    );
    expect(await list('sort=oldest')).toEqual(ids.toReversed());
    expect(await list('status=shortlisted')).toEqual([ids[1]]);
    expect(await list(`campaign_id=${other}`)).toEqual([ids[0]]);
    expect(await list('creator_email=B%40MAIL.example')).toEqual([ids[3]]);
    expect(await list('created_after=2099-01-01')).toEqual([]);
    expect(await list('status=pending', `/v1/campaigns/${owner.campaign}/applications`)).toEqual(ids.slice(2));
    expect((await read(owner, '/v1/applications?limit=2&page=3')).pagination).toEqual({
      page: 3,
      limit: 2,
      total: 5,
      has_more: false,
    });
  });

  it('is patched: status and note are each set, kept when omitted, or cleared', async () => {
    const owner = await makeOwner();
    const id = await made(owner);
    const first = await patch(owner, id, { status: 'shortlisted', note: 'promising' });
    expect(first.body.data).toEqual({
      id,
      status: 'shortlisted',
      note: 'promising',
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await patch(owner, id, { status: 'rejected' })).body.data).toMatchObject({ note: 'promising' });
    expect((await patch(owner, id, { note: null })).body.data).toMatchObject({ status: 'rejected', note: null });
  });

  it.each([
    [{ status: 'pending' }, 'status'],
    [{ status: 'hired' }, 'status'],
    [{ status: null }, 'status'],
    [{ note: 7 }, 'note'],
    [{ note: 'x'.repeat(5_001) }, 'note'],
  ])('is not changed by a patch of %o, which is 422', async (input, field) => {
    const owner = await makeOwner();
    const id = await made(owner);
    const { status, body } = await patch(owner, id, input);
    expect([status, body.code, body.details[0].field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await read(owner, `/v1/applications/${id}`)).data).toMatchObject({ status: 'pending', updated_at: null });
  });

  it.each(['status=hired', 'creator_email=ann', 'created_after=soon', 'page=0'])(
    'is not listed with %s, which is 422',
    async (query) => {
      const owner = await makeOwner();
      expect((await call(`${app.url}/v1/applications?${query}`, owner.key)).status).toBe(422);
    },
  );

  it('that is accepted emits application.approved with the item, and puts the creator on the roster', async () => {
    const owner = await makeOwner();
    const id = await made(owner, { email: 'ann@mail.example', name: 'Ann' });
    expect((await patch(owner, id, { status: 'accepted' })).status).toBe(200);
    const {
      note: _note,
      updated_at: _at,
      campaign_title: _title,
      ...item
    } = (await read(owner, `/v1/applications/${id}`)).data;
    const events = await eventsNamed(owner, 'application.approved');
    expect(events.map(({ data }) => data)).toEqual([item]);
    const onRoster = await app.context.postgres.db
      .selectFrom('rosterEntries')
      .innerJoin('creators', 'creators.id', 'rosterEntries.creatorId')
      .select(['creators.email', 'rosterEntries.status'])
      .where('rosterEntries.brandId', '=', owner.brand.id)
      .execute();
    expect(onRoster).toEqual([{ email: 'ann@mail.example', status: 'active' }]);
    expect((await read(owner, `/v1/campaigns/${owner.campaign}`)).data.hired_count).toBe(1);
  });

  it('accepted 20 times concurrently emits one event; leaving and re-entering the status emits none', async () => {
    const owner = await makeOwner();
    const id = await made(owner);
    const answers = await Promise.all(Array.from({ length: 20 }, () => patch(owner, id, { status: 'accepted' })));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(await eventsNamed(owner, 'application.approved')).toHaveLength(1);
    await patch(owner, id, { status: 'rejected' });
    await patch(owner, id, { status: 'accepted' });
    expect(await eventsNamed(owner, 'application.approved')).toHaveLength(1);
  });

  it('with concurrent patches has each note replaced once in the audit log', async () => {
    const owner = await makeOwner();
    const id = await made(owner);
    await Promise.all(Array.from({ length: 20 }, (_, i) => patch(owner, id, { note: `note ${i}` })));
    const { data } = await read(owner, `/v1/audit-log?resource_id=${id}&operation=update_application`);
    const replaced = data.map((entry: { old: { note: string | null } }) => entry.old.note);
    expect(data).toHaveLength(20);
    expect(new Set(replaced).size).toBe(20);
  });

  it('cannot be accepted at the roster limit: 403, and nothing changes', async () => {
    const owner = await makeOwner({ plan: 'free' });
    const accepted: string[] = [];
    for (let i = 0; i < 26; i += 1) accepted.push(await made(owner));
    const answers = await Promise.all(accepted.map((id) => patch(owner, id, { status: 'accepted', note: 'yes' })));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body.code, body.limit, body.current])).toEqual([
      [403, 'CREATOR_LIMIT_REACHED', 25, 25],
    ]);
    const { data, pagination } = await read(owner, '/v1/applications?status=pending');
    expect(pagination.total).toBe(1);
    expect((await read(owner, `/v1/applications/${data[0].id}`)).data).toMatchObject({ note: null, updated_at: null });
    expect(await eventsNamed(owner, 'application.approved')).toHaveLength(25);
    expect((await read(owner, `/v1/audit-log?resource_id=${data[0].id}`)).data).toHaveLength(1);
  });

  it('can be accepted while others apply again, without a deadlock', async () => {
    const owner = await makeOwner();
    const id = await made(owner, { email: 'ann@mail.example' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => [
        patch(owner, id, { status: i % 2 ? 'accepted' : 'rejected' }),
        apply(app, owner.campaign, { email: 'ann@mail.example', message: String(i), photo_app: `ann${i}` }),
        apply(app, owner.campaign, { email: `new${i}@mail.example`, photo_app: `ann${i}` }),
      ]).flat(),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 303]));
  });
});

describe("another brand's application", () => {
  it.each([
    ['GET', '/v1/applications/'],
    ['PATCH', '/v1/applications/'],
  ])('in %s %s{id} is 404, like one that does not exist', async (method, path) => {
    const owner = await makeOwner();
    const stranger = await makeOwner();
    const id = await made(owner);
    const init =
      method === 'PATCH' ? { body: '{"status":"accepted"}', headers: { 'content-type': 'application/json' } } : {};
    const [theirs, missing] = await Promise.all(
      [id, 'app_missing'].map((one) => call(`${app.url}${path}${one}`, stranger.key, { method, ...init })),
    );
    expect([theirs?.status, theirs?.body.code]).toEqual([404, 'NOT_FOUND']);
    const { request_id: _one, ...body } = theirs?.body ?? {};
    const { request_id: _other, ...same } = missing?.body ?? {};
    expect(body).toEqual(same);
    expect((await read(owner, `/v1/applications/${id}`)).data.status).toBe('pending');
  });

  it('appears in no list of another brand', async () => {
    const owner = await makeOwner();
    const stranger = await makeOwner();
    await made(owner);
    expect((await read(stranger, '/v1/applications')).pagination.total).toBe(0);
    expect((await read(stranger, `/v1/applications?campaign_id=${owner.campaign}`)).pagination.total).toBe(0);
    expect((await call(`${app.url}/v1/campaigns/${owner.campaign}/applications`, stranger.key)).body.code).toBe(
      'NOT_FOUND',
    );
  });

  it.each([
    ['GET', '/v1/applications'],
    ['GET', '/v1/applications/app_x'],
    ['PATCH', '/v1/applications/app_x'],
    ['GET', '/v1/campaigns/cmp_x/applications'],
  ])('is protected: %s %s is 401 without a key and 403 with a data key', async (method, path) => {
    const { brand } = await makeOwner();
    expect((await call(`${app.url}${path}`, undefined, { method })).body.code).toBe('AUTH_REQUIRED');
    expect((await call(`${app.url}${path}`, await brand.key('data'), { method })).body.code).toBe('BRAND_KEY_REQUIRED');
  });
});
