import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import { CLICK_CLAIM, CLICK_STREAM, CLICKS_PAUSED } from '../../src/analytics/figures/sums.ts';
import { drainClicks } from '../../src/interfaces/links-host/jobs.ts';
import {
  type Assignment,
  findOldestUnsynced,
  lateRefund,
  move,
  post,
  postAndSync,
  putAssignment,
  putClicks,
  sale,
  sync,
} from '../harness/analytics/figures.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, until } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';

let app: TestApp;

beforeAll(async () => {
  // A rebuild holds up every click: those of other tests are in another database.
  app = await startApp({ urls: { redis: ownRedis() } });
});
afterAll(() => app?.close());

const AT = new Date('2026-03-04T05:06:07.008Z');
const NEXT = new Date('2026-04-04T05:06:07.008Z');

interface Made {
  brand: TestBrand;
  key: string;
  link: Assignment;
}

async function makeLedger(): Promise<Made> {
  const brand = await makeBrand(app.context);
  const link = await putAssignment(app, brand.id);
  await postAndSync(app, brand.id, [
    sale(link, AT, 10_000, 1_000),
    sale(link, NEXT, 300, 30),
    move(link, AT, 1_000, 'commission_pending', 'commission_approved'),
    lateRefund(link, NEXT, 100, 10),
  ]);
  await putClicks(app, link, [AT, AT, NEXT]);
  return { brand, key: await brand.key('brand'), link };
}

/** Changes rows as somebody could who owns the database. */
async function behindTheTrigger(statement: string): Promise<void> {
  await app.context.postgres.db.transaction().execute(async (trx) => {
    await sql`alter table ledger_entries disable trigger ledger_is_append_only`.execute(trx);
    await sql.raw(statement).execute(trx);
    await sql`alter table ledger_entries enable trigger ledger_is_append_only`.execute(trx);
  });
}

const problemsOf = async (brandId: string) => (await verifyLedger(app.context, brandId)).problems;

describe('ledger verify', () => {
  it('finds nothing wrong with recorded entries, and prints the last hash and seal', async () => {
    const { brand } = await makeLedger();
    const verification = await verifyLedger(app.context, brand.id);
    expect(verification).toEqual({
      ...{ entries: 4, hash: expect.stringMatching(/^[0-9a-f]{64}$/), seal: expect.stringMatching(/^[0-9a-f]{64}$/) },
      heads: expect.anything(),
      notes: [],
      problems: [],
    });
  });

  it('finds nothing wrong with entries that are not synced yet, or may not be', async () => {
    const { brand, link } = await makeLedger();
    await sql`update ledger_batches set sent_at = null
      where ranges @> ${JSON.stringify([{ brand_id: brand.id }])}::jsonb`.execute(app.context.postgres.db);
    await post(app, brand.id, [sale(link, AT, 5, 1)]);
    expect(await problemsOf(brand.id)).toEqual([]);
    await sync(app, brand.id);
    expect(await problemsOf(brand.id)).toEqual([]);
  });

  it('finds nothing wrong with sums beyond JavaScript’s safe integers', async () => {
    const { brand, link } = await makeLedger();
    const most = Number.MAX_SAFE_INTEGER;
    await postAndSync(app, brand.id, [sale(link, AT, most, 1), sale(link, AT, most, 1), sale(link, AT, 1, 1)]);
    expect(await problemsOf(brand.id)).toEqual([]);
  });

  it('finds a removed entry, in the middle or at the end', async () => {
    const [middle, last] = [await makeLedger(), await makeLedger()];
    await behindTheTrigger(`delete from ledger_entries where (brand_id, seq) = ('${middle.brand.id}', 2)`);
    await behindTheTrigger(`delete from ledger_entries where (brand_id, seq) = ('${last.brand.id}', 4)`);
    expect((await problemsOf(middle.brand.id)).join('\n')).toContain('entries 2 to 2 are missing');
    expect((await problemsOf(last.brand.id)).join('\n')).toContain('the head says 4 entries, the last one is 3');
  });

  it('relies on a trigger that refuses edits', async () => {
    const { brand } = await makeLedger();
    const { db } = app.context.postgres;
    for (const statement of [`update ledger_entries set kind = 'sale'`, 'delete from ledger_entries']) {
      await expect(sql.raw(`${statement} where brand_id = '${brand.id}'`).execute(db)).rejects.toThrow('append-only');
    }
  });
});

const PERFORMANCE = '/v1/affiliates/performance';

describe('ledger rebuild', () => {
  it('can be run twice, and counts once what was claimed or may have been sent', async () => {
    const { brand, link } = await makeLedger();
    await sql`update ledger_batches set sent_at = null
      where ranges @> ${JSON.stringify([{ brand_id: brand.id }])}::jsonb`.execute(app.context.postgres.db);
    await post(app, brand.id, [sale(link, AT, 5, 1)]);
    await rebuildFigures(app.context, brand.id);
    await rebuildFigures(app.context, brand.id);
    await sync(app, brand.id);
    expect(await problemsOf(brand.id)).toEqual([]);
    const { body } = await call(`${app.url}${PERFORMANCE}`, await brand.key('brand'));
    expect(body.data[0]).toMatchObject({ clicks: 3, conversions: 3, revenue_minor: 10_205 });
  });

  it('waits for the current batch of clicks, and lets none start', async () => {
    const { brand } = await makeLedger();
    const { clicksRedis: redis, clickhouse, postgres } = app.context;
    await redis.client.set(CLICK_CLAIM, '1-1:1-1', 'NX');
    const rebuilt = rebuildFigures({ clicksRedis: redis, clickhouse, postgres }, brand.id);
    rebuilt.catch(() => undefined);
    await until('the pause', async () => (await redis.client.exists(CLICKS_PAUSED)) === 1);
    await redis.client.del(CLICK_CLAIM);
    await redis.client.xadd(CLICK_STREAM, '*', 'rows', '', 'repeats', '');
    await rebuilt;
    expect(await redis.client.exists(CLICKS_PAUSED)).toBe(0);
    await drainClicks(app.context);
    expect(await problemsOf(brand.id)).toEqual([]);
  });
});

describe('GET /v1/affiliates/ledger', () => {
  const PATH = '/v1/affiliates/ledger';

  it('reproduces the balances of any past moment, and shows entries with their hashes', async () => {
    const brand = await makeBrand(app.context);
    const [one, two] = [await putAssignment(app, brand.id), await putAssignment(app, brand.id, { currency: 'EUR' })];
    const times = ['2026-01-01T10:00:00.000Z', '2026-01-02T10:00:00.000Z', '2026-01-03T10:00:00.000Z'].map(
      (text) => new Date(text),
    );
    const [first = AT, second = AT, third = AT] = times;
    await post(app, brand.id, [sale(one, first, 1_000, 100)], first);
    await post(
      app,
      brand.id,
      [sale(two, second, 500, 50), move(one, first, 100, 'commission_pending', 'commission_approved')],
      second,
    );
    await post(app, brand.id, [lateRefund(one, third, 200, 20)], third);
    const key = await brand.key('brand');
    const read = (query: string) => call(`${app.url}${PATH}${query}`, key);
    const balanceOf = (body: {
      summary: { balances: { account: string; currency: string; balance_minor: number }[] };
    }) => Object.fromEntries(body.summary.balances.map((row) => [`${row.account} ${row.currency}`, row.balance_minor]));

    const early = await read('?as_of=2026-01-01');
    expect(balanceOf(early.body)).toEqual({
      'customers USD': 1_000,
      'sales USD': -1_000,
      'commission_expense USD': 100,
      'commission_pending USD': -100,
    });
    expect(early.body.summary.as_of).toBe('2026-01-01T23:59:59.999Z');
    expect(early.body.data).toEqual([
      {
        id: expect.stringMatching(/^led_/),
        seq: 1,
        kind: 'sale',
        currency: 'USD',
        creator_email: one.email,
        creator_id: one.creatorId,
        link_id: one.linkId,
        order_id: null,
        order_number: null,
        order_record_id: null,
        commission_id: null,
        payout_id: null,
        postings: expect.arrayContaining([{ account: 'sales', amount_minor: -1_000, at: first.toISOString() }]),
        recorded_at: first.toISOString(),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(balanceOf((await read(`?as_of=${second.toISOString()}&currency=USD`)).body)).toMatchObject({
      'commission_pending USD': 0,
      'commission_approved USD': -100,
    });
    const all = (await read('?limit=1&page=2')).body;
    expect(all.pagination).toEqual({ page: 2, limit: 1, total: 4, has_more: true });
    expect(all.data[0].seq).toBe(3);
    expect(Object.values(balanceOf(all)).reduce((sum, minor) => sum + minor, 0)).toBe(0);
    const ofTwo = await read(`?creator_email=${two.email}`);
    expect(ofTwo.body.data.map(({ seq }: { seq: number }) => seq)).toEqual([2]);
    expect(balanceOf(ofTwo.body)).toMatchObject({ 'sales EUR': -500 });
    const csv = await call(`${app.url}${PATH}`, key, { headers: { accept: 'text/csv' } });
    expect(csv.body.trim().split('\n')).toHaveLength(5);
  });

  it('shows nothing of another brand, and refuses invalid parameters', async () => {
    await makeLedger();
    const stranger = await (await makeBrand(app.context)).key('brand');
    const { body } = await call(`${app.url}${PATH}`, stranger);
    expect(body).toMatchObject({ data: [], summary: { balances: [] } });
    for (const query of ['?as_of=then', '?as_of=0000-01-01T00:00:00%2B14:00', '?currency=usd', '?creator_email=x']) {
      expect((await call(`${app.url}${PATH}${query}`, stranger)).status).toBe(422);
    }
    expect((await call(`${app.url}${PATH}`)).status).toBe(401);
  });

  it('is never behind: it has a new entry before it is synced', async () => {
    const { brand, key, link } = await makeLedger();
    await post(app, brand.id, [sale(link, AT, 1, 0)]);
    const { body } = await call(`${app.url}${PATH}`, key);
    expect(body.data[0].seq).toBe(5);
    await sync(app, brand.id);
    expect(await findOldestUnsynced(app.context.postgres.db, brand.id)).toBeUndefined();
  });
});
