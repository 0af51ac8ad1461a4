import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAnythingToSync } from '../../src/analytics/figures/sync.ts';
import { changeAccess } from '../../src/kit/access/credits/access.ts';
import { settleAll } from '../../src/kit/access/credits/settle.ts';
import { listSubscriptionVersions } from '../../src/kit/access/keys/callers.ts';
import { listBehind } from '../../src/kit/outbox/outbox.ts';
import { openRelay } from '../../src/kit/outbox/relay.ts';
import { openDue } from '../../src/kit/values/due.ts';
import { openRepeatedFailures } from '../../src/kit/values/repeated-failures.ts';
import { makeSale } from '../harness/affiliates/sales.ts';
import { watchStatements } from '../harness/affiliates/statements.ts';
import { call, engineUrls, ledgerOf, made, makeBrand, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('due');
/** Jobs ask for what is due of all brands: what other tests do to theirs is in another database. */
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await makeDatabase('due');
  app = await startApp({ alias, urls: { postgres: database.url } });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const ago = (ms: number) => new Date(Date.now() - ms);
const engines = () => ({ db: app.context.postgres.db, redis: app.context.redis, clock: app.context.clock });

describe('a job queries what is due', () => {
  it('for all brands at first, then for recent changes, and for all again after a failure and at intervals', async () => {
    let nowMs = Date.parse('2026-11-22T10:00:00Z');
    const due = openDue({ now: () => new Date(nowMs) });
    const requested: (string | undefined)[] = [];
    const pass = () => due.ask(async (after) => void requested.push(after?.toISOString()));
    await pass();
    await pass();
    await expect(due.ask(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await pass();
    nowMs += 30_000;
    await pass();
    nowMs += 31_000;
    await pass();
    expect(requested).toEqual([
      undefined,
      '2026-11-22T09:59:30.000Z',
      undefined,
      '2026-11-22T10:00:00.000Z',
      undefined,
    ]);
  });

  it('and finds a brand that just wrote events and ledger entries, but no idle one', async () => {
    const { db } = app.context.postgres;
    const [busy, idle] = [await makeBrand(app.context), await makeBrand(app.context)];
    for (const brand of [busy, idle]) await makeSale(app.context, brand);
    await db
      .updateTable('outboxNumbers')
      .set({ movedAt: ago(120_000) })
      .where('brandId', '=', idle.id)
      .execute();
    const name = unique('consumer');
    const behind = (await listBehind(db, name, ago(100_000))).map(({ brandId }) => brandId);
    expect([behind.includes(busy.id), behind.includes(idle.id)]).toEqual([true, false]);
    expect((await listBehind(db, name)).map(({ brandId }) => brandId)).toContain(idle.id);
    expect(await isAnythingToSync(db, ago(100_000))).toBe(true);
  });

  it('and its relay delivers each event once, and retries a failed brand without new events', async () => {
    const { db } = app.context.postgres;
    const brand = await makeBrand(app.context);
    await made(`${app.url}/v1/roster`, await brand.key('brand'), { creator_email: 'ana@mail.example' });
    const given: string[] = [];
    let failures = 1;
    const consumer = {
      name: unique('consumer'),
      deliver: async (events: readonly { brandId: string; event: string }[]) => {
        const own = events.filter(({ brandId }) => brandId === brand.id);
        if (own.length > 0 && failures-- > 0) throw new Error('not now');
        given.push(...own.map(({ event }) => event));
      },
    };
    const pass = openRelay({ db, consumer, log: app.context.log, due: openDue(app.context.clock) });
    await pass();
    expect(given).toEqual([]);
    await db
      .updateTable('outboxNumbers')
      .set({ movedAt: ago(120_000) })
      .where('brandId', '=', brand.id)
      .execute();
    await pass();
    await pass();
    expect(given).toEqual(['roster.creator_added']);
  });

  it('and logs a brand that keeps failing once, and once more when it works again', async () => {
    const { db } = app.context.postgres;
    const brand = await makeBrand(app.context);
    await made(`${app.url}/v1/roster`, await brand.key('brand'), { creator_email: 'ana@mail.example' });
    let isDown = true;
    const deliver = async (events: readonly { brandId: string }[]) => {
      if (isDown && events.some(({ brandId }) => brandId === brand.id)) throw new Error('not now');
    };
    const said: unknown[] = [];
    const log = {
      warn: (facts: { brandId?: string }) => void said.push(facts.brandId),
      info: (_facts: object, text: string) => void said.push(text),
    };
    const name = unique('consumer');
    const pass = openRelay({ db, consumer: { name, deliver }, log, due: openDue(app.context.clock) });
    for (let i = 0; i < 5; i += 1) await pass();
    isDown = false;
    await pass();
    expect(said).toEqual([brand.id, `recovered: events to ${name} of a brand`]);
  });

  it('and settles charges where a key was used recently', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('data');
    expect((await call(`${app.url}/v1/creators/search?q=x`, key)).status).toBe(200);
    const isDue = async () =>
      (await listSubscriptionVersions(engines().db, ago(60_000))).some(({ id }) => id === brand.subscriptionIds.data);
    await until('the note of its use', isDue);
    await settleAll(engines(), ago(60_000));
    const { charged } = await engines()
      .db.selectFrom('creditEntries')
      .select(({ fn }) => fn.countAll<number>().as('charged'))
      .where('subscriptionId', '=', brand.subscriptionIds.data)
      .where('kind', '=', 'charge')
      .executeTakeFirstOrThrow();
    expect(charged).toBe(1);
    expect((await ledgerOf(app.context, brand)).charged).toBe(10);
  });

  it('and treats a changed subscription as due until Redis is known to have it, but no idle one', async () => {
    const brand = await makeBrand(app.context);
    const { data } = brand.subscriptionIds;
    const isDue = async () => (await listSubscriptionVersions(engines().db, new Date())).some(({ id }) => id === data);
    await settleAll(engines(), new Date());
    expect(await isDue()).toBe(false);
    await changeAccess(engines(), data, async () => undefined);
    expect(await isDue()).toBe(true);
    await settleAll(engines(), new Date());
    expect(await isDue()).toBe(false);
  });
});

it('a process without searches does not poll Elasticsearch, and does so after the first search', async () => {
  const watched = await watchStatements(engineUrls().elasticsearch);
  const quiet = await startApp({ alias, urls: { postgres: database.url, elasticsearch: watched.url } });
  try {
    const from = performance.now();
    await until('three polls to be due', () => performance.now() - from > 1_600);
    expect(watched.seen).toEqual([]);
    await quiet.context.directory.snapshot();
    const once = watched.seen.length;
    await until('it to be followed', () => watched.seen.length > once);
  } finally {
    await quiet.close();
    await watched.close();
  }
});

it('a repeated failure is logged once, then once a minute with a count, and when it works again', () => {
  let nowMs = 0;
  const said: unknown[] = [];
  const log = {
    warn: (facts: { times?: number }, text: string) => void said.push([text, facts.times]),
    info: (_facts: object, text: string) => void said.push(text),
  };
  const failures = openRepeatedFailures(log, { now: () => new Date(nowMs) });
  for (let second = 0; second < 130; second += 1) {
    nowMs = second * 1_000;
    failures.failed('a job', new Error('no'));
  }
  failures.succeeded('another job');
  failures.succeeded('a job');
  failures.succeeded('a job');
  expect(said).toEqual([
    ['failing: a job', undefined],
    ['failing: a job', 60],
    ['failing: a job', 60],
    'recovered: a job',
  ]);
});
