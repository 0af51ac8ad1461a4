import { isUtf8 } from 'node:buffer';
import type { SourceRecord } from './source.ts';

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = 0xfeff;
const LONGEST_LINE_BYTES = 4 << 20;
/** An excerpt keeps this much of a line that is too long. */
const OPENING_BYTES = 1 << 10;

const NOT_UTF8 = { code: 'invalid_utf8', reason: 'The line is not UTF-8.' };
const TOO_LONG = { code: 'too_long', reason: `The line is longer than ${LONGEST_LINE_BYTES >> 20} MB.` };

function parse(file: string, line: number, bytes: Buffer): SourceRecord | undefined {
  let text = bytes.toString('utf8');
  if (line === 1 && text.charCodeAt(0) === BYTE_ORDER_MARK) text = text.slice(1);
  if (text.trim() === '') return undefined;
  try {
    return { file, line, text, value: JSON.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { file, line, text, value: undefined, problem: { code: 'invalid_json', reason } };
  }
}

/** Whole lines of a chunk, each parsed separately, so that invalid JSON costs only its own line. */
export async function* readNdjson(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<SourceRecord[]> {
  let line = 0;
  let rest: Buffer = Buffer.alloc(0);
  /** The start of a line that is too long and whose end has not been read yet. */
  let opening: Buffer | undefined;

  function tooLong(bytes: Buffer): SourceRecord {
    return { file, line, text: bytes.toString('utf8', 0, OPENING_BYTES), value: undefined, problem: TOO_LONG };
  }

  function takeLine(bytes: Buffer, isText: boolean): SourceRecord | undefined {
    line += 1;
    if (opening || bytes.length > LONGEST_LINE_BYTES) {
      const record = tooLong(opening ?? bytes);
      opening = undefined;
      return record;
    }
    const record = parse(file, line, bytes);
    return record && !isText && !isUtf8(bytes) ? { ...record, value: undefined, problem: NOT_UTF8 } : record;
  }

  function take(bytes: Buffer): SourceRecord[] {
    const records: SourceRecord[] = [];
    const isText = isUtf8(bytes);
    for (let start = 0; start < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      const record = takeLine(bytes.subarray(start, end), isText);
      if (record) records.push(record);
      start = end + 1;
    }
    return records;
  }

  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      yield take(rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, end)]) : chunk.subarray(0, end));
      rest = chunk.subarray(end);
    } else if (!opening) {
      rest = Buffer.concat([rest, chunk]);
    }
    if (rest.length > LONGEST_LINE_BYTES) {
      opening = Buffer.from(rest.subarray(0, OPENING_BYTES));
      rest = Buffer.alloc(0);
    }
  }
  yield take(opening ?? rest);
}
