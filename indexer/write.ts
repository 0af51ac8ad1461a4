import type { Command } from 'commander';
import { openFiles, type RowKind } from '../src/directory/imports/indexing/source.ts';
import type { DirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import {
  deleteCreators,
  patchCreators,
  upsertCreators,
  type WriteReport,
  type WriteRequest,
} from '../src/directory/imports/indexing/writes.ts';
import { filled } from '../src/process/commands/arguments.ts';
import { around } from '../src/process/commands/around.ts';
import { onStop } from '../src/process/commands/signals.ts';
import { withDirectory } from './engines.ts';
import { FAILED } from './exit-codes.ts';
import { groupDigits, openProgress, print, say, sayRejects, sayUnknownFields } from './terminal.ts';

interface Options {
  rejects?: string;
  source?: string;
  wait: boolean;
}

type Write = (engines: DirectoryEngines, request: WriteRequest) => Promise<WriteReport>;

async function run(write: Write, file: string, kind: RowKind, options: Options): Promise<void> {
  const signal = onStop();
  // Problems with a file are reported before any engine is started.
  const source = await openFiles([file], kind);
  await withDirectory(async (engines) => {
    const view = openProgress();
    const report = await write(engines, {
      source,
      rejectsFile: options.rejects,
      sourceName: options.source,
      signal,
      onWait: options.wait ? view.note : undefined,
      onProgress: (rows) => view.show({ phase: 'bulk', rows, progress: source.progress() }),
      onNotice: view.note,
    }).finally(view.end);
    sayUnknownFields(report.unknownFields);
    if (report.rejected > 0) sayRejects(report);
    if (report.forgotten > 0) say(`${groupDigits(report.forgotten)} rows were left out: their creators opted out.`);
    say(`Rows written to ${report.index}; searches see them now:`);
    print(String(report.written));
    if (report.interrupted) throw new Error('Stopped before the end of the file; run it again to write all of it.');
    if (report.rejected > 0) around().exitCode = FAILED;
  });
}

const SOURCE = ['--source <name>', 'name of the source of these rows, which `GET /v1/creators/{pk}` shows'] as const;

export function writeCommands(program: Command): void {
  program
    .command('upsert')
    .description('add or replace creators in the live directory; a row replaces the whole creator')
    .argument('<file>', 'NDJSON or CSV, plain, gzip or zstd, or - for standard input', filled)
    .option('--rejects <file>', 'the file for rejected rows (default rejects-upsert.ndjson)', filled)
    .option(...SOURCE, filled)
    .option('--no-wait', 'fail instead of waiting for a running import')
    .addHelpText(
      'after',
      '\nA field that a row lacks becomes unknown (null), as in an import; `patch` leaves it as it was.' +
        '\n\nExamples:\n  npm run indexer -- upsert changes.ndjson\n\nExits with 1 if a row was rejected; the others are written.',
    )
    .action((file: string, options: Options) => run(upsertCreators, file, 'creators', options));
  program
    .command('patch')
    .description('change some fields of creators in the live directory')
    .argument('<file>', 'NDJSON or CSV with a pk, plain, gzip or zstd, or - for standard input', filled)
    .option('--rejects <file>', 'the file for rejected rows (default rejects-patch.ndjson)', filled)
    .option(...SOURCE, filled)
    .option('--no-wait', 'fail instead of waiting for a running import')
    .addHelpText(
      'after',
      '\nA field that a row lacks stays, and null clears it; in a CSV, a missing column and an empty cell. A row whose pk is' +
        '\nnot in the directory is rejected.' +
        '\n\nExamples:\n  echo \'{"pk": 173560420, "follower_count": 51000, "external_url": null}\' | npm run indexer -- patch -' +
        '\n\nExits with 1 if a row was rejected; the others are written.',
    )
    .action((file: string, options: Options) => run(patchCreators, file, 'patches', options));
  program
    .command('delete')
    .description('remove creators from the live directory')
    .argument('<file>', 'rows with a pk as NDJSON or CSV, or one pk per line; - for standard input', filled)
    .option('--rejects <file>', 'the file for rejected rows (default rejects-delete.ndjson)', filled)
    .option('--no-wait', 'fail instead of waiting for a running import')
    .addHelpText(
      'after',
      '\nExamples:\n  npm run indexer -- delete gone.csv\n  echo 173560420 | npm run indexer -- delete -',
    )
    .action((file: string, options: Options) => run(deleteCreators, file, 'pks', options));
}
