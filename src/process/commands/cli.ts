import type { Command } from 'commander';
import { openProgram, runProgram } from './program.ts';

type AddTo = (program: Command) => void;

/** Each file's top-level commands. Only the file of the given command is loaded: all of them take a second. */
const FILES: readonly [commands: readonly string[], load: () => Promise<AddTo>][] = [
  [['brand', 'plan'], async () => (await import('./brands.ts')).brandCommands],
  [['key'], async () => (await import('./keys.ts')).keyCommands],
  [['sign-in'], async () => (await import('./sign-in.ts')).signInCommands],
  [['credits'], async () => (await import('./credits.ts')).creditCommands],
  [['ledger'], async () => (await import('./ledger.ts')).ledgerCommands],
  [['integration'], async () => (await import('./integrations.ts')).integrationCommands],
  [['import'], async () => (await import('./imports.ts')).importCommands],
  [['directory'], async () => (await import('./directory.ts')).directoryCommands],
  [['people'], async () => (await import('./people.ts')).peopleCommands],
  [['mail'], async () => (await import('./mails.ts')).mailCommands],
  [['listen', 'trigger', 'webhook'], async () => (await import('./webhooks.ts')).webhookCommands],
  [['job'], async () => (await import('./brand-jobs.ts')).brandJobCommands],
  [['jobs'], async () => (await import('./jobs.ts')).jobCommands],
  [['clock'], async () => (await import('./clock.ts')).clockCommands],
  [['search'], async () => (await import('./search.ts')).searchCommands],
  [['restored'], async () => (await import('./restored.ts')).restoredCommands],
  [['schedule'], async () => (await import('./schedules.ts')).scheduleCommands],
  [['secret'], async () => (await import('./secrets.ts')).secretCommands],
];

/** Runs a command of `rollcall`, and returns its exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = openProgram(
    'rollcall',
    'Commands for the operator of an installation. Ids, keys and lists go to stdout, everything else to stderr.',
  );
  const given = FILES.filter(([commands]) => commands.some((name) => name === args[0]));
  for (const [, load] of given.length > 0 ? given : FILES) (await load())(program);
  return await runProgram(program, args);
}
