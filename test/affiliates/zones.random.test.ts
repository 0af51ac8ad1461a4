import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addMonths } from '../../src/affiliates/terms/months.ts';
import { DAY_MS } from '../../src/kit/values/duration.ts';
import { LocalDay } from '../../src/kit/values/local-day.ts';
import { dayIn, daysAfter, monthIn, timeIn } from '../../src/kit/values/time-zone.ts';
import { sync } from '../harness/analytics/figures.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { MOMENTS, type Moment } from '../harness/kit/moments.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

const ZONES = [...Map.groupBy(MOMENTS, ({ zone }) => zone)];
/** Sydney, and Samoa with the day that it skipped, then as many others as the run has time for, which the seed draws. */
const FIRST = 2;
const OTHERS = ZONES.slice(FIRST);
const TOLD = [
  ...ZONES.slice(0, FIRST),
  ...[...OTHERS, ...OTHERS].slice(testSeed % OTHERS.length).slice(0, randomRuns(FIRST, 4) - FIRST),
];

describe('the calendar', () => {
  it('has the days, months and later months of 505 moments in 25 zones that Python has', () => {
    expect([MOMENTS.length, ZONES.length]).toEqual([505, 25]);
    const known = MOMENTS.map((one) => {
      const at = new Date(one.at);
      const day = dayIn(one.zone, at);
      const month = monthIn(one.zone, at);
      return {
        ...one,
        day,
        dayFrom: timeIn(one.zone, day).getTime(),
        dayUntil: new LocalDay(day, 'end').in(one.zone).getTime() + 1,
        monthFrom: month.start.getTime(),
        monthUntil: month.end.getTime(),
        later: addMonths(at, one.months, one.zone).getTime(),
      };
    });
    expect(known).toEqual(MOMENTS);
  });
});

const clock = { at: 0, now: () => new Date(clock.at) };
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await makeDatabase('zones');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() }, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const BUDGET = 10;
const toCents = (major: number) => Math.round(major * 100);

/** Codes whose pay depends on the day, and on what the month had before. */
async function makeCodes(shop: TermsShop, moments: readonly Moment[]) {
  const days = [...new Set(moments.map(({ day }) => day))];
  const rules = days.map((from, i) => ({
    name: from,
    when: { placed: { from, to: daysAfter(from, 1) } },
    rate: { percent: i + 1 },
  }));
  const volume = { name: 'More', when: { volume: { per: 'month', orders_from: 1 } }, rate: { percent: 20 } };
  return {
    days,
    byDay: await shop.makeCode({ rate: { percent: 90 }, rules }),
    byBudget: await shop.makeCode({ rate: { percent: 10 }, budget: { per: 'month', amount: { USD: BUDGET } } }),
    byVolume: await shop.makeCode({ rate: { percent: 10 }, rules: [volume] }),
  };
}

/** Reports three orders at each moment, and compares what each pays. Returns the orders by the first code. */
async function compareTerms(shop: TermsShop, zone: string, moments: readonly Moment[]) {
  const codes = await makeCodes(shop, moments);
  const used = new Map<number, number>();
  const told: { moment: Moment; id: string; orderId: string; cents: number }[] = [];
  for (const [i, moment] of moments.entries()) {
    clock.at = moment.at;
    const at = new Date(moment.at).toISOString();
    const amount = 20 + 10 * (i % 5);
    const pay = async (code: { value: string }) =>
      await shop.place({ amount, codes: [code.value], placed_at: at, paid_at: at });
    const before = used.get(moment.monthFrom) ?? 0;
    const fromBudget = Math.min(amount * 10, BUDGET * 100 - before);
    used.set(moment.monthFrom, before + fromBudget);
    const isFirst = moments.findIndex(({ monthFrom }) => monthFrom === moment.monthFrom) === i;
    const [day, budget, volume] = [await pay(codes.byDay), await pay(codes.byBudget), await pay(codes.byVolume)];
    expect([zone, at, ...[day, budget, volume].map(({ commission }) => toCents(commission ?? 0))]).toEqual([
      zone,
      at,
      amount * (codes.days.indexOf(moment.day) + 1),
      fromBudget,
      amount * (isFirst ? 10 : 20),
    ]);
    const link = await shop.tell('GET', `/v1/affiliates/links/${codes.byBudget.id}`);
    expect([zone, at, link.body.data.budget]).toMatchObject([zone, at, [{ used_minor: before + fromBudget }]]);
    told.push({ moment, id: day.id, orderId: day.order_id, cents: 3 * amount * 100 });
  }
  return told;
}

/** Brings customers whose later orders earn for some months, and compares until when. */
async function compareDurations(shop: TermsShop, zone: string, moments: readonly Moment[]) {
  const now = clock.at;
  for (const { at: placed, months, later } of moments) {
    clock.at = placed - DAY_MS;
    const code = await shop.makeCode({ rate: { percent: 10 }, covers: 'customer', months });
    clock.at = placed;
    const at = new Date(placed).toISOString();
    const customer_email = `${unique('jane')}@mail.example`;
    const order = { codes: [code.value], placed_at: at, paid_at: at, customer_email };
    const { id } = await shop.place({ ...order, amount: 10 });
    const ends = async (state: string, atMs: number) => {
      clock.at = atMs;
      const { body } = await shop.tell('GET', `/v1/customers?first_order_id=${id}&state=${state}`);
      return body.data.map(({ until, state: shown }: { until: string; state: string }) => [shown, until]);
    };
    const until = new Date(later).toISOString();
    expect([zone, at, months, await ends('running', later - 1), await ends('over', later)]).toEqual([
      ...[zone, at, months],
      ...[[['running', until]], [['over', until]]],
    ]);
  }
  clock.at = now;
}

/** Compares the lists, the journal and the figures of the days on which orders were placed. */
async function compareDays(shop: TermsShop, told: Awaited<ReturnType<typeof compareTerms>>) {
  for (const [day, some] of Map.groupBy(told, ({ moment }) => moment.day)) {
    const days = `from=${day}&to=${day}`;
    const listed = (await shop.tell('GET', `/v1/orders?limit=100&${days}`)).body.data;
    const [{ moment } = { moment: undefined }] = some;
    expect([moment, listed.length]).toEqual([moment, 3 * some.length]);
    const { body } = await shop.tell('GET', `/v1/analytics?${days}`);
    const cents = some.reduce((sum, one) => sum + one.cents, 0);
    expect([moment, body.time_zone, body.summary.total_conversions, toCents(body.summary.total_revenue)]).toEqual([
      moment,
      moment?.zone,
      3 * some.length,
      cents,
    ]);
    const journal = (await shop.tell('GET', `/v1/affiliates/ledger/journal?limit=100&${days}&account=sales`)).body;
    expect([moment, journal.data.length, new Set(journal.data.map((line: { date: string }) => line.date))]).toEqual([
      moment,
      3 * some.length,
      new Set([day]),
    ]);
  }
}

describe('a brand elsewhere', () => {
  it.each(TOLD)('in %s pays, limits, lists, books and counts by its own days and months', async (zone, moments) => {
    clock.at = (moments[0]?.at ?? 0) - 40 * DAY_MS;
    const shop = await openShop(app, 40);
    expect((await shop.tell('PATCH', '/v1/brand', { settings: { time_zone: zone } })).status).toBe(200);
    const told = await compareTerms(shop, zone, moments);
    clock.at = Date.parse('2026-02-01') + randomInt(DAY_MS);
    await sync(app, shop.brand.id);
    await compareDays(shop, told);
    await compareDurations(shop, zone, moments.slice(0, 8));
    // What was decided stays, whatever the zone is afterwards.
    await shop.tell('PATCH', '/v1/brand', { settings: { time_zone: zone === 'UTC' ? 'Asia/Tokyo' : 'UTC' } });
    for (const one of told.slice(0, 3)) {
      const placed = { id: one.id, order_id: one.orderId, commission: null, rule: null };
      const { commission } = (await shop.explain(placed)).commission;
      const refunded = {
        refund_id: 'half',
        amount: one.cents / 600,
        at: new Date(clock.at).toISOString(),
        items: [],
      };
      expect((await shop.tell('POST', `/v1/orders/${one.id}/refunds`, refunded)).status).toBe(200);
      expect(toCents((await shop.explain(placed)).commission.commission)).toBe(toCents(commission) / 2);
    }
    expect(await shop.listProblems()).toEqual([]);
  });
});
