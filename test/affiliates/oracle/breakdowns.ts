import { expect } from 'vitest';
import { z } from 'zod';
import { type Happening, happenings, within } from './figures.ts';
import { DAY_MS, type History, timeOf } from './history.ts';
import type { World } from './world.ts';

const Figures = z.object({
  clicks: z.number(),
  visitors: z.number(),
  orders: z.number(),
  revenue_minor: z.number(),
  refunds_minor: z.number(),
  commission_minor: z.number(),
  conversion_rate: z.number().nullable(),
  aov_minor: z.number().nullable(),
});
type Figures = z.output<typeof Figures>;
const Breakdown = z.object({
  data: z.array(Figures.extend({ key: z.string().nullable(), currency: z.string(), previous: Figures.nullable() })),
  pagination: z.object({ has_more: z.boolean() }),
  meta: z.object({ coverage: z.object({ orders: z.number(), by_click: z.number(), by_code: z.number() }) }),
});

type By = (typeof BY)[number];
const BY = [
  ...['country', 'device', 'referrer', 'creator', 'campaign', 'link', 'platform', 'store', 'source', 'weekday', 'hour'],
  'click_kind',
] as const;

const text = (ms: number) => new Date(ms).toISOString();
const dayOf = (ms: number) => text(ms).slice(0, 10);

/** What a happening is under; null without one. */
function keyOf({ storeIds, stores, creatorIds }: World, by: By, { link, at, click, store, isManual }: Happening) {
  const keys: Record<By, string | null> = {
    country: click?.country || null,
    device: click?.device ?? null,
    referrer: click?.referrer || null,
    creator: creatorIds[link.creator] ?? null,
    campaign: null,
    link: link.id || null,
    platform: null,
    store: store === undefined ? null : (storeIds[store] ?? null),
    source: isManual ? 'manual' : store === undefined ? null : (stores[store]?.provider ?? null),
    weekday: String(new Date(at).getUTCDay() || 7),
    hour: text(at).slice(11, 13),
    click_kind: click?.kind ?? null,
  };
  return keys[by];
}

function figuresOf(rows: readonly Happening[]): Figures {
  const sum = (of: (row: Happening) => number | undefined) => rows.reduce((total, row) => total + (of(row) ?? 0), 0);
  const clicks = sum((row) => row.clicks);
  const orders = sum((row) => row.conversions);
  const revenue = sum((row) => row.revenue);
  const byClick = sum((row) => (row.click ? row.conversions : 0));
  return {
    clicks,
    // Each counted click of a history is another visitor's.
    visitors: clicks,
    orders,
    revenue_minor: revenue,
    refunds_minor: sum((row) => row.refund),
    commission_minor: sum((row) => (row.pending ?? 0) + (row.approved ?? 0) + (row.paid ?? 0) + (row.adjustment ?? 0)),
    conversion_rate: clicks === 0 ? null : Math.round((byClick / clicks) * 10_000) / 100,
    aov_minor: orders === 0 ? null : Math.round(revenue / orders),
  };
}

const isAnything = ({ clicks, orders, revenue_minor, refunds_minor, commission_minor }: Figures) =>
  [clicks, orders, revenue_minor, refunds_minor, commission_minor].some((figure) => figure !== 0);

function wantedOf(world: World, by: By, rows: readonly Happening[]): Record<string, Figures> {
  const groups = Map.groupBy(rows, (row) => `${keyOf(world, by, row)} ${row.currency}`);
  const sums = [...groups].map(([key, some]) => [key, figuresOf(some)] as const);
  return Object.fromEntries(sums.filter(([, figures]) => isAnything(figures)));
}

/** Every row of a breakdown, page by page, and the orders that it says it covers. */
async function read({ door }: World, query: string) {
  const rows: Record<string, Figures> = {};
  const previous: Record<string, Figures> = {};
  for (let page = 1; ; page += 1) {
    const { data, pagination, meta } = Breakdown.parse(
      await door.ask('GET', `/v1/analytics/breakdown?${query}&limit=10&page=${page}`),
    );
    for (const { key, currency, previous: before, ...figures } of data) {
      expect(rows, `${query}: a row is on one page`).not.toHaveProperty([`${key} ${currency}`]);
      rows[`${key} ${currency}`] = figures;
      if (before && isAnything(before)) previous[`${key} ${currency}`] = before;
    }
    if (!pagination.has_more) return { rows, previous, coverage: meta.coverage };
  }
}

/** Compares a breakdown with the oracle's; the visitors of repeats are not counted here. */
async function check(world: World, by: By, query: string, rows: readonly Happening[]): Promise<void> {
  const reported = await read(world, `by=${by}&${query}`);
  const wanted = wantedOf(world, by, rows);
  if (by === 'click_kind')
    for (const [key, row] of Object.entries(reported.rows)) row.visitors = wanted[key]?.clicks ?? 0;
  expect(reported.rows, `by=${by}&${query}`).toEqual(wanted);
  const orders = rows.reduce((sum, row) => sum + (row.conversions ?? 0), 0);
  const byClick = rows.reduce((sum, row) => sum + (row.click ? (row.conversions ?? 0) : 0), 0);
  const coverage = { orders, by_click: byClick, by_code: orders - byClick };
  expect(reported.coverage, `the coverage of by=${by}&${query}`).toEqual(coverage);
}

const Totals = z.object({ summary: z.object({ total_clicks: z.number(), total_conversions: z.number() }) });
const ByHour = z.object({ trends: z.array(z.object({ date: z.string(), clicks: z.number() })) });

/** Every click of its own links, counted or not. */
function clicksOf({ oracle }: World): Happening[] {
  return oracle.clicks.flatMap((click): Happening[] => {
    const { link, at } = click;
    return link ? [{ link, currency: link.currency, at, clicks: 1, click }] : [];
  });
}

/** Each breakdown against the oracle: by the rollup, and by events for windows within a day and several filters. */
export async function checkBreakdowns(world: World, history: History): Promise<void> {
  const rows = happenings(world.oracle);
  const times = [timeOf(0), ...rows.map(({ at }) => at)];
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const days = `from=${dayOf(first)}&to=${dayOf(last)}`;
  const start = (at: number) => Math.floor(at / DAY_MS) * DAY_MS;
  // A click that does not count may be outside the days of those that do.
  const clicks = within(clicksOf(world), start(first), start(last) + DAY_MS);
  const kinds = [...clicks, ...rows.filter((row) => row.clicks === undefined)];
  // Each history has some of them, so that many histories are lived in the time.
  const some = BY.filter((_, i) => (i + history.asOfSlot) % 3 === 0);
  for (const by of some) await check(world, by, days, by === 'click_kind' ? kinds : rows);

  const [a, b] = [timeOf(history.window.from), timeOf(history.window.to)];
  const [from, to] = [Math.min(a, b), Math.max(a, b)];
  const window = `from=${text(from)}&to=${text(to)}`;
  const inside = within(rows, from, to + 1);
  await check(world, 'country', window, inside);
  const [creator = ''] = world.creatorIds;
  const ofCreator = inside.filter(({ link }) => link.creator === 0);
  await check(world, 'hour', `${window}&creator=${creator}`, ofCreator);

  const german = rows.filter(({ click }) => click?.country === 'DE');
  await check(world, 'country', `${days}&country=DE`, german);
  await check(world, 'device', `${days}&country=DE`, german);
  await check(world, 'weekday', `${days}&country=DE`, german);
  await check(
    world,
    'referrer',
    `${days}&country=none`,
    rows.filter(({ click }) => !click?.country),
  );
  await check(
    world,
    'creator',
    `${days}&weekday=3`,
    rows.filter((row) => keyOf(world, 'weekday', row) === '3'),
  );
  const [store = ''] = world.storeIds;
  await check(
    world,
    'source',
    `${days}&store=${store}&currency=EUR`,
    rows.filter((row) => row.store === 0 && row.currency === 'EUR'),
  );

  const { summary } = Totals.parse(await world.door.ask('GET', `/v1/analytics?${days}&country=DE`));
  const wanted = figuresOf(german);
  expect(summary, 'analytics of one country').toEqual({
    total_clicks: wanted.clicks,
    total_conversions: wanted.orders,
  });

  const firstDay = start(from);
  const week = `from=${dayOf(firstDay)}&to=${dayOf(firstDay + 6 * DAY_MS)}`;
  const { trends } = ByHour.parse(await world.door.ask('GET', `/v1/analytics?${week}&granularity=hour`));
  const ofWeek = within(rows, firstDay, firstDay + 7 * DAY_MS);
  const byHour = Map.groupBy(ofWeek, ({ at }) => `${text(at).slice(0, 13)}:00:00.000Z`);
  expect(trends, 'the hours of a week').toHaveLength(7 * 24);
  for (const { date, clicks: n } of trends) expect(n, date).toBe(figuresOf(byHour.get(date) ?? []).clicks);

  const compared = await read(world, `by=link&${week}&compare=previous`);
  const now = wantedOf(world, 'link', ofWeek);
  const before = wantedOf(world, 'link', within(rows, firstDay - 7 * DAY_MS, firstDay));
  expect(compared.rows, 'a week').toEqual(now);
  expect(compared.previous, 'the week before').toEqual(
    Object.fromEntries(Object.entries(before).filter(([key]) => key in now)),
  );
}
