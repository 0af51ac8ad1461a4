import { expect } from 'vitest';
import { insertOnce } from '../../../src/kit/engines/clickhouse/insert.ts';
import { tsvTime } from '../../../src/kit/engines/clickhouse/tsv.ts';
import { DAY_MS } from '../../../src/kit/values/duration.ts';
import { makeBrand, send, type TestApp, unique } from '../app.ts';
import { type Assignment, lateRefund, post, putAssignment, sale, sync } from './figures.ts';

/** Something that counts at a time. */
interface Happening {
  at: number;
  clicks: number;
  orders: number;
  revenue: number;
  refunds: number;
  commission: number;
}

export interface Story {
  key: string;
  brandId: string;
  happenings: Happening[];
}

/** The same numbers for the same seed. */
function openDice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const CLICK = ['click_id', 'brand_id', 'link_id', 'creator_id', 'currency', 'at', 'kind', 'visitor'];
const MORE = ['country', 'device', 'referrer_host'];

async function insertClicks(
  { context }: TestApp,
  { brandId, linkId, creatorId }: Assignment,
  times: readonly number[],
) {
  const rows = times.map((at, i) => {
    const values = [unique('clk'), brandId, linkId, creatorId, 'USD', tsvTime(new Date(at)), 'counted', i];
    return `${[...values, 'DE', 'mobile', ''].join('\t')}\n`;
  });
  await insertOnce(context.clickhouse, 'clicks_v1', [...CLICK, ...MORE], rows.join(''), unique('days'));
}

/** A brand with sales, refunds and clicks at random minutes around the given times, and at the edges of their days. */
export async function tellStory(app: TestApp, count: number, around: readonly string[]): Promise<Story> {
  const brand = await makeBrand(app.context);
  const link = await putAssignment(app, brand.id);
  const dice = openDice(52);
  const drawTime = () => {
    const middle = Date.parse(around[dice(around.length)] ?? '');
    const at = middle + (dice(9) - 4) * DAY_MS + dice(24 * 60) * 60_000;
    // Every eighth is the first or last millisecond of an hour.
    return dice(8) > 0 ? at : Math.floor(at / 3_600_000) * 3_600_000 - dice(2);
  };
  const none = { clicks: 0, orders: 0, revenue: 0, refunds: 0, commission: 0 };
  const sold = Array.from({ length: count }, () => ({ at: drawTime(), minor: 100 + dice(10_000) }));
  const refunded = sold
    .filter(() => dice(5) === 0)
    .map(({ at, minor }) => ({ at: at + dice(3 * 24 * 60) * 60_000, minor: 1 + dice(minor) }));
  const clicked = Array.from({ length: count }, drawTime);
  await post(app, brand.id, [
    ...sold.map(({ at, minor }) => sale(link, new Date(at), minor, Math.floor(minor / 10))),
    ...refunded.map(({ at, minor }) => lateRefund(link, new Date(at), minor, Math.floor(minor / 10))),
  ]);
  await insertClicks(app, link, clicked);
  await sync(app, brand.id);
  return {
    key: await brand.key('brand'),
    brandId: brand.id,
    happenings: [
      ...sold.map(({ at, minor }) => ({
        ...none,
        at,
        orders: 1,
        revenue: minor,
        commission: Math.floor(minor / 10),
      })),
      ...refunded.map(({ at, minor }) => ({
        ...none,
        at,
        revenue: -minor,
        refunds: minor,
        commission: -Math.floor(minor / 10),
      })),
      ...clicked.map((at) => ({ ...none, at, clicks: 1 })),
    ],
  };
}

interface Wall {
  day: string;
  hour: string;
  weekday: string;
  month: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** What clocks and calendars of a zone show. */
function readWall(timeZone: string, at: number): Wall {
  const style = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', weekday: 'short' } as const;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...style });
  formats.set(timeZone, format);
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const month = `${part.year}-${part.month}`;
  const weekday = String(WEEKDAYS.indexOf(part.weekday ?? '') + 1);
  return { day: `${month}-${part.day}`, hour: part.hour ?? '', weekday, month };
}

type Sum = Omit<Happening, 'at'>;

function addUp(happenings: readonly Happening[]): Sum {
  const sum = { clicks: 0, orders: 0, revenue: 0, refunds: 0, commission: 0 };
  for (const one of happenings) {
    sum.clicks += one.clicks;
    sum.orders += one.orders;
    sum.revenue += one.revenue;
    sum.refunds += one.refunds;
    sum.commission += one.commission;
  }
  return sum;
}

const toCents = (major: number) => Math.round(major * 100);

interface Row {
  key: string | null;
  clicks: number;
  orders: number;
  revenue_minor: number;
  refunds_minor: number;
  commission_minor: number;
}

const toSum = (row: Row): Sum => ({
  clicks: row.clicks,
  orders: row.orders,
  revenue: row.revenue_minor,
  refunds: row.refunds_minor,
  commission: row.commission_minor,
});

/** Compares every answer about these days of a zone with what happened on them. */
export async function compareDays(
  { url }: TestApp,
  { key, happenings }: Story,
  zone: { name: string; isBrands: boolean },
  { from, to }: { from: string; to: string },
): Promise<void> {
  const { name } = zone;
  const read = async (path: string) => {
    const own = zone.isBrands ? '' : `&time_zone=${encodeURIComponent(name)}`;
    const { status, body } = await send(`${url}${path}${own}`, key, 'GET');
    expect(status, `${path} ${JSON.stringify(body)}`).toBe(200);
    return body;
  };
  const place = `${name} ${from} ${to}`;
  const walls = happenings.map((one) => ({ ...one, wall: readWall(name, one.at) }));
  const within = walls.filter(({ wall }) => wall.day >= from && wall.day <= to);
  const total = addUp(within);
  const days = `from=${from}&to=${to}`;

  const analytics = await read(`/v1/analytics?${days}`);
  expect(analytics.time_zone).toBe(name);
  const { summary, trends } = analytics;
  expect([place, toCents(summary.total_revenue), summary.total_clicks, summary.total_conversions]).toEqual([
    place,
    total.revenue,
    total.clicks,
    total.orders,
  ]);
  for (const { date, revenue, clicks } of trends) {
    const sum = addUp(within.filter(({ wall }) => wall.day === date));
    expect([place, date, toCents(revenue), clicks]).toEqual([place, date, sum.revenue, sum.clicks]);
  }
  expect(trends.reduce((sum: number, { revenue }: { revenue: number }) => sum + toCents(revenue), 0)).toBe(
    total.revenue,
  );

  const hours = (await read(`/v1/analytics?${days}&granularity=hour`)).trends;
  const starts: number[] = hours.map(({ date }: { date: string }) => Date.parse(date));
  for (const [i, { date, revenue, clicks }] of hours.entries()) {
    const end = starts[i + 1] ?? Number.POSITIVE_INFINITY;
    const sum = addUp(within.filter(({ at }) => at >= (starts[i] ?? 0) && at < end));
    expect([place, date, toCents(revenue), clicks]).toEqual([place, date, sum.revenue, sum.clicks]);
  }

  for (const by of ['weekday', 'hour', 'link'] as const) {
    const { data, meta } = await read(`/v1/analytics/breakdown?by=${by}&limit=100&${days}`);
    expect(meta.time_zone).toBe(name);
    const groups = Map.groupBy(within, ({ wall }) => (by === 'link' ? data[0]?.key : wall[by]));
    expect([place, by, data.length]).toEqual([place, by, groups.size]);
    for (const row of data)
      expect([place, by, row.key, toSum(row)]).toEqual([place, by, row.key, addUp(groups.get(row.key) ?? [])]);
  }

  const { data: months } = await read(`/v1/analytics/returns?by=month&${days}`);
  for (const { key: month, revenue_minor, orders } of months) {
    const sum = addUp(within.filter(({ wall }) => wall.month === month));
    expect([place, month, revenue_minor, orders]).toEqual([place, month, sum.revenue, sum.orders]);
  }

  const performance = await send(
    `${url}/v1/affiliates/performance?date_from=${from}&date_to=${to}&time_zone=${encodeURIComponent(name)}`,
    key,
    'GET',
  );
  const [row = { revenue_minor: 0, clicks: 0, conversions: 0 }] = performance.body.summary.by_currency;
  expect(performance.body.summary.time_zone).toBe(name);
  expect([place, row.revenue_minor, row.clicks, row.conversions]).toEqual([
    place,
    total.revenue,
    total.clicks,
    total.orders,
  ]);
}
