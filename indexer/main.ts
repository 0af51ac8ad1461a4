import { Interrupted } from '../src/directory/import/build.ts';
import { openProgram } from '../src/process/commands/program.ts';
import { FAILED } from './exit-codes.ts';
import { generateCommand } from './generate.ts';
import { heldCommands } from './held.ts';
import { importCommand } from './import.ts';
import { pruneCommand } from './prune.ts';
import { rollbackCommand } from './rollback.ts';
import { stopSignal } from './signals.ts';
import { statusCommand } from './status.ts';
import { verifyCommand } from './verify.ts';
import { writeCommands } from './write.ts';

const program = openProgram(
  'indexer',
  'The creator directory: import, upsert, delete, verify, roll back. Results go to stdout, progress to stderr.',
).addHelpText(
  'after',
  '\nExit codes: 0 success, 1 failure, 2 invalid arguments, 3 the import is held, 130 or 143 stopped by a signal.',
);

for (const add of [
  importCommand,
  heldCommands,
  writeCommands,
  statusCommand,
  rollbackCommand,
  pruneCommand,
  verifyCommand,
  generateCommand,
]) {
  add(program);
}

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  const stop = stopSignal();
  if (error instanceof Interrupted) process.stderr.write('Run the same command again to resume.\n');
  process.exitCode = stop ? stop.exitCode : FAILED;
});
