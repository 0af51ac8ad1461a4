import { afterAll, beforeAll, expect, it } from 'vitest';
import { migratePostgres } from '../../../src/kit/engines/postgres/migrate.ts';
import { call, engineUrls, startApp, type TestApp, until } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { startProxy } from '../../harness/kit/proxy.ts';

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('readiness');
  app = await startApp({ urls: { postgres: database.url } });
  await migratePostgres(app.context.postgres.db);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const ready = async () => {
  const { status, body } = await call(`${app.url}/readyz`);
  return [status, body.status, body.engines.postgres.status, body.engines.clickhouse.status];
};

it('/readyz notices that PostgreSQL answers but accepts no writes, and that it accepts them again', async () => {
  // A busy engine that does not answer within 1.5 seconds counts as down.
  await until('everything to be up', async () => (await ready()).join() === '200,ready,up,up');
  const session = await database.open();
  const name = new URL(database.url).pathname.slice(1);
  const endOthers = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`;
  await session.query(`alter database ${name} set default_transaction_read_only = on`);
  await session.query(endOthers);
  await until('PostgreSQL to be seen as it is', async () => (await ready())[2] === 'not_writable');
  await until('the others to be up', async () => (await ready()).join() === '200,degraded,not_writable,up');
  await session.query('set default_transaction_read_only = off');
  await session.query(`alter database ${name} reset default_transaction_read_only`);
  await session.query(endOthers);
  await until('PostgreSQL to take writes', async () => (await ready())[1] === 'ready');
  await session.end();
});

it('/readyz of a first start is 503 and names the engine that it waits for; a later outage leaves it 200', async () => {
  const proxy = await startProxy(engineUrls().elasticsearch);
  await proxy.cut();
  const first = await startApp({ urls: { elasticsearch: proxy.url }, isOwn: true });
  await first.context.redis.client.del('readiness:once');
  const read = () => call(`${first.url}/readyz`);
  await until('the other engines to be up', async () => (await read()).body.waiting_for?.join() === 'elasticsearch');
  const starting = await read();
  expect([starting.status, starting.body.status]).toEqual([503, 'starting']);
  await proxy.restore();
  await until('all engines to be up', async () => (await read()).body.status === 'ready');
  await proxy.cut();
  await until('the outage to be seen', async () => (await read()).body.status === 'degraded');
  expect((await read()).status).toBe(200);
  await first.close();
  await proxy.close();
});

it('/readyz writes at most once in five seconds, however often it is called', async () => {
  const session = await database.open();
  const writes = async () => (await session.query('select xmin::text, written_at from readiness_writes')).rows;
  await until('a write', async () => (await ready())[1] === 'ready' && (await writes()).length === 1);
  const before = await writes();
  await Promise.all(Array.from({ length: 50 }, ready));
  const after = await writes();
  await session.end();
  const seconds = (rows: { written_at: Date }[]) => Number(rows[0]?.written_at) / 1_000;
  expect(after[0]?.xmin === before[0]?.xmin || seconds(after) - seconds(before) >= 4.9).toBe(true);
});
