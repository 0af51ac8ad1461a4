import type { Command } from 'commander';
import { openProgram } from './process/commands/program.ts';

type AddTo = (program: Command) => void;

/** Each file's top-level commands. Only the file of the given command is loaded: all of them take a second. */
const FILES: readonly [commands: readonly string[], load: () => Promise<AddTo>][] = [
  [['brand', 'plan'], async () => (await import('./process/commands/brands.ts')).brandCommands],
  [['key'], async () => (await import('./process/commands/keys.ts')).keyCommands],
  [['sign-in'], async () => (await import('./process/commands/sign-in.ts')).signInCommands],
  [['credits'], async () => (await import('./process/commands/credits.ts')).creditCommands],
  [['ledger'], async () => (await import('./process/commands/ledger.ts')).ledgerCommands],
  [['integration'], async () => (await import('./process/commands/integrations.ts')).integrationCommands],
  [['import'], async () => (await import('./process/commands/imports.ts')).importCommands],
  [['directory'], async () => (await import('./process/commands/directory.ts')).directoryCommands],
  [['mail'], async () => (await import('./process/commands/mails.ts')).mailCommands],
  [['listen', 'trigger', 'webhook'], async () => (await import('./process/commands/webhooks.ts')).webhookCommands],
  [['jobs'], async () => (await import('./process/commands/jobs.ts')).jobCommands],
  [['clock'], async () => (await import('./process/commands/clock.ts')).clockCommands],
  [['search'], async () => (await import('./process/commands/search.ts')).searchCommands],
  [['secret'], async () => (await import('./process/commands/secrets.ts')).secretCommands],
];

async function run(): Promise<void> {
  const program = openProgram(
    'rollcall',
    'Commands for the operator of an installation. Ids, keys and lists go to stdout, everything else to stderr.',
  );
  const given = FILES.filter(([commands]) => commands.some((name) => name === process.argv[2]));
  for (const [, load] of given.length > 0 ? given : FILES) (await load())(program);
  await program.parseAsync();
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
