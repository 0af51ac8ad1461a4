import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { viewQueue } from '../../src/kit/engines/redis/queue-view.ts';
import { openSchedules, SCHEDULES } from '../../src/kit/engines/redis/schedules.ts';
import { findFreePort } from '../../src/local/engines/port.ts';
import { PLANS, WORK } from '../../src/process/job-list.ts';
import { openJobQueues } from '../../src/process/job-status.ts';
import { startJobs } from '../../src/process/jobs.ts';
import { startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { runCli } from '../harness/process/cli.ts';

const url = ownRedis();
const failingUrl = ownRedis(1);
/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;
let jobs: ReturnType<typeof startJobs>;
let failing: TestApp;
let failingJobs: ReturnType<typeof startJobs>;

beforeAll(async () => {
  database = await makeDatabase('jobs');
  app = await startApp({ urls: { redis: url, postgres: database.url } });
  await app.context.redis.ready();
  jobs = startJobs(app.context, url);
  const postgres = `postgres://postgres@127.0.0.1:${await findFreePort()}/rollcall`;
  failing = await startApp({ urls: { redis: failingUrl, postgres } });
  await failing.context.redis.ready();
  failingJobs = startJobs(failing.context, failingUrl);
});
afterAll(async () => {
  await jobs?.stop();
  await failingJobs?.stop();
  await app?.close();
  await failing?.close();
  await database?.drop();
});

const statusOf = async ({ context }: TestApp, name: string) =>
  (await openJobQueues(context.redis).list(new Date())).find((job) => job.name === name);
const cli = (...args: string[]) => runCli(args, { REDIS_URL: failingUrl });

describe('background work', () => {
  it('has schedules that one worker maintains, and every job runs', async () => {
    await until('every job to run', async () => {
      const found = await openJobQueues(app.context.redis).list(new Date());
      return PLANS.every(({ name }) => found.find((job) => job.name === name)?.lastDoneAt);
    });
    const names = (await openJobQueues(app.context.redis).list(new Date())).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([...WORK.map(({ queue }) => queue), 'drain-clicks', 'relay-to-webhooks']),
    );
    const text = await (await fetch(`${app.url}/metrics`)).text();
    expect(text).toContain('rollcall_job_waiting{job="asset-thumbnails"} 0');
    expect(text).toContain('rollcall_job_oldest_waiting_seconds{job="expire-contracts"}');
  });

  it('is scheduled again after Redis has lost everything', async () => {
    await app.context.redis.use((client) => client.flushdb());
    await until('the schedules', async () => (await statusOf(app, 'expire-contracts'))?.nextAt !== undefined);
    await until('a run', async () => (await statusOf(app, 'expire-contracts'))?.lastDoneAt !== undefined);
  });

  it('that fails is listed with its reason, and can be retried by id, by queue and by name', async () => {
    await until('a failure', async () => (await statusOf(failing, 'expire-contracts'))?.reason !== undefined);
    const listed = JSON.parse((await cli('jobs', 'list', '--json')).out);
    expect(listed.find(({ name }: { name: string }) => name === 'expire-contracts')).toMatchObject({
      schedule: 'every 5 s',
      last_done_at: null,
      next_at: expect.any(String),
      reason: expect.stringContaining('PostgreSQL is unavailable'),
    });
    const queues = openJobQueues(failing.context.redis);
    const [one] = (await statusOf(failing, 'expire-contracts'))?.failed ?? [];
    expect(one?.reason).toContain('PostgreSQL is unavailable');
    expect(await cli('jobs', 'retry', one?.id ?? '')).toMatchObject({ status: 0, said: '1 job runs again.\n' });
    expect(await queues.retry('expire-contracts')).toBe(1);
    expect([await queues.retry('asset-thumbnails'), await queues.retry('no-such-job')]).toEqual([0, 0]);
  });
});

describe('a schedule', () => {
  it('does not start a run during the previous one, and continues after a failure', async () => {
    const prefix = unique('schedules');
    const view = viewQueue(app.context.redis, SCHEDULES, { prefix });
    let running = 0;
    let most = 0;
    let runs = 0;
    let isOver = false;
    const schedules = openSchedules(url, [{ name: 'slow', everyMs: 100 }], {
      prefix,
      onError: () => undefined,
      run: async () => {
        running += 1;
        most = Math.max(most, running);
        runs += 1;
        const begunAt = Date.now();
        await until('three more to be due', async () => {
          const next = (await view.nextRuns()).get('slow');
          return isOver || (next !== undefined && next.getTime() > begunAt + 300);
        });
        running -= 1;
        throw new Error('Not today.');
      },
    });
    await schedules.keep();
    await schedules.keep();
    await until('three runs', () => runs >= 3);
    isOver = true;
    await schedules.close();
    expect(most).toBe(1);
  });

  it('that is no longer declared is removed', async () => {
    const prefix = unique('schedules');
    const ran = new Set<string>();
    const open = (...names: string[]) =>
      openSchedules(
        url,
        names.map((name) => ({ name, everyMs: 100 })),
        { prefix, onError: () => undefined, run: async (name) => void ran.add(name) },
      );
    const before = open('kept', 'dropped');
    await before.keep();
    await until('both to run', () => ran.size === 2);
    await before.close();
    ran.clear();
    const after = open('kept');
    await after.keep();
    await until('the kept one', () => ran.has('kept'));
    ran.clear();
    await until('the kept one again', () => ran.has('kept'));
    await after.close();
    expect([...ran]).toEqual(['kept']);
  });
});
