import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../src/kit/values/duration.ts';
import { seeded } from '../../harness/affiliates/store-life.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { randomRuns, testSeed } from '../../harness/kit/random-runs.ts';
import { signIn } from '../../harness/platform/session.ts';
import { BEHIND_PROXY, someAddress } from '../../harness/workflow/applying.ts';

const RETURN = 'http://localhost:3118/callback';
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;

let database: TestDatabase;
let redis: string;
let app: TestApp;
let brand: TestBrand;
let laterMs = 0;
const clock = { now: () => new Date(Date.now() + laterMs) };
const start = () => startApp({ clock, env: BEHIND_PROXY, urls: { postgres: database.url, redis } });

beforeAll(async () => {
  database = await makeDatabase('grants');
  redis = ownRedis();
  app = await start();
  brand = await makeBrand(app.context);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const random = seeded(testSeed);
const between = (from: number, to: number) => from + random() * (to - from);

/** The process ends with what it had in memory, and another takes its place. */
async function restart(): Promise<void> {
  await app.close();
  app = await start();
}

/** A week passes within a minute, and an address has a limit for each. */
const fromElsewhere = () => ({ 'x-forwarded-for': someAddress() });

async function exchange(fields: Record<string, string>) {
  const body = new URLSearchParams(fields);
  return await call(`${app.url}/oauth/token`, undefined, { method: 'POST', body, headers: fromElsewhere() });
}

/** What the sessions of a host keep between them. */
interface Kept {
  access: string;
  refresh: string;
  endsAt: number;
}

const now = () => clock.now().getTime();
const toKept = ({ access_token, refresh_token, expires_in }: Record<string, string>): Kept => ({
  access: access_token ?? '',
  refresh: refresh_token ?? '',
  endsAt: now() + Number(expires_in) * 1_000,
});

async function consent() {
  const owner = await signIn(app, brand.id);
  const register = { client_name: 'A host', redirect_uris: [RETURN] };
  const { body } = await send(`${app.url}/oauth/register`, '', 'POST', register, fromElsewhere());
  const verifier = randomBytes(32).toString('base64url');
  const query = {
    ...{ client_id: body.client_id, redirect_uri: RETURN, response_type: 'code', code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  };
  const pressed = await call(`${app.url}/oauth/authorize?${new URLSearchParams(query)}`, undefined, {
    method: 'POST',
    body: new URLSearchParams({ decision: 'allow', campaigns: 'yes' }),
    headers: { cookie: `rollcall=${owner.secret}`, 'sec-fetch-site': 'same-origin' },
    redirect: 'manual',
  });
  const code = new URL(pressed.headers.get('location') ?? 'none:').searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: RETURN, code_verifier: verifier };
  const tokens = await exchange({ ...form, client_id: body.client_id });
  return { clientId: String(body.client_id), kept: toKept(tokens.body) };
}

async function isLive(token: string): Promise<boolean> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_campaigns', arguments: {} } };
  const { status } = await send(`${app.url}/mcp`, token, 'POST', message);
  if (status !== 200 && status !== 401) throw new Error(`A call was answered with ${status}.`);
  return status === 200;
}

/** The sessions of a host refresh before an hour is over. */
const REFRESH_AFTER_MS = 57 * MINUTE_MS;
const SESSIONS = 5;

/**
 * What a host does once an hour: its sessions refresh within a second, some of their answers are lost with the connection
 * or the session, and those come again with the same token, up to nine and a half minutes after the first.
 */
async function refreshFromSessions(clientId: string, kept: Kept): Promise<Kept[]> {
  const refresh = async () => {
    const { status, body } = await exchange({
      grant_type: 'refresh_token',
      refresh_token: kept.refresh,
      client_id: clientId,
    });
    expect([status, body.error]).toEqual([200, undefined]);
    return toKept(body);
  };
  const answers = await Promise.all(Array.from({ length: SESSIONS }, refresh));
  const arrived = answers.filter(() => random() > 0.3);
  const from = now();
  for (let lost = SESSIONS - arrived.length; lost > 0 || arrived.length === 0; lost -= 1) {
    if (random() < 0.05) await restart();
    const latest = from + 9.5 * MINUTE_MS;
    laterMs += Math.max(0, between(0, latest - now()));
    arrived.push(await refresh());
  }
  return arrived;
}

test('Five sessions of a host that share one grant work for a week on one consent, although answers are lost and the server ends', async () => {
  const { clientId, kept } = await consent();
  const from = now();
  let rounds = 0;
  let stored = kept;
  while (now() - from < WEEK_MS) {
    laterMs += Math.max(0, stored.endsAt - 3 * MINUTE_MS - now());
    const arrived = await refreshFromSessions(clientId, stored);
    expect(new Set(arrived.map(({ refresh }) => refresh)).size).toBe(1);
    // Each session has the token of its own answer; a key's rate lets a test try one of them.
    const tried = arrived[Math.floor(random() * arrived.length)];
    if (rounds % 3 === 0) expect(await isLive(tried?.access ?? '')).toBe(true);
    stored = arrived.at(-1) ?? stored;
    rounds += 1;
    if (rounds % 24 === 0) await restart();
  }
  expect(rounds).toBeGreaterThan(150);
  expect(await isLive(stored.access)).toBe(true);
});

/** Steals a host's refresh token after so long, and returns how long both went on until nobody had access. */
async function steal(afterMs: number): Promise<number> {
  const { clientId, kept } = await consent();
  const refresh = (refresh_token: string) =>
    exchange({ grant_type: 'refresh_token', refresh_token, client_id: clientId });
  laterMs += afterMs;
  const usedAt = now();
  const thief = { dueAt: now(), kept };
  const host = { dueAt: now() - afterMs + REFRESH_AFTER_MS, kept };
  for (;;) {
    const next = thief.dueAt < host.dueAt ? thief : host;
    laterMs += Math.max(0, next.dueAt - now());
    const { status, body } = await refresh(next.kept.refresh);
    if (status === 400) break;
    next.kept = toKept(body);
    next.dueAt = now() + REFRESH_AFTER_MS;
    if (now() - usedAt > 24 * HOUR_MS) return now() - usedAt;
  }
  for (const { kept: last } of [thief, host]) {
    await expect.poll(() => isLive(last.access)).toBe(false);
    expect((await refresh(last.refresh)).status).toBe(400);
  }
  return now() - usedAt;
}

test('A stolen refresh token is noticed within two hours, unless the thief comes within the same ten minutes as the host', async () => {
  const runs = randomRuns(30);
  for (let i = 0; i < runs; i += 1) {
    // The host refreshes after 57 minutes; a thief who comes less than ten before is one of its sessions.
    expect(await steal(between(0, REFRESH_AFTER_MS - 10 * MINUTE_MS - 1_000))).toBeLessThanOrEqual(2 * HOUR_MS);
  }
});
