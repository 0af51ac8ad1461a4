import type { Command } from 'commander';
import { rollback } from '../src/directory/imports/indexing/versions.ts';
import { filled } from '../src/process/commands/arguments.ts';
import { onStop } from '../src/process/commands/signals.ts';
import { withDirectory } from './engines.ts';
import { groupDigits, print, say } from './terminal.ts';

export function rollbackCommand(program: Command): void {
  program
    .command('rollback')
    .description('make the previously live version live again, or another one that is kept')
    .argument('[version]', 'an index or an import, as `status` names it; default: the one that was live before', filled)
    .option('--no-wait', 'fail instead of waiting for another writer')
    .addHelpText(
      'after',
      '\nDoes not ask for confirmation. Lists the upserts and deletes that the other index lacks, and says how to undo it.',
    )
    .action((version: string | undefined, options: { wait: boolean }) =>
      withDirectory(async (engines) => {
        const { from, to, forgotten } = await rollback(engines, {
          version,
          onWait: options.wait ? say : undefined,
          signal: onStop(),
        });
        for (const { kind, file, rows, startedAt } of forgotten) {
          say(`Lost: ${kind} of ${groupDigits(rows)} rows from ${file}, ${startedAt.toISOString()}`);
        }
        say(`${from} is no longer live; \`indexer rollback ${from}\` undoes this. Live now:`);
        print(to);
      }),
    );
}
