import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { hashKey } from '../../../src/kit/access/keys/key-form.ts';
import { findCaller } from '../../../src/kit/access/keys/callers.ts';
import { change, noLookUp, nothing } from '../../../src/kit/operation/operation.ts';
import { call, makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

let made = 0;
const SECRET = 'whsec_this-is-nobodys-to-read';

/** An operation that shows a secret once, as a webhook's creation does. */
const operation = (sealsAnswer: boolean) =>
  change({
    ...{ id: 'make_secret', method: 'POST', path: '/v1/secrets', summary: '', description: '', tag: 'test' },
    callers: ['brand'],
    params: nothing,
    query: nothing,
    body: nothing,
    response: z.object({ secret: z.string(), n: z.int() }),
    hints: { readOnly: false, idempotent: false, destructive: false },
    lookUp: noLookUp,
    sealsAnswer,
    apply: async (work) => {
      made += 1;
      const row = { secret: SECRET, sealed: Buffer.from(SECRET), previous: null, url: 'https://a.example' };
      work.audit({ resourceId: 'one', old: null, new: row, secrets: ['secret', 'previous'] });
      work.audit({ resourceId: 'two', old: row, new: { ...row, url: 'https://b.example' }, secrets: ['secret'] });
      work.audit({ resourceId: 'three', old: row, new: { ...row, secret: `${SECRET}2` }, secrets: ['secret'] });
      return { secret: SECRET, n: made };
    },
  });

async function makeSecret(sealsAnswer: boolean) {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const caller = await findCaller(app.context.postgres.db, hashKey(key));
  if (!caller) throw new Error('The key is not known.');
  const headers: Record<string, string> = {};
  const circumstances = {
    requestId: unique('req'),
    idempotencyKey: unique('once'),
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
    waive: () => undefined,
    note: () => undefined,
    pay: async () => ({ isPaid: false }),
  };
  const raw = { params: {}, query: {}, body: undefined, answer: 'json' as const };
  const run = async () => String(await operation(sealsAnswer).prepare(raw).run(app.context, caller, circumstances));
  const keptText = async () => {
    const kept = await app.context.postgres.db
      .selectFrom('idempotencyKeys')
      .select('answer')
      .where('brandId', '=', brand.id)
      .executeTakeFirstOrThrow();
    return kept.answer?.toString('utf8') ?? '';
  };
  return { run, keptText, headers, key };
}

it('an answer with a secret is kept encrypted, and returned unchanged when the call is repeated', async () => {
  const { run, keptText, headers } = await makeSecret(true);
  const first = await run();
  expect(first).toContain(SECRET);
  expect(await keptText()).not.toContain('secret');
  expect(await run()).toBe(first);
  expect(headers['idempotency-replayed']).toBe('true');
});

it('an answer without a secret is kept unencrypted', async () => {
  const { run, keptText } = await makeSecret(false);
  const first = await run();
  expect([await keptText(), await run()]).toEqual([first, first]);
});

it('an audit entry shows that a secret changed, but not its value', async () => {
  const { run, key } = await makeSecret(true);
  await run();
  const { body } = await call(`${app.url}/v1/audit-log`, key);
  const lines = Object.fromEntries(body.data.map((line: { resource_id: string }) => [line.resource_id, line]));
  expect(JSON.stringify(body)).not.toContain(SECRET);
  expect(lines.one.new).toEqual({ secret: 'changed', sealed: 'changed', previous: null, url: 'https://a.example' });
  expect(lines.two.new).toEqual({ url: 'https://b.example' });
  expect(lines.three.new).toEqual({ secret: 'changed' });
});
