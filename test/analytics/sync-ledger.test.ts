import { type KyselyPlugin, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { syncLedger } from '../../src/analytics/figures/figures.jobs.ts';
import { withFreshness } from '../../src/analytics/figures/freshness.ts';
import { REBUILD_NOTICE_MS } from '../../src/analytics/figures/sums.ts';
import { deleteUnfolded, insertUnfolded, lockOldestUnsent } from '../../src/analytics/figures/sync.ts';
import { integer, query } from '../../src/kit/engines/clickhouse/query.ts';
import { ignoreFailure } from '../../src/kit/values/errors.ts';
import { type Assignment, findOldestUnsynced, post, putAssignment, sale, sync } from '../harness/analytics/figures.ts';
import { makeBrand, meanwhile, startApp, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('sync');
  app = await startApp({ urls: { postgres: database.url }, env: { CLICKS_REDIS_URL: ownRedis() } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const AT = new Date('2026-03-04T05:06:07.008Z');

async function makeLink(): Promise<Assignment> {
  return await putAssignment(app, (await makeBrand(app.context)).id);
}

const Counts = z.object({ postings: integer, entries: integer, sales: integer, conversions: integer });

async function countsOf({ brandId }: Assignment) {
  const [counts] = await query(
    app.context.clickhouse,
    Counts,
    `SELECT count() AS postings, uniqExact(seq) AS entries,
      (SELECT sum(sales) FROM link_life_v1 WHERE brand_id = {b:String}) AS sales,
      (SELECT sum(conversions) FROM brand_daily_v1 WHERE brand_id = {b:String}) AS conversions
    FROM ledger_v1 WHERE brand_id = {b:String}`,
    { b: brandId },
  );
  return counts;
}

const counted = (entries: number) => ({ postings: entries * 4, entries, sales: entries * 1_000, conversions: entries });
const sales = (link: Assignment, count: number) => Array.from({ length: count }, () => sale(link, AT, 1_000, 100));
describe('syncing the ledger', () => {
  it('inserts every entry into ClickHouse once, however often it runs', async () => {
    const link = await makeLink();
    await post(app, link.brandId, sales(link, 7));
    await sync(app, link.brandId);
    await sync(app, link.brandId);
    expect(await countsOf(link)).toEqual(counted(7));
    await post(app, link.brandId, sales(link, 2));
    await sync(app, link.brandId);
    expect(await countsOf(link)).toEqual(counted(9));
    expect(await findOldestUnsynced(app.context.postgres.db, link.brandId)).toBeUndefined();
  });

  it('splits a long ledger into batches', async () => {
    const link = await makeLink();
    for (let i = 0; i < 6; i++) await post(app, link.brandId, sales(link, 1_000));
    await sync(app, link.brandId);
    expect(await countsOf(link)).toEqual(counted(6_000));
  });

  it('counts a batch once that was inserted but not marked, as by a killed worker', async () => {
    const link = await makeLink();
    await post(app, link.brandId, sales(link, 5));
    await sync(app, link.brandId);
    const { rows } = await sql`update ledger_batches set sent_at = null
      where ranges @> ${JSON.stringify([{ brand_id: link.brandId }])}::jsonb returning id`.execute(
      app.context.postgres.db,
    );
    expect(rows).toHaveLength(1);
    await sync(app, link.brandId);
    expect(await countsOf(link)).toEqual(counted(5));
  });

  it('sends a batch that was claimed but not sent', async () => {
    const link = await makeLink();
    await post(app, link.brandId, sales(link, 3));
    const closed = await startApp({ urls: { postgres: database.url, clickhouse: 'http://127.0.0.1:1' } });
    await syncLedger(closed.context).catch(ignoreFailure('it cannot send'));
    await closed.close();
    await sync(app, link.brandId);
    expect(await countsOf(link)).toEqual(counted(3));
  });

  it('counts every entry once with several workers while new entries arrive', async () => {
    const links = await Promise.all(Array.from({ length: 4 }, makeLink));
    const work = () => syncLedger(app.context);
    await meanwhile(3, work, async () => {
      await Promise.all(
        links.map(async (link) => {
          for (let i = 0; i < 15; i++) await post(app, link.brandId, sales(link, 3));
        }),
      );
      for (const link of links) await sync(app, link.brandId);
    });
    for (const link of links) expect(await countsOf(link)).toEqual(counted(45));
  });

  it('does not skip a batch that another worker is sending', async () => {
    const link = await makeLink();
    const { db } = app.context.postgres;
    await until('a batch to be locked', async () => {
      await sql`insert into ledger_batches (ranges, created_at) values ('[]', ${AT})`.execute(db);
      return await db.transaction().execute(async (trx) => {
        if (!(await lockOldestUnsent(trx))) return false;
        await post(app, link.brandId, sales(link, 1));
        await syncLedger(app.context);
        expect(await countsOf(link)).toMatchObject({ entries: 0 });
        return true;
      });
    });
    await sync(app, link.brandId);
    expect(await countsOf(link)).toEqual(counted(1));
  });
});

/** What is said of figures that are read so. */
async function asOf(
  context: TestApp['context'],
  brandId: string,
  read: () => Promise<unknown> = async () => undefined,
): Promise<Date | undefined> {
  const said: string[] = [];
  await withFreshness(context, { caller: { brandId }, setHeader: (_name, value) => void said.push(value) }, read);
  return said[0] === undefined ? undefined : new Date(said[0]);
}

describe('X-Data-As-Of', () => {
  it('is just before the oldest missing entry, and the current time when none is missing', async () => {
    const link = await makeLink();
    const recorded = new Date(Date.now() - 60_000);
    await post(app, link.brandId, sales(link, 1), recorded);
    expect(await asOf(app.context, link.brandId)).toEqual(new Date(recorded.getTime() - 1));
    await sync(app, link.brandId);
    const now = Date.now();
    expect((await asOf(app.context, link.brandId))?.getTime()).toBeGreaterThanOrEqual(now);
  });

  it('takes one statement per engine: PostgreSQL and Redis before a read, ClickHouse after it', async () => {
    const { postgres, clicksRedis, clickhouse } = app.context;
    const requested: string[] = [];
    const note = <T extends object>(engine: string, target: T, method: string): T =>
      new Proxy(target, {
        get: (_, name) => {
          if (name === method) requested.push(engine);
          return Reflect.get(target, name, target);
        },
      });
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        requested.push('PostgreSQL');
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const context = {
      ...app.context,
      postgres: { ...postgres, db: postgres.db.withPlugin(counting) },
      clicksRedis: note('Redis', clicksRedis, 'use'),
      clickhouse: { ...clickhouse, client: note('ClickHouse', clickhouse.client, 'query') },
    };
    const call = { caller: { brandId: (await makeLink()).brandId }, setHeader: () => undefined };
    const read = () => withFreshness(context, call, async () => void requested.push('read'));
    await read();
    // A read that takes longer than a rebuild's notice queries PostgreSQL once more.
    for (let tookMs = Number.POSITIVE_INFINITY; tookMs >= REBUILD_NOTICE_MS; ) {
      requested.length = 0;
      const from = performance.now();
      await read();
      tookMs = performance.now() - from;
    }
    const at = requested.indexOf('read');
    expect([requested.slice(0, at).sort(), requested.slice(at + 1).sort()]).toEqual([
      ['PostgreSQL', 'Redis'],
      ['ClickHouse'],
    ]);
  });

  it('is absent from an answer that took longer than a rebuild’s notice if one started meanwhile', async () => {
    const { brandId } = await makeLink();
    const { db } = app.context.postgres;
    const during = async () => {
      const from = performance.now();
      await insertUnfolded(db, [brandId]);
      await until('the notice to be over', () => performance.now() - from > REBUILD_NOTICE_MS);
    };
    expect(await asOf(app.context, brandId, during)).toBeUndefined();
    expect(await asOf(app.context, brandId, () => deleteUnfolded(db, [brandId]))).toBeUndefined();
    expect(await asOf(app.context, brandId)).toBeDefined();
  });

  it('is never given for figures that a rebuild has deleted, whenever they are read', async () => {
    const link = await makeLink();
    await post(app, link.brandId, sales(link, 5));
    await sync(app, link.brandId);
    let unsaid = 0;
    const look = async () => {
      let counts: unknown;
      const at = await asOf(app.context, link.brandId, async () => {
        counts = await countsOf(link);
      });
      if (at) expect(counts).toEqual(counted(5));
      else unsaid += 1;
    };
    await meanwhile(1, look, async () => {
      for (let i = 0; i < 2; i += 1) await rebuildFigures(app.context, link.brandId);
    });
    expect(await asOf(app.context, link.brandId)).toBeDefined();
    expect(unsaid).toBeGreaterThan(0);
  });

  it('is absent when Redis does not answer', async () => {
    const closed = await startApp({ urls: { postgres: database.url, redis: 'redis://127.0.0.1:1' } });
    expect(await asOf(closed.context, (await makeLink()).brandId)).toBeUndefined();
    await closed.close();
  });
});
