import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lateRefund, postAndSync, putAssignment, putClicks, putCreator, sale } from '../harness/analytics/figures.ts';
import { call, makeBrand, startApp, type TestApp } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';

let app: TestApp;
const NOW = new Date('2026-03-18T15:00:00Z');

beforeAll(async () => {
  app = await startApp({ clock: { now: () => NOW }, env: { CLICKS_REDIS_URL: ownRedis() } });
});
afterAll(() => app?.close());

const at = (text: string) => new Date(text.length > 10 ? `${text}Z` : `${text}T12:00:00Z`);
const read = (key: string, query = '') => call(`${app.url}/v1/analytics${query}`, key);

interface Bucket {
  date: string;
  revenue: number;
  clicks: number;
  by_currency: { currency: string; revenue: number }[];
}

describe('GET /v1/analytics', () => {
  it('is zero throughout the last 30 days for a brand without events', async () => {
    const key = await (await makeBrand(app.context)).key('brand');
    const { status, body } = await read(key);
    expect(status).toBe(200);
    expect(body.period).toEqual({ from: '2026-02-17', to: '2026-03-18' });
    expect(body.trends).toHaveLength(30);
    expect(body.trends[0]).toEqual({ date: '2026-02-17', revenue: 0, clicks: 0, by_currency: [] });
    expect(body.trends.at(-1).date).toBe('2026-03-18');
    expect(body.summary).toEqual({
      total_revenue: 0,
      total_commissions: 0,
      total_clicks: 0,
      total_conversions: 0,
      conversion_rate: 0,
      active_creators: 0,
      active_campaigns: 0,
      content_pieces_tracked: 0,
      by_currency: [],
    });
    expect(body.top_creators).toEqual([]);
  });

  it('returns fixed events exactly, in the brand’s currency and separately in others', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const [ana, bob, eve] = [
      await putCreator(app, brand.id, 'Ana'),
      await putCreator(app, brand.id, 'Bob'),
      await putCreator(app, brand.id, 'Eve'),
    ];
    const dollars = await putAssignment(app, brand.id, { creator: ana });
    const dinars = await putAssignment(app, brand.id, { creator: bob, currency: 'KWD' });
    const idle = await putAssignment(app, brand.id, { creator: eve });
    await postAndSync(app, brand.id, [
      sale(dollars, at('2026-03-02'), 10_050, 1_005),
      sale(dollars, at('2026-03-08T23:59:59.999'), 100, 10),
      lateRefund(dollars, at('2026-03-09T00:00:00'), 50, 5),
      sale(dinars, at('2026-03-02'), 1_234, 123),
      sale(dollars, at('2026-02-28'), 77_700, 7_770),
    ]);
    await putClicks(app, dollars, [at('2026-03-02'), at('2026-03-09'), at('2026-04-01')]);
    await putClicks(app, dinars, [at('2026-03-02'), at('2026-03-03'), at('2026-03-03')]);
    await putClicks(app, idle, [at('2026-03-02')], 'bot');
    await call(`${app.url}/v1/campaigns`, key, {
      method: 'POST',
      body: JSON.stringify({ name: 'Launch' }),
      headers: { 'content-type': 'application/json' },
    });

    const { body, headers } = await read(key, '?from=2026-03-01&to=2026-03-15&granularity=week');
    expect(headers.get('x-data-as-of')).toBe(NOW.toISOString());
    expect(body).toEqual({
      period: { from: '2026-03-01', to: '2026-03-15' },
      time_zone: 'UTC',
      previous: null,
      summary: {
        total_revenue: 101,
        total_commissions: 10.1,
        total_clicks: 5,
        total_conversions: 3,
        // All three came by a code.
        conversion_rate: 0,
        active_creators: 2,
        active_campaigns: 1,
        content_pieces_tracked: 0,
        by_currency: [{ currency: 'KWD', revenue: 1.234, commissions: 0.123 }],
      },
      top_creators: [
        { id: ana.id, name: 'Ana', revenue: 101, conversions: 2, by_currency: [] },
        { id: bob.id, name: 'Bob', revenue: 0, conversions: 1, by_currency: [{ currency: 'KWD', revenue: 1.234 }] },
      ],
      trends: [
        { date: '2026-02-23', revenue: 0, clicks: 0, by_currency: [] },
        { date: '2026-03-02', revenue: 101.5, clicks: 4, by_currency: [{ currency: 'KWD', revenue: 1.234 }] },
        { date: '2026-03-09', revenue: -0.5, clicks: 1, by_currency: [] },
      ],
    });
  });

  it('selects events within a day to the millisecond', async () => {
    const brand = await makeBrand(app.context);
    const link = await putAssignment(app, brand.id);
    const noon = at('2026-03-02');
    await postAndSync(app, brand.id, [sale(link, noon, 1_000, 100)]);
    await putClicks(app, link, [noon]);
    const key = await brand.key('brand');
    const clicksOf = async (query: string) => (await read(key, query)).body.summary;
    const [inside, before, after] = await Promise.all([
      clicksOf('?from=2026-03-02T12:00:00Z&to=2026-03-02T12:00:00Z'),
      clicksOf('?from=2026-03-02&to=2026-03-02T11:59:59.999Z'),
      clicksOf('?from=2026-03-02T12:00:00.001Z&to=2026-03-02'),
    ]);
    expect(inside).toMatchObject({ total_clicks: 1, total_revenue: 10, total_conversions: 1 });
    expect([before.total_clicks, before.total_revenue]).toEqual([0, 0]);
    expect([after.total_clicks, after.total_revenue]).toEqual([0, 0]);
  });

  it('refuses an invalid period, and one with too many buckets', async () => {
    const key = await (await makeBrand(app.context)).key('brand');
    const refused = [
      '?from=x',
      '?granularity=minute',
      '?from=2026-03-02&to=2026-03-01',
      '?from=1990-01-01&to=2026-01-01',
    ];
    for (const query of refused) expect((await read(key, query)).status, query).toBe(422);
    expect((await read(key, '?from=1990-01-01&to=2026-01-01&granularity=month')).body.trends).toHaveLength(433);
    expect((await call(`${app.url}/v1/analytics`)).status).toBe(401);
  });

  it.each([
    ['from=0000-01-01&to=0000-02-01&granularity=week', ['from', 'to']],
    ['to=0000-01-01T00:00:00Z', ['to']],
    ['from=9999-12-25&to=9999-12-31T23:59:59-14:00', ['from', 'to']],
    ['from=1969-12-31&to=1970-01-31', ['from']],
    ['from=1970-01-01T00:00:00%2B01:00&to=1970-01-31', ['from']],
    ['from=2149-06-01&to=2149-06-07', ['to']],
    ['from=2149-06-01&to=2149-06-06T23:59:59-14:00', ['to']],
  ])('refuses a period beyond the storable days, and names the limit: %s', async (query, fields) => {
    const { status, body } = await read(await (await makeBrand(app.context)).key('brand'), `?${query}`);
    expect([status, body.code], JSON.stringify(body)).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual(fields);
  });

  it.each([
    ['from=1970-01-01&to=1970-01-31&granularity=week', '1969-12-29', 5],
    ['from=1969-12-31T23:00:00-01:00&to=1970-01-01', '1970-01-01', 1],
    ['to=1970-01-01', '1969-12-03', 30],
    ['from=2149-05-08&to=2149-06-06T23:59:59.999Z', '2149-05-08', 30],
    ['from=2149-05-08&to=2149-06-06&granularity=month', '2149-05-01', 2],
  ])('has every bucket up to the first and last storable day: %s', async (query, first, buckets) => {
    const { status, body } = await read(await (await makeBrand(app.context)).key('brand'), `?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    expect([body.trends[0].date, body.trends.length]).toEqual([first, buckets]);
  });

  it('has days, weeks and months that add up to the summary, whatever happened when', async () => {
    const DAY = 86_400_000;
    const first = Date.UTC(2026, 0, 1);
    const event = fc.record({
      day: fc.integer({ min: 0, max: 120 }),
      ms: fc.integer({ min: 0, max: DAY - 1 }),
      amount: fc.integer({ min: 1, max: 1_000_000 }),
      kind: fc.constantFrom('sale', 'click', 'refund'),
    });
    const period = fc.tuple(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 0, max: 90 }));
    const dayText = (day: number) => new Date(first + day * DAY).toISOString().slice(0, 10);
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 30 }), period, async (events, [from, length]) => {
        const brand = await makeBrand(app.context);
        const link = await putAssignment(app, brand.id);
        const timeOf = ({ day, ms }: { day: number; ms: number }) => new Date(first + day * DAY + ms);
        const money = events.filter(({ kind }) => kind !== 'click');
        await postAndSync(
          app,
          brand.id,
          money.map((one) =>
            one.kind === 'sale' ? sale(link, timeOf(one), one.amount, 1) : lateRefund(link, timeOf(one), one.amount, 1),
          ),
        );
        await putClicks(app, link, events.filter(({ kind }) => kind === 'click').map(timeOf));
        const inside = events.filter(({ day }) => day >= from && day <= from + length);
        const revenue = inside.reduce(
          (sum, { kind, amount }) => sum + (kind === 'sale' ? amount : kind === 'refund' ? -amount : 0),
          0,
        );
        const clicks = inside.filter(({ kind }) => kind === 'click').length;
        const key = await brand.key('brand');
        for (const granularity of ['day', 'week', 'month']) {
          const query = `?from=${dayText(from)}&to=${dayText(from + length)}&granularity=${granularity}`;
          const { summary, trends } = (await read(key, query)).body;
          const cents = (value: number) => Math.round(value * 100);
          expect(cents(summary.total_revenue)).toBe(revenue);
          expect(summary.total_clicks).toBe(clicks);
          expect(trends.reduce((sum: number, bucket: Bucket) => sum + cents(bucket.revenue), 0)).toBe(revenue);
          expect(trends.reduce((sum: number, bucket: Bucket) => sum + bucket.clicks, 0)).toBe(clicks);
          const dates = trends.map(({ date }: Bucket) => date);
          expect(dates).toEqual([...new Set(dates)].sort());
          if (granularity === 'week') for (const date of dates) expect(new Date(date).getUTCDay()).toBe(1);
        }
      }),
      { numRuns: 12 },
    );
  });
});
