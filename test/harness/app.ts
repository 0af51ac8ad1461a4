import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { inject } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { BodyLimits } from '../../src/interfaces/http/bodies.ts';
import { type Balance, sumEntries } from '../../src/kit/access/credits/entries.ts';
import { periodAt } from '../../src/kit/access/credits/period.ts';
import { settle } from '../../src/kit/access/credits/settle.ts';
import { getSubscription, type KeyKind } from '../../src/kit/access/keys/callers.ts';
import type { PlanName, SubscriptionStatus } from '../../src/kit/access/keys/limits.ts';
import type { Context } from '../../src/kit/operation/context.ts';
import type { Clock } from '../../src/kit/values/clock.ts';
import { findFreePort } from '../../src/local/engines/port.ts';
import { createBrand, listSubscriptions, setPlan } from '../../src/platform/brands/brands.ts';
import { createKey } from '../../src/platform/keys/keys.ts';
import { buildApps } from '../../src/process/apps.ts';
import { openContext } from '../../src/process/open-context.ts';
import { deadlineMs } from '../run/deadline.ts';
import { builtClient } from './kit/offered.ts';
import { CHILD_ENV } from './process/child.ts';

export type Engines = ReturnType<typeof engineUrls>;

export function engineUrls() {
  const { postgres, redis, elasticsearch, clickhouse } = inject('engines');
  return { postgres, redis, elasticsearch, clickhouse };
}

/** Of every process of a test run. */
export const SECRET = 'c0ffee00'.repeat(8);

export const unique = (prefix: string): string => `${prefix}-${randomBytes(6).toString('hex')}`;

export interface TestApp {
  url: string;
  /** Where its links host listens. */
  links: string;
  context: Context;
  close(): Promise<void>;
}

/** Of the apps of this process, by both addresses. */
const contexts = new Map<string, Context>();
export const contextOf = (url: string): Context | undefined => contexts.get(url);

/** Whether that URL is the Redis of the tests, and not a proxy that holds it up or a closed port. */
const isSharedRedis = (url: string | undefined) =>
  url === undefined || new URL(url).host === new URL(engineUrls().redis).host;

interface AppOptions {
  alias?: string;
  urls?: Partial<Engines>;
  env?: NodeJS.ProcessEnv;
  clock?: Clock;
  webApp?: string;
  bodyLimits?: BodyLimits;
  redisTimeoutMs?: number;
}

async function openApp(options: AppOptions): Promise<TestApp> {
  const config = readConfig({
    LOG_LEVEL: 'silent',
    ROLLCALL_SECRET: SECRET,
    LINKS_URL: 'https://go.example',
    OUTBOUND_ALLOW: '127.0.0.1',
    DIRECTORY_ALIAS: options.alias ?? unique('none'),
    ...options.env,
  });
  const redisTimeoutMs = options.redisTimeoutMs ?? (isSharedRedis(options.urls?.redis) ? deadlineMs : undefined);
  const { context, close } = openContext(config, { ...engineUrls(), ...options.urls }, options.clock, redisTimeoutMs);
  if (!options.urls?.redis) await Promise.all([context.redis.ready(), context.clicksRedis.ready()]);
  const { webApp, bodyLimits } = options;
  const apps = await buildApps(context, { ...(webApp && { webApp }), ...(bodyLimits && { bodyLimits }) });
  const url = await apps.api.listen({ host: '127.0.0.1', port: 0 });
  const links = await apps.links.listen({ host: '127.0.0.1', port: 0 });
  for (const address of [url, links]) contexts.set(address, context);
  return {
    url,
    links,
    context,
    close: async () => {
      await apps.close();
      await close();
    },
  };
}

/** By the proxies that they trust. They end with the worker. */
const sharedApps = new Map<string, Promise<TestApp>>();

function shareApp(proxies: string): Promise<TestApp> {
  const shared =
    sharedApps.get(proxies) ??
    openApp(proxies === '' ? {} : { env: { TRUSTED_PROXIES: proxies } }).then((app) => ({
      ...app,
      close: async () => {},
    }));
  sharedApps.set(proxies, shared);
  return shared;
}

/**
 * An app of this process on real engines. `urls` points one engine elsewhere, such as to a closed port. It waits for
 * Redis for longer than a second: without Redis it counts alone and loses clicks, which a busy machine must not cause.
 *
 * Files of a worker share an app that has no setting but the proxies that it trusts, because an app costs a second of
 * CPU until its first requests are answered. `isOwn` is for a test of what a process counts, or of its end.
 */
export async function startApp({ isOwn = false, ...options }: AppOptions & { isOwn?: boolean } = {}): Promise<TestApp> {
  const { env = {}, ...rest } = options;
  const { TRUSTED_PROXIES: proxies = '', ...otherEnv } = env;
  const isPlain = Object.keys(rest).length === 0 && Object.keys(otherEnv).length === 0;
  return isPlain && !isOwn ? await shareApp(proxies) : await openApp(options);
}

export interface TestBrand {
  id: string;
  subscriptionIds: Record<KeyKind, string>;
  key(kind: KeyKind): Promise<string>;
}

export async function makeBrand(
  context: Context,
  options: { plan?: PlanName; status?: SubscriptionStatus; credits?: number } = {},
): Promise<TestBrand> {
  const { postgres, redis, clock } = context;
  const plan = options.plan ?? 'growth';
  const id = await createBrand(postgres.db, clock, { name: unique('brand'), plan, status: options.status ?? 'active' });
  const found = await listSubscriptions(postgres.db, id);
  const idOf = (kind: KeyKind) => found.find((subscription) => subscription.kind === kind)?.id ?? '';
  const subscriptionIds = { brand: idOf('brand'), data: idOf('data') };
  if (options.credits !== undefined) {
    const change = { plan, status: options.status, monthlyCredits: options.credits };
    await setPlan({ db: postgres.db, redis, clock }, subscriptionIds.data, change);
  }
  return {
    id,
    subscriptionIds,
    key: async (kind) => {
      const request = { brandId: id, subscriptionId: subscriptionIds[kind], kind, name: 'test' };
      return (await createKey(postgres.db, clock, request)).key;
    },
  };
}

/** Keys of the brand by turns, so that no rate ends a test. */
export async function keysInTurn(brand: TestBrand, count: number, kind: KeyKind = 'brand'): Promise<() => string> {
  const keys: string[] = [];
  // One after the other: on a busy machine the last of many would wait too long for a connection.
  while (keys.length < count) keys.push(await brand.key(kind));
  let turn = 0;
  return () => {
    turn += 1;
    return keys[turn % count] ?? '';
  };
}

/** The ledger's balance of the brand's current period, once every charge on its way is in it. */
export async function ledgerOf({ postgres, redis, clock }: Context, brand: TestBrand): Promise<Balance> {
  const id = brand.subscriptionIds.data;
  await settle({ db: postgres.db, redis, clock }, [id]);
  const { anchorAt } = await getSubscription(postgres.db, id);
  return await sumEntries(postgres.db, id, periodAt(anchorAt, clock.now()).start);
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's body is what the test is about to check.
  body: any;
}

export async function call(url: string, key?: string, init: RequestInit = {}): Promise<Answer> {
  const headers = new Headers(init.headers);
  if (key) headers.set('authorization', `Bearer ${key}`);
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
}

/** A call whose body, where it has one, is JSON. */
export async function send(
  url: string,
  key: string,
  method: string,
  body?: unknown,
  more: object = {},
): Promise<Answer> {
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...more } };
  return await call(url, key, { method, ...(body === undefined ? { headers: { ...more } } : json) });
}

const TRIES = 5;

/** What a POST made. Like a client, it comes again where a busy machine had no connection for it. */
export async function made(url: string, key: string, input: object): Promise<Answer['body']> {
  let { status, body } = await send(url, key, 'POST', input);
  for (let tries = 1; status === 503 && tries < TRIES; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    ({ status, body } = await send(url, key, 'POST', input));
  }
  if (status !== 201) throw new Error(`POST ${url} answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

/**
 * Resolves when `probe` is true; fails after `withinMs`, naming what it waited for. A key may probe the API for 15 s
 * without exceeding 100 calls a minute; a probe that may take longer must return false for a 429.
 */
export async function until(
  what: string,
  probe: () => Promise<boolean> | boolean,
  withinMs = deadlineMs,
): Promise<void> {
  const end = performance.now() + withinMs;
  for (let pauseMs = 20; !(await probe()); pauseMs = Math.min(pauseMs * 1.2, 200)) {
    if (performance.now() > end) throw new Error(`Waited ${withinMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Repeats `work` in several loops while `body` runs. All have ended when this returns, also when one of them fails. */
export async function meanwhile(loops: number, work: () => Promise<unknown>, body: () => Promise<void>): Promise<void> {
  let isOver = false;
  const looping = Array.from({ length: loops }, async () => {
    while (!isOver) await work();
  });
  const done = body().finally(() => {
    isOver = true;
  });
  await Promise.allSettled([done, ...looping]);
  await Promise.all([done, ...looping]);
}

export interface RollcallProcess {
  child: ChildProcess;
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
}

export interface ServerProcess extends RollcallProcess {
  url: string;
}

/** A script of ours as a process of its own, on the test's engines. `said` is what it wrote to stderr. */
export function startScript(
  script: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): RollcallProcess & { said(): string } {
  const { postgres, redis, elasticsearch, clickhouse } = engineUrls();
  const child = spawn(process.execPath, [script, ...args], {
    env: {
      ...CHILD_ENV,
      LOG_LEVEL: 'error',
      ROLLCALL_SECRET: SECRET,
      OUTBOUND_ALLOW: '127.0.0.1',
      ASSETS_URL: 'local',
      SMTP_URL: 'local',
      DATABASE_URL: postgres,
      REDIS_URL: redis,
      ELASTICSEARCH_URL: elasticsearch,
      CLICKHOUSE_URL: clickhouse,
      ...env,
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
  return { child, said: () => log, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

/** `node src/server.ts` as a process of its own, on the test's engines. */
export async function startServer(alias: string, env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  // Otherwise each of the run's servers would build it in its first seconds.
  await builtClient();
  const port = await findFreePort();
  const ports = { PORT: String(port), LINKS_PORT: '0' };
  const server = startScript('src/server.ts', { ...ports, DIRECTORY_ALIAS: alias, ...env });
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => {
    if (server.child.exitCode !== null) throw new Error(`The server ended: ${server.said()}`);
    return await fetch(`${url}/healthz`).then(
      (answer) => answer.ok,
      () => false,
    );
  };
  await until(`the server on ${url}`, isUp).catch(async (error: unknown) => {
    await server.kill();
    throw error;
  });
  return { ...server, url };
}

/** `node src/worker.ts` as a process of its own, on the test's engines. */
export async function startWorkerProcess(alias: string, env: NodeJS.ProcessEnv = {}): Promise<RollcallProcess> {
  const worker = startScript('src/worker.ts', { DIRECTORY_ALIAS: alias, ...env });
  const isUp = () => {
    if (worker.child.exitCode !== null) throw new Error(`The worker ended: ${worker.said()}`);
    return worker.said().includes('worker started');
  };
  await until('the worker', isUp).catch(async (error: unknown) => {
    await worker.kill();
    throw error;
  });
  return worker;
}
