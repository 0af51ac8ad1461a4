import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations, sessionOperations } from '../../../src/interfaces/nouns.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { insertPerson } from '../../../src/platform/people/people.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, unique, until } from '../../harness/app.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { openSession, type SignedIn, signIn, signInToken } from '../../harness/platform/session.ts';

let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;

beforeAll(async () => {
  app = await startApp({ env: { DIRECTORY_REPORTS: 'none' } });
  brand = await makeBrand(app.context);
  owner = await signIn(app, brand.id);
});
afterAll(() => app?.close());

const linkOf = () => signInToken(app, brand.id);

async function invite(role: string): Promise<SignedIn> {
  const email = `${role}-${Math.random().toString(36).slice(2)}@brand.example`;
  const { status, body } = await owner.send('POST', '/v1/people', { email, role, name: `The ${role}` });
  expect(status, JSON.stringify(body)).toBe(201);
  return await openSession(app.url, body.data.sign_in_path.split('#')[1]);
}

describe('a sign-in link', () => {
  it('signs in once, by POST from the app’s own page; of ten concurrent attempts one succeeds', async () => {
    const token = await linkOf();
    const ask = (site: string) =>
      call(`${app.url}/app/session`, undefined, {
        method: 'POST',
        body: JSON.stringify({ token }),
        headers: { 'content-type': 'application/json', 'sec-fetch-site': site },
      });
    expect((await ask('cross-site')).body.code).toBe('CROSS_SITE');
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('same-origin')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)]);
    expect(answers.find(({ status }) => status === 401)?.body.code).toBe('LINK_USED');
    const cookie = answers.find(({ status }) => status === 201)?.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^rollcall=svs_\w{40}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  });
});

const requestLink = (email: string) =>
  call(`${app.url}/app/session/mail`, undefined, {
    method: 'POST',
    body: JSON.stringify({ email }),
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
  });

describe('a link by mail', () => {
  it('comes with an invitation, and on request; it works once, and does not reveal which addresses are known', async () => {
    const email = `${unique('mailed')}@brand.example`;
    await owner.send('POST', '/v1/people', { email, role: 'viewer', name: 'Mia' });
    const mail = (await mailsOf(app.context, brand.id)).find(({ to }) => to === email);
    const token = /\/enter\/(\w+)/.exec(mail?.text ?? '')?.[1] ?? '';
    const redirect = await fetch(`${app.url}/enter/${token}`, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([303, `/app/sign-in#${token}`]);
    const mia = await openSession(app.url, token);
    expect((await mia.get('/v1/session')).body.data.person).toMatchObject({ email, role: 'viewer' });
    await expect(openSession(app.url, token)).rejects.toThrow('LINK_USED');

    const [known, unknown] = [await requestLink(email), await requestLink('nobody@brand.example')];
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
  });

  it('is written after the answer, so that its timing does not reveal which addresses are known', async () => {
    const email = `${unique('timed')}@brand.example`;
    const { db } = app.context.postgres;
    const person = { id: newId('per', Date.now()), brandId: brand.id, email, name: null, createdAt: new Date() };
    await insertPerson(db, { ...person, role: 'viewer' });
    const mails = db.selectFrom('mails').select('id').where('toEmail', '=', email);
    await db.transaction().execute(async (held) => {
      // No link can be made for this person meanwhile: whoever waits for one is not answered.
      await held.selectFrom('people').select('id').where('id', '=', person.id).forUpdate().execute();
      expect((await requestLink(email)).status).toBe(202);
      expect(await mails.execute()).toEqual([]);
    });
    await until('the mail', async () => (await mails.execute()).length === 1);
  });
});

describe('a session', () => {
  it('may call what a brand key may, and shows who is signed in', async () => {
    expect((await owner.get('/v1/brand')).body.data.id).toBe(brand.id);
    const { body } = await owner.get('/v1/session');
    expect(body.data).toMatchObject({ person: { role: 'owner' }, brand: { id: brand.id } });
  });

  it('accepts no changes from another site’s page, and is not an API key', async () => {
    const foreign = await owner.send('PATCH', '/v1/brand', {}, { 'sec-fetch-site': 'cross-site' });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'CROSS_SITE']);
    const bearer = await call(`${app.url}/v1/brand`, owner.secret);
    expect([bearer.status, bearer.body.code]).toEqual([401, 'INVALID_API_KEY']);
  });

  it('stops at once when it is ended elsewhere, not when its key is read again', async () => {
    const other = await openSession(app.url, await linkOf());
    const { body } = await other.get('/v1/session');
    expect((await owner.send('DELETE', `/v1/sessions/${body.data.id}`)).status).toBe(200);
    await until('the session is refused', async () => (await other.get('/v1/brand')).status === 401);
  });

  it('ends with signing out', async () => {
    const other = await openSession(app.url, await linkOf());
    const out = await other.send('DELETE', '/app/session');
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await other.get('/v1/brand')).status).toBe(401);
  });
});

describe('operations for people only', () => {
  it.each(sessionOperations.map(({ method, path }) => [method, path]))(
    'refuse API keys: %s %s',
    async (method, path) => {
      const key = await brand.key('brand');
      const { status, body } = await send(
        `${app.url}${path.replace('{id}', 'x')}`,
        key,
        method,
        method === 'GET' ? undefined : {},
      );
      expect([status, body.code]).toEqual([403, 'SESSION_REQUIRED']);
    },
  );

  it('are in no published list of operations', () => {
    const published = new Set(operations.map(({ id }) => id));
    for (const { id } of sessionOperations) expect(published.has(id), id).toBe(false);
  });
});

describe('roles', () => {
  it('let a viewer read and change nothing', async () => {
    const viewer = await invite('viewer');
    expect((await viewer.get('/v1/campaigns')).status).toBe(200);
    const { status, body } = await viewer.send('POST', '/v1/campaigns', { name: 'x' });
    expect([status, body.code, body.allowed]).toEqual([403, 'ROLE_REQUIRED', ['owner', 'manager']]);
  });

  it('let a manager work but not manage people, and a lower role or a removal ends the sessions within a second', async () => {
    const manager = await invite('manager');
    expect((await manager.send('POST', '/v1/campaigns', { name: 'x' })).status).toBe(201);
    const email = 'friend@brand.example';
    expect((await manager.send('POST', '/v1/people', { email, role: 'owner' })).body.code).toBe('ROLE_REQUIRED');
    const { person } = (await manager.get('/v1/session')).body.data;
    await owner.send('PATCH', `/v1/people/${person.id}`, { role: 'viewer' });
    await until('no session', async () => (await manager.get('/v1/campaigns')).status === 401);
    const viewer = await signIn(app, brand.id, person.email);
    expect((await viewer.send('POST', '/v1/campaigns', { name: 'y' })).status).toBe(403);
    expect((await owner.send('DELETE', `/v1/people/${person.id}`)).status).toBe(200);
    await until('no session', async () => (await viewer.get('/v1/campaigns')).status === 401);
  });

  it('let only owners record a file of where creators are paid', async () => {
    const manager = await invite('manager');
    const sent = { of: 'payment_details', text: 'email,payment_email\na@x.example,p@x.example\n' };
    const { id } = (await manager.send('POST', '/v1/imports', sent)).body.data;
    for (const [action, body] of [
      ['confirm', { reading_id: 'none' }],
      ['undo', undefined],
    ] as const) {
      const answer = await manager.send('POST', `/v1/imports/${id}/${action}`, body);
      expect([answer.status, answer.body.allowed]).toEqual([403, ['owner']]);
    }
  });

  it('keep imports of the directory from all but owners, and from owners where the operator does not show them', async () => {
    for (const [who, refusal] of [
      [await invite('viewer'), [403, 'ROLE_REQUIRED', ['owner']]],
      [await invite('manager'), [403, 'ROLE_REQUIRED', ['owner']]],
      [owner, [404, 'NOT_FOUND', undefined]],
    ] as const) {
      const { status, body } = await who.get('/v1/directory-imports');
      expect([status, body.code, body.allowed]).toEqual(refusal);
      expect((await who.get('/v1/session')).body.data.sees_imports).toBe(false);
    }
  });

  it('leave a brand its last owner', async () => {
    const { person } = (await owner.get('/v1/session')).body.data;
    expect((await owner.send('PATCH', `/v1/people/${person.id}`, { role: 'viewer' })).status).toBe(409);
    expect((await owner.send('DELETE', `/v1/people/${person.id}`)).status).toBe(409);
  });
});

describe('a key made in the web app', () => {
  it('is shown once, works, is replaced with an overlap and revoked within a second; the audit log names the person', async () => {
    const { status, body } = await owner.send('POST', '/v1/keys', { name: 'website', type: 'brand' });
    expect(status, JSON.stringify(body)).toBe(201);
    const { key, id } = body.data;
    expect((await call(`${app.url}/v1/brand`, key)).status).toBe(200);
    expect(JSON.stringify((await owner.get('/v1/keys')).body)).not.toContain(key);

    const next = (await owner.send('POST', `/v1/keys/${id}/rotate`, { overlap_hours: 1 })).body.data;
    expect((await call(`${app.url}/v1/brand`, key)).status).toBe(200);
    expect((await call(`${app.url}/v1/brand`, next.key)).status).toBe(200);
    const rows = (await owner.get('/v1/keys')).body.data;
    expect(rows.find((row: { id: string }) => row.id === id)).toMatchObject({
      state: 'expiring',
      replaced_by: next.id,
    });

    expect((await owner.send('DELETE', `/v1/keys/${next.id}`)).body.data.state).toBe('revoked');
    await until('it is refused', async () => (await call(`${app.url}/v1/brand`, next.key)).status === 401);
    const { data } = (await owner.get(`/v1/audit-log?resource_id=${next.id}`)).body;
    const { person } = (await owner.get('/v1/session')).body.data;
    expect(data[0]).toMatchObject({ operation: 'revoke_key', person_id: person.id, person_name: person.name });
  });
});
