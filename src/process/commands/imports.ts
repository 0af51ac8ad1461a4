import { type Command, Option } from 'commander';
import { listHistory } from '../../directory/imports/indexing/records.ts';
import { filled, wholeNumber } from './arguments.ts';
import { addFileArguments } from './import-file.ts';
import { withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = ['id', 'what', 'state', 'started_at', 'seconds', 'rows', 'rejects', 'files', 'failure'] as const;

export function importCommands(program: Command): void {
  addFileArguments(program.command('import'))
    .description("record a brand's file from another tool; `history` lists imports of the directory")
    .command('history')
    .description('imports, upserts and deletes of the directory, newest first')
    .option('--limit <number>', 'how many', wholeNumber(1, 1_000), 20)
    .addOption(new Option('--alias <alias>', 'only this directory').argParser(filled))
    .addOption(jsonOption())
    // `import` has options of the same names, which take these.
    .action((_: object, self: Command) =>
      withEngines(async ({ db }) => {
        const options: { limit: number; alias?: string; json?: boolean } = self.optsWithGlobals();
        const rows = await listHistory(db, options.alias, options.limit);
        const items = rows.map(({ startedAt, endedAt, files, ...row }) => ({
          ...row,
          started_at: startedAt.toISOString(),
          seconds: endedAt ? Math.round((endedAt.getTime() - startedAt.getTime()) / 100) / 10 : null,
          files: files.join(', '),
        }));
        printList(COLUMNS, items, options.json);
      }),
    );
}
