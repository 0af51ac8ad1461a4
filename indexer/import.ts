import { type Command, InvalidArgumentError } from 'commander';
import { type ImportReport, importDirectory } from '../src/directory/imports/indexing/import.ts';
import { readRejectLimit } from '../src/directory/imports/indexing/rejects.ts';
import { openFiles } from '../src/directory/imports/indexing/source.ts';
import { DEFAULT_MAX_REJECTS } from '../src/directory/imports/indexing/start-import.ts';
import { filled } from '../src/process/commands/arguments.ts';
import { around } from '../src/process/commands/around.ts';
import { onStop } from '../src/process/commands/signals.ts';
import { type BoundsOptions, boundsOptions, readBounds } from './bounds.ts';
import { comparisonLines, exampleLines } from './comparison.ts';
import { withDirectory } from './engines.ts';
import { HELD } from './exit-codes.ts';
import { chooseMapping, type MapOption, showMapping } from './mapping.ts';
import { groupDigits, openProgress, print, say, sayRejects, sayUnknownFields, seconds } from './terminal.ts';

interface Options extends BoundsOptions {
  maxRejects?: string;
  rejects?: string;
  source?: string;
  restart?: boolean;
  enqueue?: boolean;
  map?: MapOption;
}

const EXAMPLES = `
Files are NDJSON, JSON lists or CSV with a header row, plain or as gzip or zstd; also .xlsx, or a .zip with one table.
The format follows from the name (.ndjson, .jsonl, .json, .csv), or else from the first characters. Rows have the API's
field names; a missing field is unknown (null). For a CSV with other names, --map shows the mapping that it would use, and
exits with 3. --map accept uses it, and --map FILE uses one that you changed; with --source it is kept for later files.

Searches see the old directory until the new one is verified, then the new one at once. If the import is stopped or killed,
the same command resumes it; --max-rejects and --rejects may then differ. A rejected row of a CSV counts once for each of
its lines, because a stray quote takes the following rows for its text.

Before the swap, the new directory is compared with the live one. Outside the bounds, the import is held (exit code 3) until
you approve or discard it. A canary is a line such as
  {"query": {"city": "NYC"}, "min_total": 40000, "must_contain": [173560420]}

Examples:
  npm run indexer -- import creators.ndjson.zst
  npm run indexer -- import part-1.csv.gz part-2.csv.gz --max-rejects 0.1% --rejects rejects.ndjson
  zcat creators.ndjson.gz | npm run indexer -- import -
  npm run indexer -- import creators.ndjson --enqueue
  npm run indexer -- import ranking.csv --source ranking --map accept`;

function rejectLimit(text: string): string {
  if (!readRejectLimit(text)) throw new InvalidArgumentError('must be a number of rows, or a percentage such as 0.5%.');
  return text;
}

function sayReport(report: ImportReport): void {
  const { phasesMs } = report;
  sayUnknownFields(report.unknownFields);
  if (report.rejectsFile) sayRejects({ ...report, rejectsFile: report.rejectsFile });
  if (report.forgotten > 0) say(`${groupDigits(report.forgotten)} rows were left out: their creators opted out.`);
  if (report.repeated > 0) say(`${groupDigits(report.repeated)} rows repeated a pk; the last of each was kept.`);
  say(
    `${groupDigits(report.rows)} rows read, ${groupDigits(report.documents)} creators ${report.held.length > 0 ? 'held' : 'live'}, ${report.compared} read back and compared.`,
  );
  const rate = groupDigits(Math.round((report.rows * 1000) / Math.max(phasesMs.bulk, 1)));
  say(
    `validate and bulk ${seconds(phasesMs.bulk)} (${rate} rows/s), merge ${seconds(phasesMs.merge)}, ` +
      `verify ${seconds(phasesMs.verify)}, compare ${seconds(phasesMs.compare)}, ` +
      `replicas ${seconds(phasesMs.replicas)}, swap ${phasesMs.swap} ms`,
  );
  if (report.held.length > 0) {
    for (const line of report.comparison ? comparisonLines(report.comparison) : []) say(line);
    say('Held; the live directory is unchanged:');
    for (const reason of report.held) say(`- ${reason}`);
    for (const line of exampleLines(report.examples)) say(line);
    say(`\`indexer approve ${report.id}\` makes it live, \`indexer discard ${report.id}\` removes it.`);
    print(report.id);
    around().exitCode = HELD;
    return;
  }
  if (report.comparison) {
    const { added, removed, changed } = report.comparison;
    say(`${groupDigits(added)} creators added, ${groupDigits(removed)} removed, ${groupDigits(changed)} changed.`);
  }
  say(`Live now${report.previousIndex ? `; ${report.previousIndex} is kept for a rollback` : ''}:`);
  print(report.index);
}

async function runImport(files: string[], options: Options): Promise<void> {
  const signal = onStop();
  // Problems with a file are reported before any engine is started.
  const [, bounds] = [await openFiles(files), await readBounds(options)];
  await withDirectory(async (engines) => {
    const mapping = await chooseMapping(engines, files, options);
    const source = await openFiles(files, 'creators', mapping && { mapping, source: options.source ?? '' });
    const view = openProgress();
    try {
      const report = await importDirectory(engines, {
        source,
        maxRejects: options.maxRejects,
        rejectsFile: options.rejects,
        sourceName: options.source,
        mapping,
        restart: options.restart,
        bounds,
        signal,
        onProgress: view.show,
        onNotice: view.note,
      });
      view.end();
      sayReport(report);
    } finally {
      view.end();
    }
  });
}

async function enqueue(files: string[], options: Options): Promise<void> {
  const bounds = await readBounds(options);
  await withDirectory(
    async ({ redisUrl, ...engines }) => {
      if (!redisUrl) throw new Error('Redis is needed to enqueue.');
      const { maxRejects, rejects: rejectsFile, source: sourceName, restart } = options;
      const mapping = await chooseMapping(engines, files, options);
      const request = { files, maxRejects, rejectsFile, sourceName, mapping, restart, bounds, onNotice: say };
      const { enqueueImport } = await import('../src/directory/imports/indexing/import.jobs.ts');
      print(await enqueueImport(engines, redisUrl, request));
      say('Enqueued for a worker; `status` shows its progress.');
    },
    { needsRedis: true },
  );
}

export function importCommand(program: Command): void {
  const command = program
    .command('import')
    .description('replace the whole directory')
    .argument('<files...>', 'NDJSON or CSV files, or - for standard input', (file: string, before: string[] = []) => [
      ...before,
      filled(file),
    ])
    .option(
      '--max-rejects <limit>',
      `rows that may be rejected, as a number or a percentage (default ${DEFAULT_MAX_REJECTS})`,
      rejectLimit,
    )
    .option(
      '--rejects <file>',
      'the file for rejected rows, with line, field and reason (default rejects-<id>.ndjson)',
      filled,
    )
    .option('--source <name>', 'name of the source of these rows, which `GET /v1/creators/{pk}` shows', filled)
    .option('--map [how]', 'show the mapping of a CSV with other names, `accept` it, or take the one in a file')
    .option('--restart', 'start over even if an import of these files could resume');
  boundsOptions(command)
    .option('--enqueue', "let a worker run it; prints the import's id")
    .addHelpText('after', EXAMPLES)
    .action(async (files: string[], options: Options) => {
      if (options.map === true) return await showMapping(files);
      return options.enqueue ? await enqueue(files, options) : await runImport(files, options);
    });
}
