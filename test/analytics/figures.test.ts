import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Assignment,
  lateRefund,
  move,
  postAndSync,
  putAssignment,
  putClicks,
  putCreator,
  sale,
} from '../harness/analytics/figures.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';

let app: TestApp;
let closed: TestApp;

beforeAll(async () => {
  app = await startApp();
  closed = await startApp({ urls: { clickhouse: 'http://127.0.0.1:1' } });
});
afterAll(async () => {
  await app?.close();
  await closed?.close();
});

const day = (text: string) => new Date(`${text}Z`);
const PATH = '/v1/affiliates/performance';

interface Story {
  brand: TestBrand;
  key: string;
  one: Assignment;
  two: Assignment;
}

/** March: two sales of one code, one approved and paid, its refund in April; another code in yen. */
async function makeStory(): Promise<Story> {
  const brand = await makeBrand(app.context);
  const one = await putAssignment(app, brand.id);
  const two = await putAssignment(app, brand.id, { currency: 'JPY' });
  const march = day('2026-03-10T12:00:00');
  const later = day('2026-03-11T00:00:00');
  await postAndSync(app, brand.id, [
    sale(one, march, 10_000, 1_000),
    sale(one, later, 5_000, 500),
    move(one, march, 1_000, 'commission_pending', 'commission_approved'),
    sale(two, march, 7_000, 700),
  ]);
  await postAndSync(app, brand.id, [
    move(one, march, 1_000, 'commission_approved', 'commission_paid'),
    lateRefund(one, day('2026-04-02T00:00:00'), 4_000, 400),
  ]);
  await putClicks(app, one, [day('2026-03-10T23:59:59.999'), day('2026-03-11T00:00:00'), day('2026-04-01T00:00:00')]);
  await putClicks(app, one, [march], 'bot');
  await putClicks(app, two, [march, march]);
  return { brand, key: await brand.key('brand'), one, two };
}

const read = (key: string, query = '') => call(`${app.url}${PATH}${query}`, key);

const balances = (currency: string, clicks: number, conversions: number, money: number[]) => {
  const [revenue_minor, pending, approved, paid, refund_adjustment_minor] = money;
  return {
    currency,
    clicks,
    conversions,
    revenue_minor,
    commission_minor: { pending, approved, paid },
    refund_adjustment_minor,
  };
};

describe('GET /v1/affiliates/performance', () => {
  it('returns exact figures for fixed events, per assignment and currency', async () => {
    const { key, one, two } = await makeStory();
    const { status, headers, body } = await read(key);
    expect(status).toBe(200);
    // Clicks of other tests may wait, so how recent it is varies.
    expect(Date.parse(headers.get('x-data-as-of') ?? '')).toBeLessThanOrEqual(Date.now());
    const row = { creator_name: 'Ana', campaign_id: null, type: 'discount_code' };
    const yen = balances('JPY', 2, 1, [7_000, 700, 0, 0, 0]);
    const dollars = balances('USD', 3, 2, [11_000, 500, 0, 1_000, -400]);
    expect(body).toEqual({
      data: [
        { ...row, link_id: two.linkId, creator_email: two.email, value: two.value, ...yen },
        { ...row, link_id: one.linkId, creator_email: one.email, value: one.value, ...dollars },
      ],
      pagination: { page: 1, limit: 20, total: 2, has_more: false },
      summary: { by_currency: [yen, dollars], time_zone: 'UTC' },
    });
  });

  it.each([
    ['?date_from=2026-03-10&date_to=2026-03-10', 1, 1, [10_000, 0, 0, 1_000, 0]],
    ['?date_from=2026-03-11&date_to=2026-03-31', 1, 1, [5_000, 500, 0, 0, 0]],
    ['?date_from=2026-04-01', 1, 0, [-4_000, 0, 0, 0, -400]],
    ['?date_to=2026-03-31', 2, 2, [15_000, 500, 0, 1_000, 0]],
    ['?date_from=2026-03-10T12:00:00.001Z&date_to=2026-03-11T01:00:00%2B01:00', 2, 1, [5_000, 500, 0, 0, 0]],
    ['?date_from=2026-03-10T12:00:00Z&date_to=2026-03-10', 1, 1, [10_000, 0, 0, 1_000, 0]],
  ])('selects events by their own time: %s', async (query, clicks, conversions, money) => {
    const { key, one } = await makeStory();
    const { body } = await read(key, `${query}&creator_email=${one.email.toUpperCase()}`);
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject(balances('USD', clicks, conversions, money));
    expect(body.summary.by_currency).toEqual([balances('USD', clicks, conversions, money)]);
  });

  it('pages without overlap, with an exact total and a summary of all rows', async () => {
    const brand = await makeBrand(app.context);
    const creator = await putCreator(app, brand.id);
    const links = [];
    for (let i = 0; i < 7; i++) links.push(await putAssignment(app, brand.id, { creator }));
    const at = day('2026-03-10T12:00:00');
    await postAndSync(
      app,
      brand.id,
      links.map((link, i) => sale(link, at, 100 + i, 10)),
    );
    const key = await brand.key('brand');
    const seen = [];
    for (let page = 1; page <= 4; page++) {
      const { body } = await read(key, `?limit=2&page=${page}`);
      expect(body.pagination).toEqual({ page, limit: 2, total: 7, has_more: page < 4 });
      expect(body.summary.by_currency[0].revenue_minor).toBe(721);
      seen.push(...body.data.map((row: { link_id: string }) => row.link_id));
    }
    expect(seen).toEqual(
      links
        .map(({ linkId }) => linkId)
        .sort()
        .reverse(),
    );
  });

  it('can be read as CSV', async () => {
    const { key, one } = await makeStory();
    const { body } = await call(`${app.url}${PATH}?creator_email=${one.email}`, key, {
      headers: { accept: 'text/csv' },
    });
    expect(body.split('\n')[1]).toContain(`${one.linkId},${one.email},Ana,,discount_code,${one.value},USD,3,2,11000,`);
  });

  it('is empty for an unknown creator, and refuses invalid parameters', async () => {
    const { key } = await makeStory();
    const { body } = await read(key, '?creator_email=nobody@example.com');
    expect(body).toMatchObject({ data: [], pagination: { total: 0 }, summary: { by_currency: [] } });
    for (const query of ['?date_from=yesterday', '?creator_email=x', '?date_from=2026-03-02&date_to=2026-03-01']) {
      expect((await read(key, query)).status, query).toBe(422);
    }
    expect((await call(`${app.url}${PATH}`)).status).toBe(401);
  });

  it('answers 503 without ClickHouse', async () => {
    const { brand } = await makeStory();
    const { status, body } = await call(`${closed.url}${PATH}`, await brand.key('brand'));
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  });
});

describe('the performance of creators', () => {
  it('is in major units of the brand’s currency, with other currencies separately', async () => {
    const { key, one, two } = await makeStory();
    const { body, headers } = await call(`${app.url}/v1/creators`, key);
    expect(headers.get('x-data-as-of')).not.toBeNull();
    const of = (email: string) => body.data.find((row: { email: string }) => row.email === email).performance;
    expect(of(one.email)).toEqual({ clicks: 3, conversions: 2, revenue: 110, commissions_earned: 11, by_currency: [] });
    expect(of(two.email)).toEqual({
      clicks: 2,
      conversions: 1,
      revenue: 0,
      commissions_earned: 0,
      by_currency: [{ currency: 'JPY', revenue: 7_000, commissions_earned: 700 }],
    });
  });
});
