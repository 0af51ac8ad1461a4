import path from 'node:path';
import { Readable } from 'node:stream';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import { assertReadable, isArchive, openContainer } from '../../../platform/imports/reading/container.ts';
import { BrokenFile, UnsupportedFile } from '../../../platform/imports/reading/problems.ts';
import { BrokenTable, hasOwnNames, readCsv, readHead } from './csv.ts';
import { decompress } from './decompress.ts';
import { describeFile, fileName, type SourceFile, STDIN } from './files.ts';
import { type DirectoryMapping, type MappedSource, readOpening } from './mapping.ts';
import { readJsonList, readNdjson } from './ndjson.ts';

/** One record of a source, before validation. */
export interface SourceRecord {
  file: string;
  line: number;
  /** Number of lines, 1 by default. A CSV cell may span several. */
  lines?: number;
  /** The original text of the record, for an excerpt. */
  text: string;
  value: unknown;
  /** Why there is no value. */
  problem?: { code: string; reason: string; field?: string };
}

/** The source of an import. */
export interface Source {
  /** Name of the source as displayed. */
  files: string[];
  /** Digest of the rows, independent of file names; null if they cannot be read twice. */
  identity: string | null;
  /** Records in order, in batches. */
  read(): AsyncGenerator<SourceRecord[]>;
  /** Progress from 0 to 1; null if the size is unknown. */
  progress(): number | null;
  /** The columns of the table, or the fields of the first record, that was read last. */
  columns?: () => readonly string[];
}

const CHUNK_BYTES = 1 << 18;

/** The kind of rows: whole creators, some fields of creators, or only `pk`s. */
export type RowKind = 'creators' | 'patches' | 'pks';

const COLUMNS: Readonly<Record<RowKind, readonly string[]>> = {
  creators: ['pk', 'username'],
  patches: ['pk'],
  pks: ['pk'],
};
const OPENINGS: Readonly<Record<RowKind, RegExp>> = { creators: /^[{[]/, patches: /^[{[]/, pks: /^[{[\d]/ };
const PACKED = /\.(?:gz|gzip|zst|zstd)$/i;
const OF_JSON = new Set(['.ndjson', '.jsonl', '.json']);

/** Tells NDJSON from CSV by the file's name or else its start, and gives the reason. */
function detectFormat(file: string, opening: string, kind: RowKind): { isJson: boolean; because: string } {
  const extension = path.extname(fileName(file).replace(PACKED, '')).toLowerCase();
  if (OF_JSON.has(extension)) return { isJson: true, because: 'of its name' };
  if (extension === '.csv') return { isJson: false, because: 'of its name' };
  return {
    isJson: OPENINGS[kind].test(opening),
    because: `it does not start with ${kind === 'pks' ? 'a pk or ' : ''}{`,
  };
}

interface Unpacked {
  bytes: AsyncIterable<Buffer>;
  opening: string;
  isSheet: boolean;
}

const OPENING_BYTES = 4_096;

/** The text of a table: of a workbook's sheet, of the one file in an archive, or of the file itself. */
async function unpack(file: string, input: Readable): Promise<Unpacked | undefined> {
  const bytes = decompress(input);
  const first = await bytes.next();
  if (first.done) return undefined;
  async function* whole(): AsyncGenerator<Buffer> {
    if (!first.done) yield first.value;
    yield* bytes;
  }
  const opening = first.value
    .toString('utf8', 0, OPENING_BYTES)
    .replace(/^\ufeff/, '')
    .trimStart();
  try {
    assertReadable(first.value);
    if (!isArchive(first.value)) return { bytes: whole(), opening, isSheet: false };
    const parts: Buffer[] = [];
    for await (const part of whole()) parts.push(part);
    const all = Buffer.concat(parts);
    async function* read(range = { start: 0, end: all.length - 1 }) {
      yield all.subarray(range.start, range.end + 1);
    }
    const source = { name: fileName(file), sizeBytes: all.length, read };
    const { open, sheet } = await openContainer(source, { of: 'directory', sheet: undefined });
    async function* table(): AsyncGenerator<Buffer> {
      for await (const part of open()) yield Buffer.from(part);
    }
    return { bytes: table(), opening: '', isSheet: sheet !== null };
  } catch (error) {
    if (error instanceof BrokenFile || error instanceof UnsupportedFile) throw new BrokenTable(error.message);
    throw error;
  }
}

async function* readJson(
  { bytes, opening }: Unpacked,
  file: string,
  onColumns: (columns: readonly string[]) => void,
): AsyncGenerator<SourceRecord[]> {
  let isFirst = true;
  for await (const records of opening.startsWith('[') ? readJsonList(file, bytes) : readNdjson(file, bytes)) {
    const [first] = records;
    if (isFirst && first) onColumns(Object.keys(Object(first.value)));
    isFirst = isFirst && !first;
    yield records;
  }
}

async function* readRecords(
  file: string,
  input: Readable,
  { kind, mapped, onColumns }: SourceReading,
): AsyncGenerator<SourceRecord[]> {
  const unpackedFile = await unpack(file, input);
  if (!unpackedFile) return;
  const { bytes, opening, isSheet } = unpackedFile;
  const { isJson, because } =
    opening === '' ? { isJson: false, because: 'it is a table' } : detectFormat(file, opening, kind);
  if (isJson) return yield* readJson(unpackedFile, file, onColumns);
  try {
    yield* readCsv(file, bytes, { required: COLUMNS[kind], mapped, isSheet, onColumns });
  } catch (error) {
    if (!(error instanceof BrokenTable)) throw error;
    throw new BrokenTable(`${error.message} (It was read as ${isSheet ? 'a workbook' : `CSV because ${because}`}.)`);
  }
}

/** The first rows of a file; undefined if it is NDJSON. */
async function peek(file: string): Promise<Buffer | undefined> {
  const input = Readable.from((await describeFile(file)).open(), { objectMode: false, highWaterMark: CHUNK_BYTES });
  try {
    const unpackedFile = await unpack(file, input).catch(ignoreFailure('reading the whole file reports it'));
    if (!unpackedFile) return undefined;
    const { bytes, opening } = unpackedFile;
    if (opening !== '' && detectFormat(file, opening, 'creators').isJson) return undefined;
    return await readHead(bytes).catch(ignoreFailure('reading the whole file reports it'));
  } finally {
    input.destroy();
  }
}

/** A CSV whose columns are not called like our fields. */
export interface ForeignFile {
  file: string;
  read(mapping: Partial<DirectoryMapping>): ReturnType<typeof readOpening>;
}

/** The first CSV without our own names in its header, or the first CSV if any will do; undefined if there is none. */
export async function findForeign(files: readonly string[], isAny: boolean): Promise<ForeignFile | undefined> {
  for (const file of files) {
    const head = file === STDIN ? undefined : await peek(file);
    if (!head) continue;
    const read = (mapping: Partial<DirectoryMapping>) => readOpening(fileName(file), head, mapping);
    if (isAny || !hasOwnNames(head.toString(), COLUMNS.creators)) return { file, read };
  }
  return undefined;
}

interface SourceReading {
  kind: RowKind;
  mapped: MappedSource | undefined;
  onColumns(columns: readonly string[]): void;
}

/** Files by name; standard input has no entry. */
type Described = ReadonlyMap<string, SourceFile>;

async function* readFiles(
  files: string[],
  described: Described,
  reading: SourceReading,
  onBytes: (count: number) => void,
): AsyncGenerator<SourceRecord[]> {
  for (const file of files) {
    const stream: AsyncIterable<Buffer> = described.get(file)?.open() ?? process.stdin;
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const chunk of stream) {
        onBytes(chunk.length);
        yield chunk;
      }
    }
    const input = Readable.from(counted(), { objectMode: false, highWaterMark: CHUNK_BYTES });
    try {
      yield* readRecords(file, input, reading);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${file} could not be read completely: ${why}`, { cause: error });
    } finally {
      input.destroy();
      if (file === STDIN) process.stdin.destroy();
    }
  }
}

/** Files of NDJSON or CSV, plain or compressed with gzip or zstd. */
export async function openFiles(files: string[], kind: RowKind = 'creators', mapped?: MappedSource): Promise<Source> {
  const isStdin = files.includes(STDIN);
  if (isStdin && files.length > 1) throw new Error('Standard input (-) cannot be combined with files.');
  const fileStates = isStdin
    ? []
    : await Promise.all(files.map(async (file) => [file, await describeFile(file)] as const));
  const size = fileStates.reduce((sum, [, file]) => sum + file.size, 0);
  const said = mapped ? [JSON.stringify(mapped)] : [];
  let bytes = 0;
  let columns: readonly string[] = [];
  const reading: SourceReading = {
    kind,
    mapped,
    onColumns: (readColumns) => {
      columns = readColumns;
    },
  };
  return {
    files,
    columns: () => columns,
    identity: isStdin ? null : [...fileStates.map(([, { identity }]) => identity), ...said].join('\n'),
    read: () => {
      bytes = 0;
      return readFiles(files, new Map(fileStates), reading, (count) => {
        bytes += count;
      });
    },
    progress: () => (size > 0 ? Math.min(bytes / size, 1) : null),
  };
}
