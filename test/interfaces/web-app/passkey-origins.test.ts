import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { newPasskey } from '../../harness/platform/authenticator.ts';
import { type SignedIn, signIn } from '../../harness/platform/session.ts';

const OWN = 'https://rollcall.example';
let open: TestApp;
let named: TestApp;
let brand: TestBrand;
beforeAll(async () => {
  open = await startApp();
  named = await startApp({ env: { API_URL: `${OWN}/` } });
  brand = await makeBrand(open.context);
});
afterAll(async () => {
  await open?.close();
  await named?.close();
});

async function make(session: SignedIn, host: string, origin: string) {
  const passkey = newPasskey(host);
  const begun = await session.send('POST', '/v1/passkeys/challenge', { origin });
  expect(begun.status, JSON.stringify(begun.body)).toBe(200);
  const { challenge_id, options } = begun.body.data;
  expect(options.rp.id).toBe(host);
  const response = passkey.attest(options.challenge, origin);
  const kept = await session.send('POST', '/v1/passkeys', { name: 'laptop', origin, challenge_id, response });
  expect(kept.status, JSON.stringify(kept.body)).toBe(201);
  return passkey;
}

/** As the page on `origin` signs in. */
async function signInFrom(app: TestApp, passkey: ReturnType<typeof newPasskey>, origin: string) {
  const post = (path: string, body: object) =>
    call(`${app.url}/app/session/passkey${path}`, undefined, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', origin },
      body: JSON.stringify(body),
    });
  const begun = await post('/challenge', {});
  const { challenge_id, options } = begun.body.data;
  const answer = await post('', { challenge_id, response: passkey.assert(options.challenge, origin) });
  return [answer.status, answer.body.code ?? '', answer.headers.has('set-cookie')];
}

describe('a passkey', () => {
  it.each(['http://localhost:9000', 'http://localhost', 'https://localhost:8080', 'http://app.localhost:8080'])(
    'signs in on the origin where it was created, and not on %s',
    async (other) => {
      const passkey = await make(await signIn(open, brand.id), 'localhost', 'http://localhost:8080');
      expect(await signInFrom(open, passkey, other)).toEqual([401, 'INVALID_PASSKEY', false]);
      expect(await signInFrom(open, passkey, 'http://localhost:8080')).toEqual([201, '', true]);
    },
  );

  it('signs in only on the origin of API_URL if that is set', async () => {
    const passkey = await make(await signIn(named, brand.id), 'rollcall.example', OWN);
    expect(await signInFrom(named, passkey, `${OWN}:8443`)).toEqual([401, 'INVALID_PASSKEY', false]);
    expect(await signInFrom(named, passkey, OWN)).toEqual([201, '', true]);
  });

  it('cannot be created on an origin other than that of API_URL', async () => {
    const session = await signIn(named, (await makeBrand(named.context)).id);
    for (const origin of [`${OWN}:8443`, 'http://rollcall.example', 'https://evil.example']) {
      const { status, body } = await session.send('POST', '/v1/passkeys/challenge', { origin });
      expect([status, body.details[0].field]).toEqual([422, 'origin']);
      expect(body.details[0].message).toContain(`must be ${OWN}`);
    }
    expect((await session.get('/v1/passkeys')).body.data).toEqual([]);
  });
});

describe('a session', () => {
  it('adds a passkey only within 15 minutes of signing in, so that who took it keeps nothing, and its person is mailed', async () => {
    const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
    const app = await startApp({ clock });
    try {
      const own = await makeBrand(app.context);
      const [taken, origin] = [await signIn(app, own.id), 'http://localhost:8080'];
      await make(taken, 'localhost', origin);
      const { email } = (await taken.get('/v1/session')).body.data.person;
      const mails = (await mailsOf(app.context, own.id)).filter(({ kind }) => kind === 'passkey_added');
      expect(mails.map(({ to, text }) => [to, text.includes('laptop')])).toEqual([[email, true]]);
      clock.aheadMs = 15 * 60_000;
      const { status, body } = await taken.send('POST', '/v1/passkeys/challenge', { origin });
      expect([status, body.code]).toEqual([403, 'SIGN_IN_AGAIN']);
      await make(await signIn(app, own.id), 'localhost', origin);
    } finally {
      await app.close();
    }
  });

  it('makes no key and no webhook, and invites, promotes and removes nobody later than that; keys of the brand still do', async () => {
    const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
    const app = await startApp({ clock });
    try {
      const own = await makeBrand(app.context);
      const [taken, brandKey] = [await signIn(app, own.id), await own.key('brand')];
      const key = (await taken.send('POST', '/v1/keys', { name: 'shop', type: 'brand' })).body.data;
      const hook = { url: 'https://hooks.example/in', events: ['payout.created'] };
      const webhook = (await taken.send('POST', '/v1/webhooks', hook)).body.data;
      const robin = { email: 'robin@mail.example', role: 'viewer' };
      const person = (await taken.send('POST', '/v1/people', robin)).body.data;
      clock.aheadMs = 15 * 60_000;
      const calls = [
        ['POST', '/v1/keys', { name: 'mine', type: 'brand' }],
        ['POST', `/v1/keys/${key.id}/rotate`, { overlap_hours: 1 }],
        ['POST', '/v1/webhooks', hook],
        ['PATCH', `/v1/webhooks/${webhook.id}`, { url: 'https://thief.example/in' }],
        ['POST', `/v1/webhooks/${webhook.id}/rotate-secret`, {}],
        ['POST', '/v1/people', { email: 'thief@mail.example', role: 'owner' }],
        ['PATCH', `/v1/people/${person.id}`, { role: 'owner' }],
        ['DELETE', `/v1/people/${person.id}`, undefined],
      ] as const;
      for (const [method, path, body] of calls) {
        const refused = await taken.send(method, path, body);
        expect([path, refused.status, refused.body.code]).toEqual([path, 403, 'SIGN_IN_AGAIN']);
      }
      expect((await taken.send('PATCH', `/v1/people/${person.id}`, { name: 'Robin' })).status).toBe(200);
      expect((await send(`${app.url}/v1/webhooks`, brandKey, 'POST', hook)).status).toBe(201);
      const again = await signIn(app, own.id);
      expect((await again.send('DELETE', `/v1/people/${person.id}`)).status).toBe(200);
    } finally {
      await app.close();
    }
  });
});
