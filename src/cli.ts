import { brandCommands } from './process/commands/brands.ts';
import { clockCommands } from './process/commands/clock.ts';
import { creditCommands } from './process/commands/credits.ts';
import { importCommands } from './process/commands/imports.ts';
import { integrationCommands } from './process/commands/integrations.ts';
import { jobCommands } from './process/commands/jobs.ts';
import { keyCommands } from './process/commands/keys.ts';
import { ledgerCommands } from './process/commands/ledger.ts';
import { mailCommands } from './process/commands/mails.ts';
import { openProgram } from './process/commands/program.ts';
import { secretCommands } from './process/commands/secrets.ts';
import { signInCommands } from './process/commands/sign-in.ts';
import { webhookCommands } from './process/commands/webhooks.ts';

const program = openProgram(
  'rollcall',
  'Commands for the operator of an installation. Ids, keys and lists go to stdout, everything else to stderr.',
);

brandCommands(program);
keyCommands(program);
signInCommands(program);
creditCommands(program);
ledgerCommands(program);
integrationCommands(program);
importCommands(program);
mailCommands(program);
webhookCommands(program);
jobCommands(program);
clockCommands(program);
secretCommands(program);

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
