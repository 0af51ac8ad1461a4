import { Command } from 'commander';
import { brandCommands } from './process/commands/brands.ts';
import { clockCommands } from './process/commands/clock.ts';
import { creditCommands } from './process/commands/credits.ts';
import { integrationCommands } from './process/commands/integrations.ts';
import { keyCommands } from './process/commands/keys.ts';
import { ledgerCommands } from './process/commands/ledger.ts';
import { mailCommands } from './process/commands/mails.ts';
import { signInCommands } from './process/commands/sign-in.ts';

const program = new Command('rollcall')
  .description('Brands, plans, keys and credits. Ids and keys go to stdout, everything else to stderr.')
  .showHelpAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

brandCommands(program);
keyCommands(program);
signInCommands(program);
creditCommands(program);
ledgerCommands(program);
integrationCommands(program);
mailCommands(program);
clockCommands(program);

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
