import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { syncLedger } from '../../src/analytics/figures/figures.jobs.ts';
import { drainClicks } from '../../src/interfaces/links-host/jobs.ts';
import { command, integer, query } from '../../src/kit/engines/clickhouse/query.ts';
import { deskOf, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, makeLink } from '../harness/affiliates/clicks.ts';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { orderFacts, report } from '../harness/affiliates/sales.ts';
import { sync } from '../harness/analytics/figures.ts';
import { call, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';

/** A separate database: another file's sync looks for clicks in its own Redis, and would send these orders without theirs. */
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await makeDatabase('breakdown');
  app = await startApp({ env: BEHIND_PROXY, urls: { postgres: database.url, redis: ownRedis() } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const breakdownOf = (key: string, parameters: string) =>
  send(`${app.url}/v1/analytics/breakdown?${parameters}`, key, 'GET');

/** A brand with two clicks from Germany and one from France; the French one and a code won an order each. */
async function makeSold() {
  const { brand, assignment, key } = await makeSeller(app);
  const link = await makeLink(await deskOf(app, brand), SHOP, { commission_rate: 10 });
  for (const [n, country] of ['DE', 'DE', 'FR'].entries()) {
    await click(app, link.slug, { 'cf-ipcountry': country, 'user-agent': `Mozilla/5.0 (iPhone) ${n}` });
  }
  const won = await click(app, link.slug, { 'cf-ipcountry': 'FR', 'user-agent': 'Mozilla/5.0 (iPhone) 2' });
  return { brand, assignment, key, link, won };
}

const Rows = z.object({ rows: integer });

describe('a breakdown', () => {
  it('has an order under the country of the click that won it, and one that a code won under null', async () => {
    const { brand, assignment, key, won } = await makeSold();
    await report(app.context, assignment, orderFacts(new Date(), { clickIds: [won.clickId] }));
    await report(app.context, assignment, orderFacts(new Date(), { codes: [assignment.code], baseMinor: 5_000 }));
    await sync(app, brand.id);
    const before = await breakdownOf(key, 'by=country');
    expect(before.body.data, 'the click that won is on its way').toEqual([]);
    expect(before.headers.get('x-data-as-of')).not.toBeNull();
    expect(new Date(before.headers.get('x-data-as-of') ?? '').getTime()).toBeLessThan(Date.now());
    await drainClicks(app.context);
    await syncLedger(app.context);
    const { body } = await breakdownOf(key, 'by=country&sort=orders&compare=year');
    const none = { refunds_minor: 0, previous: expect.objectContaining({ clicks: 0, orders: 0, aov_minor: null }) };
    expect(body.data).toEqual([
      {
        ...{ key: 'FR', label: 'France', currency: 'USD', clicks: 1, visitors: 1, orders: 1, revenue_minor: 10_000 },
        ...{ commission_minor: 1_000, conversion_rate: 100, aov_minor: 10_000, ...none },
      },
      {
        ...{ key: null, label: null, currency: 'USD', clicks: 0, visitors: 0, orders: 1, revenue_minor: 5_000 },
        ...{ commission_minor: 500, conversion_rate: null, aov_minor: 5_000, ...none },
      },
      {
        ...{ key: 'DE', label: 'Germany', currency: 'USD', clicks: 2, visitors: 2, orders: 0, revenue_minor: 0 },
        ...{ commission_minor: 0, conversion_rate: 0, aov_minor: null, ...none },
      },
    ]);
    const bySource = (await breakdownOf(key, 'by=source&sort=orders')).body.data;
    expect(bySource).toMatchObject([
      { key: 'generic', clicks: 0, orders: 2, revenue_minor: 15_000 },
      { key: null, clicks: 3, visitors: 3, orders: 0, revenue_minor: 0 },
    ]);
    expect(body.meta.coverage).toEqual({ orders: 2, by_click: 1, by_code: 1 });
    expect(body.pagination).toEqual({ page: 1, limit: 20, total: 3, has_more: false });

    const csv = await call(`${app.url}/v1/analytics/breakdown?by=country&sort=orders`, key, {
      headers: { accept: 'text/csv' },
    });
    expect(csv.body.split('\n').map((line: string) => line.split(',')[1])).toEqual([
      'label',
      'France',
      '',
      'Germany',
      undefined,
    ]);
    const french = await send(
      `${app.url}/v1/analytics?country=FR&compare=previous&granularity=hour&from=${new Date().toISOString().slice(0, 10)}`,
      key,
      'GET',
    );
    expect(french.body.summary).toMatchObject({ total_clicks: 1, total_conversions: 1, conversion_rate: 100 });
    expect(french.body.previous.summary).toMatchObject({ total_clicks: 0, total_revenue: 0 });
    expect(french.body.trends).toHaveLength(24);

    const engines = { db: app.context.postgres.db, clickhouse: app.context.clickhouse };
    expect(await compareFigures(engines, brand.id)).toEqual([]);
    const ofBrand = { brand: brand.id };
    await command(
      app.context.clickhouse,
      "DELETE FROM dimension_daily_v1 WHERE brand_id = {brand:String} AND key = 'DE'",
      ofBrand,
    );
    await command(
      app.context.clickhouse,
      "ALTER TABLE order_figures_v1 UPDATE country = 'IT' WHERE brand_id = {brand:String} AND country = 'FR' SETTINGS mutations_sync = 1",
      ofBrand,
    );
    expect((await compareFigures(engines, brand.id)).join('\n')).toMatch(
      /^order_figures_v1: 1 rows do not have the facts of their click\ndimension_daily_v1: 3 rows are not the sum of their events$/,
    );
    await rebuildFigures(app.context, brand.id);
    expect(await compareFigures(engines, brand.id)).toEqual([]);
    expect((await breakdownOf(key, 'by=country&sort=orders&compare=year')).body.data).toEqual(body.data);
    const [found] = await query(
      app.context.clickhouse,
      Rows,
      'SELECT count() AS rows FROM order_figures_v1 WHERE brand_id = {brand:String}',
      ofBrand,
    );
    expect(found?.rows).toBe(2);
  });

  it('is made of clicks that are listed one by one, newest first, page by page', async () => {
    const { key, link, won, assignment } = await makeSold();
    await report(app.context, assignment, orderFacts(new Date(), { clickIds: [won.clickId] }));
    await drainClicks(app.context);
    const list = (parameters = '') => send(`${app.url}/v1/clicks?${parameters}`, key, 'GET');
    const { body } = await list();
    expect(body.data).toHaveLength(4);
    expect(body).toMatchObject({ has_more: false, next_after: null });
    const repeated = body.data.find(({ id }: { id: string }) => id === won.clickId.slice(0, 24));
    expect(repeated).toMatchObject({
      ...{ kind: 'repeat', link_id: link.id, country: 'FR', device: 'mobile' },
      referrer: null,
    });
    const winners = body.data.filter(({ has_order }: { has_order: boolean }) => has_order);
    expect(winners.map(({ id }: { id: string }) => id)).toEqual([won.clickId.slice(0, 24)]);
    const ids = body.data.map(({ id }: { id: string }) => id);
    const first = (await list('limit=3')).body;
    expect([first.has_more, first.next_after]).toEqual([true, ids[2]]);
    expect((await list(`limit=3&after=${first.next_after}`)).body.data).toEqual(body.data.slice(3));
    expect((await list(`country=DE&link_id=${link.id}&kind=counted`)).body.data).toHaveLength(2);
    expect((await list('to=2020-01-01')).body.data).toEqual([]);
    expect((await list('after=clk_1')).status).toBe(422);
    const stranger = await makeSeller(app);
    expect((await send(`${app.url}/v1/clicks`, stranger.key, 'GET')).body.data).toEqual([]);
  });

  it('tells renewals from first and other orders, also after a refund, a rebuild and in another time zone', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const link = await makeLink(await deskOf(app, brand), SHOP, { commission_rate: 10 });
    await click(app, link.slug, { 'user-agent': 'Mozilla/5.0 (iPhone) 1' });
    await drainClicks(app.context);
    const [path, terms] = [`${app.url}/v1/affiliates/links/${assignment.linkId}`, { rate: { percent: 10 } }];
    await send(path, key, 'PATCH', { terms: { ...terms, covers: 'subscription' } });
    const of = { codes: [assignment.code], subscriptionId: 's1' };
    const refund = { refundId: 'r1', amountMinor: 2_000, at: new Date() };
    await report(app.context, assignment, orderFacts(new Date(), { ...of, kind: 'first' }));
    await report(app.context, assignment, orderFacts(new Date(), { ...of, kind: 'renewal', refunds: [refund] }));
    await report(app.context, assignment, orderFacts(new Date(), { codes: [assignment.code], baseMinor: 5_000 }));
    await sync(app, brand.id);
    const rows = async (parameters: string) => {
      const { body } = await breakdownOf(key, parameters);
      return body.data.map(({ key, label, clicks, orders, revenue_minor }: Record<string, unknown>) => [
        ...[key, label, clicks, orders, revenue_minor],
      ]);
    };
    const all = [
      ['first', 'First order of a subscription', 0, 1, 10_000],
      ['renewal', 'Renewal', 0, 1, 8_000],
      ['once', 'One-time order', 0, 1, 5_000],
      [null, null, 1, 0, 0],
    ];
    expect(await rows('by=kind')).toEqual(all);
    await rebuildFigures(app.context, brand.id);
    expect(await rows('by=kind&time_zone=Asia/Kathmandu')).toEqual(all);
    expect(await rows('by=kind&kind=renewal&product=none')).toEqual([all[1]]);
    const { summary } = (await send(`${app.url}/v1/analytics?kind=renewal`, key, 'GET')).body;
    expect(summary).toMatchObject({ total_conversions: 1, total_clicks: 0 });
  });

  it('and a list tell clicks apart by the utm_ values that the short link was opened with, and orders by those of their click', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const link = await makeLink(await deskOf(app, brand), SHOP, { commission_rate: 10 });
    const silent = await makeLink(await deskOf(app, brand), SHOP, { forward_parameters: false });
    const open = (query: string, n: number, { slug } = link) =>
      click(app, `${slug}?${query}`, { 'user-agent': `Mozilla/5.0 (iPhone) ${n}` });
    const won = await open('utm_source=ig&utm_medium=story&utm_campaign=Fr%C3%BChling+%5C1', 1);
    await open('utm_source=ig&utm_medium=bio', 2);
    await open('x=1', 3);
    await open('utm_source=ig', 4, silent);
    await open(`utm_source=ig&x=${'y'.repeat(1_000)}`, 5);
    await drainClicks(app.context);
    await report(app.context, assignment, orderFacts(new Date(), { clickIds: [won.clickId] }));
    await report(app.context, assignment, orderFacts(new Date(), { codes: [assignment.code], baseMinor: 5_000 }));
    await sync(app, brand.id);
    const rows = async (parameters: string) => {
      const { body } = await breakdownOf(key, parameters);
      return body.data.map(({ key, clicks, orders, revenue_minor }: Record<string, unknown>) => [
        ...[key, clicks, orders, revenue_minor],
      ]);
    };
    expect(await rows('by=utm_source&sort=clicks')).toEqual([
      [null, 3, 1, 5_000],
      ['ig', 2, 1, 10_000],
    ]);
    expect(await rows('by=utm_medium&utm_source=ig&sort=revenue')).toEqual([
      ['story', 1, 1, 10_000],
      ['bio', 1, 0, 0],
    ]);
    expect(await rows('by=utm_campaign&utm_campaign=Fr%C3%BChling+%5C1')).toEqual([['Frühling \\1', 1, 1, 10_000]]);
    expect(await rows('by=link&utm_source=none&time_zone=Asia/Kathmandu')).toHaveLength(3);
    expect(await rows('by=utm_content&product=none')).toEqual([[null, 5, 2, 15_000]]);
    const { summary } = (await send(`${app.url}/v1/analytics?utm_medium=story`, key, 'GET')).body;
    expect(summary).toMatchObject({ total_clicks: 1, total_conversions: 1, conversion_rate: 100 });
    const listed = async (parameters: string) =>
      (await send(`${app.url}/v1/clicks?${parameters}`, key, 'GET')).body.data.map(
        ({ utm_source, utm_medium, utm_campaign, utm_term, utm_content }: Record<string, unknown>) => [
          ...[utm_source, utm_medium, utm_campaign, utm_term, utm_content],
        ],
      );
    expect(await listed('utm_medium=story')).toEqual([['ig', 'story', 'Frühling \\1', null, null]]);
    expect(await listed('utm_source=ig')).toHaveLength(2);
    expect(await listed(`link_id=${silent.id}`)).toEqual([[null, null, null, null, null]]);
    const engines = { db: app.context.postgres.db, clickhouse: app.context.clickhouse };
    expect(await compareFigures(engines, brand.id)).toEqual([]);
    await rebuildFigures(app.context, brand.id);
    expect(await compareFigures(engines, brand.id)).toEqual([]);
    expect(await rows('by=utm_medium&utm_source=ig&sort=revenue')).toEqual([
      ['story', 1, 1, 10_000],
      ['bio', 1, 0, 0],
    ]);
  });

  it('refuses an id that no record of the brand has, also in /v1/analytics and as `of` of cohorts', async () => {
    const { key } = await makeSeller(app);
    const { creatorId, linkId, source } = (await makeSeller(app)).assignment;
    const theirs = { link: linkId, creator: creatorId, campaign: "lü,'", store: source.id };
    for (const [filter, id] of Object.entries(theirs)) {
      const query = `${filter}=${encodeURIComponent(id)}`;
      for (const path of [`analytics/breakdown?by=country&${query}`, `analytics?${query}`]) {
        const { status, body } = await send(`${app.url}/v1/${path}`, key, 'GET');
        const problem = expect.objectContaining({ field: filter, code: 'not_found' });
        expect([status, body.details], path).toEqual([422, [problem]]);
      }
      expect((await breakdownOf(key, `by=country&${filter}=none`)).status, filter).toBe(200);
    }
    const mistyped = await send(`${app.url}/v1/analytics/cohorts?of=attribted`, key, 'GET');
    expect([mistyped.status, mistyped.body.details[0].message]).toEqual([
      422,
      'must be `all`, `attributed` or the id of a creator of this brand; got "attribted".',
    ]);
  });

  it('takes the `source` of a commission as that shows it, and so does the list of commissions', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const other = await makeSeller(app);
    await report(app.context, assignment, orderFacts(new Date(), { codes: [assignment.code] }));
    await sync(app, brand.id);
    const list = async (source: string) => {
      const query = `source=${encodeURIComponent(source)}`;
      const { status, body } = await send(`${app.url}/v1/commissions?${query}`, key, 'GET');
      const rows = (await breakdownOf(key, `by=store&${query}`)).body.data;
      return [status, body.data?.length, rows?.map(({ orders }: { orders: number }) => orders)];
    };
    const { source } = (await send(`${app.url}/v1/commissions`, key, 'GET')).body.data[0];
    expect(source).toMatch(/^generic:store.*\.example$/);
    expect(await list(source)).toEqual([200, 1, [1]]);
    expect(await list('generic')).toEqual([200, 1, [1]]);
    expect(await list('shopify')).toEqual([200, 0, []]);
    expect(await list('generic:elsewhere.example')).toEqual([200, 0, undefined]);
    expect(await list('amazon')).toEqual([422, undefined, undefined]);
    const unlike = await breakdownOf(key, `source=${source}&store=${other.assignment.source.id}`);
    expect(unlike.body.details.map(({ field }: { field: string }) => field)).toEqual(['store']);
  });

  it('is refused with what would be right', async () => {
    const { key } = await makeSeller(app);
    const refused = async (parameters: string) => {
      const { status, body } = await breakdownOf(key, parameters);
      return [status, body.details?.map(({ field }: { field: string }) => field)];
    };
    expect(await refused('by=colour&country=germany&weekday=8&hour=24')).toEqual([
      422,
      ['by', 'country', 'weekday', 'hour'],
    ]);
    expect(await refused('by=link&from=2026-03-02&to=2026-03-01')).toEqual([422, ['from']]);
    const hours = await send(`${app.url}/v1/analytics?granularity=hour&from=2026-01-01&to=2026-02-01`, key, 'GET');
    expect([hours.status, hours.body.details[0].field]).toEqual([422, 'from']);
  });
});
