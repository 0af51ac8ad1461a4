import { sql } from 'kysely';
import { Pool } from 'undici';
import { recordReadings } from '../src/affiliates/orders/record.ts';
import { openFolding } from '../src/affiliates/stores/deliveries/deliveries.jobs.ts';
import { getClient } from '../src/affiliates/stores/formats/clients.ts';
import { parseDelivery } from '../src/affiliates/stores/formats/delivery-body.ts';
import { openPostgres } from '../src/kit/engines/postgres/open.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { inWork } from '../src/kit/operation/work.ts';
import { countStatements as openCountingProxy } from './counting-proxy.ts';
import { cpuSecondsOf, median, medianRatio, percentile } from './load.ts';
import { type Delivery, deliveryOf, makeShop, type Shop } from './make-stores.ts';
import type { ClickSession } from './redirects.ts';
import { type Add, progress, type Ratio, round } from './report.ts';

/** A brand's ledger is one chain: orders of one brand follow one another, those of several do not. */
const BRANDS = 8;
/** As many orders at once as a store sends. */
const CONNECTIONS = 16;
const ORDERS_PER_ROUND = 3_000;
const WARM_UP_ORDERS = 1_500;

interface Ingested {
  perSecond: number;
  latenciesMs: number[];
}

/** Always CONNECTIONS in flight, each thing once. */
async function each<T>(things: readonly T[], send: (thing: T) => Promise<void>): Promise<Ingested> {
  const latenciesMs: number[] = [];
  const left = things.values();
  const begun = performance.now();
  const work = async () => {
    for (const thing of left) {
      const from = performance.now();
      await send(thing);
      latenciesMs.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return { perSecond: (things.length * 1000) / (performance.now() - begun), latenciesMs };
}

async function report(pool: Pool, { path, headers, body }: Delivery): Promise<void> {
  const answer = await pool.request({ method: 'POST', path, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
}

/** The path before the inbox: each delivery is read and recorded in a transaction of its own. */
async function recordAlone({ postgres, clock, secrets }: Context, shop: Shop, { headers, body }: Delivery) {
  const { integrationId: id, brandId } = shop;
  const store = {
    baseUrl: 'https://bench.example',
    currency: 'USD',
    renewalTags: null,
    firstTags: null,
    token: 'none',
    allow: [],
  };
  const reading = await getClient('shopify').read({ headers, body: parseDelivery(Buffer.from(body)) }, store);
  const actor = { brandId, keyId: null, operation: 'bench', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    if (reading) await recordReadings(work, secrets, { id, brandId, provider: 'shopify' }, [reading]);
  });
}

/** CPU seconds that this process and its PostgreSQL's sessions have used. */
async function cpuSeconds({ postgres }: Context): Promise<number> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database()`.execute(postgres.db);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + rows.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
}

interface Cost extends Ingested {
  /** Of this process and PostgreSQL's sessions, for one order. */
  cpuMs: number;
}

async function costOf(context: Context, orders: number, run: () => Promise<number[]>): Promise<Cost> {
  const [before, from] = [await cpuSeconds(context), performance.now()];
  const latenciesMs = await run();
  const perSecond = (orders * 1_000) / (performance.now() - from);
  return { perSecond, latenciesMs, cpuMs: (1_000 * ((await cpuSeconds(context)) - before)) / orders };
}

async function countOf({ postgres }: Context, table: 'orders' | 'commissions', shops: readonly Shop[]) {
  const { count } = await postgres.db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(
      'brandId',
      'in',
      shops.map(({ brandId }) => brandId),
    )
    .executeTakeFirstOrThrow();
  return count;
}

async function assertAllRecorded(context: Context, shops: readonly Shop[], acknowledged: number): Promise<void> {
  const [orders, commissions] = [await countOf(context, 'orders', shops), await countOf(context, 'commissions', shops)];
  if (orders === acknowledged && commissions === acknowledged) return;
  throw new Error(`${acknowledged} orders were acknowledged; there are ${orders}, and ${commissions} commissions.`);
}

const late = (rounds: readonly Ingested[], percent: number) =>
  round(
    percentile(
      rounds.flatMap(({ latenciesMs }) => latenciesMs),
      percent,
    ),
  );
const ratesOf = (rounds: readonly Ingested[]) => rounds.map(({ perSecond }) => perSecond);
const described = (rounds: readonly Ingested[]) =>
  `${round(median(ratesOf(rounds)))}/s, p50 ${late(rounds, 50)} ms, p99 ${late(rounds, 99)} ms`;

interface Rounds {
  acknowledged: Ingested[];
  folded: Cost[];
  /** Orders of links with 50 rules, and renewals of subscriptions. */
  ruled: Cost[];
  renewed: Cost[];
  foldedOfOne: Cost[];
  alone: Cost[];
}

/** Statements of the fold and of the path before it, for one order. */
interface Statements {
  folded: number;
  alone: number;
}

function ratiosOf(
  { acknowledged, folded, ruled, renewed, foldedOfOne, alone }: Rounds,
  statements: Statements,
): Ratio[] {
  const figure = { floor: null, bound: 'at least', warm: "the API's code; PostgreSQL's buffers" } as const;
  const costs = (rounds: readonly Cost[], each?: number) =>
    `${round(median(ratesOf(rounds)))}/s; ${round(median(rounds.map(({ cpuMs }) => cpuMs)))} ms of CPU` +
    `${each === undefined ? '' : ` and ${round(each)} statements`} an order`;
  return [
    {
      ...figure,
      name: 'deliveries_acknowledged_per_second',
      value: median(ratesOf(acknowledged)),
      measured: `${described(acknowledged)}; ${BRANDS} brands, ${CONNECTIONS} connections, no worker`,
    },
    {
      ...figure,
      name: 'delivery_acknowledged_p99_ms',
      value: late(acknowledged, 99),
      bound: 'at most',
      measured: 'one delivery, from its sending to its answer, which follows the commit',
    },
    {
      ...figure,
      name: 'orders_folded_per_second',
      value: median(ratesOf(folded)),
      measured: `${costs(folded, statements.folded)}; ${BRANDS} brands, until all are commissions`,
    },
    {
      ...figure,
      name: 'orders_folded_per_second_one_brand',
      value: median(ratesOf(foldedOfOne)),
      measured: `${costs(foldedOfOne, statements.folded)}; a brand's ledger is one chain`,
    },
    {
      ...figure,
      name: 'folded_with_50_rules_to_plain',
      value: medianRatio(ratesOf(ruled), ratesOf(folded)),
      floor: 0.75,
      measured: costs(ruled),
    },
    {
      ...figure,
      name: 'renewals_folded_to_plain',
      value: medianRatio(ratesOf(renewed), ratesOf(folded)),
      floor: 0.75,
      measured: costs(renewed),
    },
    {
      ...figure,
      name: 'folded_to_alone',
      value: medianRatio(ratesOf(folded), ratesOf(alone)),
      measured: `a transaction each, without HTTP: ${costs(alone, statements.alone)}`,
    },
  ];
}

/** Deliveries/s that are acknowledged, orders/s that are folded, and beside them a transaction for each order. */
export async function measureIngest(session: ClickSession, add: Add): Promise<void> {
  const { context, api, env, rounds } = session;
  progress('Ingesting orders');
  const open = (kind: 'plain' | 'rules' | 'renewals') =>
    Promise.all(Array.from({ length: BRANDS }, (_, i) => makeShop(context, `bench ${kind} ${i}`, kind)));
  const [shops, ruled, renewed] = [await open('plain'), await open('rules'), await open('renewals')];
  const door = new Pool(api.url, { connections: CONNECTIONS });
  let recorded = 0;
  const some = (count: number, of: readonly Shop[], isRenewal?: boolean) =>
    Array.from({ length: count }, (_, i) => {
      const shop = of[i % of.length];
      if (!shop) throw new Error('There are no stores.');
      const subscriber = isRenewal === undefined ? undefined : { id: i, isRenewal };
      return { shop, delivery: deliveryOf(context, shop, Math.floor(i / of.length), subscriber) };
    });
  const acknowledge = async (count: number, of: readonly Shop[], isRenewal?: boolean) => {
    recorded += count;
    return await each(some(count, of, isRenewal), ({ delivery }) => report(door, delivery));
  };
  const fold = (count: number, by = context) =>
    costOf(context, count, async () => {
      await openFolding(by)();
      return [];
    });
  const alone = async (count: number, by = context) => {
    recorded += count;
    const orders = some(count, shops);
    return await costOf(context, count, async () => {
      return (await each(orders, ({ shop, delivery }) => recordAlone(by, shop, delivery))).latenciesMs;
    });
  };

  /** In a pass of its own, for the proxy that counts costs time. */
  async function countStatements(): Promise<Statements> {
    const proxy = await openCountingProxy(env.DATABASE_URL ?? '');
    const counted = openPostgres(proxy.url);
    const by = { ...context, postgres: counted };
    try {
      await acknowledge(ORDERS_PER_ROUND, shops);
      await fold(ORDERS_PER_ROUND, by);
      const folded = proxy.statements();
      await alone(WARM_UP_ORDERS, by);
      return { folded: folded / ORDERS_PER_ROUND, alone: (proxy.statements() - folded) / WARM_UP_ORDERS };
    } finally {
      await counted.close();
      proxy.close();
    }
  }

  try {
    await acknowledge(WARM_UP_ORDERS, shops);
    await fold(WARM_UP_ORDERS);
    await alone(WARM_UP_ORDERS);
    await acknowledge(ORDERS_PER_ROUND, renewed, false);
    await fold(ORDERS_PER_ROUND);
    const all: Rounds = { acknowledged: [], folded: [], ruled: [], renewed: [], foldedOfOne: [], alone: [] };
    for (let i = 0; i < rounds; i += 1) {
      all.acknowledged.push(await acknowledge(ORDERS_PER_ROUND, shops));
      all.folded.push(await fold(ORDERS_PER_ROUND));
      await acknowledge(ORDERS_PER_ROUND, ruled);
      all.ruled.push(await fold(ORDERS_PER_ROUND));
      await acknowledge(ORDERS_PER_ROUND, renewed, true);
      all.renewed.push(await fold(ORDERS_PER_ROUND));
      all.alone.push(await alone(ORDERS_PER_ROUND));
      await acknowledge(ORDERS_PER_ROUND / 2, shops.slice(0, 1));
      all.foldedOfOne.push(await fold(ORDERS_PER_ROUND / 2));
    }
    const statements = await countStatements();
    await assertAllRecorded(context, [...shops, ...ruled, ...renewed], recorded);
    add(...ratiosOf(all, statements));
  } finally {
    await door.close();
  }
}
