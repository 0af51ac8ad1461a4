import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { signIn } from '../harness/platform/session.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../harness/workflow/applying.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
let campaign: string;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
  campaign = await makeCampaign(app, key);
});
afterAll(() => app?.close());

const patch = (path: string, body: unknown, caller = key) => send(`${app.url}${path}`, caller, 'PATCH', body);
const log = async (query = '', caller = key) => (await call(`${app.url}/v1/audit-log?${query}`, caller)).body;

describe('the audit log', () => {
  it('shows who changed what, with the old and new values of the changed fields', async () => {
    const { headers } = await patch(`/v1/campaigns/${campaign}`, { name: 'Relaunch', status: 'paused' });
    const { data } = await log(`resource_id=${campaign}`);
    expect(data).toEqual([
      {
        person_id: null,
        by_agent: false,
        person_name: null,
        id: expect.stringMatching(/^aud_/),
        key_id: expect.stringMatching(/^key_/),
        key_name: 'test',
        operation: 'update_campaign',
        resource_id: campaign,
        resource_name: 'Relaunch',
        ...{ creator_email: null, creator_name: null, currency: null },
        old: { title: 'Launch', status: 'active', updated_at: null },
        new: { title: 'Relaunch', status: 'paused', updated_at: expect.stringMatching(/Z$/) },
        request_id: headers.get('x-request-id'),
        created_at: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ operation: 'create_campaign', old: null }),
    ]);
    expect(data[1].new).toMatchObject({ id: campaign, title: 'Launch', status: 'active' });
  });

  it('has no entry for a change that fails', async () => {
    const { pagination } = await log();
    expect((await patch('/v1/campaigns/cmp_missing', { name: 'x' })).status).toBe(404);
    expect((await patch('/v1/brand', { name: null })).status).toBe(422);
    expect((await log()).pagination.total).toBe(pagination.total);
  });

  it('filters by resource, operation and key; pages, newest first', async () => {
    const second = await brand.key('brand');
    await patch('/v1/brand', { industry: 'a' });
    await patch('/v1/brand', { industry: 'b' }, second);
    await patch('/v1/brand', { industry: 'c' });
    const { data, pagination } = await log('operation=update_brand');
    expect(data.map((entry: { new: { industry: string } }) => entry.new.industry)).toEqual(['c', 'b', 'a']);
    expect(pagination.total).toBe(3);
    const byKey = await log(`operation=update_brand&key_id=${data[1].key_id}`);
    expect(byKey.data.map((entry: { id: string }) => entry.id)).toEqual([data[1].id]);
    expect((await log(`operation=update_brand&resource_id=${campaign}`)).data).toEqual([]);
    expect((await log('operation=update_brand&limit=2&page=2')).data).toEqual([data[2]]);
    expect((await log('operation=update_brand&sort=oldest&limit=1')).data).toEqual([data[2]]);
    expect((await log('created_after=2099-01-01')).data).toEqual([]);
  });

  it('shows changes from public pages without a key', async () => {
    const open = await makeCampaign(app, key);
    expect((await apply(app, open, { email: 'ann@mail.example' })).status).toBe(303);
    const { data } = await log('operation=apply');
    const entry = data.find(({ resource_id }: { resource_id: string }) => resource_id.startsWith('app_'));
    expect(entry).toMatchObject({
      key_id: null,
      key_name: null,
      old: null,
      creator_name: expect.any(String),
      new: { creator_email: 'ann@mail.example' },
    });
  });

  it('names the record, its creator and its currency, and filters by the kind of record and by the person', async () => {
    const owner = await signIn(app, brand.id);
    const creator = { creator_email: 'bo@mail.example', ig_handle: 'bolind', name: 'Bo Lind' };
    const added = await owner.send('POST', '/v1/roster/add', creator);
    const link = { creator_email: 'bo@mail.example', type: 'discount_code', value: 'BO10' };
    expect([added.status, (await owner.send('POST', '/v1/affiliates/links', link)).status]).toEqual([201, 201]);
    const { data } = await log('operation=create_affiliate_link');
    expect(data).toEqual([
      expect.objectContaining({
        ...{ resource_id: expect.stringMatching(/^lnk_/), resource_name: 'BO10', currency: 'USD' },
        ...{ creator_email: 'bo@mail.example', creator_name: 'Bo Lind', person_id: expect.stringMatching(/^per_/) },
      }),
    ]);
    expect((await log('resource_prefix=lnk')).data).toEqual(data);
    expect((await log(`resource_prefix=lnk&person_id=${data[0].person_id}`)).data).toEqual(data);
    expect((await log('resource_prefix=lnk&person_id=per_missing')).data).toEqual([]);
    expect((await log('resource_prefix=l%25')).code).toBe('VALIDATION_ERROR');
  });

  it("never shows another brand's entries, whatever the filter", async () => {
    const stranger = await (await makeBrand(app.context)).key('brand');
    for (const query of ['', `resource_id=${campaign}`, 'operation=update_campaign']) {
      expect((await log(query, stranger)).pagination.total).toBe(0);
    }
  });

  it('answers 401 without a key, 403 to a data key and 422 to an unreadable time', async () => {
    const url = `${app.url}/v1/audit-log`;
    expect((await call(url)).body.code).toBe('AUTH_REQUIRED');
    expect((await call(url, await brand.key('data'))).body.code).toBe('BRAND_KEY_REQUIRED');
    expect((await call(`${url}?created_before=soon`, key)).status).toBe(422);
  });
});
