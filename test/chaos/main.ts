import { Command, InvalidArgumentError } from 'commander';
import { type Outcome, type Plan, runChaos } from './run.ts';
import { canMount } from './small-disk.ts';
import { DISKS, type Disk, isDisk, VICTIMS, type Victim } from './stage.ts';

interface Options {
  rounds: number;
  seed: number;
  victims: (Victim | Disk)[];
  redisCluster: boolean;
}

const ALL = [...VICTIMS, ...DISKS];

function wholeNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError('must be a whole number.');
  return Number(value);
}

function victimsOf(value: string): (Victim | Disk)[] {
  return value.split(',').map((name) => {
    const victim = ALL.find((one) => one === name);
    if (!victim) throw new InvalidArgumentError(`must be some of ${ALL.join(',')}.`);
    return victim;
  });
}

const options = new Command('chaos')
  .description(
    'Kills the API, the worker, Redis, PostgreSQL and ClickHouse in turn with kill -9, under clicks, orders and webhooks, ' +
      "on engines of its own; then fills each engine's disk up once, where this process may mount one. Exits 1 unless " +
      'everything that was acknowledged is counted exactly once, and its events told.',
  )
  .option('--rounds <number>', 'kills; a disk is filled once', wholeNumber, 20)
  .option('--seed <number>', 'who is killed when; a new one each time unless set', wholeNumber)
  .option('--victims <names>', 'whom to kill and which disks to fill, separated by commas', victimsOf, ALL)
  .option('--redis-cluster', 'Redis is a cluster of three nodes, which are killed in turn; no disk is filled', false)
  .showHelpAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<Partial<Options> & Omit<Options, 'seed'>>();

const COLUMNS = [
  'round',
  'fault in',
  'at, s',
  'mid-batch',
  'away, ms',
  'clicks back, ms',
  'orders back, ms',
  'clicks',
  'orders',
];

function table({ rounds }: Outcome): string {
  const rows = rounds.map((round, i) => [
    ...[i + 1, round.victim, (round.killedAtMs / 1000).toFixed(1), round.isMidBatch ? 'yes' : ''],
    ...[round.downMs, round.clicksBackMs, round.ordersBackMs].map(Math.round),
    ...[round.clicks, round.orders],
  ]);
  const lines = [COLUMNS, ...rows].map((row) => row.map((cell, i) => String(cell).padStart(COLUMNS[i]?.length ?? 0)));
  return lines.map((line) => line.map((cell) => cell.padStart(10)).join('  ')).join('\n');
}

function summary({ clicks, orders, foundClicks, foundOrders, foundHooks, settledMs }: Outcome): string {
  const { acknowledged, unsaid, broken } = clicks;
  const { stored, unacknowledged } = foundClicks;
  const pairs = [
    ['clicks acknowledged', `${acknowledged.size}`],
    ['clicks not acknowledged', `${unsaid.size} sent on all the same, ${broken} requests broken`],
    ['clicks in ClickHouse', `${stored}, of them ${unacknowledged} not acknowledged`],
    ['orders told to their end', `${orders.taken.length}`],
    ['deliveries', `${orders.acknowledged} acknowledged, ${orders.sentAgain} sent again`],
    ['in PostgreSQL', `${foundOrders.orders} orders, ${foundOrders.commissions} commissions`],
    ['events told', `${foundHooks.events}, in ${foundHooks.requests} requests`],
    ['ledger entries', `${foundOrders.entries}`],
    ['settled after', `${(settledMs / 1000).toFixed(1)} s`],
  ];
  return pairs.map(([what, value]) => `${what?.padEnd(26)}${value}`).join('\n');
}

async function runAndPrint(plan: Plan): Promise<void> {
  const outcome = await runChaos(plan);
  const { differences } = outcome;
  const conclusion =
    differences.length === 0
      ? 'Everything that was acknowledged is counted exactly once, and its receivers were told of it.'
      : `${differences.length} differences:\n${differences.map((one) => `  ${one}`).join('\n')}`;
  process.stdout.write(`\n${table(outcome)}\n\n${summary(outcome)}\n\n${conclusion}\n`);
  if (differences.length > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const { rounds, seed = Date.now() % 1_000_000, victims, redisCluster: hasRedisCluster } = options;
  const report = (line: string) => void process.stderr.write(`${line}\n`);
  const cluster = hasRedisCluster ? ' --redis-cluster' : '';
  report(`chaos: --rounds ${rounds} --seed ${seed} --victims ${victims.join(',')}${cluster}`);
  const disks = hasRedisCluster ? [] : victims.filter(isDisk);
  const killed = victims.filter((victim) => !isDisk(victim));
  const plan = { seed, dataName: `chaos-${process.pid}`, report };
  if (killed.length > 0) await runAndPrint({ ...plan, rounds, victims: killed, hasRedisCluster });
  if (disks.length === 0) return;
  if (await canMount()) await runAndPrint({ ...plan, rounds: disks.length, victims: disks });
  else report('FULL DISKS WERE NOT TRIED: this process may not mount a file system. Run it as root of a machine.');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
