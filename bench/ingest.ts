import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Pool } from 'undici';
import type { Context } from '../src/operation/context.ts';
import { alternate, median, medianRatio, percentile } from './load.ts';
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

const TABLE = `create table if not exists bench_orders (id text primary key, brand_id text not null,
  order_id text not null, body jsonb not null, created_at timestamptz not null, unique (brand_id, order_id))`;

/** The least that keeps an order: one row, in a transaction of its own. */
async function keep(pool: pg.Pool, { path, body }: Delivery): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const row = [randomUUID(), path, randomUUID(), body, new Date()];
    await client.query('insert into bench_orders values ($1, $2, $3, $4, $5)', row);
    await client.query('commit');
  } finally {
    client.release();
  }
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

function ratiosOf(several: Ingested[], one: Ingested[], bare: Ingested[]): Ratio[] {
  const figure = { floor: null, bound: 'at least', warm: "the API's code; PostgreSQL's buffers" } as const;
  const measured = `${described(several)}; ${BRANDS} brands, ${CONNECTIONS} connections`;
  return [
    { ...figure, name: 'orders_ingested_per_second', value: median(ratesOf(several)), measured },
    {
      ...figure,
      name: 'order_ingest_p99_ms',
      value: late(several, 99),
      bound: 'at most',
      measured: 'one order, from its delivery to its answer, which follows the commit',
    },
    {
      ...figure,
      name: 'orders_ingested_per_second_one_brand',
      value: median(ratesOf(one)),
      measured: `${described(one)}; a brand's ledger is one chain`,
    },
    {
      ...figure,
      name: 'ingest_to_bare_insert',
      value: medianRatio(ratesOf(several), ratesOf(bare)),
      measured: `${described(bare)}: one INSERT in a transaction, from ${CONNECTIONS} connections`,
    },
  ];
}

/** Orders/s and their latency through the stores' door, beside bare rows in the same PostgreSQL. */
export async function measureIngest(session: ClickSession, add: Add): Promise<void> {
  const { context, api, env, rounds } = session;
  progress('Ingesting orders');
  const shops = await Promise.all(Array.from({ length: BRANDS }, (_, i) => makeShop(context, `bench store ${i}`)));
  const door = new Pool(api.url, { connections: CONNECTIONS });
  const rows = new pg.Pool({ connectionString: env.DATABASE_URL, max: CONNECTIONS });
  await rows.query(TABLE);
  let acknowledged = 0;
  const deliveries = (count: number, of: readonly Shop[]) =>
    Array.from({ length: count }, (_, i) => {
      const shop = of[i % of.length];
      if (!shop) throw new Error('There are no stores.');
      return deliveryOf(context, shop, Math.floor(i / of.length));
    });
  const ingest = async (count: number, of: readonly Shop[]) => {
    const reported = await each(deliveries(count, of), (delivery) => report(door, delivery));
    acknowledged += count;
    return reported;
  };
  try {
    await ingest(WARM_UP_ORDERS, shops);
    const [several = [], one = [], bare = []] = await alternate(rounds, [
      () => ingest(ORDERS_PER_ROUND, shops),
      () => ingest(ORDERS_PER_ROUND / 2, shops.slice(0, 1)),
      () => each(deliveries(ORDERS_PER_ROUND, shops), (delivery) => keep(rows, delivery)),
    ]);
    await assertAllRecorded(context, shops, acknowledged);
    add(...ratiosOf(several, one, bare));
  } finally {
    await Promise.all([door.close(), rows.end()]);
  }
}
