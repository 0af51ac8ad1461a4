import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { Import, OF } from '../../affiliates/imports/imports.shapes.ts';
import { filled } from './arguments.ts';
import { around } from './around.ts';
import { readNamedFile, readTextFile } from './files.ts';
import { openRest, type Rest } from './rest.ts';

interface ImportOptions {
  of?: string;
  source?: string;
  store?: string;
  set: Record<string, unknown>;
  map?: string;
  option: Record<string, boolean>;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Exit codes: questions are open; recorded, with lines that were refused. */
const QUESTIONS_OPEN = 3;
const SOME_REFUSED = 4;

const Answer = z.object({ data: Import });
type Read = z.output<typeof Import>;

/** `dates=dmy` or `columns.amount=Commission`, as a part of the mapping. */
function collectSetting(text: string, settings: Record<string, unknown>): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('must be a name and a value, such as dates=dmy.');
  const [name = '', ...below] = text.slice(0, at).split('.');
  const said = text.slice(at + 1);
  // No column is a field: `columns.shipping=null`.
  const value = said === 'null' ? null : said;
  const inner = below.join('.');
  // An empty status has a meaning, too: `statuses.=paid`.
  if (below.length === 0) return { ...settings, [name]: value };
  const before = settings[name];
  return { ...settings, [name]: { ...(typeof before === 'object' ? before : {}), [inner]: value } };
}

const collectOption = (name: string, options: Record<string, boolean>) => ({ ...options, [name]: true });

const print = (text: string) => void around().out.write(`${text}\n`);

/** The `--set` that gives an answer, as a shell takes it. */
const toSetting = (mapping: Record<string, unknown>): string =>
  Object.entries(mapping)
    .flatMap(([name, value]) =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).map(([inner, own]) => `${name}.${inner}=${own}`)
        : [`${name}=${value}`],
    )
    .map((setting) => `--set '${setting.replaceAll("'", "'\\''")}'`)
    .join(' ');

function printReading({ file, format, text, counts, sums, refusals, warnings, questions }: Read): void {
  print([file.name, format?.name, text?.encoding, counts && `${counts.lines} lines`].filter(Boolean).join(', '));
  for (const { outcome, records, currency, net, refunded } of sums)
    print(`${outcome}: ${records} records, ${net} ${currency} net, ${refunded} refunded`);
  if (counts)
    print(
      `${counts.new} new, ${counts.known} known, ${counts.differs} differ, ${counts.repeated} repeated, ` +
        `${counts.left_out} left out, ${counts.refused} refused`,
    );
  for (const { message } of warnings) print(`Note: ${message}`);
  for (const { message, first_lines: lines } of refusals)
    print(`Refused${lines.length === 0 ? '' : ` (lines ${lines.join(', ')})`}: ${message}`);
  for (const { message, options } of questions) {
    print(`Question: ${message}`);
    for (const { label, mapping } of options) print(`  ${label}: ${toSetting(mapping)}`);
  }
}

/** Waits until no worker has to do with the import. */
async function waitFor(rest: Rest, id: string): Promise<Read> {
  for (;;) {
    const { data } = Answer.parse(await rest.send('GET', `/v1/imports/${id}?wait=20`));
    if (!['reading', 'running', 'undoing'].includes(data.status)) return data;
  }
}

async function sendFile(rest: Rest, file: string, options: ImportOptions & { of: string }): Promise<Read> {
  const storedMapping: unknown = options.map === undefined ? {} : JSON.parse(readTextFile(options.map));
  const form = new FormData();
  form.append('of', options.of);
  if (options.source !== undefined) form.append('source', options.source);
  if (options.store !== undefined) form.append('integration_id', options.store);
  form.append('mapping', JSON.stringify({ ...z.record(z.string(), z.unknown()).parse(storedMapping), ...options.set }));
  form.append('options', JSON.stringify(options.option));
  form.append('file', new File([readNamedFile(file)], path.basename(file)));
  const { data } = Answer.parse(await rest.send('POST', '/v1/imports', form));
  return await waitFor(rest, data.id);
}

async function confirm(rest: Rest, startedImport: Read): Promise<Read> {
  await rest.send('POST', `/v1/imports/${startedImport.id}/confirm`, { reading_id: startedImport.reading_id });
  return await waitFor(rest, startedImport.id);
}

async function importFile(file: string, options: ImportOptions & { of: string }): Promise<void> {
  const rest = openRest();
  const startedImport = await sendFile(rest, file, options);
  const isRecorded = startedImport.status === 'ready' && options.yes === true && options.dryRun !== true;
  if (options.json && !isRecorded) print(JSON.stringify(startedImport, null, 2));
  if (!options.json) printReading(startedImport);
  // The next call sends the file again, and a brand has few unconfirmed imports.
  const isOver = ['needs_answers', 'refused'].includes(startedImport.status) && options.json !== true;
  if (isOver || options.dryRun === true) await rest.send('DELETE', `/v1/imports/${startedImport.id}`);
  if (startedImport.status === 'refused') throw new Error('The file is refused; nothing was recorded.');
  if (startedImport.status === 'needs_answers') {
    around().exitCode = QUESTIONS_OPEN;
    return;
  }
  if (options.dryRun === true) {
    around().err.write('Nothing was recorded.\n');
    return;
  }
  if (!isRecorded) {
    around().err.write(`Nothing was recorded. Add --yes to record it, or confirm ${startedImport.id} in the app.\n`);
    return;
  }
  const confirmedImport = await confirm(rest, startedImport);
  if (options.json) print(JSON.stringify(confirmedImport, null, 2));
  else if (confirmedImport.of === 'reconciliation')
    print(`${confirmedImport.status}: the differences are the result of ${confirmedImport.job_id}`);
  else
    print(
      `${confirmedImport.status}: ${confirmedImport.result?.written ?? 0} written, ${confirmedImport.result?.known ?? 0} known`,
    );
  if (confirmedImport.status !== 'done')
    throw new Error(confirmedImport.error ?? `The import is ${confirmedImport.status}.`);
  if ((confirmedImport.counts?.refused ?? 0) > 0) around().exitCode = SOME_REFUSED;
}

/** Adds what `rollcall import FILE` takes. */
export const addFileArguments = (command: Command): Command =>
  command
    .argument('[file]', 'a file from another tool: CSV, TSV or .xlsx')
    .addOption(new Option('--of <kind>', 'what it has').choices([...OF]))
    .addOption(new Option('--source <name>', 'where it comes from').argParser(filled))
    .addOption(new Option('--store <id>', 'store whose orders are compared').argParser(filled))
    .option('--set <name=value>', 'settle how it is read, such as dates=dmy', collectSetting, {})
    .addOption(new Option('--map <file>', 'a mapping as JSON').argParser(filled))
    .option('--option <name>', 'what is written: pays, add_creators or create', collectOption, {})
    .option('--dry-run', 'only say what would be recorded')
    .option('--yes', 'record it, if no question is open')
    .option('--json', 'as JSON')
    .action(async (file: string | undefined, options: ImportOptions, self: Command) => {
      if (file === undefined || options.of === undefined)
        return self.error('error: name a file, and what it has with --of');
      await importFile(file, { ...options, of: options.of });
    });
