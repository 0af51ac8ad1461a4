import type { Command } from 'commander';
import { openProgram, runProgram } from './program.ts';

type AddTo = (program: Command) => void;

/**
 * Each file's top-level commands, and the page of the manual about them. Only the file of the given command is loaded: all of
 * them take a second.
 */
const FILES: readonly [commands: readonly string[], page: string, load: () => Promise<AddTo>][] = [
  [['brand', 'plan'], 'administration', async () => (await import('./brands.ts')).brandCommands],
  [['key'], 'administration', async () => (await import('./keys.ts')).keyCommands],
  [['sign-in'], 'web-app', async () => (await import('./sign-in.ts')).signInCommands],
  [['credits'], 'administration', async () => (await import('./credits.ts')).creditCommands],
  [['ledger'], 'money', async () => (await import('./ledger.ts')).ledgerCommands],
  [['integration'], 'stores', async () => (await import('./integrations.ts')).integrationCommands],
  [['import'], 'moving', async () => (await import('./imports.ts')).importCommands],
  [['directory'], 'indexing', async () => (await import('./directory.ts')).directoryCommands],
  [['people'], 'people', async () => (await import('./people.ts')).peopleCommands],
  [['mail'], 'administration', async () => (await import('./mails.ts')).mailCommands],
  [['listen', 'trigger', 'webhook'], 'webhooks', async () => (await import('./webhooks.ts')).webhookCommands],
  [['job'], 'administration', async () => (await import('./brand-jobs.ts')).brandJobCommands],
  [['jobs'], 'administration', async () => (await import('./jobs.ts')).jobCommands],
  [['clock'], 'administration', async () => (await import('./clock.ts')).clockCommands],
  [['search'], 'searching', async () => (await import('./search.ts')).searchCommands],
  [['restored'], 'backup', async () => (await import('./restored.ts')).restoredCommands],
  [['schedule'], 'administration', async () => (await import('./schedules.ts')).scheduleCommands],
  [['secret'], 'backup', async () => (await import('./secrets.ts')).secretCommands],
];

/** Runs a command of `rollcall`, and returns its exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = openProgram(
    'rollcall',
    'Commands for the operator of an installation. Ids, keys and lists go to stdout, everything else to stderr.',
  );
  const commandFiles = FILES.filter(([commands]) => commands.some((name) => name === args[0]));
  for (const [, , load] of commandFiles.length > 0 ? commandFiles : FILES) (await load())(program);
  const [[, page] = []] = commandFiles;
  return await runProgram(program, args, page === undefined ? {} : { page });
}
