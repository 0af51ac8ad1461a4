import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seeded } from '../harness/affiliates/store-life.ts';
import {
  call,
  keysInTurn,
  ledgerOf,
  makeBrand,
  type ServerProcess,
  startApp,
  startServer,
  type TestApp,
  unique,
  until,
} from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { testSeed } from '../harness/kit/random-runs.ts';

const alias = unique('paidmany');
const random = seeded(testSeed);
let app: TestApp;
const servers: ServerProcess[] = [];

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2), creator(3)]);
  servers.push(...(await Promise.all([startServer(alias), startServer(alias), startServer(alias)])));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await app?.close();
});

const SEARCHES = 1_000;
const CONNECTIONS = 64;
const KILLS = 3;

/** A process is killed, and another takes its place. */
async function replaceServer(place: number): Promise<void> {
  await servers[place]?.kill();
  servers[place] = await startServer(alias);
}

it('1,000 searches, each sent one to four times in any order over 64 connections to three processes that are killed, cost each different search once', async () => {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000_000 });
  const nextKey = await keysInTurn(brand, 100, 'data');
  const searches = Array.from({ length: SEARCHES }, (_, i) => ({ i, key: nextKey() }));
  const sent = searches
    .flatMap((search) => Array.from({ length: 1 + Math.floor(random() * 4) }, () => search))
    .map((search) => ({ search, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ search }) => search);
  let answered = 0;
  let paid = 0;

  /** Sends a search until it is answered: a process may die under it, after it paid. */
  async function ask({ i, key }: (typeof searches)[number]): Promise<void> {
    for (;;) {
      const { url = '' } = servers[Math.floor(random() * servers.length)] ?? {};
      const path = `/v1/creators/search?limit=1&follower_min=${i}`;
      const id = { 'idempotency-key': `many-${i}` };
      const answer = await call(`${url}${path}`, key, { headers: id }).catch(() => undefined);
      if (answer?.status === 200) {
        paid += answer.headers.get('x-credits-charged') === '10' ? 1 : 0;
        break;
      }
      if (answer && ![429, 503].includes(answer.status))
        throw new Error(`A search was answered with ${answer.status}.`);
      // As a client does before it comes again.
      await pause(200);
    }
    answered += 1;
  }

  const queue = sent.values();
  const connection = async () => {
    for (const search of queue) await ask(search);
  };
  const killing = async () => {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until('searches to be answered', () => answered >= (sent.length * kill) / (KILLS + 1));
      await replaceServer(kill % servers.length);
    }
  };
  await Promise.all([killing(), ...Array.from({ length: CONNECTIONS }, connection)]);
  expect(answered).toBe(sent.length);
  // An answer that says what was paid may be lost with its process.
  expect(paid).toBeLessThanOrEqual(SEARCHES);
  const { charged, refunded } = await ledgerOf(app.context, brand);
  expect(charged - refunded).toBe(SEARCHES * 10);
});
