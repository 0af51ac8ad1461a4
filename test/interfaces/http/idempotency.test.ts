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
