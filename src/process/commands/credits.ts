import { type Command, InvalidArgumentError } from 'commander';
import { type SummedMonth, sumMonth, verifyMonths } from '../../kit/access/credits/months.ts';
import { refundRequest } from '../../kit/access/credits/refund.ts';
import { settle } from '../../kit/access/credits/settle.ts';
import { listSubscriptions } from '../../platform/brands/brands.ts';
import { readMonth } from '../../platform/usage/usage.ts';
import { brandOption, filled } from './arguments.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = [
  'subscription',
  'plan',
  'status',
  'period_start',
  'period_end',
  'granted',
  'charged',
  'refunded',
  'remaining',
] as const;

/** A brand's current month, including charges that are not in the ledger yet. */
async function show(engines: CommandEngines, options: { brand?: string; json?: boolean }): Promise<void> {
  const { db, clock } = engines;
  const brand = await getBrand(db, options.brand);
  const subscription = (await listSubscriptions(db, brand.id)).find(({ kind }) => kind === 'data');
  if (!subscription) throw new Error(`${brand.name} has no data subscription, so it has no credits.`);
  await settle(engines, [subscription.id]);
  const item = { subscription: subscription.id, ...(await readMonth(db, subscription, clock.now())) };
  printList(COLUMNS, [item], options.json);
}

const MONTH_COLUMNS = ['month', 'entries', 'charged', 'refunded', 'sha256', 'emptied_at'] as const;

const monthItem = ({ month, entries, charged, refunded, sha256, emptiedAt }: SummedMonth) => ({
  month,
  entries,
  charged,
  refunded,
  sha256,
  emptied_at: emptiedAt?.toISOString() ?? null,
});

function monthOption(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('It must be a month, such as 2027-01.');
  return text;
}

async function sum({ db, clock }: CommandEngines, month: string, options: { empty?: boolean; json?: boolean }) {
  const summedMonth = await sumMonth(db, clock.now(), month, { isEmptied: options.empty === true });
  printList(MONTH_COLUMNS, [monthItem(summedMonth)], options.json);
}

async function verify({ db }: CommandEngines, options: { month?: string; copy?: string; json?: boolean }) {
  const { month, copy } = options;
  if ((month === undefined) !== (copy === undefined)) throw new Error('--month and --copy belong together.');
  const verifiedMonths = await verifyMonths(db, month && copy ? { month, table: copy } : undefined);
  const isGood = verifiedMonths.every(({ problems }) => problems.length === 0);
  const items = verifiedMonths.map((one) => ({
    ...monthItem(one),
    result: one.problems.length === 0 ? 'ok' : 'WRONG',
  }));
  printList([...MONTH_COLUMNS, 'result'], items, options.json);
  for (const one of verifiedMonths) {
    for (const problem of one.problems) around().err.write(`${one.month}  ${problem}\n`);
  }
  if (!isGood) around().exitCode = 1;
}

export function creditCommands(program: Command): void {
  const credits = program.command('credits').description('credits');
  credits
    .command('show')
    .description("a brand's credits in the current month, up to the last call")
    .addOption(brandOption())
    .addOption(jsonOption())
    .action((options: { brand?: string; json?: boolean }) => withEngines((engines) => show(engines, options)));
  credits
    .command('refund')
    .description('refund what a request paid, once; prints the charge and its credits')
    .argument('<request-or-charge-id>', "the answer's X-Request-Id, or the charge's id", filled)
    .action((id: string) =>
      withEngines(async (engines) => {
        const charge = await refundRequest(engines, id);
        around().out.write(`${charge.chargeId}\t${charge.credits}\n`);
      }),
    );
  credits
    .command('sum')
    .description("sum a past month's charges and refunds by subscription; prints the totals and their hash")
    .argument('<month>', 'a month whose last billing month ended, such as 2027-01', monthOption)
    .option('--empty', 'then remove its entries; the sums count instead')
    .addOption(jsonOption())
    .action((month: string, options: { empty?: boolean; json?: boolean }) =>
      withEngines((engines) => sum(engines, month, options)),
    );
  credits
    .command('verify')
    .description('verify the sums of past months, and their entries where they exist; exits with 1 if they differ')
    .option('--month <month>', 'only this month, compared with --copy', monthOption)
    .option('--copy <table>', 'a table with the restored entries of the month', filled)
    .addOption(jsonOption())
    .action((options: { month?: string; copy?: string; json?: boolean }) =>
      withEngines((engines) => verify(engines, options)),
    );
}
