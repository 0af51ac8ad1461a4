import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPostgres } from '../../src/kit/engines/postgres/open.ts';
import { openParts } from '../../src/kit/outbox/parts.ts';
import { openRelay } from '../../src/kit/outbox/relay.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { openDue } from '../../src/kit/values/due.ts';
import { engineUrls, SECRET, startApp, startScript, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';

const BRANDS = 1_000;
const WORKERS = 4;
const PARTS = 64;

let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await makeDatabase('parts');
  app = await startApp({ urls: { postgres: database.url } });
  const session = await database.open();
  await session.query(
    "insert into brands (id, name, created_at) select 'brd_' || n, 'Brand ' || n, now() from generate_series(1, $1) n",
    [BRANDS],
  );
  await session.end();
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** Adds an event to every brand. */
async function emitAll(): Promise<void> {
  const session = await database.open();
  await session.query(`
    with moved as (update outbox_numbers set version = version + 1, seq = seq + 1, moved_at = now() returning brand_id, seq)
    insert into outbox (brand_id, seq, id, event, data, created_at)
    select brand_id, seq, 'evt_' || brand_id || '_' || seq, 'roster.creator_added', '{}', now() from moved`);
  await session.end();
}

/** A worker's relay of one consumer, with a pool of its own. */
function openWorker(name: string) {
  const postgres = openPostgres(database.url, { max: 3 });
  const { db } = postgres;
  const parts = openParts(db);
  let delivered = 0;
  const consumer = {
    name,
    deliver: async (events: readonly unknown[]) => {
      delivered += events.length;
    },
  };
  const pass = openRelay({ db, consumer, log: app.context.log, due: openDue(systemClock), parts });
  return { parts, pass: () => pass(), close: () => postgres.close(), delivered: () => delivered };
}

/** Every worker's share of the parts. */
async function sharesOf(workers: readonly { parts: { held(): Promise<readonly number[]> } }[]): Promise<number[]> {
  return (await Promise.all(workers.map(({ parts }) => parts.held()))).map(({ length }) => length);
}

async function commits(): Promise<number> {
  const session = await database.open();
  const { rows } = await session.query(
    'select xact_commit::int as count from pg_stat_database where datname = current_database()',
  );
  await session.end();
  return rows[0].count;
}

it('Four workers share the brands, and together need one transaction for each brand with events', async () => {
  const workers = Array.from({ length: WORKERS }, () => openWorker('shared'));
  await until('equal shares', async () => (await sharesOf(workers)).every((size) => size === PARTS / WORKERS));
  await emitAll();
  const before = await commits();
  const relayed = () => workers.reduce((sum, { delivered }) => sum + delivered(), 0);
  while (relayed() < BRANDS) await Promise.all(workers.map(({ pass }) => pass()));
  await Promise.all(workers.map(({ close }) => close()));
  await until('the closed sessions to be counted', async () => (await commits()) - before >= BRANDS);
  const count = (await commits()) - before;
  process.stderr.write(`${WORKERS} workers: ${count} transactions for ${BRANDS} brands\n`);
  expect(relayed()).toBe(BRANDS);
  expect(count).toBeLessThan(1.5 * BRANDS);
  const session = await database.open();
  await session.query('update relay_parts set holder = null, held_until = null');
  await session.query('delete from relay_workers');
  await session.end();
});

it('A worker that is killed loses its brands to the others, and one that stops gives them back at once', async () => {
  const { redis, elasticsearch, clickhouse } = engineUrls();
  const env = {
    ...{ ROLLCALL_SECRET: SECRET, LOG_LEVEL: 'silent', ASSETS_URL: 'local', SMTP_URL: 'local' },
    ...{ DATABASE_URL: database.url, REDIS_URL: redis, ELASTICSEARCH_URL: elasticsearch, CLICKHOUSE_URL: clickhouse },
  };
  const session = await database.open();
  const held = async () => {
    const { rows } = await session.query('select count(*)::int as count from relay_parts where held_until > now()');
    return rows[0].count;
  };
  const killed = startScript('test/harness/platform/relay-process.ts', env, ['http://127.0.0.1:1/', 'parts']);
  await until('the first worker to hold every part', async () => (await held()) === PARTS);
  await killed.kill();
  const second = openWorker('after-a-kill');
  const from = performance.now();
  await until('the second to hold every part', async () => (await second.parts.held()).length === PARTS);
  process.stderr.write(`taken over after ${Math.round(performance.now() - from)} ms\n`);
  await second.pass();
  expect(second.delivered()).toBe(BRANDS);
  await second.parts.release();
  expect(await held()).toBe(0);
  await second.close();
  await session.end();
});
