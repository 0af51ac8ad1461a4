import type { Command } from 'commander';
import { rollback } from '../src/directory/imports/indexing/versions.ts';
import { withDirectory } from './engines.ts';
import { onStop } from './signals.ts';
import { groupDigits, print, say } from './terminal.ts';

export function rollbackCommand(program: Command): void {
  program
    .command('rollback')
    .description('make the previously live index live again')
    .option('--no-wait', 'fail instead of waiting for another writer')
    .addHelpText('after', '\nDoes not ask for confirmation. Lists the upserts and deletes that the older index lacks.')
    .action((options: { wait: boolean }) =>
      withDirectory(async (engines) => {
        const { from, to, forgotten } = await rollback(engines, {
          onWait: options.wait ? say : undefined,
          signal: onStop(),
        });
        for (const { kind, file, rows, startedAt } of forgotten) {
          say(`Lost: ${kind} of ${groupDigits(rows)} rows from ${file}, ${startedAt.toISOString()}`);
        }
        say(`${from} is no longer live; live now:`);
        print(to);
      }),
    );
}
