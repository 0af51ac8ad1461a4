import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { repairAfterFailover } from '../../src/affiliates/ledger/ledger.jobs.ts';
import { type DirectoryEngines, withWriterLock } from '../../src/directory/imports/indexing/writer.ts';
import { openElastic } from '../../src/kit/engines/elastic/open.ts';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import { type Db, openPostgres, type Postgres } from '../../src/kit/engines/postgres/open.ts';
import { transact } from '../../src/kit/engines/postgres/transaction.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { openSecrets } from '../../src/kit/values/secrets.ts';
import { post, postAndSync, putAssignment, putCreator, sale, sync } from '../harness/analytics/figures.ts';
import {
  call,
  engineUrls,
  makeBrand,
  SECRET,
  startApp,
  startServer,
  startWorkerProcess,
  type TestApp,
  unique,
  until,
} from '../harness/app.ts';
import { makeEmptyDatabase } from '../harness/database.ts';
import { describeCluster } from '../harness/kit/cluster.ts';
import {
  findPgBouncer,
  on,
  type PostgresPair,
  startPgBouncer,
  startPostgresPair,
} from '../harness/kit/postgres-cluster.ts';

const execute = (url: string, statement: string) => on(url, async (client) => (await client.query(statement)).rows);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function open(url: string, options: Parameters<typeof openPostgres>[1] = {}): Postgres {
  const postgres = openPostgres(url, options);
  closing.push(postgres.close);
  return postgres;
}

async function settingOf(db: Db, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db);
  return rows[0]?.value;
}

describeCluster('PostgreSQL behind PgBouncer in transaction mode with its other defaults', () => {
  it('serves the API and the worker, keeps the limits, and never has two writers of the directory', async (test) => {
    const version = await findPgBouncer();
    if (version === undefined) {
      process.stderr.write('PgBouncer: not tested, because it is not installed.\n');
      test.skip('PgBouncer is not installed');
    }
    const database = await makeEmptyDatabase('bouncer');
    closing.push(database.drop);
    const bouncer = await startPgBouncer(database.url, 'transaction');
    closing.push(bouncer.stop);
    // It migrates the empty database.
    const server = await startServer(unique('none'), { DATABASE_URL: bouncer.url });
    closing.push(server.stop);
    const isUp = async () => (await call(`${server.url}/readyz`)).body.engines.postgres.status === 'up';
    await until('PostgreSQL to be up', isUp);
    const worker = await startWorkerProcess(unique('none'), { DATABASE_URL: bouncer.url });
    closing.push(worker.stop);

    const two = [open(bouncer.url), open(bouncer.url)];
    for (const { db } of two) {
      const insert = (id: number) =>
        transact(db, async (trx) => {
          await sql`select ${id}::int`.execute(trx);
          return await settingOf(trx, 'statement_timeout');
        });
      // Side by side they use several connections of the server, in other orders each time.
      const inTransactions = await Promise.all(Array.from({ length: 30 }, (_, i) => insert(i)));
      const alone = await Promise.all(Array.from({ length: 10 }, () => settingOf(db, 'statement_timeout')));
      expect(new Set([...inTransactions, ...alone])).toEqual(new Set(['30s']));
    }
    const direct = open(database.url);
    expect(await settingOf(direct.db, 'statement_timeout')).toBe('30s');

    const elastic = openElastic(engineUrls().elasticsearch);
    closing.push(async () => await elastic.close());
    const alias = unique('none');
    const secrets = () => openSecrets(Buffer.from(SECRET, 'hex'));
    const engines = two.map(({ db }): DirectoryEngines => ({ elastic, db, clock: systemClock, alias, secrets }));
    let writing = 0;
    let most = 0;
    let turns = 0;
    const write = (one: DirectoryEngines) =>
      withWriterLock(one, 'upsert', { onWait: () => undefined }, async ({ assertLocked }) => {
        writing += 1;
        most = Math.max(most, writing);
        await assertLocked();
        turns += 1;
        writing -= 1;
      });
    for (let tries = 0; tries < 10; tries += 1) await Promise.all(engines.map(write));
    expect([most, turns]).toEqual([1, 20]);
  });

  it('is refused in statement mode, with what to set', async (test) => {
    if ((await findPgBouncer()) === undefined) test.skip('PgBouncer is not installed');
    const bouncer = await startPgBouncer(engineUrls().postgres, 'statement');
    closing.push(bouncer.stop);
    await expect(open(bouncer.url).ping()).rejects.toThrow('Set pool_mode = transaction');
  });
});

/** Both addresses, the standby's first. */
const both = ({ primary, standby }: PostgresPair) =>
  standby.url.replace(`:${standby.port}`, `:${standby.port},127.0.0.1:${primary.port}`);

async function promote({ primary, standby }: PostgresPair): Promise<void> {
  primary.kill();
  await execute(standby.url, 'select pg_promote()');
}

describeCluster('A primary of PostgreSQL and its standby', () => {
  let pair: PostgresPair;
  let app: TestApp;

  beforeAll(async () => {
    pair = await startPostgresPair();
    app = await startApp({
      urls: { postgres: both(pair) },
      env: { DATABASE_READ_URL: pair.standby.url, DATABASE_POOL: '8' },
    });
    await migratePostgres(app.context.postgres.db);
  });
  afterAll(async () => {
    await app?.close();
    await pair?.stop();
  });

  it('finds the primary among several hosts; exports read the standby, and the primary if the standby lags', async () => {
    const { postgres } = app.context;
    const isStandby = async (db: Db) =>
      (await sql<{ is: boolean }>`select pg_is_in_recovery() as is`.execute(db)).rows[0]?.is;
    expect(await isStandby(postgres.db)).toBe(false);
    expect(await isStandby(postgres.reads)).toBe(true);
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const emailsOf = async () =>
      (await call(`${app.url}/v1/creators`, key, { headers: { accept: 'text/csv' } })).body.split('\n').length - 2;
    for (let made = 1; made <= 5; made += 1) {
      await putCreator(app, brand.id);
      expect(await emailsOf()).toBe(made);
    }
    expect(await isStandby(await postgres.exports.current())).toBe(true);
    await execute(pair.standby.url, 'select pg_wal_replay_pause()');
    await putCreator(app, brand.id);
    expect(await emailsOf()).toBe(6);
    expect(await isStandby(await postgres.exports.current())).toBe(false);
    await execute(pair.standby.url, 'select pg_wal_replay_resume()');
  });

  it('loses the last entries in an asynchronous failover: figures are found to be ahead, and rebuilt', async () => {
    const { postgres, clickhouse } = app.context;
    const brand = await makeBrand(app.context);
    const other = await makeBrand(app.context);
    const link = await putAssignment(app, brand.id);
    const unharmed = await putAssignment(app, other.id);
    const at = new Date();
    await repairAfterFailover(app.context);
    await postAndSync(app, other.id, [sale(unharmed, at, 700, 70)]);
    await postAndSync(app, brand.id, [sale(link, at, 10_000, 1_000)]);
    // What is written from here on never reaches the standby.
    const { rows } = await sql<{ at: string }>`select pg_current_wal_insert_lsn()::text as at`.execute(postgres.db);
    const isThere = `select pg_last_wal_replay_lsn() >= '${rows[0]?.at}' as is`;
    await until('the standby to have all', async () => (await execute(pair.standby.url, isThere))[0].is);
    await execute(pair.standby.url, "alter system set primary_conninfo = ''");
    await execute(pair.standby.url, 'select pg_reload_conf()');
    await until('the standby to be cut off', async () => {
      return (await execute(pair.primary.url, 'select from pg_stat_replication')).length === 0;
    });
    await postAndSync(app, brand.id, [sale(link, at, 20_000, 2_000), sale(link, at, 30_000, 3_000)]);
    await promote(pair);

    const lost = performance.now();
    await until('orders to be taken by the promoted standby', async () => {
      return await post(app, brand.id, [sale(link, at, 5_000, 500)]).then(
        () => true,
        () => false,
      );
    });
    await repairAfterFailover(app.context);
    await sync(app, brand.id);
    await sync(app, other.id);
    expect(performance.now() - lost).toBeLessThan(60_000);
    const engines = { db: postgres.db, clickhouse };
    expect(await compareFigures(engines, brand.id)).toEqual([]);
    expect(await compareFigures(engines, other.id)).toEqual([]);
  });
});

describeCluster('A primary of PostgreSQL that waits for its standby', () => {
  it('loses nothing that was acknowledged in a failover, and writes continue on the standby without a restart', async () => {
    const pair = await startPostgresPair();
    closing.push(pair.stop);
    await execute(pair.primary.url, "alter system set synchronous_standby_names = 'standby'");
    await execute(pair.primary.url, 'select pg_reload_conf()');
    await execute(pair.primary.url, 'create table things (id int primary key)');
    const { db } = open(both(pair), { max: 3 });
    const acknowledged: number[] = [];
    let next = 0;
    const write = async (): Promise<boolean> => {
      next += 1;
      const id = next;
      return await sql`insert into things values (${id})`.execute(db).then(
        () => acknowledged.push(id) > 0,
        () => false,
      );
    };
    for (let i = 0; i < 100; i += 1) await write();
    await promote(pair);
    await until('a write on the promoted standby', write);
    for (let i = 0; i < 20; i += 1) await write();
    const rows = await execute(pair.standby.url, 'select id from things');
    const kept = new Set(rows.map(({ id }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(120);
  });
});

describeCluster('A primary of PostgreSQL and its standby, each behind a PgBouncer', () => {
  it('are one address: writes continue on the standby once it is promoted', async (test) => {
    if ((await findPgBouncer()) === undefined) test.skip('PgBouncer is not installed');
    const pair = await startPostgresPair();
    closing.push(pair.stop);
    await execute(pair.primary.url, 'create table things (id int primary key)');
    const [first, second] = [
      await startPgBouncer(pair.primary.url, 'transaction', ['query_wait_timeout = 5']),
      await startPgBouncer(pair.standby.url, 'transaction', ['query_wait_timeout = 5']),
    ];
    closing.push(first.stop, second.stop);
    const { db } = open(second.url.replace('@127', `@127.0.0.1:${new URL(first.url).port},127`), { max: 3 });
    let next = 0;
    const write = async (): Promise<boolean> => {
      next += 1;
      const id = next;
      return await sql`insert into things values (${id})`.execute(db).then(
        () => true,
        () => false,
      );
    };
    for (let i = 0; i < 20; i += 1) expect(await write()).toBe(true);
    await promote(pair);
    const from = performance.now();
    await until('a write on the promoted standby', write);
    process.stderr.write(`writes by two PgBouncers continue after ${Math.round(performance.now() - from)} ms\n`);
    for (let i = 0; i < 20; i += 1) expect(await write()).toBe(true);
  });
});
