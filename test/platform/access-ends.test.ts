import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSignInPath } from '../../src/platform/people/sessions.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { newPasskey } from '../harness/platform/authenticator.ts';
import { openSession, type SignedIn, signIn } from '../harness/platform/session.ts';

const RETURN = 'https://host.example/callback';
const ORIGIN = 'http://localhost:8080';

/** Two processes: what one of them ends must end on the other, which has the credentials in its memory. */
let app: TestApp;
let other: TestApp;
let brand: TestBrand;
let boss: SignedIn;
beforeAll(async () => {
  // The limit of an address on `/oauth` would count what other files send.
  const urls = { redis: ownRedis() };
  [app, other] = [await startApp({ urls }), await startApp({ urls })];
  brand = await makeBrand(app.context);
  boss = await signIn(app, brand.id);
});
afterAll(async () => {
  await app?.close();
  await other?.close();
});

/** Uses a credential on the other process: true while it works. */
type Try = () => Promise<boolean>;

async function consent(session: SignedIn) {
  const post = (path: string, body: URLSearchParams, more: Record<string, string> = {}) =>
    call(`${app.url}${path}`, undefined, { method: 'POST', body, headers: more, redirect: 'manual' });
  const client = await send(`${app.url}/oauth/register`, '', 'POST', {
    client_name: unique('host'),
    redirect_uris: [RETURN],
  });
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: client.body.client_id,
    redirect_uri: RETURN,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const cookie = { cookie: `rollcall=${session.secret}`, 'sec-fetch-site': 'same-origin' };
  const form = new URLSearchParams({ decision: 'allow', campaigns: 'yes' });
  const { headers } = await post(`/oauth/authorize?${query}`, form, cookie);
  const code = new URL(headers.get('location') ?? 'none:').searchParams.get('code') ?? '';
  const token = (fields: Record<string, string>) =>
    call(`${other.url}/oauth/token`, undefined, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.body.client_id, ...fields }),
    });
  const grant = { grant_type: 'authorization_code', code, redirect_uri: RETURN, code_verifier: verifier };
  return { token, redeem: () => token(grant) };
}

const useAgent = async (url: string, token: string, name: string, args: object) =>
  await send(
    `${url}/mcp`,
    token,
    'POST',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    { accept: 'application/json, text/event-stream' },
  );

/** Every table that holds a credential of a person, and how to make and try one. */
const CREDENTIALS: Readonly<Record<string, (session: SignedIn, personId: string) => Promise<Try[]>>> = {
  api_keys: async ({ secret }) => [
    async () =>
      (await call(`${other.url}/v1/brand`, undefined, { headers: { cookie: `rollcall=${secret}` } })).status === 200,
  ],
  agent_grants: async (session) => {
    const unused = await consent(session);
    const { token, redeem } = await consent(session);
    const { access_token, refresh_token } = (await redeem()).body;
    const first = { grant_type: 'refresh_token', refresh_token };
    let refreshed = { access_token, refresh_token };
    return [
      // A host's other session repeats a token within some minutes.
      atTheEnd(async () => (await token(first)).status === 200),
      async () => (await useAgent(other.url, access_token, 'list_campaigns', {})).status === 200,
      async () => (await useAgent(other.url, refreshed.access_token, 'list_campaigns', {})).status === 200,
      async () => {
        const { status, body } = await token({
          grant_type: 'refresh_token',
          refresh_token: refreshed.refresh_token,
        });
        if (status === 200) refreshed = body;
        return status === 200;
      },
      // A code works once, so it is tried only at the end.
      atTheEnd(async () => (await unused.redeem()).status === 200),
    ];
  },
  // Those of agents are tried with their grants.
  access_tokens: async () => [],
  spent_refresh_tokens: async () => [],
  sign_in_links: async (_, personId) => {
    const { postgres, clock } = app.context;
    const path = await createSignInPath(postgres.db, clock.now(), { brandId: brand.id, personId });
    return [
      atTheEnd(
        async () =>
          await openSession(other.url, path.split('#')[1] ?? '').then(
            () => true,
            () => false,
          ),
      ),
    ];
  },
  passkeys: async (session) => {
    const passkey = newPasskey('localhost');
    const { body } = await session.send('POST', '/v1/passkeys/challenge', { origin: ORIGIN });
    const { challenge_id, options } = body.data;
    const response = passkey.attest(options.challenge, ORIGIN);
    await session.send('POST', '/v1/passkeys', { name: 'laptop', origin: ORIGIN, challenge_id, response });
    return [];
  },
  passkey_challenges: async (session) => {
    const { body } = await session.send('POST', '/v1/passkeys/challenge', { origin: ORIGIN });
    const passkey = newPasskey('localhost');
    const { challenge_id, options } = body.data;
    const response = passkey.attest(options.challenge, ORIGIN);
    const kept = { name: 'other', origin: ORIGIN, challenge_id, response };
    return [atTheEnd(async () => (await session.send('POST', '/v1/passkeys', kept)).status === 201)];
  },
  plans: async (session) => {
    const { redeem } = await consent(session);
    const { access_token } = (await redeem()).body;
    await useAgent(app.url, access_token, 'create_campaign', { name: 'x', mode: 'plan' });
    const byAgent = await boss.get('/v1/plans?status=open&limit=1');
    const own = await session.send('POST', '/v1/campaigns?mode=plan', { name: 'y' });
    const ids = [byAgent.body.data[0].id, own.body.plan_id];
    expect(ids.every((id) => typeof id === 'string')).toBe(true);
    return ids.map((id) => async () => (await boss.get(`/v1/plans/${id}`)).body.data.status === 'open');
  },
};

/** Tables that know people or keys, but let nobody in. */
const RECORDS = new Set([
  ...['saved_searches', 'saved_search_looks', 'credit_entries', 'credit_entries_rest', 'idempotency_keys', 'audit_log'],
  ...['imports', 'jobs', 'saved_search_known', 'saved_search_matches'],
]);

const ends = new WeakSet<Try>();
function atTheEnd(attempt: Try): Try {
  ends.add(attempt);
  return attempt;
}

async function invite(role: 'owner' | 'manager') {
  const email = `${unique('person')}@brand.example`;
  const { body } = await boss.send('POST', '/v1/people', { email, role });
  return { id: String(body.data.id), session: await openSession(app.url, body.data.sign_in_path.split('#')[1]) };
}

async function openAll() {
  const person = await invite('owner');
  const tries: Try[] = [];
  for (const make of Object.values(CREDENTIALS)) tries.push(...(await make(person.session, person.id)));
  for (const attempt of tries) if (!ends.has(attempt)) expect(await attempt(), String(attempt)).toBe(true);
  return { ...person, tries };
}

const WITHIN_MS = 5_000;

async function expectAllEnded(tries: readonly Try[]): Promise<void> {
  const until = performance.now() + WITHIN_MS;
  for (const attempt of tries.filter((one) => !ends.has(one))) {
    await expect
      .poll(attempt, { timeout: Math.max(1_000, until - performance.now()), message: String(attempt) })
      .toBe(false);
  }
  for (const attempt of tries) expect(await attempt(), String(attempt)).toBe(false);
}

describe('access', () => {
  it('has its kinds in these tables, and in no other that knows a person or a key', async () => {
    // Whatever leads to a person or a key, in however many steps, and what names one without a reference.
    const { rows } = await sql<{ tableName: string }>`
      with recursive led as (
        select conrelid as id from pg_constraint
        where contype = 'f' and confrelid in ('people'::regclass, 'api_keys'::regclass)
        union
        select constrained.conrelid from pg_constraint as constrained join led on constrained.confrelid = led.id
        where constrained.contype = 'f'
      )
      select id::regclass::text as table_name from led
      union
      select table_name from information_schema.columns
      where table_schema = 'public' and column_name ~ '(^|_)(person|owner|user|member|key|grant|session)_id$'
      order by 1`.execute(app.context.postgres.db);
    const known = new Set([...Object.keys(CREDENTIALS), ...RECORDS]);
    expect(rows.map(({ tableName }) => tableName).filter((name) => !known.has(name))).toEqual([]);
  });

  it.each([
    ['is removed', (id: string) => boss.send('DELETE', `/v1/people/${id}`)],
    ['gets a lower role', (id: string) => boss.send('PATCH', `/v1/people/${id}`, { role: 'viewer' })],
    ['leaves the brand', (id: string, own: SignedIn) => own.send('DELETE', `/v1/people/${id}`)],
  ] as const)('of every kind ends within five seconds on every process when a person %s', async (_, end) => {
    const { id, session, tries } = await openAll();
    expect((await end(id, session)).status).toBe(200);
    await expectAllEnded(tries);
  });

  it('of every kind but the session that removes a passkey ends with that passkey', async () => {
    const { session, id, tries } = await openAll();
    const away = await openSession(
      app.url,
      (
        await createSignInPath(app.context.postgres.db, app.context.clock.now(), { brandId: brand.id, personId: id })
      ).split('#')[1] ?? '',
    );
    const [passkey] = (await away.get('/v1/passkeys')).body.data;
    expect((await away.send('DELETE', `/v1/passkeys/${passkey.id}`)).status).toBe(200);
    await expectAllEnded(tries);
    expect([(await away.get('/v1/brand')).status, (await session.get('/v1/brand')).status]).toEqual([200, 401]);
  });

  it('of an agent ends with the role of the owner who let it in, even if nothing ended it', async () => {
    const { id, session } = await invite('owner');
    const { redeem, token } = await consent(session);
    const { access_token, refresh_token } = (await redeem()).body;
    const { redeem: redeemLater } = await consent(session);
    await sql`update people set role = 'manager' where id = ${id}`.execute(app.context.postgres.db);
    const fresh = await startApp();
    expect((await useAgent(fresh.url, access_token, 'list_campaigns', {})).status).toBe(401);
    await fresh.close();
    expect((await token({ grant_type: 'refresh_token', refresh_token })).status).toBe(400);
    expect((await redeemLater()).status).toBe(400);
  });
});
