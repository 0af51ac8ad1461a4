import path from 'node:path';
import { Readable } from 'node:stream';
import { BrokenCsv, readCsv } from './csv.ts';
import { decompress } from './decompress.ts';
import { describeFile, fileName, type SourceFile, STDIN } from './files.ts';
import { readNdjson } from './ndjson.ts';

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
  problem?: { code: string; reason: string };
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
}

const CHUNK_BYTES = 1 << 18;

/** The kind of rows: whole creators, some fields of creators, or only `pk`s. */
export type RowKind = 'creators' | 'patches' | 'pks';

const COLUMNS: Readonly<Record<RowKind, readonly string[]>> = {
  creators: ['pk', 'username'],
  patches: ['pk'],
  pks: ['pk'],
};
const OPENINGS: Readonly<Record<RowKind, RegExp>> = { creators: /^\{/, patches: /^\{/, pks: /^[{\d]/ };
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

async function* readRecords(file: string, input: Readable, kind: RowKind): AsyncGenerator<SourceRecord[]> {
  const bytes = decompress(input);
  const first = await bytes.next();
  if (first.done) return;
  async function* whole(): AsyncGenerator<Buffer> {
    if (!first.done) yield first.value;
    yield* bytes;
  }
  const { isJson, because } = detectFormat(file, first.value.toString('utf8', 0, 4096).trimStart(), kind);
  if (isJson) {
    yield* readNdjson(file, whole());
    return;
  }
  try {
    yield* readCsv(file, whole(), COLUMNS[kind]);
  } catch (error) {
    if (!(error instanceof BrokenCsv)) throw error;
    throw new BrokenCsv(`${error.message} (It was read as CSV because ${because}.)`);
  }
}

/** Files by name; standard input has no entry. */
type Described = ReadonlyMap<string, SourceFile>;

async function* readFiles(
  files: string[],
  described: Described,
  kind: RowKind,
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
      yield* readRecords(file, input, kind);
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
export async function openFiles(files: string[], kind: RowKind = 'creators'): Promise<Source> {
  const isStdin = files.includes(STDIN);
  if (isStdin && files.length > 1) throw new Error('Standard input (-) cannot be combined with files.');
  const found = isStdin ? [] : await Promise.all(files.map(async (file) => [file, await describeFile(file)] as const));
  const size = found.reduce((sum, [, file]) => sum + file.size, 0);
  let bytes = 0;
  return {
    files,
    identity: isStdin ? null : found.map(([, { identity }]) => identity).join('\n'),
    read: () => {
      bytes = 0;
      return readFiles(files, new Map(found), kind, (count) => {
        bytes += count;
      });
    },
    progress: () => (size > 0 ? Math.min(bytes / size, 1) : null),
  };
}
