import { z } from 'zod';
import { DirectoryMapping, findMapping, storeMapping, toMapping } from '../src/directory/imports/indexing/mapping.ts';
import { type ForeignFile, findForeign } from '../src/directory/imports/indexing/source.ts';
import { MappingProblem } from '../src/platform/imports/reading/problems.ts';
import type { Reading } from '../src/platform/imports/reading/shapes.ts';
import { around } from '../src/process/commands/around.ts';
import { readTextFile } from '../src/process/commands/files.ts';
import type { IndexerEngines } from './engines.ts';
import { HELD } from './exit-codes.ts';
import { print, say } from './terminal.ts';

/** True shows the mapping; otherwise `accept`, or a file with one. */
export type MapOption = true | string;

interface Options {
  map?: MapOption;
  source?: string;
}

const SEPARATORS: Readonly<Record<string, string>> = { '\t': 'tab' };

function assertRead({ refusals: [refusal], columns, text }: Reading, file: string): void {
  if (columns.some(({ field }) => field === 'username') || !refusal) return;
  const { separator, header_line: line } = text;
  const read = `Cells were separated by ${SEPARATORS[separator] ?? separator}, and the header was ${line === null ? 'not found' : `line ${line}`}.`;
  throw new Error(`${file} cannot be mapped. ${refusal.message} ${read}`);
}

function sayReading({ columns, questions }: Reading): void {
  for (const { field, header, samples } of columns)
    say(`${field ?? '(unused)'} ← ${header}${samples.length === 0 ? '' : `: ${samples.slice(0, 3).join(', ')}`}`);
  for (const { message, options } of questions) {
    say(message);
    for (const { label, mapping } of options) say(`- ${label}: ${JSON.stringify(mapping)}`);
  }
}

/** Prints the mapping that a CSV would be read by. Nothing is written. */
export async function showMapping(files: string[]): Promise<void> {
  const foreign = await findForeign(files, true);
  if (!foreign) throw new Error('No CSV was named whose columns could be mapped.');
  const reading = await foreign.read({});
  assertRead(reading, foreign.file);
  sayReading(reading);
  print(JSON.stringify(toMapping(reading, {}), null, 2));
  say('Nothing was written. `--map accept` reads it so; save and change it for `--map FILE`.');
  around().exitCode = HELD;
}

const Json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
});

function readMapping(file: string): DirectoryMapping {
  const text = readTextFile(file);
  const parsed = Json.pipe(DirectoryMapping).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Error(`${file} is no mapping, as \`import FILE --map\` prints one: ${z.prettifyError(parsed.error)}`);
}

/** The mapping that the caller accepts, with every question of the file answered. */
async function acceptMapping(foreign: ForeignFile, map: string): Promise<DirectoryMapping> {
  const said = map === 'accept' ? {} : readMapping(map);
  const reading = await foreign.read(said).catch((error: unknown) => {
    throw error instanceof MappingProblem ? new Error(`${map}: ${error.field} ${error.message}`) : error;
  });
  assertRead(reading, foreign.file);
  const [question] = reading.questions;
  if (!question) return toMapping(reading, said);
  sayReading(reading);
  throw new Error(`${foreign.file} leaves a question open. Add the answer to the mapping, and name its file by --map.`);
}

/** The mapping of the files: the one that `--map` says, which is stored for their source, or the one stored before. */
export async function chooseMapping(
  { db, alias, clock }: Pick<IndexerEngines, 'db' | 'alias' | 'clock'>,
  files: string[],
  { map, source }: Options,
): Promise<DirectoryMapping | undefined> {
  const isSaid = typeof map === 'string';
  const foreign = await findForeign(files, isSaid);
  if (!foreign) return undefined;
  const headers = (await foreign.read({})).columns.map(({ header }) => header);
  const stored = source === undefined || isSaid ? undefined : await findMapping(db, { alias, source, headers });
  const mapping = isSaid ? await acceptMapping(foreign, map) : stored;
  if (mapping && !mapping.columns.pk && source === undefined)
    throw new Error('The rows have no pk. Name their source by --source: keys are made of it and the username.');
  if (isSaid && mapping && source !== undefined)
    await storeMapping(db, { alias, source, headers }, mapping, clock.now());
  return mapping;
}
