import type { Command } from 'commander';
import { monthlyCredits } from '../../access/credits/access.ts';
import { refundRequest } from '../../access/credits/actions.ts';
import { periodAt } from '../../access/credits/period.ts';
import { sumEntries } from '../../access/credits/queries.ts';
import { settle } from '../../access/credits/settle.ts';
import { listSubscriptions } from '../../resources/brands/queries.ts';
import { filled } from './arguments.ts';
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
async function show(engines: CommandEngines, options: { brand: string; json?: boolean }): Promise<void> {
  const { db, clock } = engines;
  const brand = await getBrand(db, options.brand);
  const subscription = (await listSubscriptions(db, brand.id)).find(({ kind }) => kind === 'data');
  if (!subscription) throw new Error(`${brand.name} has no data subscription, so it has no credits.`);
  await settle(engines, [subscription.id]);
  const { start, end } = periodAt(subscription.anchorAt, clock.now());
  const sums = await sumEntries(db, subscription.id, start);
  const granted = sums.granted || monthlyCredits(subscription);
  const item = {
    ...{ subscription: subscription.id, plan: subscription.plan, status: subscription.status },
    ...{ period_start: start.toISOString(), period_end: end.toISOString() },
    ...{ granted, charged: sums.charged, refunded: sums.refunded },
    remaining: granted - sums.charged + sums.refunded,
  };
  printList(COLUMNS, [item], options.json);
}

export function creditCommands(program: Command): void {
  const credits = program.command('credits').description('credits');
  credits
    .command('show')
    .description("a brand's credits in the current month, up to the last call")
    .requiredOption('--brand <id or name>', 'the brand', filled)
    .addOption(jsonOption())
    .action((options: { brand: string; json?: boolean }) => withEngines((engines) => show(engines, options)));
  credits
    .command('refund')
    .description('refund what a request paid, once; prints the charge and its credits')
    .argument('<request-or-charge-id>', "the answer's X-Request-Id, or the charge's id", filled)
    .action((id: string) =>
      withEngines(async (engines) => {
        const charge = await refundRequest(engines, id);
        process.stdout.write(`${charge.chargeId}\t${charge.credits}\n`);
      }),
    );
}
