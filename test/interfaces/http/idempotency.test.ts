import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBrand, send as sendTo, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp();
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}, caller = key) =>
  sendTo(`${app.url}${path}`, caller, method, body, headers);

describe('An Idempotency-Key', () => {
  it('makes 20 concurrent identical calls create one campaign, and all get its answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        send('POST', '/v1/campaigns', { name: 'twin' }, { 'idempotency-key': 'twin-1' }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(19);
  });

  it('reused with another body is 409 and changes nothing', async () => {
    const headers = { 'idempotency-key': 'reused-1' };
    await send('POST', '/v1/campaigns', { name: 'first' }, headers);
    const { status, body } = await send('POST', '/v1/campaigns', { name: 'second' }, headers);
    expect([status, body.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is the same call whatever the order of fields and parameters, the blanks, and how a number is written', async () => {
    const brand = await makeBrand(app.context);
    const caller = await brand.key('brand');
    const write = async (query: string, body: string) => {
      const response = await fetch(`${app.url}/v1/affiliates/links${query}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${caller}`,
          'content-type': 'application/json',
          'idempotency-key': 'reordered-1',
        },
        body,
      });
      return [response.status, response.headers.get('idempotency-replayed')];
    };
    await send('POST', '/v1/roster', { creator_email: 'order@creators.example' }, {}, caller);
    const [email, first] = ['"creator_email":"order@creators.example"', '?a=1&b=2'];
    expect(await write(first, `{${email},"value":"ORDER5","commission_rate":5}`)).toEqual([201, null]);
    const other = `{ "commission_rate": 5.0, "value": "ORDER\\u0035",\n${email} }`;
    expect(await write('?b=2&a=1', other)).toEqual([201, 'true']);
    expect(await write(first, `{${email},"value":"ORDER5","commission_rate":5,"platform":null}`)).toEqual([409, null]);
    expect(await write('?a=2&b=1', other)).toEqual([409, null]);
  });

  it('stored before requests were compared by their values still gives its call the first answer', async () => {
    const headers = { 'idempotency-key': 'older-1' };
    const body = { type: 'ugc', name: 'older' };
    const first = await send('POST', '/v1/campaigns', body, headers);
    const hash = createHash('sha256')
      .update(JSON.stringify(['create_campaign', {}, {}, body]))
      .digest();
    const { db } = app.context.postgres;
    await db.updateTable('idempotencyKeys').set({ requestHash: hash }).where('key', '=', 'older-1').execute();
    expect((await send('POST', '/v1/campaigns', body, headers)).body).toEqual(first.body);
  });

  it('is forgotten after a failed call: the same key works once the input is right', async () => {
    const headers = { 'idempotency-key': 'retry-1' };
    const id = 'cmp_unknown';
    expect((await send('PATCH', `/v1/campaigns/${id}`, { name: 'x' }, headers)).status).toBe(404);
    expect((await send('POST', '/v1/campaigns', { name: 'x' }, headers)).status).toBe(201);
  });

  it('is scoped to the brand: another brand’s same key is another call', async () => {
    const other = await (await makeBrand(app.context)).key('brand');
    const headers = { 'idempotency-key': 'shared-1' };
    const first = await send('POST', '/v1/campaigns', { name: 'a' }, headers);
    const second = await send('POST', '/v1/campaigns', { name: 'a' }, headers, other);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });

  it.each(['/v1/campaigns', '/v1/campaigns?mode=plan'])('that is not visible ASCII is 422 at %s', async (path) => {
    const { status, body } = await send('POST', path, { name: 'x' }, { 'idempotency-key': 'a b' });
    expect([status, body.details[0].field]).toEqual([422, 'Idempotency-Key']);
  });
});
