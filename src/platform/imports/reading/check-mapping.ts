import { assertColumns } from './columns.ts';
import { assertConstants } from './constants.ts';
import { isCompressed } from './container.ts';
import { detectEncoding } from './encoding.ts';
import type { Kind } from './kinds.ts';
import { BrokenFile, UnsupportedFile } from './problems.ts';
import type { ByteSource, Mapping } from './shapes.ts';
import { openTable } from './table.ts';

/** A file up to this size is opened whole; of a larger one only the beginning is. */
const OPENED_AT_ONCE = 2 * 1024 * 1024;

const fromBytes = (name: string, bytes: Uint8Array): ByteSource => ({
  name,
  sizeBytes: bytes.length,
  async *read(range) {
    yield range ? bytes.subarray(range.start, range.end + 1) : bytes;
  },
});

async function readBeginning({ sizeBytes, read }: ByteSource): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const end = Math.min(sizeBytes, OPENED_AT_ONCE) - 1;
  if (end >= 0) for await (const part of await read({ start: 0, end })) parts.push(part);
  return Buffer.concat(parts);
}

/** The encoding of a large file, where its beginning proves it: the rest may be in another one. */
async function findEncoding(beginning: ByteSource): Promise<string | undefined> {
  const found = await detectEncoding(async function* bytes() {
    yield* await beginning.read();
  });
  return found.startsWith('utf') ? found : undefined;
}

/**
 * Throws a `MappingProblem` if a mapping names what the file lacks. What cannot be known from the beginning of a large
 * file, or of a large archive, is left to the reading of the whole.
 */
export async function checkMapping(
  source: ByteSource,
  of: Kind,
  mapping: Mapping,
  encoding: string | undefined,
): Promise<void> {
  assertConstants(of, mapping);
  if (['columns', 'sheet', 'encoding', 'separator'].every((name) => !(name in mapping))) return;
  const head = await readBeginning(source);
  const isWhole = source.sizeBytes <= OPENED_AT_ONCE;
  if (!isWhole && isCompressed(head)) return;
  const bytes = isWhole ? head : head.subarray(0, head.lastIndexOf('\n') + 1);
  const beginning = fromBytes(source.name, bytes);
  const known = mapping.encoding ?? (isWhole ? undefined : (encoding ?? (await findEncoding(beginning))));
  if (!isWhole && known === undefined) return;
  try {
    const said = known === undefined ? mapping : { ...mapping, encoding: known };
    const { shape } = await openTable(beginning, { of }, said);
    assertColumns(of, shape.headers, mapping);
  } catch (error) {
    // The reading refuses such a file, and says why.
    if (!(error instanceof BrokenFile || error instanceof UnsupportedFile)) throw error;
  }
}
