import { Ajv } from 'ajv';
import { z } from 'zod';
import { parseHandleAddress } from '../../../kit/values/handle-address.ts';
import { toProblems } from '../../../kit/values/problems.ts';
import { DirectoryCreatorDetail } from '../../search/creator.shapes.ts';
import type { CreatorRow } from '../../search/document.ts';
import type { SourceRecord } from './source.ts';

/** One row of an import: the API's shape, but unknown fields may be absent, and the time of the data. */
const ImportRow = DirectoryCreatorDetail.extend({ data_as_of: z.iso.datetime({ offset: true }).nullable() })
  .partial()
  .required({ pk: true, username: true });

/**
 * The same shape, compiled: most rows pass here, in a third of zod's time. For the others zod decides, and says why.
 * Both count lengths in UTF-16 units; the warning that this option is deprecated is not shown to operators.
 */
const isRow = new Ajv({ strict: false, unicode: false, logger: false }).compile<CreatorRow>(
  z.toJSONSchema(ImportRow, { io: 'input', target: 'draft-7' }),
);

const FIELDS: ReadonlySet<string> = new Set(Object.keys(ImportRow.shape));
const EXCERPT_CHARACTERS = 200;
/** Field names come from the file, so there may be as many unknown ones as rows. */
const UNKNOWN_FIELDS = 100;

/** Why a record was rejected; one line of the rejects file. */
export interface Reject {
  file: string;
  line: number;
  /** More than one if cells span several lines, or if a stray quote swallowed the rows after it. */
  lines: number;
  field: string | null;
  code: string;
  reason: string;
  row: string;
}

/** The fields of a creator that a patch has. */
export type CreatorPatch = Omit<CreatorRow, 'username'> & { username?: string | undefined };

export type CheckedRecord<R extends CreatorPatch = CreatorRow> =
  | { row: R; reject?: undefined }
  | { row?: undefined; reject: Reject };

const PatchRow = ImportRow.partial().required({ pk: true });

export function toReject(record: SourceRecord, field: string | null, code: string, reason: string): Reject {
  const { file, line, lines = 1, text } = record;
  return { file, line, lines, field, code, reason, row: text.slice(0, EXCERPT_CHARACTERS).toWellFormed() };
}

function rejected(record: SourceRecord, field: string | null, code: string, reason: string): { reject: Reject } {
  return { reject: toReject(record, field, code, reason) };
}

/** The path of a text with half a surrogate pair, which JSON can express but UTF-8 cannot. */
function brokenField(row: CreatorPatch): string | undefined {
  const isBroken = (value: unknown) => typeof value === 'string' && !value.isWellFormed();
  return Object.entries(row).find(([field, value]) => FIELDS.has(field) && isBroken(value))?.[0];
}

/** The value as a row, or zod's result for it. */
function readRow(value: unknown): z.ZodSafeParseResult<CreatorRow> {
  return isRow(value) ? { success: true, data: value } : ImportRow.safeParse(value, { reportInput: true });
}

function check<R extends CreatorPatch>(
  record: SourceRecord,
  unknownFields: Map<string, number>,
  read: (value: unknown) => z.ZodSafeParseResult<R>,
): CheckedRecord<R> {
  const { value, problem } = record;
  if (problem) return rejected(record, problem.field ?? null, problem.code, problem.reason);
  const parsed = read(value);
  if (!parsed.success) {
    const [first] = toProblems(parsed);
    return rejected(record, first?.field ?? null, first?.code ?? 'invalid', first?.message ?? '');
  }
  const { username } = parsed.data;
  const address = username?.includes('/') ? parseHandleAddress(username) : undefined;
  if (address && (address.platform !== 'photo_app' || address.handle === null)) {
    const code = address.platform === 'photo_app' ? 'not_a_profile' : 'other_platform';
    return rejected(record, 'username', code, 'is not the address of a profile on Instagram.');
  }
  for (const field in Object(value)) {
    if (FIELDS.has(field)) continue;
    const rows = unknownFields.get(field) ?? 0;
    if (rows > 0 || unknownFields.size < UNKNOWN_FIELDS) unknownFields.set(field, rows + 1);
  }
  // Only an escape can produce half a pair, because the bytes themselves are UTF-8.
  const brokenName = record.text.includes('\\u') ? brokenField(parsed.data) : undefined;
  if (brokenName)
    return rejected(record, brokenName, 'invalid_text', 'holds half of a surrogate pair, which is not a character.');
  return { row: address?.handle ? { ...parsed.data, username: address.handle } : parsed.data };
}

/**
 * Validates a record by the shape that the API returns, and counts the rows with each unknown field. A row may still
 * contain unknown fields; only the API's own fields are to be read.
 */
export const checkRecord = (record: SourceRecord, unknownFields: Map<string, number>): CheckedRecord =>
  check(record, unknownFields, readRow);

/** The same for a patch, which needs only a `pk`. */
export const checkPatch = (record: SourceRecord, unknownFields: Map<string, number>): CheckedRecord<CreatorPatch> =>
  check(record, unknownFields, (value) => PatchRow.safeParse(value, { reportInput: true }));
