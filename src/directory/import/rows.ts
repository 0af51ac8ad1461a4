import { Ajv } from 'ajv';
import { z } from 'zod';
import { problemsOf } from '../../values/problems.ts';
import type { CreatorRow } from '../document.ts';
import { DirectoryCreatorDetail } from '../schema.ts';
import type { SourceRecord } from './source.ts';

/** One row of an import: the API's own shape, save that a field that is not known may be absent. */
const ImportRow = DirectoryCreatorDetail.partial().required({ pk: true, username: true });

/**
 * The same shape, compiled: most rows pass here, for a third of what zod takes. What does not pass zod decides, and
 * says why. Lengths are in UTF-16 units on both sides; that this option is to go one day is not for the operator to read.
 */
const isRow = new Ajv({ strict: false, unicode: false, logger: false }).compile<CreatorRow>(
  z.toJSONSchema(ImportRow, { io: 'input', target: 'draft-7' }),
);

const FIELDS: ReadonlySet<string> = new Set(Object.keys(ImportRow.shape));
const EXCERPT_CHARACTERS = 200;
/** The names of unknown fields are the file's own, so there may be as many as rows. */
const UNKNOWN_FIELDS = 100;

/** Why a record was left out; one line of the rejects file. */
export interface Reject {
  file: string;
  line: number;
  /** More than one: cells with several lines, or a stray quote that took the rows after it for its text. */
  lines: number;
  field: string | null;
  code: string;
  reason: string;
  row: string;
}

export type CheckedRecord = { row: CreatorRow; reject?: undefined } | { row?: undefined; reject: Reject };

export function rejectOf(record: SourceRecord, field: string | null, code: string, reason: string): Reject {
  const { file, line, lines = 1, text } = record;
  return { file, line, lines, field, code, reason, row: text.slice(0, EXCERPT_CHARACTERS).toWellFormed() };
}

function rejected(record: SourceRecord, field: string | null, code: string, reason: string): CheckedRecord {
  return { reject: rejectOf(record, field, code, reason) };
}

/** A text with half a surrogate pair, which JSON can write and UTF-8 cannot hold. */
function brokenField(row: CreatorRow): string | undefined {
  const isBroken = (value: unknown) => typeof value === 'string' && !value.isWellFormed();
  return Object.entries(row).find(([field, value]) => FIELDS.has(field) && isBroken(value))?.[0];
}

/** The value as a row, or zod's reading of it. */
function readRow(value: unknown): ReturnType<typeof ImportRow.safeParse> {
  return isRow(value) ? { success: true, data: value } : ImportRow.safeParse(value, { reportInput: true });
}

/**
 * Checks a record against the shape the API answers with, and counts the rows that have each unknown field. A row may
 * still carry those: only the API's own fields are to be read.
 */
export function checkRecord(record: SourceRecord, unknownFields: Map<string, number>): CheckedRecord {
  const { value, problem } = record;
  if (problem) return rejected(record, null, problem.code, problem.reason);
  const parsed = readRow(value);
  if (!parsed.success) {
    const [first] = problemsOf(parsed);
    return rejected(record, first?.field ?? null, first?.code ?? 'invalid', first?.message ?? '');
  }
  for (const field in Object(value)) {
    if (FIELDS.has(field)) continue;
    const rows = unknownFields.get(field) ?? 0;
    if (rows > 0 || unknownFields.size < UNKNOWN_FIELDS) unknownFields.set(field, rows + 1);
  }
  // Only an escape can bring half a pair: the bytes themselves are UTF-8.
  const broken = record.text.includes('\\u') ? brokenField(parsed.data) : undefined;
  if (broken)
    return rejected(record, broken, 'invalid_text', 'holds half of a surrogate pair, which is not a character.');
  return { row: parsed.data };
}
