import { isUtf8 } from 'node:buffer';
import { BrokenTable } from './csv.ts';
import type { SourceRecord } from './source.ts';

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = 0xfeff;
const LONGEST_LINE_BYTES = 4 << 20;
/** An excerpt keeps this much of a line that is too long. */
const OPENING_BYTES = 1 << 10;

const NOT_UTF8 = { code: 'invalid_utf8', reason: 'The line is not UTF-8.' };
const TOO_LONG = { code: 'too_long', reason: `The line is longer than ${LONGEST_LINE_BYTES >> 20} MB.` };

/** A key as a fraction or with an exponent: a program has read keys as floats, and may have dropped digits of them. */
const FLOAT_KEY = /(?:^|"pk"\s*:)\s*-?\d+(?:(?:\.\d+)?e|\.0+(?!\d))/i;
const DAMAGED_KEY = {
  code: 'damaged_key',
  field: 'pk',
  reason: 'is a float, which may have lost digits: write whole numbers.',
};

function parse(file: string, line: number, bytes: Buffer): SourceRecord | undefined {
  let text = bytes.toString('utf8');
  if (line === 1 && text.charCodeAt(0) === BYTE_ORDER_MARK) text = text.slice(1);
  if (text.trim() === '') return undefined;
  if (FLOAT_KEY.test(text)) return { file, line, text, value: undefined, problem: DAMAGED_KEY };
  try {
    return { file, line, text, value: JSON.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { file, line, text, value: undefined, problem: { code: 'invalid_json', reason } };
  }
}

/** Bytes of JSON's own signs. */
const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE] = [0x22, 0x5c, 0x2c, new Set([0x5b, 0x7b]), new Set([0x5d, 0x7d])];
const BLANKS = new Set([0x20, 0x09, 0x0d, NEWLINE]);

/** The elements of a list as they end, by the brackets and quotes around them. `line` is where one starts. */
export async function* readJsonList(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<SourceRecord[]> {
  let [line, start, depth, length] = [1, 1, 0, 0];
  let [isText, isEscaped, isBegun] = [false, false, false];
  let parts: Buffer[] = [];

  function takeElement(): SourceRecord | undefined {
    const bytes = Buffer.concat(parts);
    const isLong = length > LONGEST_LINE_BYTES;
    parts = [];
    length = 0;
    if (isLong)
      return { file, line: start, text: bytes.toString('utf8', 0, OPENING_BYTES), value: undefined, problem: TOO_LONG };
    const record = parse(file, start, bytes);
    return record && !isUtf8(bytes) ? { ...record, value: undefined, problem: NOT_UTF8 } : record;
  }

  function keep(bytes: Buffer): void {
    length += bytes.length;
    // Of an element that is too long, its beginning is enough.
    if (length <= LONGEST_LINE_BYTES || parts.length === 0) parts.push(bytes);
  }

  function take(chunk: Buffer): SourceRecord[] {
    const records: SourceRecord[] = [];
    let from = depth > 0 ? 0 : -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) line += 1;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
        continue;
      }
      if (depth > 0 && !isBegun) {
        if (BLANKS.has(byte)) continue;
        [isBegun, start] = [true, line];
      }
      if (byte === QUOTE) isText = true;
      if (OPEN.has(byte)) depth += 1;
      if (CLOSE.has(byte)) depth -= 1;
      const isEnd = (byte === COMMA && depth === 1) || (depth === 0 && CLOSE.has(byte));
      if (depth === 1 && from < 0) from = at + 1;
      if (!isEnd || from < 0) continue;
      keep(chunk.subarray(from, at));
      const record = takeElement();
      if (record) records.push(record);
      from = depth === 0 ? -1 : at + 1;
      isBegun = false;
    }
    if (from >= 0) keep(chunk.subarray(from));
    return records;
  }

  for await (const chunk of chunks) yield take(chunk);
  if (depth > 0) throw new BrokenTable('The list has no end: the file is cut off, or lacks a bracket.');
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
