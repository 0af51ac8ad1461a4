import { Interrupted } from '../src/directory/imports/indexing/build.ts';
import { openProgram, runProgram } from '../src/process/commands/program.ts';
import { stopSignal } from '../src/process/commands/signals.ts';
import { FAILED } from './exit-codes.ts';
import { generateCommand } from './generate.ts';
import { heldCommands } from './held.ts';
import { importCommand } from './import.ts';
import { pruneCommand } from './prune.ts';
import { rollbackCommand } from './rollback.ts';
import { statusCommand } from './status.ts';
import { say } from './terminal.ts';
import { verifyCommand } from './verify.ts';
import { writeCommands } from './write.ts';

const COMMANDS = [
  importCommand,
  heldCommands,
  writeCommands,
  statusCommand,
  rollbackCommand,
  pruneCommand,
  verifyCommand,
  generateCommand,
];

/** Runs a command of the indexer, and returns its exit code. */
export async function runIndexer(args: readonly string[]): Promise<number> {
  const program = openProgram(
    'indexer',
    'The creator directory: import, upsert, delete, verify, roll back. Results go to stdout, progress to stderr.',
  ).addHelpText(
    'after',
    '\nExit codes: 0 success, 1 failure, 2 invalid arguments, 3 the import is held or needs a mapping, 130 or 143 stopped by a signal.',
  );
  for (const add of COMMANDS) add(program);
  return await runProgram(program, args, {
    exitCodeAfter: (error) => {
      if (error instanceof Interrupted) say('Run the same command again to resume.');
      return stopSignal()?.exitCode ?? FAILED;
    },
    page: 'indexing',
  });
}
