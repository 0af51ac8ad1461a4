import { randomInt } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import { listPendingRemovals, setSample } from '../../src/affiliates/sample/sample.ts';
import { SAMPLE_PK } from '../../src/directory/search/creator.shapes.ts';
import { ensureDemo } from '../../src/local/demo.ts';
import { ON_ROSTER } from '../../src/local/sample-brand/campaigns.ts';
import { fillSample } from '../../src/local/sample-brand/fill.ts';
import { CLICKS, ORDERS, SELLING } from '../../src/local/sample-brand/store.ts';
import { ensurePersonToSignIn } from '../../src/platform/people/people.ts';
import { getBrand } from '../../src/process/commands/brands.ts';
import { removeFiles } from '../../src/workflow/assets/assets.jobs.ts';
import { bytesOf, parquetRows } from '../harness/analytics/exporting.ts';
import { sync } from '../harness/analytics/figures.ts';
import { type Answer, call, keysInTurn, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { ReferenceWithExamples, sentBy } from '../harness/interfaces/reference.ts';
import { longDeadlineMs } from '../run/deadline.ts';

/** Not the same in each run: ClickHouse knows batches by their time. */
const NOW = new Date(Date.parse('2026-05-20T14:30:00Z') + randomInt(60_000));

const alias = unique('sample');
const OWNER = 'owner@lumen.example';
const CONTACT = 'creators@lumen.example';
/** The calls by day. Their own record is kept for two weeks of the real time. */
const CALLS = '/v1/usage?granularity=day&by=status&from=2026-05-05&to=2026-05-21&limit=1';
/** The brand after its sample, in what nobody has changed. */
const NEUTRAL = {
  ...{ name: 'demo', logo: null, contact_name: null, contact_email: null },
  ...{ industry: null, description: null },
};

let database: TestDatabase;
let session: pg.Client;
let app: TestApp;
let folder: string;

/** What a brand has only for a while, for its own people, after an import, or once calls are counted. */
const NOT_IN_SAMPLE = [
  ...['list_directory_changes', 'list_store_deliveries', 'get_store_backfill'],
  ...['list_export_schedules', 'list_requests', 'list_plans', 'get_plan'],
  ...['list_saved_search_matches'],
  ...['list_customers', 'get_customer', 'list_import_mappings'],
  ...['list_terms', 'get_terms'],
];

interface Filled {
  id: string;
  key: string;
  /** Its keys by turns: a key has a rate. */
  nextKey: () => string;
  tookMs: number;
}
let [first, second]: Filled[] = [];

async function fill(): Promise<Filled> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  await brand.key('data');
  const { postgres, redis, clock } = app.context;
  await ensurePersonToSignIn({ db: postgres.db, redis, clock }, brand.id, OWNER);
  await setSample(postgres.db, brand.id, 'filling');
  const from = performance.now();
  await fillSample(app.context, { brandKey: key, postgresUrl: database.url });
  const tookMs = performance.now() - from;
  await sync(app, brand.id);
  return { id: brand.id, key, nextKey: await keysInTurn(brand, 10), tookMs };
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rollcall-sample-'));
  database = await makeDatabase('sample');
  session = await database.open();
  app = await startApp({
    alias,
    urls: { postgres: database.url },
    clock: { now: () => NOW },
    env: { ROLLCALL_DIR: folder },
  });
  const found = { username: 'gordongram', biography: 'Vegan.', city: 'Manhattan', state: 'NY' };
  await putDirectory(app.context.elastic, alias, [creator(SAMPLE_PK, found)]);
  first = await fill();
  second = await fill();
}, longDeadlineMs);
afterAll(async () => {
  await app?.close();
  await session?.end();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const ask = async (where: string, brand = first): Promise<Answer['body']> => {
  const { status, body } = await call(`${app.url}${where}`, brand?.nextKey() ?? '');
  expect([where, status]).toEqual([where, 200]);
  return body;
};
const usedCredits = async (): Promise<number> => {
  const { data } = await ask('/v1/usage?from=2026-05-05&to=2026-05-21');
  return data.reduce((sum: number, one: { credits: number }) => sum + one.credits, 0);
};
const total = async (where: string, brand = first): Promise<number> => (await ask(where, brand)).pagination.total;

describe('the sample of the demo brand', () => {
  it('has something of everything, in each state', async () => {
    expect((await ask('/v1/brand')).data.has_sample).toBe(true);
    const counts = {
      '/v1/roster': ON_ROSTER,
      '/v1/campaigns': 5,
      '/v1/orders': ORDERS,
      '/v1/affiliates/links': 2 * SELLING,
      '/v1/applications?status=pending': 9,
      '/v1/plans?status=open': 1,
      '/v1/disputes?status=open': 1,
      '/v1/disputes?status=answered': 1,
      '/v1/payouts?settled=false': 1,
      '/v1/messages?unread=true': 3,
      '/v1/lists': 2,
      '/v1/saved-searches': 2,
      '/v1/groups': 1,
      '/v1/assets': 15,
      '/v1/jobs?kind=export&status=done': 3,
      '/v1/jobs?kind=reconciliation&status=done': 1,
      '/v1/reports': 2,
      '/v1/alerts': 2,
      '/v1/data-requests?kind=access&state=done': 1,
      '/v1/data-requests?kind=erasure&state=open': 1,
      '/v1/data-requests?kind=erasure&state=done': 1,
    };
    for (const [where, count] of Object.entries(counts)) expect([where, await total(where)]).toEqual([where, count]);
    expect(await total('/v1/orders?kind=first')).toBeGreaterThan(10);
    expect(await total('/v1/orders?kind=renewal')).toBeGreaterThan(10);
    expect(await total('/v1/customers?state=running')).toBeGreaterThan(10);
    const [renewal] = (await ask('/v1/orders?kind=renewal&limit=1')).data;
    expect([renewal.attributed, renewal.rule]).toEqual([true, 'subscription']);
    const { data: months, pagination } = await ask('/v1/statements');
    expect(pagination.total).toBeGreaterThan(8);
    expect([months[0].from, months[0].to]).toEqual(['2026-04-01', '2026-04-30']);
    const states = {
      '/v1/campaigns': ['active', 'draft', 'completed'],
      '/v1/applications': ['pending', 'accepted', 'rejected', 'shortlisted'],
      '/v1/contracts': ['draft', 'sent', 'signed', 'expired'],
      '/v1/briefs': ['draft', 'sent', 'in_progress'],
      '/v1/deliverables': [
        'pending',
        'in_progress',
        'submitted',
        'approved',
        'revision_requested',
        'declined',
        'cancelled',
      ],
      '/v1/shipments': ['pending', 'shipped', 'delivered'],
      '/v1/commissions': ['pending', 'approved', 'rejected', 'paid'],
    };
    for (const [where, each] of Object.entries(states)) {
      for (const state of each) {
        expect([where, state, await total(`${where}?status=${state}`)]).toEqual([where, state, expect.any(Number)]);
        expect(await total(`${where}?status=${state}`), `${where} ${state}`).toBeGreaterThan(0);
      }
    }
    const { data: flagged } = await ask('/v1/commissions?flagged=true&limit=100');
    expect(
      flagged.some((one: { fraud_flags: { code: string }[] | null }) =>
        one.fraud_flags?.some(({ code }) => code === 'self_referral'),
      ),
    ).toBe(true);
    const parcels = (await ask('/v1/shipments?status=shipped')).data;
    const isLate = ({ estimated_arrival: day }: { estimated_arrival: string }) => day < NOW.toISOString().slice(0, 10);
    expect(parcels.some(isLate)).toBe(true);
    const posts = await ask('/v1/content?limit=100');
    expect(posts.data.length).toBeGreaterThan(20);
    expect(new Set(posts.data.map(({ caption }: { caption: string }) => caption)).size).toBeGreaterThan(5);
    expect(posts.data.every(({ metrics }: { metrics: { views: number } }) => metrics.views > 0)).toBe(true);
    const [{ id }] = (await ask('/v1/roster?limit=1')).data;
    expect((await ask(`/v1/roster/${id}`)).data.pfp_url).toMatch(/^data:image\/svg\+xml;base64,/);
  });

  it('is a brand with a name, a site and a logo, and pages for creators show who it is', async () => {
    const { logo, ...facts } = (await ask('/v1/brand')).data;
    expect(facts).toMatchObject({ name: 'Lumen Skin', website: 'https://lumen.example', contact_email: CONTACT });
    const [{ id }] = (await ask('/v1/campaigns?status=active&limit=1')).data;
    const page = await (await fetch(`${app.url}/apply/${id}`)).text();
    expect(page).toContain(`<img class="logo" src="${logo}"`);
    expect(page).toMatch(/<span>Lumen Skin<a class="site" href="https:\/\/lumen\.example\/"/);
    // Another brand has its name.
    expect((await ask('/v1/brand', second)).data.name).not.toBe('Lumen Skin');
  });

  it('has calls of two weeks, some of them refused', async () => {
    const { series } = await ask(CALLS);
    const calls = Map.groupBy(series, ({ status }: { status: number }) => status);
    expect([...calls.keys()].toSorted()).toEqual([200, 201, 404, 409, 422, 429, 503]);
    const count = series.reduce((sum: number, one: { calls: number }) => sum + one.calls, 0);
    expect(count).toBeGreaterThan(900);
    const credits = series.reduce((sum: number, one: { credits: number }) => sum + one.credits, 0);
    expect(credits).toBeGreaterThan(300);
    expect(await usedCredits()).toBe(credits);
  });

  it('lists what waits for the brand first where that is wanted, and the newest of it before the rest', async () => {
    const waits: Readonly<Record<string, readonly string[]>> = {
      '/v1/applications': ['pending'],
      '/v1/disputes': ['open'],
      '/v1/data-requests': ['open'],
      '/v1/plans': ['open', 'expired'],
      '/v1/imports': ['needs_answers', 'ready'],
    };
    for (const [where, states] of Object.entries(waits)) {
      const { data: newest } = await ask(`${where}?limit=100`);
      const isWaiting = ({ status, state = status }: { status: string; state?: string }) => states.includes(state);
      const [waiting, others] = [newest.filter(isWaiting), newest.filter((row: never) => !isWaiting(row))];
      expect(waiting.length, where).toBeGreaterThan(0);
      const { data } = await ask(`${where}?sort=waiting&limit=100`);
      const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
      expect([where, ids(data)]).toEqual([where, ids([...waiting, ...others])]);
    }
  });

  it('sells through what is active, and pays as its campaign says', async () => {
    const { data: campaigns } = await ask('/v1/campaigns?limit=100');
    for (const { status, revenue } of campaigns) if (status !== 'active') expect(revenue).toBe(0);
    const [glow] = campaigns.filter(({ title }: { title: string }) => title === 'Spring glow');
    const { data: links } = await ask(`/v1/affiliates/links?campaign_id=${glow.id}&limit=100`);
    expect(links.length).toBeGreaterThan(20);
    expect(links.every((one: { commission_rate: number }) => one.commission_rate === 12)).toBe(true);
  });

  it('asks for work before the day on which it is due, and shows what was made for Instagram', async () => {
    const { data: contracts } = await ask('/v1/contracts?limit=100');
    for (const { expires_at, deliverables } of contracts) {
      for (const { due_date } of deliverables) expect(expires_at.slice(0, 10) < due_date).toBe(true);
    }
    const { data: briefs } = await ask('/v1/briefs?limit=100');
    const days = new Set(briefs.map(({ due_date }: { due_date: string }) => due_date));
    const { data: works } = await ask('/v1/deliverables?limit=100');
    for (const { type, due_date, content_url: address } of works) {
      if (type === 'reel') expect(days).toContain(due_date);
      if (address !== null) expect(address).toMatch(/^https:\/\/www\.instagram\.com\//);
    }
  });

  it('sells more each month, with clicks from the first day that can be told apart', async () => {
    const of = async (from: string, to: string) => (await ask(`/v1/analytics?from=${from}&to=${to}`)).summary;
    const months = [
      await of('2026-02-20', '2026-03-20'),
      await of('2026-03-21', '2026-04-19'),
      await of('2026-04-20', '2026-05-20'),
    ];
    const { trends } = await ask('/v1/analytics?from=2026-02-20&to=2026-05-20');
    expect(trends.length).toBe(90);
    for (const { clicks } of trends) expect(clicks).toBeGreaterThan(20);
    const sales = months.map(({ total_revenue }: { total_revenue: number }) => total_revenue);
    expect(sales).toEqual(sales.toSorted((a: number, b: number) => a - b));
    const clicks = months.reduce((sum: number, one: { total_clicks: number }) => sum + one.total_clicks, 0);
    expect(clicks).toBeGreaterThan(0.85 * CLICKS);
    expect(clicks).toBeLessThan(0.95 * CLICKS);
  });

  it('has exports whose files can be downloaded', async () => {
    const { data } = await ask('/v1/jobs?kind=export');
    const files = data.flatMap((job: { files: { name: string; url: string; rows: number }[] }) => job.files);
    expect(files.map(({ name }: { name: string }) => name)).toEqual([
      ...['roster-0001.csv', 'manifest.json', 'commissions-0001.parquet', 'manifest.json'],
      ...['orders-0001.csv', 'manifest.json'],
    ]);
    const [roster, , commissions] = files;
    const lines = (await bytesOf(app, roster)).toString().trimEnd().split('\n');
    expect(lines.length).toBe(ON_ROSTER + 1);
    const paid = await parquetRows(await bytesOf(app, commissions));
    // Those of the last day came later.
    expect(paid.length).toBe(commissions.rows);
    expect(await total('/v1/commissions')).toBeGreaterThan(paid.length);
    expect(paid.length).toBeGreaterThan(1_000);
  });

  it('has a comparison with the store that found differences of each kind', async () => {
    const [{ request, result }] = (await ask('/v1/jobs?kind=reconciliation')).data;
    expect(request.file).toBe('lumen-orders.csv');
    expect(result).toMatchObject({
      ...{ missing_here: 2, missing_there: 1, amount: 2, currency: 1, unread: 1 },
      ...{ refunded_but_paid: 2, cancelled_but_paid: 1 },
    });
    expect(result.matched).toBeGreaterThan(100);
  });

  it('has a report that was mailed with figures, and an alert that fires', async () => {
    const [weekly] = (await ask('/v1/reports')).data;
    expect(weekly).toMatchObject({
      ...{ every: 'week', to: [OWNER], last_error: null },
      ...{ last_sent_at: '2026-05-18T08:00:00.000Z', next_at: '2026-05-25T08:00:00.000Z' },
    });
    const mails = await session.query<{ params: { figures: { value: number }[]; isWhole: boolean } }>(
      `select params from mails where brand_id = $1 and kind = 'report'`,
      [first?.id],
    );
    const [mailed] = mails.rows;
    expect([mails.rows.length, mailed?.params.isWhole]).toEqual([1, true]);
    for (const { value } of mailed?.params.figures ?? []) expect(value).toBeGreaterThan(0);
    const alerts = (await ask('/v1/alerts')).data;
    expect(alerts.map(({ status }: { status: string }) => status)).toEqual(['firing', 'quiet']);
    expect(alerts[0].firing_keys.length).toBeGreaterThan(0);
  });

  it('has a webhook that is off after deliveries made on this machine, and one that fails with an answer to read', async () => {
    const [failing, off] = (await ask('/v1/webhooks')).data;
    const host = 'https://hooks.lumen.example';
    expect(failing).toMatchObject({ status: 'failing', last_status_code: 503, url: `${host}/planner` });
    expect(off).toMatchObject({ status: 'disabled', url: `${host}/hooks` });
    const [lost] = (await ask(`/v1/webhooks/${failing.id}/deliveries?state=failed`)).data;
    const { attempt_log: attempts } = (await ask(`/v1/webhooks/deliveries/${lost.id}`)).data;
    expect(attempts[0]).toMatchObject({ status_code: 503, response_excerpt: expect.stringContaining('being moved') });
    const { data } = await ask(`/v1/webhooks/${off.id}/deliveries?limit=100`);
    const states = data.map(({ state }: { state: string }) => state);
    expect(states.length).toBeGreaterThan(20);
    expect(states.filter((state: string) => !['delivered', 'failed'].includes(state))).toEqual([]);
    expect(data.some(({ attempts }: { attempts: number }) => attempts === 2)).toBe(true);
  });

  it('has an import that is recorded, and one that asks about its dates', async () => {
    const [asking, recorded] = (await ask('/v1/imports')).data;
    expect([recorded.status, recorded.result.written, await total('/v1/past-commissions')]).toEqual(['done', 14, 14]);
    expect(await total(`/v1/imports/${recorded.id}/lines?outcome=refused`)).toBe(1);
    expect([asking.status, asking.questions.length]).toEqual(['needs_answers', 1]);
  });

  it('leaves nothing to do that would call outside, and its mails are in a folder', async () => {
    const due = await session.query(`select
      (select count(*)::int from content where next_refresh_at is not null) as posts,
      (select count(*)::int from shipments where track_at is not null) as parcels,
      (select count(*)::int from integrations where sweep_at is not null or webhooks_due_at is not null) as stores,
      (select count(*)::int from webhook_deliveries where state = 'pending') as deliveries,
      (select count(*)::int from creators where profiled_at is null) as profiles,
      (select count(*)::int from mails where state not in ('sent', 'suppressed')) as mails`);
    expect(due.rows).toEqual([{ posts: 0, parcels: 0, stores: 0, deliveries: 0, profiles: 0, mails: 0 }]);
    expect((await readdir(path.join(folder, 'mail'))).length).toBeGreaterThan(20);
  });

  it('fills in what /docs tries, and every try answers with something', async () => {
    const document = ReferenceWithExamples.parse((await call(`${app.url}/openapi-examples.json`, undefined)).body);
    const tries = Object.entries(document.paths).flatMap(([where, { get }]) => (get ? [{ where, ...get }] : []));
    expect(tries.length).toBeGreaterThan(90);
    // Both brands were made at the same time.
    const { rows } = await session.query('select brand_id from audit_log where resource_id = $1', [
      tries.find(({ operationId }) => operationId === 'get_campaign')?.parameters[0]?.example,
    ]);
    const brand = [first, second].find((one) => one?.id === rows[0]?.brand_id);
    const empty: string[] = [];
    for (const { where, operationId, parameters } of tries) {
      const url = new URL(where, app.url);
      for (const { in: place, name, value } of parameters.map(sentBy)) {
        if (place === 'path') url.pathname = url.pathname.replace(`%7B${name}%7D`, encodeURIComponent(String(value)));
        if (place === 'query' && value !== undefined) url.searchParams.set(name, String(value));
      }
      const { status, body } = await call(url.href, brand?.nextKey() ?? '');
      const hasRows = !Array.isArray(body?.data) || body.data.length > 0;
      if (status !== 200 || !hasRows) empty.push(operationId);
    }
    expect(empty.filter((id) => !NOT_IN_SAMPLE.includes(id))).toEqual([]);
  });

  it('is clean to the last posting', async () => {
    for (const { id } of [first, second].filter((one) => one !== undefined)) {
      const { postgres, clickhouse } = app.context;
      const { problems, entries } = await verifyLedger({ postgres, clickhouse }, id);
      expect(problems).toEqual([]);
      expect(entries).toBeGreaterThan(ORDERS);
    }
  });

  it('is the same each time', async () => {
    const of = async (brand: Filled | undefined) => {
      const orders = await session.query(
        `select order_id, base_minor, occurred_at, paid_at, customer_email, attribution ->> 'rule' as rule
        from orders where brand_id = $1 order by order_id`,
        [brand?.id],
      );
      const commissions = await session.query(
        `select status, sum(commission_minor)::int as minor, count(*)::int from commissions where brand_id = $1
        group by status order by status`,
        [brand?.id],
      );
      const { summary, trends } = await ask('/v1/analytics?from=2026-02-19&to=2026-05-20', brand);
      const roster = (await ask('/v1/roster?limit=100', brand)).data.map(({ name }: { name: string }) => name);
      const [{ result }] = (await ask('/v1/jobs?kind=reconciliation', brand)).data;
      const differences = result.differences.map((one: Record<string, unknown>) => ({ ...one, commission_id: null }));
      const mailed = await session.query(
        `select params -> 'figures' as figures from mails where brand_id = $1 and kind = 'report'`,
        [brand?.id],
      );
      const figures = mailed.rows;
      return { orders: orders.rows, commissions: commissions.rows, summary, trends, roster, differences, figures };
    };
    expect(await of(second)).toEqual(await of(first));
  });

  it('goes with one call, which leaves nothing but the brand, its people, keys and settings', async () => {
    // What a person has changed stays.
    await send(`${app.url}/v1/brand`, first?.key ?? '', 'PATCH', { website: 'https://own.example' });
    const before = await ask('/v1/brand');
    const files = await session.query<{ key: string }>('select storage_key as key from job_files where brand_id = $1', [
      first?.id,
    ]);
    const removed = await send(`${app.url}/v1/brand/sample`, first?.key ?? '', 'DELETE');
    expect(removed).toMatchObject({ status: 200, body: { data: { removed_at: NOW.toISOString() } } });
    expect(await listPendingRemovals(app.context.postgres.db)).toEqual([]);
    const tables = await session.query<{ name: string }>(
      `select table_name as name from information_schema.columns join pg_class on relname = table_name
      where table_schema = 'public' and column_name = 'brand_id' and relkind in ('r', 'p') order by 1`,
    );
    const left: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await session.query(`select from ${name} where brand_id = $1 limit 1`, [first?.id]);
      if (rows.length > 0) left.push(name);
    }
    expect(left).toEqual(
      expect.arrayContaining([
        'api_keys',
        'audit_log',
        'outbox_numbers',
        'outbox_positions',
        'people',
        'row_counts',
        'sealed_rows',
        'seals',
        'subscriptions',
      ]),
    );
    expect(
      left.filter((name) => !/^(?:credit_|customer_positions|ledger_positions|asset_uploads)/.test(name)).length,
      left.join(),
    ).toBe(9);
    expect((await verifyLedger(app.context, first?.id ?? '')).problems).toEqual([]);
    // A job removes the files from the storage.
    expect(files.rows.length).toBeGreaterThan(3);
    await removeFiles.run(app.context);
    for (const { key } of files.rows) await expect(app.context.files.read(key)).rejects.toThrow();
    const orphans = await session.query(`select
      (select count(*)::int from content_metrics where content_id not in (select id from content)) as metrics,
      (select count(*)::int from webhook_attempts where delivery_id not in (select id from webhook_deliveries)) as attempts,
      (select count(*)::int from audit_log where brand_id = '${first?.id}') as audits`);
    expect(orphans.rows).toEqual([{ metrics: 0, attempts: 0, audits: 1 }]);
    expect(await ask('/v1/brand')).toEqual({
      data: { ...before.data, ...NEUTRAL, has_sample: false, updated_at: expect.any(String) },
    });
    expect([await total('/v1/orders'), await total('/v1/lists'), await total('/v1/saved-searches')]).toEqual([0, 0, 0]);
    expect(await usedCredits()).toBe(0);
    // Only what this test calls after the removal is left.
    const { series } = await ask(CALLS);
    expect(series.reduce((sum: number, one: { calls: number }) => sum + one.calls, 0)).toBeLessThan(50);
    const { summary } = await ask('/v1/analytics?from=2026-02-19&to=2026-05-20');
    expect(summary).toMatchObject({ total_clicks: 0, total_revenue: 0, total_conversions: 0 });
    const again = await send(`${app.url}/v1/brand/sample`, first?.key ?? '', 'DELETE');
    expect([again.status, again.body.code]).toEqual([404, 'NOT_FOUND']);
    // The brand works as a new one.
    const added = await send(`${app.url}/v1/roster`, first?.key ?? '', 'POST', { creator_email: 'ana@example.com' });
    expect(added.status).toBe(201);
    const { postgres, clickhouse } = app.context;
    expect((await verifyLedger({ postgres, clickhouse }, first?.id ?? '')).problems).toEqual([]);
    // The other brand keeps its own.
    expect(await total('/v1/orders', second)).toBe(ORDERS);
  });

  it('is found by a start under whatever name it has: by its key, else by its sample; and by commands as demo', async () => {
    const { db } = app.context.postgres;
    await send(`${app.url}/v1/brand`, first?.key ?? '', 'PATCH', { name: 'Our own' });
    const names = [(await ask('/v1/brand')).data.name, (await ask('/v1/brand', second)).data.name];
    for (const [keys, brand] of [
      [`ROLLCALL_BRAND_KEY=${first?.key}\n`, first],
      ['', second],
    ] as const) {
      await writeFile(path.join(folder, 'demo.env'), keys);
      const demo = await ensureDemo(app.context, app.url, { isEmpty: false });
      expect([demo.brandId, demo.isNew, demo.owner]).toEqual([brand?.id, false, OWNER]);
    }
    expect([(await ask('/v1/brand')).data.name, (await ask('/v1/brand', second)).data.name]).toEqual(names);
    expect((await session.query('select id from brands')).rows.length).toBe(2);
    expect((await getBrand(db, 'Demo')).id).toBe(second?.id);
    await expect(getBrand(db, 'nobody')).rejects.toThrow(
      /^No brand "nobody"; give its id or name\.\nThere are 2 brands: (?=.*"Our own").*\.$/,
    );
  });
});
