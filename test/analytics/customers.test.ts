import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareProportions } from '../../src/analytics/customers/customers.ts';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { syncCustomers } from '../harness/analytics/figures.ts';
import { type Answer, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';

/** A name of no other test: ClickHouse knows batches of one database from those of another by their time. */
const NOW = new Date('2026-11-20T12:00:00.417Z');
const DAY_MS = 24 * 60 * 60_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: { now: () => new Date(NOW.getTime() + 1) } });
});
afterAll(() => app?.close());

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

describe('customers', () => {
  it('of a creator cost the commission and fees of the period, divided by the new ones', async () => {
    const brand = await makeBrand(app.context);
    const creators = [await makeAssignment(app.context, brand, { name: 'Ann Lee' })];
    const world = { brandId: brand.id, key: await brand.key('brand'), creators };
    const one = {
      creator: 0,
      shop: 0,
      currency: 'USD',
      minor: 10_000,
      refundPercent: 0,
      isPaid: true,
      isCancelled: false,
    };
    const history = [
      { ...one, daysAgo: 9, customer: 1 },
      { ...one, daysAgo: 8, customer: 2 },
      { ...one, daysAgo: 7, customer: 1 },
    ];
    const orders = history.map((order, place) => reportOf(order, place, world));
    expect((await send(`${app.url}/v1/orders/batch`, world.key, 'POST', { orders })).status).toBe(200);
    await syncCustomers(app, brand.id);
    expect((await ask(app, world, '/v1/analytics/customers')).data).toMatchObject([
      {
        ...{ key: creators[0]?.creatorId, label: 'Ann Lee', new_customers: 2, returning_customers: 0, orders: 3 },
        ...{ cost_minor: 3_000, cost_per_new_customer_minor: 1_500, repeat_rate_30: null, value_90_minor: null },
      },
    ]);
  });

  it('are sorted by the figure that is asked for, and by new customers where nobody has it', async () => {
    const brand = await makeBrand(app.context);
    const creators = [
      await makeAssignment(app.context, brand, { name: 'Ann Lee' }),
      await makeAssignment(app.context, brand, { name: 'Bo Kim' }),
    ];
    const world = { brandId: brand.id, key: await brand.key('brand'), creators };
    const one = { shop: 0, currency: 'USD', refundPercent: 0, isPaid: true, isCancelled: false };
    const history = [
      { ...one, creator: 0, minor: 10_000, daysAgo: 9, customer: 1 },
      { ...one, creator: 0, minor: 10_000, daysAgo: 8, customer: 2 },
      { ...one, creator: 1, minor: 30_000, daysAgo: 7, customer: 3 },
    ];
    const orders = history.map((order, place) => reportOf(order, place, world));
    expect((await send(`${app.url}/v1/orders/batch`, world.key, 'POST', { orders })).status).toBe(200);
    await syncCustomers(app, brand.id);
    const listed = async (sort: string) => {
      const { data } = await ask(app, world, `/v1/analytics/customers?sort=${sort}`);
      return data.map(({ label }: { label: string }) => label);
    };
    expect(await listed('new_customers')).toEqual(['Ann Lee', 'Bo Kim']);
    expect(await listed('first_order_minor')).toEqual(['Bo Kim', 'Ann Lee']);
    expect(await listed('repeat_rate_30')).toEqual(['Ann Lee', 'Bo Kim']);
  });

  it('differ in share by what Newcombe published', () => {
    const of = (first_orders: number, orders: number) => ({ first_orders, orders });
    expect(compareProportions(of(56, 70), of(48, 80))).toEqual({ difference: 20, interval: { from: 5.24, to: 33.39 } });
    expect(compareProportions(of(10, 10), of(0, 20))).toEqual({ difference: 100, interval: { from: 67.91, to: 100 } });
    expect(compareProportions(of(0, 0), of(1, 2))).toEqual({ difference: null, interval: null });
  });
});
