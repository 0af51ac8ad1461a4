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
