import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, call, made, makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await startApp();
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const to = (path: string, method: string, body?: unknown) => send(`${app.url}/v1/${path}`, key, method, body);
const details = ({ status, body }: Answer) => [status, body.details];

async function brandOf(currency: string) {
  const own = await (await makeBrand(app.context)).key('brand');
  await send(`${app.url}/v1/brand`, own, 'PATCH', { settings: { currency } });
  return {
    campaign: (compensation: object) => send(`${app.url}/v1/campaigns`, own, 'POST', { name: 'x', compensation }),
    patch: (id: string, compensation: object) => send(`${app.url}/v1/campaigns/${id}`, own, 'PATCH', { compensation }),
    read: async (id: string) => (await call(`${app.url}/v1/campaigns/${id}`, own)).body.data.compensation,
  };
}

describe('a time', () => {
  const FAR = ['9999-12-31T23:59:59-14:00', '0000-01-01T00:00:00+14:00', '0000-06-01'];

  it.each(FAR)('outside the years 0001 to 9999 in UTC, as %s, is 422 and stored nowhere', async (deadline) => {
    const { status, body } = await to('campaigns', 'POST', { name: 'far', deadline });
    expect([status, body.details]).toEqual([422, [expect.objectContaining({ field: 'deadline' })]]);
    expect(body.details[0].message).toBe(`must lie in the years 0001 to 9999 in UTC; got "${deadline}".`);
    expect((await to('campaigns', 'GET')).status).toBe(200);
  });

  it.each(['created_after', 'created_before'])('in a window must be within the same years: %s', async (name) => {
    for (const far of FAR) expect((await to(`campaigns?${name}=${encodeURIComponent(far)}`, 'GET')).status).toBe(422);
    for (const edge of ['0001-01-01', '9999-12-31']) {
      expect((await to(`campaigns?${name}=${edge}`, 'GET')).status).toBe(200);
    }
  });

  it('at either limit is stored and read back', async () => {
    for (const deadline of ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
      const { id } = await made(`${app.url}/v1/campaigns`, key, { name: 'edge', deadline });
      expect((await to(`campaigns/${id}`, 'GET')).body.data.deadline).toBe(deadline);
    }
  });

  it('that cannot be parsed gets an error that says what is valid', async () => {
    const { body } = await to('campaigns?created_after=soon', 'GET');
    expect(body.details[0].message).toBe(
      'must be a date such as 2026-11-22, or a time with its offset such as 2026-11-22T09:30:00Z; got "soon".',
    );
    expect((await to('usage?from=soon', 'GET')).body.details[0].message).toBe(
      'must be a date such as 2026-11-22; got "soon".',
    );
  });

  it('that is a date alone includes that day at the end of a window', async () => {
    const { id } = await made(`${app.url}/v1/campaigns`, key, { name: 'today' });
    const today = new Date().toISOString().slice(0, 10);
    const { data } = (await to(`campaigns?created_before=${today}`, 'GET')).body;
    expect(data.map((one: { id: string }) => one.id)).toContain(id);
  });
});

describe('compensation without a currency', () => {
  it('is validated in the currency of the brand that it is stored in', async () => {
    const [yen, dinar] = [await brandOf('JPY'), await brandOf('KWD')];
    const half = await yen.campaign({ type: 'fixed', amount: 10.5 });
    expect(details(half)).toEqual([
      422,
      [{ field: 'compensation.amount', code: 'invalid', message: 'must be whole in JPY; got 10.5.' }],
    ]);
    const { status, body } = await dinar.campaign({ type: 'fixed', amount: 1.234 });
    expect(status).toBe(201);
    expect(await dinar.read(body.data.id)).toEqual({ type: 'fixed', amount: 1.234, currency: 'KWD' });
  });

  it('is validated like that by a PATCH onto none, and by one from a commission to a fixed amount', async () => {
    const [yen, dinar] = [await brandOf('JPY'), await brandOf('KWD')];
    const none = (await made(`${app.url}/v1/campaigns`, key, { name: 'x' })).id;
    expect((await to(`campaigns/${none}`, 'PATCH', { compensation: { type: 'fixed', amount: 1.234 } })).status).toBe(
      422,
    );
    const { body } = await yen.campaign({ type: 'commission', amount: 10.5 });
    expect((await yen.patch(body.data.id, { type: 'fixed' })).status).toBe(422);
    expect(await yen.read(body.data.id)).toEqual({ type: 'commission', amount: 10.5, currency: null });
    const share = (await dinar.campaign({ type: 'commission', amount: 10.125 })).body.data.id;
    expect((await dinar.patch(share, { type: 'fixed' })).status).toBe(200);
    expect(await dinar.read(share)).toEqual({ type: 'fixed', amount: 10.125, currency: 'KWD' });
  });
});

describe('an error says what would be right', () => {
  it.each([
    ['roster/add', {}, 'ig_handle', 'one of `ig_handle` and `tt_handle` is required.'],
    ['commissions', { status: 'approved' }, 'event_id', 'give exactly one of `event_id` and `event_ids`.'],
    [
      'commissions',
      { status: 'approved', event_id: 'a', event_ids: ['b'] },
      'event_id',
      'give exactly one of `event_id` and `event_ids`.',
    ],
    [
      'affiliates/links',
      { creator_email: 'ana@mail.example', value: 'x', type: 'link' },
      'destination_url',
      'is required for a link, unless `value` is an https address.',
    ],
    ['affiliates/links/bulk', {}, 'all_missing', 'give exactly one of `all_missing: true`, `creators`, `roster_ids`.'],
    ['campaigns', { name: 'x', compensation: [1, 2] }, 'compensation', 'must be an object; got a list of 2.'],
    ['campaigns', { name: { first: 'secret' } }, 'name', 'must be a string; got an object.'],
    [
      'roster',
      { creator_email: 'ana' },
      'creator_email',
      'must be an email address such as ana@example.com; got "ana".',
    ],
    [
      'campaigns',
      { name: 'x', compensation: { type: 'fixed', amount: 1e15, currency: 'USD' } },
      'compensation.amount',
      'must be at most 90071992547409; got 1000000000000000.',
    ],
    ['campaigns', { name: 5 }, 'name', 'must be a string; got the number 5.'],
    ['campaigns', { name: true }, 'name', 'must be a string; got the boolean true.'],
    ['campaigns', { name: null }, 'name', 'must be a string; got null.'],
    [
      'campaigns',
      { name: 'x', compensation: { type: 'fixed', amount: '5', currency: 'USD' } },
      'compensation.amount',
      'must be a number; got the string "5".',
    ],
    ['roster/add', { ig_handle: 'ana', tags: 'vip' }, 'tags', 'must be an array; got the string "vip".'],
  ])('for POST %s %o', async (path, body, field, message) => {
    const answer = await to(path, 'POST', body);
    expect(answer.status).toBe(422);
    expect(answer.body.details).toContainEqual(expect.objectContaining({ field, message }));
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });

  it('for a body that is not UTF-8, which is 400 INVALID_JSON and not stored', async () => {
    const body = Buffer.concat([Buffer.from('{"name":"caf'), Buffer.from([0xe9]), Buffer.from('"}')]);
    const headers = { 'content-type': 'application/json' };
    const before = (await to('campaigns', 'GET')).body.pagination.total;
    const answer = await call(`${app.url}/v1/campaigns`, key, { method: 'POST', body, headers });
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_JSON']);
    expect((await to('campaigns', 'GET')).body.pagination.total).toBe(before);
  });

  it('for a time in a query whose plus was not encoded', async () => {
    const answer = await to('campaigns?created_after=2026-11-01T00:00:00+05:45', 'GET');
    expect(answer.status).toBe(422);
    expect(answer.body.error).toContain('in a query, write + as %2B');
    expect((await to('campaigns?created_after=2026-11-01T00:00:00%2B05:45', 'GET')).status).toBe(200);
  });
});

it('a body that begins with a byte order mark is read', async () => {
  const headers = { 'content-type': 'application/json' };
  const answer = await call(`${app.url}/v1/campaigns`, key, {
    method: 'POST',
    body: '\uFEFF{"name":"marked"}',
    headers,
  });
  expect(answer.status).toBe(201);
});
