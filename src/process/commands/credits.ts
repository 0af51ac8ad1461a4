import type { Command } from 'commander';
import { refundRequest } from '../../access/credits/actions.ts';
import { filled } from './arguments.ts';
import { withEngines } from './open.ts';

export function creditCommands(program: Command): void {
  program
    .command('credits')
    .description('credits')
    .command('refund')
    .description('give back what a request paid, once; prints the charge and its credits')
    .argument('<request-or-charge-id>', "the answer's X-Request-Id, or the charge's id in the ledger", filled)
    .action((id: string) =>
      withEngines(async (engines) => {
        const charge = await refundRequest(engines, id);
        process.stdout.write(`${charge.chargeId}\t${charge.credits}\n`);
      }),
    );
}
