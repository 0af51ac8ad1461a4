import { setTimeout as pause } from 'node:timers/promises';
import { findReconciliation } from '../../src/analytics/figures/rollups.ts';
import { CLAIM, oldestClickAt } from '../../src/interfaces/links-host/waiting-clicks.ts';
import type { Context } from '../../src/kit/operation/context.ts';
import { findOldestUnsynced } from '../harness/analytics/figures.ts';
import { until } from '../harness/app.ts';
import { type ClicksFound, checkClicks } from './check-clicks.ts';
import { checkOrders, type OrdersFound } from './check-orders.ts';
import { type ClickLoad, startClicks } from './clicks.ts';
import { checkHooks, type Hooks, type HooksFound, isDelivered, openHooks } from './hooks.ts';
import { type OrderLoad, startOrders } from './orders.ts';
import { randomOf } from './random.ts';
import { type Disk, isDisk, openStage, type Stage, VICTIMS, type Victim } from './stage.ts';
import { openWorld, type World } from './world.ts';

export interface Plan {
  rounds: number;
  seed: number;
  /** Either processes, by default all of them, or disks. */
  victims?: readonly Victim[] | readonly Disk[];
  hasRedisCluster?: boolean;
  dataName: string;
  report(line: string): void;
}

export interface Round {
  victim: Victim | Disk;
  /** Since the load began. */
  killedAtMs: number;
  /** Whether a batch of clicks was on its way to ClickHouse, and had not arrived. */
  isMidBatch: boolean;
  downMs: number;
  /** From the kill to the next click and the next delivery that were acknowledged. */
  clicksBackMs: number;
  ordersBackMs: number;
  /** So far. */
  clicks: number;
  orders: number;
}

export interface Outcome {
  rounds: Round[];
  clicks: ClickLoad;
  orders: OrderLoad;
  /** After the load, until everything was in ClickHouse and with the webhooks. */
  settledMs: number;
  foundClicks: ClicksFound;
  foundOrders: OrdersFound;
  foundHooks: HooksFound;
  /** Whatever is not as it should be; empty when all is well. */
  differences: string[];
}

const LONGEST_CALM_MS = 2_500;
const LONGEST_DOWN_MS = 1_500;
/** Who is at work while a batch is inserted. */
const INSERTERS: ReadonlySet<Victim | Disk> = new Set(['worker', 'clickhouse']);
const LONGEST_INTO_BATCH_MS = 40;
const BATCH_WITHIN_MS = 5_000;
/** However slow the machine: less than this would show little. */
const ENOUGH = { clicks: 250, orders: 30 } as const;

/** Each victim in turn, in another order each time, at moments of the seed's choice. */
function planOf({ rounds, seed, victims = VICTIMS }: Plan) {
  const random = randomOf(seed);
  const turns = Array.from({ length: Math.ceil(rounds / victims.length) }, () =>
    random.shuffled<Victim | Disk>(victims),
  ).flat();
  return turns.slice(0, rounds).map((victim) => ({
    victim,
    calmMs: random.between(200, LONGEST_CALM_MS),
    downMs: random.below(LONGEST_DOWN_MS),
    // Where a batch could be lost or counted twice; a moment of no choice is seldom in one.
    intoBatchMs: INSERTERS.has(victim) && random.chance(0.7) ? random.below(LONGEST_INTO_BATCH_MS) : undefined,
  }));
}
type Kill = Omit<ReturnType<typeof planOf>[number], 'calmMs'>;

const isOnItsWay = ({ redis }: Context) =>
  redis
    .use((client) => client.exists(CLAIM))
    .then(
      (count) => count === 1,
      () => false,
    );

/** Waits for the next batch to be on its way for `intoMs`. */
async function waitIntoBatch(context: Context, intoMs: number): Promise<void> {
  const deadline = performance.now() + BATCH_WITHIN_MS;
  while (!(await isOnItsWay(context)) && performance.now() < deadline) await pause(1);
  await pause(intoMs);
}

async function strike(
  stage: Stage,
  { victim, downMs, intoBatchMs }: Kill,
  load: { clicks: ClickLoad; orders: OrderLoad; startedAt: number },
): Promise<Round> {
  const { clicks, orders, startedAt } = load;
  if (intoBatchMs !== undefined) await waitIntoBatch(stage.context, intoBatchMs);
  const killedAt = performance.now();
  await stage.strike(victim);
  const isMidBatch = !isDisk(victim) && victim !== 'redis' && (await isOnItsWay(stage.context));
  await stage.recover(victim, downMs);
  const returnedAt = performance.now();
  const backAfter = async (what: string, lastAt: () => number) => {
    await until(what, () => lastAt() > returnedAt);
    return lastAt() - killedAt;
  };
  const [clicksBackMs, ordersBackMs] = await Promise.all([
    backAfter('a click to be acknowledged again', clicks.lastAt),
    backAfter('an order to be acknowledged again', orders.lastAt),
  ]);
  return {
    ...{
      victim,
      killedAtMs: killedAt - startedAt,
      isMidBatch,
      downMs: returnedAt - killedAt,
      clicksBackMs,
      ordersBackMs,
    },
    ...{ clicks: clicks.acknowledged.size, orders: orders.taken.length },
  };
}

/**
 * Nothing waits any more: no clicks in Redis, and in PostgreSQL no deliveries of stores, ledger entries or deliveries of
 * webhooks. Figures are reconciled.
 */
async function isSettled(context: Context, { brands }: World): Promise<boolean> {
  const { redis, postgres, clickhouse } = context;
  if ((await oldestClickAt(redis)) !== undefined) return false;
  const isWaiting = postgres.db.selectFrom('storeDeliveries').select('id').where('state', '=', 'waiting').limit(1);
  if (await isWaiting.executeTakeFirst()) return false;
  for (const { id } of brands) if (await findOldestUnsynced(postgres.db, id)) return false;
  return (await isDelivered(postgres.db)) && (await findReconciliation(clickhouse))?.step === 'done';
}

async function live(stage: Stage, world: World, hooks: Hooks, plan: Plan): Promise<Outcome> {
  const { report } = plan;
  const clicks = startClicks(stage.links, world, randomOf(plan.seed + 1));
  const orders = startOrders(stage.url, world, randomOf(plan.seed + 2), clicks.recent);
  const load = { clicks, orders, startedAt: performance.now() };
  const rounds: Round[] = [];
  const differences: string[] = [];
  try {
    for (const { calmMs, ...next } of planOf(plan)) {
      await pause(calmMs);
      const round = await strike(stage, next, load);
      rounds.push(round);
      const killed = `${isDisk(round.victim) ? 'filled' : 'killed'} ${round.victim} at ${(round.killedAtMs / 1000).toFixed(1)} s`;
      report(`${rounds.length}/${plan.rounds} ${killed}; ${round.clicks} clicks, ${round.orders} orders so far`);
    }
    const isEnough = () => clicks.acknowledged.size >= ENOUGH.clicks && orders.taken.length >= ENOUGH.orders;
    await until('enough clicks and orders', isEnough);
  } finally {
    await Promise.all([clicks.stop(), orders.stop()]);
  }
  report('Waiting until all of it is in ClickHouse and with the webhooks');
  const stoppedAt = performance.now();
  const isOver = () => isSettled(stage.context, world).catch(() => false);
  await until('everything to settle', isOver).catch((error: Error) => void differences.push(error.message));
  const settledMs = performance.now() - stoppedAt;
  const foundClicks = await checkClicks(stage.context, clicks);
  const foundOrders = await checkOrders(stage.context, world, orders, foundClicks.counted);
  const foundHooks = checkHooks(hooks, orders);
  differences.push(...foundClicks.differences, ...foundOrders.differences, ...foundHooks.differences);
  differences.push(...clicks.faults, ...orders.faults, ...stage.falls());
  return { rounds, clicks, orders, settledMs, foundClicks, foundOrders, foundHooks, differences };
}

/** Kills the processes, or fills the disks up, in turn under load, and compares what is left with what was acknowledged. */
export async function runChaos(plan: Plan): Promise<Outcome> {
  plan.report('Starting PostgreSQL, Redis, ClickHouse, the API and a worker');
  await using closing = new AsyncDisposableStack();
  const hooks = closing.adopt(await openHooks(), ({ close }) => close());
  const { dataName, victims = VICTIMS, hasRedisCluster = false } = plan;
  const options = { dataName, cert: hooks.cert, hasSmallDisks: victims.some(isDisk), hasRedisCluster };
  const stage = closing.adopt(await openStage(options), ({ close }) => close());
  const world = closing.adopt(await openWorld(stage), ({ close }) => close());
  for (const brand of world.brands) await hooks.subscribe(stage, brand);
  return await live(stage, world, hooks, plan);
}
