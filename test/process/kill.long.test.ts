import { once } from 'node:events';
import { createServer } from 'node:http';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { inWork } from '../../src/kit/operation/work.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import {
  type Answer,
  call,
  made,
  makeBrand,
  type RollcallProcess,
  type ServerProcess,
  send,
  startApp,
  startScript,
  startServer,
  startWorkerProcess,
  type TestApp,
  unique,
  until,
} from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { rosterEvent } from '../harness/platform/events.ts';
import { answering, startProvider } from '../harness/workflow/provider.ts';

const alias = unique('kill');
/** Relays and profiles are for all brands, and these tests lock whole tables. */
let database: TestDatabase;
let session: pg.Client;
let app: TestApp;
/** Of the processes that are killed: their queues are no other test's. */
let env: NodeJS.ProcessEnv;
const running: RollcallProcess[] = [];

beforeAll(async () => {
  database = await makeDatabase('kill');
  app = await startApp({ alias, urls: { postgres: database.url } });
  session = await database.open();
  env = { DATABASE_URL: database.url, REDIS_URL: ownRedis() };
});
afterAll(async () => {
  for (const process of running) await process.kill();
  await session?.end();
  await app?.close();
  await database?.drop();
});

async function serve(): Promise<ServerProcess> {
  const server = await startServer(alias, env);
  running.push(server);
  return server;
}

/** Starts a server and warms its cache of keys, because some of many that are read at once would wait too long. */
async function serveTo(keys: readonly string[]): Promise<ServerProcess> {
  const server = await serve();
  for (const key of keys) await call(`${server.url}/v1/brand`, key);
  return server;
}

/** `count` keys of a brand: more calls than one key may make. */
async function keysOf(brand: Awaited<ReturnType<typeof makeBrand>>, count: number): Promise<string[]> {
  return await Promise.all(Array.from({ length: count }, () => brand.key('brand')));
}

const create = (server: ServerProcess, key: string, name: string) =>
  send(`${server.url}/v1/campaigns`, key, 'POST', { name }, { 'idempotency-key': name });
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

async function titlesOf(brandId: string): Promise<string[]> {
  const { rows } = await session.query<{ title: string }>('select title from campaigns where brand_id = $1', [brandId]);
  return rows.map(({ title }) => title);
}

describe('the API process, killed with kill -9', () => {
  it('under a load of idempotent calls creates exactly one campaign per retried call, with the original answer', async () => {
    const brand = await makeBrand(app.context);
    const keys = await keysOf(brand, 30);
    const answered = new Map<string, unknown>();
    const attempted: string[] = [];
    let server = await serveTo(keys);
    for (let round = 0; round < 3; round += 1) {
      let given = 0;
      const caller = async (i: number): Promise<void> => {
        for (let n = 0; ; n += 1) {
          const name = `r${round}-${i}-${n}`;
          attempted.push(name);
          const key = keys[(i + n) % keys.length] ?? '';
          // Twins: whichever is first, both must get the one answer.
          const twins = await Promise.allSettled([create(server, key, name), create(server, key, name)]);
          for (const twin of twins) {
            if (twin.status === 'rejected') return;
            expect(twin.value.status).toBe(201);
            answered.set(name, twin.value.body);
            given += 1;
          }
        }
      };
      const kill = async () => {
        await until('calls to be answered', () => given > 60);
        await server.kill();
      };
      await Promise.all([kill(), ...Array.from({ length: 12 }, (_, i) => caller(i))]);
      server = await serveTo(keys);
    }
    const unanswered = attempted.filter((name) => !answered.has(name));
    expect(unanswered.length).toBeGreaterThan(0);
    // As many at once as before: a brand's changes take turns, and hundreds of them would wait too long for theirs.
    const retries = attempted.entries();
    const retry = async (): Promise<void> => {
      for (const [i, name] of retries) {
        const answer = await create(server, keys[i % keys.length] ?? '', name);
        expect([answer.status, answer.body.data?.title]).toEqual([201, name]);
        if (!answered.has(name)) continue;
        expect(answer.body).toEqual(answered.get(name));
        expect(isReplay(answer)).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: 12 }, retry));
    expect((await titlesOf(brand.id)).sort()).toEqual([...attempted].sort());
    await server.stop();
  });

  /** Kills the server while its one call waits for a lock that `hold` takes, then lets go. */
  async function killWhileLocked(name: string, key: string, hold: () => Promise<unknown>): Promise<void> {
    const server = await serve();
    await session.query('begin');
    await hold();
    const lost = expect(create(server, key, name)).rejects.toThrow();
    await until('the call to wait for the lock', async () => {
      // Within a transaction, PostgreSQL lists the connections of the first look again and again.
      await session.query('select pg_stat_clear_snapshot()');
      const { rows } = await session.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    await server.kill();
    await lost;
    await session.query('commit');
  }

  it('before its commit leaves nothing of the call, and the retry creates the campaign', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    await killWhileLocked('early', key, () => session.query('lock table audit_log in exclusive mode'));
    expect(await titlesOf(brand.id)).toEqual([]);
    const server = await serve();
    const retry = await create(server, key, 'early');
    expect([retry.status, isReplay(retry)]).toEqual([201, false]);
    expect(await titlesOf(brand.id)).toEqual(['early']);
    await server.stop();
  });

  it('between its commit and its answer lets the retry get the answer of the created campaign', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    await session.query(`
      create function wait_at_commit() returns trigger language plpgsql
        as 'begin perform pg_advisory_xact_lock(7); return null; end';
      create constraint trigger wait_at_commit after insert on campaigns deferrable initially deferred
        for each row execute function wait_at_commit()`);
    await killWhileLocked('late', key, () => session.query('select pg_advisory_xact_lock(7)'));
    await until('the commit', async () => (await titlesOf(brand.id)).length === 1);
    await session.query('drop trigger wait_at_commit on campaigns');
    const server = await serve();
    const retry = await create(server, key, 'late');
    expect([retry.status, retry.body.data.title, isReplay(retry)]).toEqual([201, 'late', true]);
    expect(await titlesOf(brand.id)).toEqual(['late']);
    await server.stop();
  });
});

/** How far `consumer` has come in each brand, and the brand's last event. */
async function positions(consumer: string): Promise<Map<string, { at: number; head: number }>> {
  const { rows } = await session.query<{ brand_id: string; at: string; head: string }>(
    `select head.brand_id, coalesce(position.seq, 0) as at, head.seq as head from outbox_numbers head
     left join outbox_positions position on position.brand_id = head.brand_id and position.consumer = $1`,
    [consumer],
  );
  return new Map(rows.map(({ brand_id, at, head }) => [brand_id, { at: Number(at), head: Number(head) }]));
}

const isAtHead = async (consumer: string) =>
  [...(await positions(consumer)).values()].every(({ at, head }) => at === head);

describe('the worker process, killed with kill -9 while it relays,', () => {
  it('looks up every added creator, loses no position, and leaves nothing stuck', async () => {
    const provider = await startProvider();
    const requested: string[] = [];
    provider.answer = (request, response) => {
      requested.push(request.url?.split('/').at(-1) ?? '');
      setTimeout(() => answering({ followers: 5 })(request, response), 10);
    };
    const handles: string[] = [];
    for (let b = 0; b < 3; b += 1) {
      const keys = await keysOf(await makeBrand(app.context), 2);
      const mine = Array.from({ length: 60 }, () => unique('h'));
      handles.push(...mine);
      // A brand's changes take turns: more of them at once than its turns fill in two seconds would be answered 503.
      const add = async (key: string, handles: string[]) => {
        for (const ig_handle of handles) await made(`${app.url}/v1/roster/add`, key, { ig_handle });
      };
      await Promise.all(
        keys.flatMap((key, k) => [0, 1, 2].map((n) => add(key, mine.slice((k * 3 + n) * 10).slice(0, 10)))),
      );
    }
    const more = { ...env, PROFILE_PROVIDER_URL: provider.url };
    let before = await positions('profiles');
    for (const kills of [1, 2, 3]) {
      const worker = await startWorkerProcess(alias, more);
      running.push(worker);
      await until('profiles to be asked for', () => requested.length >= kills * 40);
      await worker.kill();
      const after = await positions('profiles');
      for (const [brandId, { at }] of after) expect(at).toBeGreaterThanOrEqual(before.get(brandId)?.at ?? 0);
      before = after;
    }
    // Whoever a killed worker had in hand is asked for again within a minute; that minute is over now.
    await session.query('update creators set profile_retry_at = created_at where profiled_at is null');
    const last = await startWorkerProcess(alias, more);
    running.push(last);
    await until('every event to be relayed', () => isAtHead('profiles'));
    await until('every creator to be profiled', async () => {
      const { rows } = await session.query('select 1 from creators where profiled_at is null');
      return rows.length === 0;
    });
    expect(new Set(requested)).toEqual(new Set(handles));
    const metrics = await call(`${app.url}/metrics`);
    expect(metrics.body).toContain('rollcall_outbox_lag_events{consumer="profiles"} 0');
    await last.stop();
    await provider.close();
  });

  it('delivers every event at least once and in order per brand, continuing from its position', async () => {
    const received = new Map<string, number[]>();
    let total = 0;
    const witness = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      request.on('end', () => {
        const { brandId, seq } = JSON.parse(text);
        received.set(brandId, [...(received.get(brandId) ?? []), seq]);
        total += 1;
        response.end();
      });
    });
    witness.listen(0, '127.0.0.1');
    await once(witness, 'listening');
    const address = witness.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;

    const brands = await Promise.all(Array.from({ length: 3 }, () => makeBrand(app.context)));
    const { db } = app.context.postgres;
    const emit = async (brandId: string, count: number): Promise<void> => {
      const actor = { brandId, keyId: null, operation: 'test', requestId: null };
      await inWork(db, systemClock, actor, async (work) => {
        for (let n = 0; n < count; n += 1) work.emit('roster.creator_added', rosterEvent(String(n)));
      });
    };
    for (const { id } of brands) await emit(id, 1_000);

    const kills = 4;
    const before = await positions('witness');
    for (let kill = 1; kill <= kills; kill += 1) {
      const relay = startScript('test/harness/platform/relay-process.ts', env, [url]);
      running.push(relay);
      const from = total;
      // Past a batch of 200, so that there is a position to go on from; then in the middle of the next.
      await until('events', () => total >= from + 230);
      await relay.kill();
      for (const { id } of brands) await emit(id, 10);
      for (const [brandId, { at }] of await positions('witness')) {
        expect(at).toBeGreaterThanOrEqual(before.get(brandId)?.at ?? 0);
        before.set(brandId, { at, head: 0 });
      }
    }
    const last = startScript('test/harness/platform/relay-process.ts', env, [url]);
    running.push(last);
    await until('every event to be relayed', () => isAtHead('witness'));
    await last.kill();
    witness.close();

    const all = new Set(Array.from({ length: 1_000 + kills * 10 }, (_, i) => i + 1));
    for (const { id } of brands) expect(new Set(received.get(id))).toEqual(all);
    let restarts = 0;
    // The relay also has events from earlier tests, and a kill may interrupt those.
    for (const seqs of received.values()) {
      for (const [i, seq] of seqs.entries()) {
        const previous = seqs[i - 1] ?? 0;
        if (seq === previous + 1) continue;
        // Only ever back to just after a position, and only after a kill.
        expect(seq).toBeLessThanOrEqual(previous);
        restarts += 1;
      }
    }
    expect(restarts).toBeLessThanOrEqual(kills);
    expect(restarts).toBeGreaterThan(0);
  });
});
