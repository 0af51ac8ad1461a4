import type { Command } from 'commander';
import { prune } from '../src/directory/imports/indexing/versions.ts';
import { wholeNumber } from '../src/process/commands/arguments.ts';
import { onStop } from '../src/process/commands/signals.ts';
import { withDirectory } from './engines.ts';
import { print, say } from './terminal.ts';

export function pruneCommand(program: Command): void {
  program
    .command('prune')
    .description('remove old and unfinished indices; prints their names')
    .option('--keep <number>', 'previous indices to keep', wholeNumber(0, 9_999), 1)
    .option('--no-wait', 'fail instead of waiting for another writer')
    .addHelpText('after', '\nNever removes the live index, or one that was live within the last hour.')
    .action((options: { keep: number; wait: boolean }) =>
      withDirectory(async (engines) => {
        const waiting = { onWait: options.wait ? say : undefined, signal: onStop() };
        const { removed, kept } = await prune(engines, options.keep, waiting);
        for (const name of removed) print(name);
        say(`${removed.length} removed; kept for a rollback: ${kept.join(', ') || 'none'}`);
      }),
    );
}
