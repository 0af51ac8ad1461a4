import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putManyLinks } from '../harness/affiliates/many-links.ts';
import { lateRefund, postAndSync, putAssignment, putClicks, putCreator, sale } from '../harness/analytics/figures.ts';
import { call, made, makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';

/** Their ids are longer than what a server reads of a statement unless told. */
const LINKS = 20_500;
const at = (text: string) => new Date(`${text}T10:00:00Z`);

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

interface Row {
  campaign_id: string | null;
  campaign_title: string | null;
  currency: string;
  clicks: number;
  conversions: number;
  revenue_minor: number;
}

async function read(query: Record<string, string> = {}, by = key): Promise<Row[]> {
  const { status, body } = await call(
    `${app.url}/v1/affiliates/performance/campaigns?${new URLSearchParams(query)}`,
    by,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

const euros = (of: readonly { currency: string }[]) => of.filter(({ currency }) => currency === 'EUR').length;

async function makeCampaign(name: string, by = key): Promise<string> {
  return (await made(`${app.url}/v1/campaigns`, by, { name })).id;
}

const put = (campaignId: string, linkIds: readonly string[]) =>
  app.context.postgres.db
    .updateTable('links')
    .set({ campaignId })
    .where('id', '=', sql<string>`any(${linkIds})`)
    .execute();

describe('the performance of campaigns', () => {
  it('sums the current links of each campaign, one row per currency, and links without a campaign separately', async () => {
    const [spring, autumn] = [await makeCampaign('Spring'), await makeCampaign('Autumn')];
    const links = await Promise.all(Array.from({ length: 3 }, () => putAssignment(app, brand.id)));
    const [one, two, alone] = links;
    if (!one || !two || !alone) throw new Error('Three links were made.');
    await put(spring, [one.linkId, two.linkId]);
    await postAndSync(app, brand.id, [
      sale(one, at('2026-03-01'), 5_000, 500),
      sale(two, at('2026-03-02'), 3_000, 300),
      sale(alone, at('2026-03-03'), 1_000, 100),
      lateRefund(two, at('2026-03-09'), 1_000, 100),
    ]);
    await putClicks(app, one, [at('2026-03-01'), at('2026-03-08')]);
    const shown = (rows: readonly Row[]) =>
      rows.map(({ campaign_title, clicks, conversions, revenue_minor }) => [
        ...[campaign_title, clicks, conversions, revenue_minor],
      ]);
    expect(shown(await read())).toEqual([
      ['Spring', 2, 2, 7_000],
      [null, 0, 1, 1_000],
    ]);
    expect(shown(await read({ date_from: '2026-03-02', date_to: '2026-03-08' }))).toEqual([
      ['Spring', 1, 1, 3_000],
      [null, 0, 1, 1_000],
    ]);
    expect(shown(await read({ creator_email: alone.email }))).toEqual([[null, 0, 1, 1_000]]);
    expect(await read({ limit: '1', page: '2' })).toMatchObject([{ campaign_id: null }]);
    await put(autumn, [one.linkId, two.linkId]);
    expect(await read()).toMatchObject([{ campaign_id: autumn, revenue_minor: 7_000 }, { campaign_id: null }]);
    expect(await read({}, await (await makeBrand(app.context)).key('brand'))).toEqual([]);
  });

  it('is exact for more links than one statement lists by default, with and without a campaign', async () => {
    const own = await makeBrand(app.context);
    const by = await own.key('brand');
    const links = await putManyLinks(app, own.id, [await putCreator(app, own.id)], LINKS);
    expect((await read({}, by)).map(({ campaign_id, clicks }) => [campaign_id, clicks])).toEqual([
      [null, LINKS - euros(links)],
      [null, euros(links)],
    ]);
    const campaign = await makeCampaign('Large', by);
    const inside = links.filter((_, i) => i % 2 === 0);
    await put(
      campaign,
      inside.map(({ linkId }) => linkId),
    );
    const found = new Map((await read({}, by)).map((row) => [`${row.campaign_id} ${row.currency}`, row.clicks]));
    const outside = links.filter((_, i) => i % 2 === 1);
    expect(Object.fromEntries(found)).toEqual({
      [`${campaign} EUR`]: euros(inside),
      [`${campaign} USD`]: inside.length - euros(inside),
      'null EUR': euros(outside),
      'null USD': outside.length - euros(outside),
    });
  });
});

describe('the list of campaigns', () => {
  const FIGURES = ['conversions', 'revenue', 'commission'] as const;
  interface Listed extends Record<(typeof FIGURES)[number], number | null> {
    id: string;
    title: string;
    by_currency: object[];
  }
  let own: TestBrand;
  let by: string;
  let byTitle: Record<string, string>;
  const list = async (query = '', from = app.url) => {
    const { status, body, headers } = await call(`${from}/v1/campaigns?${query}`, by);
    expect(status, JSON.stringify(body)).toBe(200);
    return { ...body, rows: new Map<string, Listed>(body.data.map((row: Listed) => [row.title, row])), headers };
  };

  beforeAll(async () => {
    own = await makeBrand(app.context);
    by = await own.key('brand');
    byTitle = {};
    for (const title of ['Few', 'Many', 'None', 'Foreign']) byTitle[title] = await makeCampaign(title, by);
    const dollars = await Promise.all(Array.from({ length: 3 }, () => putAssignment(app, own.id)));
    const [few, many, alsoMany] = dollars;
    const yen = await putAssignment(app, own.id, { currency: 'JPY' });
    if (!few || !many || !alsoMany) throw new Error('Three links were made.');
    await put(byTitle.Few ?? '', [few.linkId]);
    await put(byTitle.Many ?? '', [many.linkId, alsoMany.linkId]);
    await put(byTitle.Foreign ?? '', [yen.linkId]);
    await postAndSync(app, own.id, [
      sale(few, at('2026-03-01'), 90_000, 100),
      sale(many, at('2026-03-01'), 5_000, 500),
      sale(alsoMany, at('2026-03-02'), 3_000, 300),
      lateRefund(alsoMany, at('2026-03-09'), 1_000, 100),
      sale(yen, at('2026-03-03'), 7_000, 700),
    ]);
  });

  it('has what the links and codes of each sold, as on its own page, with other currencies separately', async () => {
    const { rows, headers } = await list();
    expect(headers.get('x-data-as-of')).not.toBeNull();
    expect(rows.get('Few')).toMatchObject({ conversions: 1, revenue: 900, commission: 1, by_currency: [] });
    expect(rows.get('Many')).toMatchObject({ conversions: 2, revenue: 70, commission: 7, by_currency: [] });
    expect(rows.get('None')).toMatchObject({ conversions: 0, revenue: 0, commission: 0, by_currency: [] });
    expect(rows.get('Foreign')).toMatchObject({
      ...{ conversions: 1, revenue: 0, commission: 0 },
      by_currency: [{ currency: 'JPY', revenue: 7_000, commission: 700 }],
    });
    const { body } = await call(`${app.url}/v1/analytics/returns?by=campaign&from=2000-01-01`, by);
    const onPage = body.data.filter((row: { currency: string }) => row.currency === 'USD');
    for (const { key: id, revenue_minor, commission_minor, orders } of onPage) {
      const row = [...rows.values()].find((one) => one.id === id);
      if (row)
        expect([row.revenue, row.commission, row.conversions]).toEqual([
          revenue_minor / 100,
          commission_minor / 100,
          orders,
        ]);
    }
    expect(onPage.length).toBeGreaterThan(1);
  });

  it.each(FIGURES)('sorted by %s has the largest first, on pages and in the file', async (figure) => {
    const { data } = await list(`sort=${figure}`);
    const figures = data.map((row: Listed) => row[figure]);
    expect(figures).toEqual(figures.toSorted((one: number, other: number) => other - one));
    expect(new Set(figures).size).toBeGreaterThan(2);
    const ids = data.map(({ id }: Listed) => id);
    const paged = await Promise.all([1, 2, 3, 4].map((page) => list(`sort=${figure}&limit=1&page=${page}`)));
    expect(paged.map((page) => page.data[0].id)).toEqual(ids);
    expect(paged.map((page) => page.pagination.total)).toEqual([4, 4, 4, 4]);
    const file = await call(`${app.url}/v1/campaigns?sort=${figure}`, by, { headers: { accept: 'text/csv' } });
    const [head = '', ...lines] = String(file.body).trim().split('\n');
    expect(head.endsWith('conversions,revenue,commission,by_currency')).toBe(true);
    expect(lines.map((line) => line.split(',')[0])).toEqual(ids);
  });

  it('sums up what all matching campaigns sold, not only those of the page', async () => {
    const sums = { applicant_count: 0, hired_count: 0, conversions: 4, revenue: 970, commission: 8 };
    expect((await list('totals=true&limit=1')).totals).toEqual([{ currency: 'USD', count: 4, ...sums }]);
    const many = { conversions: 2, revenue: 70, commission: 7 };
    expect((await list('totals=true&search=man')).totals).toEqual([{ currency: 'USD', count: 1, ...sums, ...many }]);
    expect((await list('totals=true&search=nobody')).totals).toEqual([]);
    expect((await list()).totals).toBeUndefined();
  });

  it('has nothing of another brand’s', async () => {
    const other = await makeBrand(app.context);
    const key = await other.key('brand');
    await makeCampaign('Theirs', key);
    const { body } = await call(`${app.url}/v1/campaigns?totals=true&sort=revenue`, key);
    expect(body.data).toMatchObject([{ title: 'Theirs', conversions: 0, revenue: 0, by_currency: [] }]);
    expect(body.totals).toMatchObject([{ count: 1, revenue: 0 }]);
  });

  it('is read without figures while ClickHouse does not answer, and cannot be sorted by them then', async () => {
    const closed = await startApp({ urls: { clickhouse: 'http://127.0.0.1:1' } });
    try {
      const { rows, totals } = await list('totals=true', closed.url);
      expect(rows.get('Few')).toMatchObject({ conversions: null, revenue: null, commission: null, by_currency: [] });
      expect(totals).toMatchObject([{ count: 4, applicant_count: 0, conversions: null, revenue: null }]);
      const { status, body } = await call(`${closed.url}/v1/campaigns?sort=revenue`, by);
      expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    } finally {
      await closed.close();
    }
  });
});

describe('the performance of links', () => {
  it('can be sorted by revenue and limited to named links', async () => {
    const own = await makeBrand(app.context);
    const by = await own.key('brand');
    const links = [
      await putAssignment(app, own.id),
      await putAssignment(app, own.id),
      await putAssignment(app, own.id),
    ];
    const amounts = [2_000, 9_000, 4_000];
    await postAndSync(
      app,
      own.id,
      links.map((link, i) => sale(link, at('2026-03-01'), amounts[i] ?? 0, 100)),
    );
    const ids = async (query: string) => {
      const { status, body } = await call(`${app.url}/v1/affiliates/performance?${query}`, by);
      return status === 200 ? body.data.map((row: { link_id: string }) => row.link_id) : body.details;
    };
    const [low, high, middle] = links.map(({ linkId }) => linkId);
    expect(await ids('sort=revenue')).toEqual([high, middle, low]);
    expect(await ids('sort=revenue&limit=1&page=2')).toEqual([middle]);
    expect(await ids(`link_ids=${low},%20${middle}`)).toEqual([middle, low]);
    expect(await ids('link_ids=lnk_nobody')).toEqual([]);
    expect(await ids('link_ids=,')).toMatchObject([{ field: 'link_ids' }, { field: 'link_ids' }]);
    expect(await ids(`link_ids=${'a,'.repeat(100)}a`)).toMatchObject([{ field: 'link_ids', code: 'too_big' }]);
  });
});
