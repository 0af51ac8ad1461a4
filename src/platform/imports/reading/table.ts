import { openContainer } from './container.ts';
import { decode, detectEncoding, isEncoding, type Stream } from './encoding.ts';
import { BrokenFile, MappingProblem } from './problems.ts';
import { type Row, readRows } from './rows.ts';
import { openSections } from './sections.ts';
import { detectShape, type Shape } from './shape.ts';
import type { ByteSource, Mapping, Request } from './shapes.ts';

const HEAD_BYTES = 256 * 1024;
const MOST_LINES = 1_000_000;
const MOST_COLUMNS = 500;

export interface Table {
  name: string;
  sizeBytes: number;
  sha256: string;
  encoding: string;
  sheet: string | null;
  sheets: string[];
  otherSheets: string[];
  halfDates: number[];
  is1904: boolean;
  shape: Shape;
  /** The rows below the header, from the start each time. */
  rows(): AsyncGenerator<Row[]>;
}

async function readHead(open: Stream): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of open()) {
    parts.push(chunk);
    length += chunk.length;
    if (length >= HEAD_BYTES) break;
  }
  return Buffer.concat(parts).toString();
}

function checkWish({ encoding, separator }: Mapping): void {
  if (encoding !== undefined && !isEncoding(encoding))
    throw new MappingProblem('mapping.encoding', 'invalid', 'is not the name of an encoding.');
  if (separator !== undefined && Buffer.byteLength(separator) !== 1)
    throw new MappingProblem('mapping.separator', 'invalid', 'must be one character.');
}

/** Opens the table in a file: what contains it, how its text is encoded, how its rows are written. */
export async function openTable(
  source: ByteSource,
  { of, stored, mapping: own }: Pick<Request, 'of' | 'stored' | 'mapping'>,
  mapping: Mapping,
): Promise<Table> {
  checkWish(mapping);
  const { open, sha256, sheet, sheets, otherSheets, halfDates, is1904 } = await openContainer(source, {
    of,
    sheet: mapping.sheet,
  });
  const isSheet = sheet !== null;
  const isStored = mapping.encoding !== undefined && own?.encoding === undefined && stored?.encoding !== undefined;
  const found = isSheet ? 'utf-8' : !isStored && mapping.encoding ? mapping.encoding : await detectEncoding(open);
  // Bytes prove UTF-8 and UTF-16, whatever an earlier file was.
  const encoding = isStored && !found.startsWith('utf') ? (stored?.encoding ?? found) : found;
  const text = decode(open, encoding);
  const separator = isSheet ? ',' : mapping.separator;
  const shape = detectShape(await readHead(text), of, { separator, headerLine: mapping.header_line, isSheet });
  if (shape.headers.length > MOST_COLUMNS)
    throw new BrokenFile('too_many_columns', `The table has more than ${MOST_COLUMNS} columns.`);
  const after = shape.headerLine ?? 0;
  return {
    name: source.name,
    sizeBytes: source.sizeBytes,
    sha256,
    encoding,
    sheet,
    sheets,
    otherSheets,
    halfDates,
    is1904,
    shape,
    async *rows() {
      let lines = 0;
      const mark = openSections(of, shape.headers, shape, isSheet);
      for await (const batch of readRows(text, shape.separator, isSheet)) {
        const rows = (batch[0]?.line ?? 0) > after ? batch : batch.filter(({ line }) => line > after);
        lines += rows.length;
        if (lines > MOST_LINES)
          throw new BrokenFile('too_many_lines', `The file has more than ${MOST_LINES} lines. Split it into several.`);
        for (const row of rows) mark(row);
        if (rows.length > 0) yield rows;
      }
    },
  };
}
