import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { syncCustomers } from '../harness/analytics/figures.ts';
import { type Answer, makeBrand, SECRET, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { runCli } from '../harness/process/cli.ts';

const NEW = 'decade00'.repeat(8);
/** A name of no other test: ClickHouse knows batches of one database from those of another by their time. */
const NOW = new Date('2026-11-20T12:00:00.417Z');
const DAY_MS = 24 * 60 * 60_000;
const FROM = '2026-05-01';

let database: TestDatabase;
let before: TestApp;
let after: TestApp;
beforeAll(async () => {
  database = await makeDatabase('customers');
  const at = (env: NodeJS.ProcessEnv) => startApp({ urls: { postgres: database.url }, env, clock: { now: () => NOW } });
  [before, after] = await Promise.all([at({}), at({ ROLLCALL_SECRET: NEW })]);
});
afterAll(async () => {
  for (const one of [before, after]) await one?.close();
  await database?.drop();
});

interface Reported {
  /** Days before now; the place in the history makes each time another. */
  daysAgo: number;
  customer: number | null;
  creator: number | null;
  shop: number;
  currency: string;
  minor: number;
  refundPercent: number;
  isPaid: boolean;
  isCancelled: boolean;
}

const reported: fc.Arbitrary<Reported> = fc.record({
  daysAgo: fc.integer({ min: 1, max: 220 }),
  customer: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 8 }),
  creator: fc.option(fc.integer({ min: 0, max: 1 }), { freq: 2 }),
  shop: fc.integer({ min: 0, max: 1 }),
  currency: fc.constantFrom('USD', 'USD', 'EUR'),
  minor: fc.integer({ min: 100, max: 50_000 }),
  refundPercent: fc.constantFrom(0, 0, 30, 100),
  isPaid: fc.constantFrom(true, true, true, false),
  isCancelled: fc.constantFrom(false, false, false, false, true),
});

const placedAt = ({ daysAgo }: Reported, place: number) => NOW.getTime() - daysAgo * DAY_MS - place * 60_000;
const refunded = ({ minor, refundPercent }: Reported) => Math.floor((minor * refundPercent) / 100);

/** The brand's creators, by their codes, and its shops, by their names. */
interface World {
  brandId: string;
  key: string;
  creators: { creatorId: string; linkId: string; code: string }[];
}

function reportOf(one: Reported, place: number, { creators }: World): object {
  const at = placedAt(one, place);
  const [placed, later] = [new Date(at).toISOString(), new Date(at + 1_000).toISOString()];
  const { code = '' } = creators[one.creator ?? -1] ?? {};
  const refund = { refund_id: `re-${place}`, amount: refunded(one) / 100, at: later };
  return {
    ...{ source: `shop-${one.shop}`, order_id: `o-${place}`, currency: one.currency, amount: one.minor / 100 },
    ...{ placed_at: placed, paid_at: one.isPaid ? placed : null, cancelled_at: one.isCancelled ? later : null },
    ...{ updated_at: later, customer_email: one.customer === null ? null : `c${one.customer}@mail.example` },
    ...{ codes: code === '' ? [] : [code], refunds: refunded(one) > 0 ? [refund] : [] },
  };
}

async function ask(app: TestApp, { key }: World, path: string): Promise<Answer['body']> {
  const { status, body } = await send(`${app.url}${path}`, key, 'GET');
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

interface Order extends Reported {
  at: number;
  worth: number;
  key: string;
}

const percent = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 100);
const mean = (sum: number, of: number) => (of === 0 ? null : Math.round(sum / of));

function ordersOf(history: readonly Reported[], keyOf: (one: Reported) => string): Order[] {
  const orders = history.map((one, place) => ({
    ...{ ...one, at: placedAt(one, place), key: keyOf(one) },
    worth: one.isCancelled ? 0 : one.minor - refunded(one),
  }));
  return orders.filter(({ isPaid, customer }) => isPaid && customer !== null).sort((a, b) => a.at - b.at);
}

/** The rows of a history, as anybody would count them by hand. */
function customersOf(history: readonly Reported[], keyOf: (one: Reported) => string): Record<string, object> {
  const all = ordersOf(history, keyOf);
  const since = Date.parse(FROM);
  const firstOf = (customer: number | null) => all.find((order) => order.customer === customer);
  const rows = Map.groupBy(
    all.filter(({ at }) => at >= since),
    ({ key, currency }) => `${key} ${currency}`,
  );
  return Object.fromEntries(
    [...rows].map(([place, orders]) => {
      const firsts = orders.filter((order) => firstOf(order.customer) === order);
      const customers = new Set(orders.map(({ customer }) => customer)).size;
      const within = (first: Order, days: number) =>
        all.filter(({ customer, at }) => customer === first.customer && at <= first.at + days * DAY_MS);
      const old = (days: number) => firsts.filter(({ at }) => at + days * DAY_MS <= NOW.getTime());
      const rate = (days: number) =>
        percent(old(days).filter((first) => within(first, days).length > 1).length, old(days).length);
      const worth = old(90).flatMap((first) =>
        within(first, 90).flatMap((order) => (order.currency === first.currency ? order.worth : [])),
      );
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      return [
        place,
        {
          ...{ orders: orders.length, new_customers: firsts.length, returning_customers: customers - firsts.length },
          new_share: percent(firsts.length, customers),
          first_order_minor: mean(sum(firsts.map((first) => first.worth)), firsts.length),
          ...{ repeat_rate_30: rate(30), repeat_rate_60: rate(60), repeat_rate_90: rate(90) },
          value_90_minor: mean(sum(worth), old(90).length),
        },
      ];
    }),
  );
}

/** The triangle of months, as anybody would fill it in. */
function cohortsOf(all: readonly Order[], metric: string, isIn: (first: Order) => boolean): object[] {
  const monthOf = ({ at }: Order) => `${new Date(at).toISOString().slice(0, 7)}-01`;
  const months = ['05', '06', '07', '08', '09', '10', '11'].map((month) => `2026-${month}-01`);
  const firsts = all.filter((order) => all.find(({ customer }) => customer === order.customer) === order);
  return months.flatMap((cohort, place) => {
    const customers = new Set(
      firsts.filter((one) => monthOf(one) === cohort && isIn(one)).map(({ customer }) => customer),
    );
    const its = all.filter(({ customer }) => customers.has(customer));
    const currencies = metric === 'revenue' ? [...new Set(its.map(({ currency }) => currency))].sort() : [null];
    return customers.size === 0
      ? []
      : currencies.map((currency) => ({
          ...{ cohort, currency, customers: customers.size },
          values: months.slice(place).map((month) => {
            const some = its.filter((one) => monthOf(one) === month && (currency ?? one.currency) === one.currency);
            if (metric === 'customers') return new Set(some.map(({ customer }) => customer)).size;
            return metric === 'orders' ? some.length : some.reduce((sum, { worth }) => sum + worth, 0);
          }),
        }));
  });
}

async function check(app: TestApp, world: World, history: readonly Reported[]): Promise<void> {
  await syncCustomers(app, world.brandId);
  const { creators } = world;
  const keys = {
    creator: ({ creator }: Reported) => creators[creator ?? -1]?.creatorId ?? 'null',
    link: ({ creator }: Reported) => creators[creator ?? -1]?.linkId ?? 'null',
    campaign: () => 'null',
    store: ({ shop }: Reported) => `shop-${shop}`,
  };
  for (const [by, keyOf] of Object.entries(keys)) {
    const { data, meta } = await ask(app, world, `/v1/analytics/customers?by=${by}&from=${FROM}&limit=100`);
    const found = data
      .filter(({ orders }: { orders: number }) => orders > 0)
      .map(
        ({ key, label, currency, cost_minor: _cost, cost_per_new_customer_minor: _each, ...row }: Answer['body']) => [
          `${by === 'store' ? label : key} ${currency}`,
          row,
        ],
      );
    expect(Object.fromEntries(found), by).toEqual(customersOf(history, keyOf));
    const paid = history.filter((one, place) => one.isPaid && placedAt(one, place) >= Date.parse(FROM));
    expect(meta).toMatchObject({
      orders: paid.length,
      without_email: paid.filter(({ customer }) => customer === null).length,
      history_since: new Date(Math.min(...history.map(placedAt))).toISOString(),
    });
  }
  const share = (await ask(app, world, `/v1/analytics/share?from=${FROM}`)).data;
  const all = ordersOf(history, ({ creator }) => (creator === null ? 'others' : 'attributed'));
  const since = Date.parse(FROM);
  for (const side of ['others', 'attributed']) {
    const its = all.filter(({ key, at }) => key === side && at >= since);
    const firsts = its.filter((order) => all.find(({ customer }) => customer === order.customer) === order).length;
    const wanted = { orders: its.length, first_orders: firsts, share: percent(firsts, its.length) };
    expect(share.new_customers[side], side).toEqual(wanted);
  }
  for (const metric of ['customers', 'orders', 'revenue']) {
    const found = await ask(app, world, `/v1/analytics/cohorts?metric=${metric}&from=${FROM}&of=attributed`);
    expect(found.data, metric).toEqual(cohortsOf(all, metric, ({ key }) => key === 'attributed'));
  }
  const every = await ask(app, world, `/v1/analytics/cohorts?from=${FROM}`);
  expect(every.data).toEqual(cohortsOf(all, 'customers', () => true));
}

describe('customers', () => {
  it('and shares are what an oracle counts in random histories, before and after secret rotate', async () => {
    const histories = fc.sample(fc.array(reported, { minLength: 30, maxLength: 45 }), 3);
    const lived: { world: World; history: Reported[] }[] = [];
    for (const history of histories) {
      const brand = await makeBrand(before.context);
      const creators = [await makeAssignment(before.context, brand), await makeAssignment(before.context, brand)];
      const world = { brandId: brand.id, key: await brand.key('brand'), creators };
      lived.push({ world, history });
      const orders = history.slice(0, 20).map((one, place) => reportOf(one, place, world));
      const { status, body } = await send(`${before.url}/v1/orders/batch`, world.key, 'POST', { orders });
      expect(status, JSON.stringify(body)).toBe(200);
      await check(before, world, history.slice(0, 20));
    }
    const rotated = await runCli(['secret', 'rotate', '--json'], {
      ...{ DATABASE_URL: database.url, ROLLCALL_SECRET: NEW, ROLLCALL_PREVIOUS_SECRET: SECRET },
    });
    expect(rotated.status, rotated.said).toBe(0);
    for (const { world, history } of lived) {
      const orders = history.slice(20).map((one, place) => reportOf(one, place + 20, world));
      const { status, body } = await send(`${after.url}/v1/orders/batch`, world.key, 'POST', { orders });
      expect(status, JSON.stringify(body)).toBe(200);
      await check(after, world, history);
    }
  });
});
