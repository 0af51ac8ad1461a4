import { Command, InvalidArgumentError } from 'commander';
import { type Outcome, runChaos } from './run.ts';
import { VICTIMS, type Victim } from './stage.ts';

interface Options {
  rounds: number;
  seed: number;
  victims: Victim[];
}

function wholeNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError('must be a whole number.');
  return Number(value);
}

function victimsOf(value: string): Victim[] {
  return value.split(',').map((name) => {
    const victim = VICTIMS.find((one) => one === name);
    if (!victim) throw new InvalidArgumentError(`must be some of ${VICTIMS.join(',')}.`);
    return victim;
  });
}

const options = new Command('chaos')
  .description(
    'Kills the API, the worker, Redis, PostgreSQL and ClickHouse in turn with kill -9, under clicks, orders and webhooks, ' +
      'on engines of its own. Exits 1 unless everything that was acknowledged is counted exactly once, and its events told.',
  )
  .option('--rounds <number>', 'kills', wholeNumber, 20)
  .option('--seed <number>', 'who is killed when; a new one each time unless set', wholeNumber)
  .option('--victims <names>', 'whom to kill, with commas between', victimsOf, [...VICTIMS])
  .showHelpAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<Partial<Options> & Omit<Options, 'seed'>>();

const COLUMNS = [
  'round',
  'killed',
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

async function main(): Promise<void> {
  const { rounds, seed = Date.now() % 1_000_000, victims } = options;
  const report = (line: string) => void process.stderr.write(`${line}\n`);
  report(`chaos: --rounds ${rounds} --seed ${seed}`);
  const outcome = await runChaos({ rounds, seed, victims, dataName: `chaos-${process.pid}`, report });
  const { differences } = outcome;
  const conclusion =
    differences.length === 0
      ? 'Everything that was acknowledged is counted exactly once, and its receivers were told of it.'
      : `${differences.length} differences:\n${differences.map((one) => `  ${one}`).join('\n')}`;
  process.stdout.write(`\n${table(outcome)}\n\n${summary(outcome)}\n\n${conclusion}\n`);
  process.exitCode = differences.length === 0 ? 0 : 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
