import { once } from 'node:events';
import https from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import tls from 'node:tls';
import { z } from 'zod';
import { readConfig } from '../src/config.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { inWork } from '../src/kit/operation/work.ts';
import { openRelay } from '../src/kit/outbox/relay.ts';
import type { Config } from '../src/kit/values/config.ts';
import { openDue } from '../src/kit/values/due.ts';
import { startEmbedded } from '../src/local/engines/start.ts';
import { createBrand } from '../src/platform/brands/brands.ts';
import { startDelivering } from '../src/platform/webhooks/delivery-loop.ts';
import { webhookConsumer } from '../src/platform/webhooks/fan-out.ts';
import { createSubscription } from '../src/platform/webhooks/webhooks.ts';
import { openContext } from '../src/process/open-context.ts';
import { NOWHERE, SECRET, startNode, stopNode } from './children.ts';
import { benchCommand } from './command.ts';
import { withOwnData } from './own-data.ts';
import { openResults, progress, type Ratio, type Results } from './report.ts';

const DEAD_BRANDS = 5;
const HOOKS_OF_A_BRAND = 10;

const { quick } = benchCommand(
  'bench webhooks',
  'Measures the cost and speed of webhooks: a healthy one next to 50 that never answer, deliveries a second ' +
    'against a bare https client, and what an event costs its transaction. Uses embedded PostgreSQL and Redis, or those in ' +
    'DATABASE_URL and REDIS_URL.',
)
  .option('--quick', '50 events for each dead one, not 1,000, and fewer of the others')
  .parse()
  .opts<{ quick?: true }>();
const scale = quick
  ? { dead: 50, healthy: 100, burst: 100, pairs: 100 }
  : { dead: 1_000, healthy: 600, burst: 500, pairs: 500 };

const wallMs = () => performance.timeOrigin + performance.now();
const quantile = (values: readonly number[], q: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;

interface Receiver {
  url: string;
  /** When each item arrived. */
  arrived: Map<string, number[]>;
  stop(): Promise<void>;
}

const Line = z.union([z.object({ id: z.string(), at: z.number() }), z.object({ port: z.number(), cert: z.string() })]);

async function startReceiver(config: Config): Promise<Receiver> {
  const child = startNode(['bench/webhook-receiver.ts'], { PATH: config.java.searchPath });
  const arrived = new Map<string, number[]>();
  const ready = Promise.withResolvers<number>();
  if (!child.stdout) throw new Error('The receiver has no output.');
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = Line.parse(JSON.parse(text));
    if ('id' in line) return void arrived.set(line.id, [...(arrived.get(line.id) ?? []), line.at]);
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), line.cert]);
    ready.resolve(line.port);
  });
  return { url: `https://127.0.0.1:${await ready.promise}`, arrived, stop: () => stopNode(child) };
}

const APPLICATION = {
  ...{
    id: '',
    campaign_id: 'cmp_bench',
    creator_email: 'zoe@example.com',
    creator_name: 'Zoë',
    creator_photo_app: null,
  },
  ...{ creator_video_app: null, status: 'pending' as const, message: null, portfolio_urls: [] },
  applied_at: '2026-11-22T09:30:00.123Z',
};

async function makeBrand(context: Context, paths: readonly string[]): Promise<string> {
  const { postgres, clock, secrets } = context;
  const name = `bench ${wallMs()}`;
  const brandId = await createBrand(postgres.db, clock, { name, plan: 'growth', status: 'active' });
  for (const url of paths) {
    const input = { variant: 'current' as const, url, events: ['application.received'], description: null };
    const actor = { brandId, keyId: null, operation: 'bench', requestId: null };
    await inWork(postgres.db, clock, actor, (work) => createSubscription(work, secrets, input));
  }
  return brandId;
}

async function emit({ postgres, clock }: Context, brandId: string, ids: readonly string[]): Promise<number> {
  const actor = { brandId, keyId: null, operation: 'bench', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    for (const id of ids) work.emit('application.received', { ...APPLICATION, id });
  });
  return wallMs();
}

const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}_${n}`);

async function arrival(receiver: Receiver, id: string, times: number, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while ((receiver.arrived.get(id)?.length ?? 0) < times) {
    if (performance.now() > end) throw new Error(`${id} did not arrive within ${withinMs} ms.`);
    await pause(5);
  }
}

async function measureIsolation(context: Context, receiver: Receiver): Promise<Ratio> {
  for (let n = 0; n < DEAD_BRANDS; n += 1) {
    const dead = idsOf(`/dead/${n}`, HOOKS_OF_A_BRAND).map((path) => `${receiver.url}${path}`);
    await emit(context, await makeBrand(context, dead), idsOf('dead', scale.dead));
  }
  const healthy = await makeBrand(context, [`${receiver.url}/healthy`]);
  progress(
    `A healthy webhook next to ${DEAD_BRANDS * HOOKS_OF_A_BRAND} that never answer, with ${scale.dead} events each`,
  );
  const committed = new Map<string, number>();
  for (const id of idsOf('healthy', scale.healthy)) {
    committed.set(id, await emit(context, healthy, [id]));
    await pause(20);
  }
  for (const id of committed.keys()) await arrival(receiver, id, 1, 30_000);
  const took = [...committed].map(([id, at]) => (receiver.arrived.get(id)?.[0] ?? Number.NaN) - at);
  const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)].map(Math.round);
  return {
    ...{ name: 'healthy_p99_seconds', value: (p99 ?? 0) / 1_000, floor: 2, bound: 'at most', warm: '-' },
    measured: `commit to receipt of ${scale.healthy} events: p50 ${p50} ms, p99 ${p99} ms`,
  };
}

/** The same requests without Rollcall: eight at a time on kept connections. */
async function bareRate(receiver: Receiver, count: number): Promise<number> {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 8 });
  let left = count;
  const post = async () => {
    while (left > 0) {
      left -= 1;
      const body = JSON.stringify({ event: 'application.received', data: { ...APPLICATION, id: 'bare' } });
      const sent = https.request(`${receiver.url}/bare`, { method: 'POST', agent });
      sent.end(body);
      const [answer] = await once(sent, 'response');
      answer.resume();
      await once(answer, 'end');
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: 8 }, post));
  agent.destroy();
  return count / ((performance.now() - from) / 1_000);
}

async function measureRate(context: Context, receiver: Receiver): Promise<Ratio> {
  progress('Deliveries a second');
  const hooks = idsOf('/fast', HOOKS_OF_A_BRAND).map((path) => `${receiver.url}${path}`);
  const brand = await makeBrand(context, hooks);
  const ids = idsOf('burst', scale.burst);
  const from = await emit(context, brand, ids);
  for (const id of ids) await arrival(receiver, id, HOOKS_OF_A_BRAND, 120_000);
  const last = Math.max(...ids.flatMap((id) => receiver.arrived.get(id) ?? []));
  const rate = (scale.burst * HOOKS_OF_A_BRAND) / ((last - from) / 1_000);
  const bare = await bareRate(receiver, scale.burst * HOOKS_OF_A_BRAND);
  return {
    ...{ name: 'deliveries_a_second', value: rate, floor: 150, bound: 'at least', warm: 'connections' },
    measured: `${Math.round(rate)}/s by one worker, every outcome recorded; a bare https client ${Math.round(bare)}/s`,
  };
}

/** An event's share of its transaction: the same transaction with and without one, in turn. */
async function measureEvent(context: Context): Promise<Ratio> {
  progress('What an event costs its transaction');
  const brand = await makeBrand(context, []);
  const took = { bare: [0].slice(1), withEvent: [0].slice(1) };
  for (let n = 0; n < scale.pairs; n += 1) {
    for (const [kind, ids] of [
      ['bare', []],
      ['withEvent', ['one']],
    ] as const) {
      const from = performance.now();
      await emit(context, brand, ids);
      took[kind].push(performance.now() - from);
    }
  }
  const [bare, withEvent] = [quantile(took.bare, 0.5), quantile(took.withEvent, 0.5)];
  return {
    ...{ name: 'event_milliseconds', value: withEvent - bare, floor: null, bound: 'at most', warm: '-' },
    measured: `median of a transaction: ${bare.toFixed(2)} ms without an event, ${withEvent.toFixed(2)} ms with one`,
  };
}

async function measureAll(results: Results, config: Config, urls: { postgres: string; redis: string }): Promise<void> {
  const open = { ...config, secret: Buffer.from(SECRET, 'hex'), outboundAllow: ['127.0.0.1'] };
  const { context, close } = openContext(open, { ...urls, elasticsearch: NOWHERE, clickhouse: NOWHERE });
  await migratePostgres(context.postgres.db);
  const receiver = await startReceiver(config);
  await results.part('event', async (add) => add(await measureEvent(context)));
  const loop = startDelivering(context);
  const stopping = new AbortController();
  const relay = openRelay({
    db: context.postgres.db,
    consumer: { name: webhookConsumer.name, deliver: webhookConsumer.open(context) },
    log: context.log,
    due: openDue(context.clock),
    onEvents: loop.wake,
  });
  const relaying = (async () => {
    while (!stopping.signal.aborted) {
      await relay(stopping.signal);
      await pause(500);
    }
  })();
  try {
    await results.part('rate', async (add) => add(await measureRate(context, receiver)));
    await results.part('isolation', async (add) => add(await measureIsolation(context, receiver)));
  } finally {
    stopping.abort();
    await relaying;
    await loop.stop();
    await receiver.stop();
    await close();
  }
}

const config = readConfig();
const { postgres, redis } = config.urls;
const results = openResults();
await results.part('webhooks', async () => {
  if (postgres && redis) return await measureAll(results, config, { postgres, redis });
  await withOwnData(config, async (dataName) => {
    const { directory, java } = config;
    const only = ['postgres', 'redis'] as const;
    const engines = await startEmbedded({ directory, dataName, only, elasticsearchHeapMb: 0, java, report: progress });
    try {
      const { postgres: own = '', redis: ownRedis = '' } = engines.urls;
      await measureAll(results, config, { postgres: own, redis: ownRedis });
    } finally {
      await engines.stop();
    }
  });
});
process.exit(results.report() ? 0 : 1);
