import { inSnapshot } from '../../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { approveDue as approveDueOfApp } from '../../../src/affiliates/reviews/reviews.jobs.ts';
import { syncLedger } from '../../../src/analytics/figures/figures.jobs.ts';
import { drainClicks } from '../../../src/interfaces/links-host/jobs.ts';
import { systemClock } from '../../../src/kit/values/clock.ts';
import { startStore } from '../../harness/affiliates/store.ts';
import { untilDone } from '../../harness/analytics/figures.ts';
import { startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, ownRedis } from '../../harness/database.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { perform } from './acts.ts';
import { checkBreakdowns } from './breakdowns.ts';
import { checkFigures, checkLedger } from './checks.ts';
import { openDoor, Undecided } from './door.ts';
import { checkDue } from './due.ts';
import { balancesOf } from './figures.ts';
import { CURRENCIES, type History, PROVIDERS, START_MS, timeOf } from './history.ts';
import { approveDue } from './paying.ts';
import { openWorld, type Shops, type World } from './world.ts';

/** An app whose time is the histories', on a database and a Redis where nobody else approves or drains. */
export interface Stage {
  app: TestApp;
  setTime(ms: number): void;
  shops: Shops;
  foreign: string;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const database = await makeDatabase('oracle');
  let nowMs = START_MS;
  const clock = { now: () => new Date(nowMs) };
  const app = await startApp({ clock, urls: { postgres: database.url, redis: ownRedis() }, env: BEHIND_PROXY });
  const shops: Shops = new Map();
  for (const provider of PROVIDERS) {
    for (const currency of CURRENCIES) shops.set(`${provider} ${currency}`, await startStore(provider, { currency }));
  }
  const stranger = await openDoor(app);
  await stranger.ask('POST', '/v1/roster', { creator_email: 'stranger@mail.example' });
  const { data } = await stranger.ask('POST', '/v1/affiliates/links', {
    ...{ creator_email: 'stranger@mail.example', type: 'link', value: 'strangers-own' },
    destination_url: 'https://stranger.example/',
  });
  const { clickId: foreign } = await stranger.click(data.url.slice(data.url.lastIndexOf('/') + 1));
  const setTime = (ms: number) => {
    nowMs = ms;
  };
  const close = async () => {
    await app.close();
    for (const shop of shops.values()) await shop.close();
    await database.drop();
  };
  return { app, setTime, shops, foreign, close };
}

interface Run {
  history: History;
  world: World | undefined;
  /** What the oracle's ledger said at the history's `asOfSlot`. */
  balances: Record<string, number>;
  /** Where the app and the oracle first parted. */
  failure: Error | undefined;
}

const WIDTH = 12;

/** Does the work of each that has not failed yet, some at a time. */
async function each(runs: readonly Run[], work: (run: Run) => Promise<void>): Promise<void> {
  const queue = runs.filter(({ failure }) => !failure);
  const next = async () => {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      try {
        await work(run);
      } catch (error) {
        run.failure = error instanceof Error ? error : new Error(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, next));
}

const worldOf = ({ world }: Run): World => {
  if (!world) throw new Error('The world was not opened.');
  return world;
};

async function liveThrough({ app, setTime }: Stage, runs: readonly Run[]): Promise<void> {
  const slots = new Set(runs.flatMap(({ history }) => [history.asOfSlot, ...history.steps.map(({ slot }) => slot)]));
  for (const slot of [...slots].sort((a, b) => a - b)) {
    const now = timeOf(slot);
    setTime(now);
    const busy = runs.filter(({ history }) => history.steps.some((step) => step.slot === slot));
    await each(busy, async (run) => {
      for (const step of run.history.steps) if (step.slot === slot) await perform(worldOf(run), step.act, now);
    });
    await approveDueOfApp(app.context);
    await each(runs, async (run) => {
      approveDue(worldOf(run).oracle, now);
      if (run.history.asOfSlot === slot) run.balances = balancesOf(worldOf(run).oracle);
    });
  }
}

/** What `ledger verify` says of all that PostgreSQL has. */
async function checkRecords({ context }: TestApp, { door }: World): Promise<void> {
  const { id } = (await door.ask('GET', '/v1/brand')).data;
  const { problems } = await inSnapshot(context.postgres.db, (trx) => verifyRecords(trx, id));
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

async function check(app: TestApp, run: Run): Promise<void> {
  const world = worldOf(run);
  await checkRecords(app, world);
  await checkLedger(world, balancesOf(world.oracle));
  await checkLedger(world, run.balances, timeOf(run.history.asOfSlot));
  await checkFigures(world, run.history);
  await checkBreakdowns(world, run.history);
  await checkDue(world);
}

/** Lives many histories, each in a brand of its own, and compares every figure at their end; answers how each failed. */
export async function live(stage: Stage, histories: readonly History[]): Promise<(Error | undefined)[]> {
  const { app, setTime } = stage;
  setTime(START_MS);
  const runs = histories.map((history): Run => ({ history, world: undefined, balances: {}, failure: undefined }));
  await each(runs, async (run) => {
    run.world = await openWorld(app, run.history, stage.shops, stage.foreign);
  });
  await liveThrough(stage, runs);
  await untilDone(() => drainClicks(app.context));
  await untilDone(() => syncLedger({ ...app.context, clock: systemClock }));
  await each(runs, (run) => check(app, run));
  return runs.map(({ failure }) => failure);
}

/** Leaves steps out as long as it still fails: half of them, a quarter, … at once. */
export async function shrink(stage: Stage, history: History): Promise<History> {
  let least = history;
  for (let size = Math.ceil(history.steps.length / 2); size >= 1; ) {
    const { steps } = least;
    const starts = Array.from({ length: Math.ceil(steps.length / size) }, (_, i) => i * size);
    const smaller = starts.map((start) => ({
      ...least,
      steps: steps.filter((_, i) => i < start || i >= start + size),
    }));
    const failures = await live(stage, smaller);
    const found = smaller[failures.findIndex((failure) => failure && !(failure instanceof Undecided))];
    if (found) least = found;
    else if (size === 1) break;
    else size = Math.ceil(size / 2);
  }
  return least;
}
