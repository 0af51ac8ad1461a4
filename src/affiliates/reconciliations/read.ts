import type { Context } from '../../kit/operation/context.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { isCompressed } from '../../platform/imports/reading/container.ts';
import type { Plan } from '../../platform/imports/reading/plan.ts';
import { MappingProblem, UnsupportedFile } from '../../platform/imports/reading/problems.ts';
import { type Read, readTable } from '../../platform/imports/reading/read-table.ts';
import type { ByteSource, Mapping, Question, Reading, Request } from '../../platform/imports/reading/shapes.ts';
import type { StoredFile } from '../../workflow/assets/uploads.ts';
import type { ComparedStore } from './reconciliations.ts';

/** A file up to this size is read whole before the answer; of a larger one, as much. */
const READ_AT_ONCE = 2 * 1024 * 1024;

export const toSource = (
  { files }: Pick<Context, 'files'>,
  { name, storageKey, sizeBytes }: Pick<StoredFile, 'name' | 'storageKey' | 'sizeBytes'>,
): ByteSource => ({ name, sizeBytes, read: (range) => files.read(storageKey, range) });

/** A file says nothing of the store's currency and little of its tool; the store that it is compared with does. */
export const toReadingRequest = ({ currency, provider }: ComparedStore, mapping: Mapping, now: Date): Request => ({
  of: 'reconciliation',
  mapping,
  brand: { currency, timeZone: 'UTC', stores: [{ platform: provider, currency }] },
  now,
});

async function readHead(source: ByteSource): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const end = Math.min(source.sizeBytes, READ_AT_ONCE) - 1;
  for await (const part of await source.read({ start: 0, end })) parts.push(part);
  return Buffer.concat(parts);
}

/** Reads the rows at the beginning of a large file; undefined if it is compressed, and has none there. */
async function readBeginning(source: ByteSource, request: Request): Promise<Read | undefined> {
  const head = await readHead(source);
  if (isCompressed(head)) return undefined;
  const rows = head.subarray(0, head.lastIndexOf(10) + 1);
  const read: ByteSource['read'] = async function* bytes(range) {
    yield range ? rows.subarray(range.start, range.end + 1) : rows;
  };
  return await readTable({ name: source.name, sizeBytes: rows.length, read }, request);
}

const refuse = (field: string, code: string, message: string) => validationError([{ field, code, message }]);

/** The error for a reading that is refused. Columns are what a caller can name. */
function refuseReading({ refusals: [refusal], text }: Reading): ApiError {
  const { kind, message } = refusal ?? { kind: 'invalid', message: 'The file cannot be read.' };
  const isNamed = kind === 'no_column' && text.header_line !== null;
  return isNamed ? refuse('columns', 'required', message) : refuse('file', 'invalid', message);
}

const toProblem = ({ code, message }: Question): Problem => ({
  field: code === 'column_meaning' ? 'columns' : 'mapping',
  code,
  message,
});

const show = ({ id, code, message, options }: Question) => ({
  id,
  code,
  message,
  options: options.map(({ mapping, label }) => ({ mapping, label })),
});

/** The error for what the file leaves open, with the `mapping` of each answer. */
function askQuestions(questions: readonly Question[]): ApiError {
  const { message, details = [] } = validationError(questions.map(toProblem));
  return new ApiError('VALIDATION_ERROR', message, { details, facts: { questions: questions.map(show) } });
}

function toMappingError({ field, code, message }: MappingProblem): ApiError {
  const [, column] = /^mapping\.columns\.(.+)$/.exec(field) ?? [];
  return column === undefined ? refuse(field, code, message) : refuse('columns', code, `${column} ${message}`);
}

export interface SettledFile {
  /** Null if the file is compressed and large. */
  plan: Plan | null;
  /** All of the file was read, so the plan holds. */
  isWhole: boolean;
}

/** Finds how a file is read, or says what is missing or open. A job reads all of a large file. */
export async function settleFile(source: ByteSource, request: Request): Promise<SettledFile> {
  const isWhole = source.sizeBytes <= READ_AT_ONCE;
  try {
    const fileReading = isWhole ? await readTable(source, request) : await readBeginning(source, request);
    if (!fileReading) return { plan: null, isWhole };
    const { reading, plan } = fileReading;
    const isRefused = reading.status === 'refused' && (isWhole || reading.refusals[0]?.kind === 'no_column');
    if (isRefused) throw refuseReading(reading);
    if (isWhole && reading.questions.length > 0) throw askQuestions(reading.questions);
    return { plan, isWhole };
  } catch (error) {
    if (error instanceof MappingProblem) throw toMappingError(error);
    if (error instanceof UnsupportedFile) throw new ApiError('UNSUPPORTED_MEDIA_TYPE', error.message);
    throw error;
  }
}

/** Says why a job cannot read its file, and what would answer that. */
export function explainFailure({ refusals, questions }: Reading): string {
  const [question] = questions;
  if (!question) return refusals[0]?.message ?? 'The file cannot be read.';
  const messages = questions.map(({ message }) => message).join(' ');
  const mapping = JSON.stringify(question.options[0]?.mapping ?? {});
  return `The file leaves something open: ${messages} Send it again with \`mapping\`, such as ${mapping}.`;
}
