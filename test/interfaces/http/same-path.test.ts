import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settle } from '../../../src/kit/access/credits/settle.ts';
import { call, made, makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';

const alias = unique('same');
let app: TestApp;
let brand: TestBrand;
let key: string;
beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

describe('a trailing slash', () => {
  it('makes no difference in paths of lists, of single items and of changes', async () => {
    const { id } = await made(`${app.url}/v1/campaigns/`, key, { name: 'x' });
    for (const path of ['campaigns/', `campaigns/${id}/`, 'usage/?page=1']) {
      expect((await call(`${app.url}/v1/${path}`, key)).status, path).toBe(200);
    }
    const patched = await send(`${app.url}/v1/campaigns/${id}/`, key, 'PATCH', { name: 'y' });
    expect([patched.status, patched.body.data.title]).toEqual([200, 'y']);
  });

  it('does not bypass the check of the method', async () => {
    const { status, headers } = await send(`${app.url}/v1/campaigns/`, key, 'DELETE');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST']);
  });
});

describe('a patch that changes nothing', () => {
  it.each([
    ['campaigns', { name: 'x' }],
    ['roster', { creator_email: 'ana@mail.example' }],
  ])('of %s adds no entry to the audit log', async (noun, input) => {
    const { id } = await made(`${app.url}/v1/${noun}`, key, input);
    const lines = async () => (await call(`${app.url}/v1/audit-log?resource_id=${id}`, key)).body.pagination.total;
    const before = await lines();
    expect((await send(`${app.url}/v1/${noun}/${id}`, key, 'PATCH', {})).status).toBe(200);
    expect((await send(`${app.url}/v1/${noun}/${id}`, key, 'PATCH', { status: 'active' })).status).toBe(200);
    expect(await lines()).toBe(before);
  });
});

describe('usage as CSV', () => {
  it('has one row per key and day, with the fields of the list', async () => {
    const data = await brand.key('data');
    for (let i = 0; i < 3; i += 1) await call(`${app.url}/v1/creators/search?q=x`, data);
    const { postgres, redis, clock } = app.context;
    await settle({ db: postgres.db, redis, clock }, [brand.subscriptionIds.data]);
    const { body } = await call(`${app.url}/v1/usage`, key);
    const csv = await call(`${app.url}/v1/usage`, key, { headers: { accept: 'text/csv' } });
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const [header, ...rows] = csv.body.trim().split('\n');
    expect(header).toBe(Object.keys(body.data[0]).join(','));
    expect(rows).toEqual(body.data.map((row: object) => Object.values(row).join(',')));
  });
});
