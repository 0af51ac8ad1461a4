import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStore, identifyStore } from '../../../src/affiliates/stores/connections/connect.ts';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { sweepStores } from '../../../src/affiliates/stores/sweeps/sweeps.jobs.ts';
import { keepStoreWebhooks } from '../../../src/affiliates/stores/webhooks.jobs.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { startJobs } from '../../../src/process/jobs.ts';
import { balancesOf, makeAssignment } from '../../harness/affiliates/sales.ts';
import { foldAll, startStore, type TestStore, WEBHOOK_SECRET } from '../../harness/affiliates/store.ts';
import { type Event, lifeOf, openLife, seeded } from '../../harness/affiliates/store-life.ts';
import { openSending, type Sending, startDown } from '../../harness/affiliates/store-sending.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, until } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { longDeadlineMs } from '../../run/deadline.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const ORDERS = 150;
/** Long enough for a token of 24 hours to end twice. */
const WITHIN_MS = 52 * HOUR_MS;
const SEED = 27;
const DROPPED = 0.3;
/** WooCommerce switches a webhook off at the sixth failure in a row, Shopify after eight tries in four hours. */
const DOWN = { fromMs: 20 * HOUR_MS, untilMs: 25.5 * HOUR_MS };
const RESTART_AT_MS = 30 * HOUR_MS;
/** The shop takes its token back before its time, once in each half. */
const TOKEN_ENDS_AT_MS = [10 * HOUR_MS, 40 * HOUR_MS];
/** How often stores look for what to send again. */
const SEND_EVERY_MS = 5 * MINUTE_MS;
const PROVIDERS: readonly Provider[] = ['shopify', 'woocommerce', 'generic'];

interface Figures {
  balances: Record<string, number>;
  orders: object[];
}

interface Faults {
  isDropped(): boolean;
  isDown(afterMs: number): boolean;
}
const NONE: Faults = { isDropped: () => false, isDown: () => false };

interface Shop {
  provider: Provider;
  brand: TestBrand;
  store: TestStore;
  id: string;
  sending: Sending;
  live: ReturnType<typeof openLife>;
}

interface World {
  app: TestApp;
  database: TestDatabase;
  shops: Shop[];
  setTime(afterMs: number): void;
  close(): Promise<void>;
}

const startMs = Math.floor(Date.now() / 1_000) * 1_000 - WITHIN_MS;

async function connect({ context }: TestApp, brand: TestBrand, store: TestStore): Promise<string> {
  const { provider, url: baseUrl, token, access } = store;
  const { id, secret } = access.app;
  const secrets = provider === 'shopify' ? { app: { id, secret } } : { token, webhookSecret: WEBHOOK_SECRET };
  const met = await identifyStore(context, { provider, baseUrl, ...secrets });
  const actor = { brandId: brand.id, keyId: null, operation: 'test', requestId: null };
  const row = await inWork(context.postgres.db, context.clock, actor, (work) =>
    connectStore(work, context.secrets, met),
  );
  return row.id;
}

async function openWorld(redis: string, faults: Faults): Promise<World> {
  const database = await makeDatabase('acceptance');
  let afterMs = 0;
  const now = () => new Date(startMs + afterMs);
  const app = await startApp({ clock: { now }, urls: { postgres: database.url, redis } });
  await app.context.redis.ready();
  const down = await startDown();
  const reach = (url: string) => `${faults.isDown(afterMs) ? down.url : app.links}${new URL(url).pathname}`;
  const shops: Shop[] = [];
  for (const provider of PROVIDERS) {
    const store = await startStore(provider);
    store.access.now = now;
    const brand = await makeBrand(app.context);
    const change = { contactEmail: `team@${provider}.example` };
    await app.context.postgres.db.updateTable('brands').set(change).where('id', '=', brand.id).execute();
    const { code } = await makeAssignment(app.context, brand);
    const id = await connect(app, brand, store);
    const url = `https://go.example/ingest/generic/${id}`;
    if (provider === 'generic') {
      for (const event of ['created', 'paid', 'updated', 'refunded', 'cancelled']) {
        const topic = `order.${event}`;
        store.hooks.all.push({ id: topic, topic, url, secret: WEBHOOK_SECRET, state: 'active' });
      }
    }
    const sending = openSending(store, { now, reach, isDropped: faults.isDropped });
    shops.push({ provider, brand, store, id, sending, live: openLife(store, code) });
  }
  return {
    ...{ app, database, shops },
    setTime: (ms) => {
      afterMs = ms;
    },
    close: async () => {
      await app.close();
      down.close();
      for (const { store } of shops) await store.close();
      await database.drop();
    },
  };
}

/** What workers do, by a worker of the test's own; others may work beside it. */
async function settle({ app, shops }: World): Promise<void> {
  const { postgres, clock } = app.context;
  await keepStoreWebhooks.run(app.context);
  await Promise.all(shops.map(({ id }) => foldAll(app.context, id)));
  await sweepStores.run(app.context);
  await until('nothing to be due', async () => {
    const due = await postgres.db
      .selectFrom('integrations')
      .select('id')
      .where('status', '=', 'connected')
      .where((eb) => eb.or([eb('sweepAt', '<=', clock.now()), eb('webhooksDueAt', '<=', clock.now())]))
      .execute();
    const sweeping = await postgres.db
      .selectFrom('storeSweeps')
      .select('integrationId')
      .where('startedAt', 'is not', null)
      .execute();
    return due.length + sweeping.length === 0;
  });
}

/** Lets everything happen: each event at its time, what workers do every so often. */
async function live(
  world: World,
  events: readonly Event[],
  { everyMs, at }: { everyMs: number; at?: (afterMs: number) => Promise<void> },
): Promise<void> {
  const { shops, setTime } = world;
  const left = [...events];
  setTime(0);
  await settle(world);
  const happen = async (event: Event, { live: change, sending }: Shop) => {
    for (const { topic, body } of change(event, new Date(startMs + event.afterMs))) await sending.report(topic, body);
  };
  for (let afterMs = 0; afterMs <= WITHIN_MS; afterMs += SEND_EVERY_MS) {
    for (let event = left[0]; event && event.afterMs <= afterMs; event = left[0]) {
      const one = event;
      setTime(one.afterMs);
      await Promise.all(shops.map((shop) => happen(one, shop)));
      left.shift();
    }
    setTime(afterMs);
    await Promise.all(shops.map(({ sending }) => sending.sendDue()));
    if (afterMs % everyMs !== 0) continue;
    await at?.(afterMs);
    await settle(world);
  }
}

async function figuresOf({ app }: World, { brand }: Shop): Promise<Figures> {
  const orders = await app.context.postgres.db
    .selectFrom('orders')
    .leftJoin('commissions', 'commissions.orderId', 'orders.id')
    .select(['orders.orderId', 'orders.baseMinor', 'commissions.status', 'commissionMinor', 'refundedMinor'])
    .where('orders.brandId', '=', brand.id)
    .orderBy('orders.orderId')
    .execute();
  return { balances: await balancesOf(app.context, brand), orders };
}

const sum = (orders: readonly object[], name: string) =>
  orders.reduce((total, order) => total + (Number(Object.entries(order).find(([key]) => key === name)?.[1]) || 0), 0);

/** The table of both runs. */
const shown = ({ orders, balances }: Figures) => ({
  orders: orders.length,
  goods: sum(orders, 'baseMinor'),
  refunded: sum(orders, 'refundedMinor'),
  commissions: sum(orders, 'commissionMinor'),
  ...balances,
});

async function storeOf({ app }: World, { brand, id }: Shop) {
  return (await call(`${app.url}/v1/affiliates/integrations/${id}`, await brand.key('brand'))).body.data;
}

describe('stores that lose deliveries, tokens and webhooks', () => {
  const events = lifeOf(SEED, { orders: ORDERS, withinMs: WITHIN_MS });
  let clean: World;
  let faulty: World;
  let jobs: ReturnType<typeof startJobs> | undefined;

  beforeAll(async () => {
    clean = await openWorld(ownRedis(), NONE);
    const chance = seeded(SEED + 1);
    const isDown = (afterMs: number) => afterMs >= DOWN.fromMs && afterMs < DOWN.untilMs;
    faulty = await openWorld(ownRedis(1), { isDropped: () => chance() < DROPPED, isDown });
  });

  afterAll(async () => {
    await jobs?.stop();
    await clean?.close();
    await faulty?.close();
  });

  it(
    'end with the same ledger, to the cent, as those that lose nothing, with active webhooks and one mail',
    async () => {
      await live(clean, events, { everyMs: 2 * HOUR_MS });

      const redis = ownRedis(1);
      const tokens: number[] = [];
      jobs = startJobs(faulty.app.context, redis);
      const at = async (afterMs: number) => {
        if (afterMs === RESTART_AT_MS) {
          await jobs?.stop();
          jobs = startJobs(faulty.app.context, redis);
        }
        if (!TOKEN_ENDS_AT_MS.includes(afterMs)) return;
        for (const { store } of faulty.shops)
          for (const token of store.access.tokens.keys()) store.access.tokens.set(token, 0);
        tokens.push(afterMs);
      };
      await live(faulty, events, { everyMs: HOUR_MS, at });
      faulty.setTime(WITHIN_MS + 10 * MINUTE_MS);
      await settle(faulty);

      for (const [i, shop] of faulty.shops.entries()) {
        const { provider, sending, store, brand } = shop;
        const twin = clean.shops[i];
        if (!twin) throw new Error('A shop has no twin.');
        const [expected, found] = [await figuresOf(clean, twin), await figuresOf(faulty, shop)];
        const row = await storeOf(faulty, shop);
        const mails = (await mailsOf(faulty.app.context, brand.id)).filter(({ kind }) => kind.startsWith('store_'));
        const sweeps = await faulty.app.context.postgres.db
          .selectFrom('storeSweeps')
          .select(['sweeps', 'ordersRead', 'ordersMissed', 'ordersUnread', 'failed'])
          .where('integrationId', '=', shop.id)
          .executeTakeFirstOrThrow();
        console.log(provider, 'without faults', { ...twin.sending.counts, ...shown(expected) });
        console.log(provider, 'with faults   ', { ...sending.counts, ...shown(found) });
        console.log(provider, { ...sweeps, tokens: store.access.tokens.size, mails: mails.map(({ kind }) => kind) });
        expect(expected.orders).toHaveLength(ORDERS);
        expect(found).toEqual(expected);
        expect(mails).toHaveLength(1);
        expect(sending.counts.dropped).toBeGreaterThan(0);
        if (provider === 'generic') continue;
        expect(row.webhook_setup).toMatchObject({ status: 'active', missing: [] });
        expect(sending.counts.switchedOff).toBeGreaterThan(0);
      }
      const shopify = faulty.shops.find(({ provider }) => provider === 'shopify');
      expect(shopify?.store.access.tokens.size).toBeGreaterThanOrEqual(3);
      expect(tokens).toHaveLength(2);
    },
    longDeadlineMs,
  );
});
