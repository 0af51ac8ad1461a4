import { createServer, type Server, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startJobs } from '../../src/process/jobs.ts';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { jobOf, startExport } from '../harness/analytics/exporting.ts';
import { send, startApp, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { S3_BUCKET, S3_KEY, S3_SECRET, startS3 } from '../harness/kit/s3.ts';

const redis = ownRedis();
/** Exports wait until what is being recorded is stored; a clock that is ahead spares the wait. */
const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
const sockets = new Set<Socket>();
let database: TestDatabase;
let app: TestApp;
const silent: Server[] = [];

beforeAll(async () => {
  database = await makeDatabase('turns');
  app = await startApp({ urls: { postgres: database.url, redis }, clock });
  await app.context.redis.ready();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of silent) server.close();
  await app?.close();
  await database?.drop();
});

/** An export into a bucket that has accepted connections without a word since it was checked, twenty times. */
async function startTwentyThatHang(key: string): Promise<string> {
  const s3 = await startS3();
  const { origin, port } = new URL(s3.endpoint);
  const destination = {
    ...{ bucket: S3_BUCKET, prefix: '', region: 'eu-central-1', endpoint: origin },
    ...{ access_key_id: S3_KEY, secret_access_key: S3_SECRET },
  };
  const { id } = await startExport(app, key, { of: 'roster', format: 'csv', schedule: 'daily', destination });
  await s3.close();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  silent.push(server);
  await new Promise<void>((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
  await sql`insert into jobs select (jsonb_populate_record(one, jsonb_build_object('id', id || n))).*
    from jobs as one, generate_series(1, 19) as n where one.schedule_id = ${id} or one.id = ${id}`.execute(
    app.context.postgres.db,
  );
  clock.aheadMs += 31_000;
  return id;
}

it('Beside twenty exports into buckets that hang of each of five brands, another brand’s job starts within seconds, and a cancelled one gives its place up', async () => {
  const [many, also, one] = [await makeSeller(app), await makeSeller(app), await makeSeller(app)];
  const hanging = [many, also, await makeSeller(app), await makeSeller(app), await makeSeller(app)];
  for (const { key } of hanging) await startTwentyThatHang(key);
  const runningOf = async ({ key }: { key: string }) => {
    const { data = [] } = (await send(`${app.url}/v1/jobs?status=running&limit=100`, key, 'GET')).body;
    return data.map(({ id }: { id: string }) => id);
  };
  const running = async () => (await Promise.all(hanging.map(runningOf))).flat();
  const jobs = startJobs(app.context, redis);
  try {
    await until('all places of such exports to be taken', async () => (await running()).length === 8);
    const startedMs = performance.now();
    const { id } = await startExport(app, one.key, { of: 'roster', by: 'date', format: 'csv' });
    await until('its start', async () => (await jobOf(app, one.key, id)).status !== 'queued');
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    await until('its end', async () => (await jobOf(app, one.key, id)).status === 'done');

    expect(await running()).toHaveLength(8);
    const [hung] = await runningOf(also);
    const cancelledMs = performance.now();
    expect((await send(`${app.url}/v1/jobs/${hung}`, also.key, 'DELETE')).status).toBe(200);
    await until('the next in its place', async () => {
      const [next] = await runningOf(also);
      return next !== undefined && next !== hung;
    });
    expect(performance.now() - cancelledMs).toBeLessThan(3_000);
  } finally {
    await jobs.stop();
  }
});
