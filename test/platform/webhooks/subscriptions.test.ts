import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventNames } from '../../../src/kit/outbox/events.ts';
import { call, makeBrand, send, startApp, type TestApp, unique } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const hooks = () => `${app.url}/v1/webhooks`;
const newKey = async () => (await makeBrand(app.context)).key('brand');
const input = (more: object = {}) => ({
  url: `https://receiver.invalid/${unique('hook')}`,
  events: ['commission.approved'],
  ...more,
});
const create = (key: string, more: object = {}, headers: object = {}) =>
  send(hooks(), key, 'POST', input(more), headers);

describe('POST /v1/webhooks', () => {
  it('returns the webhook and its secret, which lists shorten and the database stores encrypted', async () => {
    const key = await newKey();
    const { status, body } = await create(key, {}, { 'idempotency-key': unique('once') });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^whk_/),
      url: expect.stringContaining('https://receiver.invalid/'),
      events: ['commission.approved'],
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{40}$/),
      active: true,
      created_at: expect.stringMatching(/Z$/),
      description: null,
      last_triggered_at: null,
      last_status_code: null,
    });
    const { secret, id } = body.data;
    const listed = (await call(hooks(), key)).body.data[0];
    expect(listed.secret).toBe(`whsec_…${secret.slice(-4)}`);
    expect((await call(`${hooks()}/${id}`, key)).body.data).toEqual(listed);
    const { rows } = await sql<{ found: string }>`
      select 'audit' as found from audit_log where new_values::text like ${`%${secret.slice(6)}%`}
      union all select 'answer' from idempotency_keys where position(${Buffer.from(secret)} in answer) > 0
      union all select 'row' from webhook_subscriptions where position(${Buffer.from(secret)} in secret) > 0
    `.execute(app.context.postgres.db);
    expect(rows).toEqual([]);
  });

  it.each([
    ['http://receiver.example/hook', 'invalid_scheme'],
    ['http://127.0.0.1/hook', 'invalid_scheme'],
    ['ftp://receiver.example/hook', 'invalid_scheme'],
    ['receiver.example/hook', 'invalid_url'],
    ['https://user@receiver.example/', 'has_login'],
    ['https://receiver.example/#part', 'has_fragment'],
    [`https://receiver.example/${'x'.repeat(3_000)}`, 'too_big'],
  ])('refuses the address %s, and stores nothing', async (url, code) => {
    const key = await newKey();
    const { status, body } = await create(key, { url });
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details[0]).toMatchObject({ field: expect.stringMatching(/url$/), code });
    expect((await call(hooks(), key)).body.pagination.total).toBe(0);
  });

  it('names each unknown event and lists the known ones', async () => {
    const key = await newKey();
    const { status, body } = await create(key, { events: ['commission.approved', 'nope', 'campaign.created', '*'] });
    expect([status, body.code, body.allowed]).toEqual([422, 'VALIDATION_ERROR', eventNames('current')]);
    expect(body.details.map(({ field, code }: Record<string, string>) => [field, code])).toEqual([
      ['events.1', 'unknown_event'],
      ['events.2', 'unknown_event'],
      ['events.3', 'unknown_event'],
    ]);
    for (const events of [[], 'x', undefined]) {
      expect((await create(key, { events })).status).toBe(422);
    }
    expect((await create(key, { events: ['payout.created', 'payout.created'] })).body.data.events).toEqual([
      'payout.created',
    ]);
  });

  it('creates at most ten webhooks of a brand under concurrent calls, and one more after a DELETE', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    for (let n = 0; n < 9; n += 1) expect((await create(key)).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(key)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.find(({ status }) => status === 403);
    expect(refused?.body).toMatchObject({ code: 'WEBHOOK_LIMIT_REACHED', limit: 10, current: 10 });
    const { id } = (await call(hooks(), key)).body.data[0];
    expect((await send(`${hooks()}/${id}`, key, 'DELETE')).body).toEqual({ deleted: true, id });
    expect((await send(`${hooks()}/${id}`, key, 'DELETE')).status).toBe(404);
    expect((await create(key)).status).toBe(201);
  });

  const PRIVATE = [
    ...['localhost', '10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '167772161'],
    ...['0x0a.1', '127.1', '2130706433', '0x7f.1', '192.168.0.1', '[fd00::1]'],
  ];
  it('refuses every spelling of a private address and accepts a host that does not resolve yet', async () => {
    const strict = await startApp({ env: { OUTBOUND_ALLOW: '' } });
    try {
      const key = await newKey();
      for (const host of PRIVATE) {
        const { status, body } = await send(
          `${strict.url}/v1/webhooks`,
          key,
          'POST',
          input({ url: `https://${host}/` }),
        );
        expect([host, status, body.details?.[0]?.code]).toEqual([host, 422, 'private_address']);
      }
      const { status } = await send(
        `${strict.url}/v1/webhooks`,
        key,
        'POST',
        input({ url: 'https://nothing.invalid/' }),
      );
      expect(status).toBe(201);
    } finally {
      await strict.close();
    }
  });
});

describe('PATCH /v1/webhooks/{id}', () => {
  it('sets sent fields, keeps omitted ones and clears null ones', async () => {
    const key = await newKey();
    const { id, url } = (await create(key, { description: 'ours' })).body.data;
    const patch = async (change: object) => (await send(`${hooks()}/${id}`, key, 'PATCH', change)).body;
    expect((await patch({})).data).toMatchObject({ url, description: 'ours', active: true, status: 'active' });
    expect((await patch({ description: null })).data.description).toBeNull();
    expect((await patch({ active: false })).data).toMatchObject({ active: false, status: 'disabled' });
    expect((await patch({ events: ['payout.created'] })).data.events).toEqual(['payout.created']);
    expect((await patch({ url: 'https://other.invalid/' })).data.url).toBe('https://other.invalid/');
    expect((await patch({ url: null })).code).toBe('VALIDATION_ERROR');
    expect((await patch({ events: ['nope'] })).allowed).toEqual(eventNames('current'));
  });
});

describe('a PATCH that changes nothing', () => {
  it('leaves the row and the audit log as they were', async () => {
    const key = await newKey();
    const { id, url, events } = (await create(key, { description: 'ours' })).body.data;
    const reported = async () =>
      (await call(`${app.url}/v1/audit-log?resource_id=${id}&operation=update_webhook`, key)).body.pagination.total;
    const patch = (change: object) => send(`${hooks()}/${id}`, key, 'PATCH', change);
    for (const same of [{}, { url, events, description: 'ours', active: true }]) {
      expect((await patch(same)).status).toBe(200);
    }
    expect(await reported()).toBe(0);
    const { updatedAt } = await app.context.postgres.db
      .selectFrom('webhookSubscriptions')
      .select('updatedAt')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(updatedAt).toBeNull();
    await patch({ active: false });
    await patch({ active: false });
    expect(await reported()).toBe(1);
  });
});

describe('the secret', () => {
  it('is rotated once during an overlap unless the overlap is finished or the rotation forced', async () => {
    const key = await newKey();
    const { id, secret } = (await create(key)).body.data;
    const rotate = (body: object = {}) => send(`${hooks()}/${id}/rotate-secret`, key, 'POST', body);
    const first = (await rotate()).body.data;
    expect(first.secret).toMatch(/^whsec_/);
    expect(first.secret).not.toBe(secret);
    const second = await rotate();
    expect([second.status, second.body.code]).toEqual([409, 'CONFLICT']);
    expect(second.body.previous_secret_expires_at).toBe(first.previous_secret_expires_at);
    expect((await rotate({ force: true })).status).toBe(200);
    expect((await rotate({ finish: true })).body.data.previous_secret_expires_at).toBeNull();
    expect((await rotate({ overlap_hours: 0 })).body.data.previous_secret_expires_at).toBeNull();
    expect((await rotate({ overlap_hours: 169 })).status).toBe(422);
  });
});

describe('GET /v1/webhooks/events', () => {
  it('lists the twelve events, each with the schema and an example of its data', async () => {
    const { body } = await call(`${hooks()}/events`, await newKey());
    expect(body.data.map(({ event }: { event: string }) => event)).toEqual(eventNames('current'));
    for (const { schema, sample } of body.data) {
      expect(schema.type).toBe('object');
      expect(Object.keys(sample)).toEqual(Object.keys(schema.properties));
    }
  });
});
