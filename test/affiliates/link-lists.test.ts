import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertOnce } from '../../src/kit/engines/clickhouse/insert.ts';
import { type Desk, LINKS, openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';

let app: TestApp;
let desk: Desk;
let creator_email: string;
const ids: string[] = [];

/** Sums of a link, as the rollup holds them. */
async function brought(
  linkId: string,
  currency: string,
  sums: { clicks: number; conversions: number; sales: number; refunds: number; pending: number },
) {
  const { clicks, conversions, sales, refunds, pending } = sums;
  const columns = [
    'brand_id',
    'link_id',
    'creator_id',
    'currency',
    'clicks',
    'conversions',
    'sales',
    'refunds',
    'pending',
  ];
  const row = `${[desk.brand.id, linkId, 'crt_x', currency, clicks, conversions, sales, refunds, pending].join('\t')}\n`;
  await insertOnce(app.context.clickhouse, 'link_life_v1', columns, row, randomUUID());
  const day = ['brand_id', 'day', 'currency', 'clicks', 'conversions', 'sales', 'refunds', 'pending'];
  const daily = `${[desk.brand.id, '2026-01-01', currency, clicks, conversions, sales, refunds, pending].join('\t')}\n`;
  await insertOnce(app.context.clickhouse, 'brand_daily_v1', day, daily, randomUUID());
}

beforeAll(async () => {
  app = await startApp();
  desk = await openDesk(app);
  creator_email = await desk.onRoster();
  ids.push((await desk.made({ creator_email, value: 'first' })).id);
  ids.push((await desk.made({ creator_email, value: 'yen', currency: 'JPY' })).id);
  ids.push((await desk.made({ type: 'link', value: unique('third'), destination_url: SHOP })).id);
  const [first = '', yen = ''] = ids;
  await brought(first, 'USD', { clicks: 7, conversions: 2, sales: 10_050, refunds: 50, pending: 1_005 });
  await brought(first, 'KWD', { clicks: 0, conversions: 1, sales: 1_234, refunds: 0, pending: 123 });
  await brought(yen, 'JPY', { clicks: 3, conversions: 1, sales: 900, refunds: 0, pending: 90 });
});
afterAll(() => app?.close());

describe.each(['/v1/affiliates', LINKS])('%s', (path) => {
  it('has a row per code or link, newest first, with its lifetime figures in its own currency', async () => {
    const { status, body } = await desk.get(path);
    expect(status).toBe(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(body.data[2]).toMatchObject({
      ...{ creator_email, value: 'first', clicks: 7, conversions: 3, revenue: 100, commission: 10.05, currency: 'USD' },
      by_currency: [{ currency: 'KWD', revenue: 1.234, commission: 0.123 }],
    });
    expect(body.data[1]).toMatchObject({ clicks: 3, conversions: 1, revenue: 900, commission: 90, by_currency: [] });
    expect(body.data[0]).toMatchObject({ clicks: 0, conversions: 0, revenue: 0, commission: 0 });
    expect('active' in body.data[0]).toBe(path === LINKS);
  });

  it('finds those of a creator, in any case, and can be paged and limited by time', async () => {
    const of = (await desk.get(`${path}?creator_email=${creator_email.toUpperCase()}&sort=oldest`)).body;
    expect(of.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect((await desk.get(`${path}?creator_email=nobody@example.com`)).body.pagination.total).toBe(0);
    const page = (await desk.get(`${path}?limit=1&page=2`)).body;
    expect([page.data[0].id, page.pagination]).toEqual([ids[1], { page: 2, limit: 1, total: 3, has_more: true }]);
    const before = encodeURIComponent(of.data[0].created_at);
    expect((await desk.get(`${path}?created_before=${before}`)).body.data[0].id).toBe(ids[0]);
    expect((await desk.get(`${path}?created_after=${before}`)).body.pagination.total).toBe(2);
    expect((await desk.get(`${path}?creator_email=ana`)).status).toBe(422);
  });

  it.each(['clicks', 'conversions', 'revenue'])(
    'has the largest first by %s, on pages and in the file',
    async (sort) => {
      const { body } = await desk.get(`${path}?sort=${sort}`);
      const idsOn = (items: { id: string }[]) => items.map(({ id }) => id);
      expect([idsOn(body.data), body.pagination.total]).toEqual([ids, 3]);
      const pages = await Promise.all(ids.map((_, i) => desk.get(`${path}?sort=${sort}&limit=1&page=${i + 1}`)));
      expect(pages.flatMap(({ body: page }) => idsOn(page.data))).toEqual(ids);
      const narrowed = await desk.get(`${path}?sort=${sort}&creator_email=${creator_email}&limit=1`);
      expect([idsOn(narrowed.body.data), narrowed.body.pagination.total]).toEqual([ids.slice(0, 1), 2]);
      const lines = (await desk.get(`${path}?sort=${sort}`, 'text/csv')).body.trim().split('\n').slice(1);
      expect(ids.map((id) => lines.findIndex((line: string) => line.includes(id)))).toEqual([0, 1, 2]);
    },
  );

  it('is CSV on request: the fields of an item but terms as a sentence, every row with its figures', async () => {
    const item = (await desk.get(path)).body.data[2];
    const { status, body } = await desk.get(`${path}?sort=oldest&limit=1`, 'text/csv');
    const lines = body.trim().split('\n');
    const { terms: _terms, effective_terms: _effective, budget: _budget, ...fields } = item;
    expect([status, lines.length, lines[0]]).toEqual([200, 4, Object.keys(fields).join(',')]);
    expect(lines[1]).toContain(`${item.id},${creator_email},`);
    expect(lines[1]).toContain(',7,3,100,10.05,');
  });
});

describe('the summary', () => {
  const kwd = {
    currency: 'KWD',
    total_revenue: 1.234,
    total_commissions: 0.123,
    total_clicks: 0,
    total_conversions: 1,
  };
  const jpy = { currency: 'JPY', total_revenue: 900, total_commissions: 90, total_clicks: 3, total_conversions: 1 };
  const usd = { total_revenue: 100, total_commissions: 10.05 };
  const summaryOf = async (query: string) => (await desk.get(`/v1/affiliates?${query}`)).body.summary;

  it("covers all rows, not the page; money is in the brand's currency, others separately", async () => {
    const expected = { ...usd, total_clicks: 10, total_conversions: 4, by_currency: [jpy, kwd] };
    expect(await summaryOf('limit=1')).toEqual(expected);
    expect(await summaryOf('limit=1&created_after=2020-01-01&sort=oldest')).toEqual({
      ...expected,
      by_currency: expect.arrayContaining([jpy, kwd]),
    });
  });

  it('covers the rows that match the filter', async () => {
    const other = (await desk.get(`${LINKS}?limit=1`)).body.data[0].creator_email;
    const nothing = { total_revenue: 0, total_commissions: 0, total_clicks: 0, total_conversions: 0, by_currency: [] };
    expect(await summaryOf(`creator_email=${other}`)).toEqual(nothing);
    expect(await summaryOf('creator_email=nobody@example.com')).toEqual(nothing);
    expect(await summaryOf(`creator_email=${creator_email}`)).toMatchObject({ ...usd, total_conversions: 4 });
    for (const query of ['campaign_id=cmp_none', 'type=link', 'active=false', 'search=third']) {
      expect(await summaryOf(query), query).toEqual(nothing);
    }
    expect(await summaryOf('search=YEN')).toMatchObject({ total_revenue: 0, total_clicks: 3, by_currency: [jpy] });
  });

  it('has no row for a currency without money, whichever filter finds its links', async () => {
    const idle = await openDesk(app);
    const email = await idle.onRoster();
    await idle.made({ creator_email: email, value: 'euro', currency: 'EUR' });
    for (const query of ['', `creator_email=${email}`, 'created_after=2020-01-01', 'created_before=2999-01-01']) {
      const { body } = await idle.get(`/v1/affiliates?${query}`);
      expect([body.pagination.total, body.summary.by_currency], query).toEqual([1, []]);
    }
  });
});
