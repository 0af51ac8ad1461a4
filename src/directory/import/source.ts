import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { BrokenCsv, readCsv } from './csv.ts';
import { decompressed } from './decompress.ts';
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
  /** Name of the source, for people. */
  files: string[];
  /** Digest of the rows, independent of file names; null if they cannot be read twice. */
  identity: string | null;
  /** Records in order, in batches. */
  read(): AsyncGenerator<SourceRecord[]>;
  /** Progress from 0 to 1; null if the size is unknown. */
  progress(): number | null;
}

const CHUNK_BYTES = 1 << 18;
const OPENING_BYTES = 1 << 20;

/** `-` stands for standard input. */
export const STDIN = '-';

async function describeFile(file: string): Promise<{ size: number; identity: string }> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new Error(`${file} is not a file that can be read.`);
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(OPENING_BYTES), 0, OPENING_BYTES, 0);
    const opening = createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex');
    return { size: found.size, identity: `${found.size} ${found.mtimeMs} ${opening}` };
  } finally {
    await handle.close();
  }
}

/** The kind of rows: creators, or only `pk`s. */
export type RowKind = 'creators' | 'pks';

const COLUMNS: Readonly<Record<RowKind, readonly string[]>> = { creators: ['pk', 'username'], pks: ['pk'] };
const OPENINGS: Readonly<Record<RowKind, RegExp>> = { creators: /^\{/, pks: /^[{\d]/ };
const PACKED = /\.(?:gz|gzip|zst|zstd)$/i;
const OF_JSON = new Set(['.ndjson', '.jsonl', '.json']);

/** Whether the file is NDJSON instead of CSV, judged by its name or else its start, and the reason. */
function judge(file: string, opening: string, kind: RowKind): { isJson: boolean; because: string } {
  const extension = path.extname(file.replace(PACKED, '')).toLowerCase();
  if (OF_JSON.has(extension)) return { isJson: true, because: 'of its name' };
  if (extension === '.csv') return { isJson: false, because: 'of its name' };
  return {
    isJson: OPENINGS[kind].test(opening),
    because: `it does not start with ${kind === 'pks' ? 'a pk or ' : ''}{`,
  };
}

async function* readRecords(file: string, input: Readable, kind: RowKind): AsyncGenerator<SourceRecord[]> {
  const bytes = decompressed(input);
  const first = await bytes.next();
  if (first.done) return;
  async function* whole(): AsyncGenerator<Buffer> {
    if (!first.done) yield first.value;
    yield* bytes;
  }
  const { isJson, because } = judge(file, first.value.toString('utf8', 0, 4096).trimStart(), kind);
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

async function* readFiles(
  files: string[],
  kind: RowKind,
  onBytes: (count: number) => void,
): AsyncGenerator<SourceRecord[]> {
  for (const file of files) {
    const stream = file === STDIN ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const chunk of stream) {
        onBytes(chunk.length);
        yield chunk;
      }
    }
    try {
      yield* readRecords(file, Readable.from(counted(), { objectMode: false, highWaterMark: CHUNK_BYTES }), kind);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${file} could not be read completely: ${why}`, { cause: error });
    } finally {
      stream.destroy();
    }
  }
}

/** Files of NDJSON or CSV, plain or compressed with gzip or zstd. */
export async function openFiles(files: string[], kind: RowKind = 'creators'): Promise<Source> {
  const isStdin = files.includes(STDIN);
  if (isStdin && files.length > 1) throw new Error('Standard input (-) cannot be combined with files.');
  const described = isStdin ? [] : await Promise.all(files.map(describeFile));
  const size = described.reduce((sum, file) => sum + file.size, 0);
  let bytes = 0;
  return {
    files,
    identity: isStdin ? null : described.map(({ identity }) => identity).join('\n'),
    read: () => {
      bytes = 0;
      return readFiles(files, kind, (count) => {
        bytes += count;
      });
    },
    progress: () => (size > 0 ? Math.min(bytes / size, 1) : null),
  };
}
