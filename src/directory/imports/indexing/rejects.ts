import { appendFileSync, constants, fstatSync, rmSync, type Stats, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { formatNumber } from '../../../kit/values/format.ts';
import { STDIN } from './files.ts';
import type { Reject } from './rows.ts';

/** A number of rows, or a percentage of all rows. */
export type RejectLimit = { rows: number } | { percent: number };

/** Parses `100` or `1%`; undefined if it is neither. */
export function readRejectLimit(text: string): RejectLimit | undefined {
  const [, digits, percent] = /^(\d{1,12}(?:\.\d{1,6})?)(%?)$/.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (percent) return value <= 100 ? { percent: value } : undefined;
  return Number.isInteger(value) ? { rows: value } : undefined;
}

export class TooManyRejects extends Error {}

/** Throws if more rows were rejected than the limit allows. A percentage can only be checked at the end. */
export function assertFewRejects(
  limit: RejectLimit,
  { rejected, rows }: { rejected: number; rows: number },
  isEnd: boolean,
  explain: () => readonly string[],
): void {
  const isOver = 'rows' in limit ? rejected > limit.rows : isEnd && rejected * 100 > limit.percent * rows;
  if (!isOver) return;
  const limitText = 'rows' in limit ? `${limit.rows}` : `${limit.percent}%`;
  const said = `${rejected} of ${rows} rows were rejected; the limit is ${limitText}. Nothing was swapped.`;
  throw new TooManyRejects([said, ...explain()].join('\n'));
}

const isWritable = (place: string) =>
  access(place, constants.W_OK).then(
    () => true,
    () => false,
  );

/** Default folder for rejected rows: the working folder, or the temporary folder if that is not writable. */
export async function defaultRejectsFile(
  name: string,
  onNotice: ((notice: string) => void) | undefined,
  folder = path.resolve(),
): Promise<string> {
  if (await isWritable(folder)) return path.join(folder, name);
  const file = path.join(tmpdir(), name);
  onNotice?.(`${folder} is not writable: rejected rows, if any, go to ${file}`);
  return file;
}

const describe = (file: string): Promise<Stats | undefined> =>
  file === STDIN
    ? Promise.resolve(fstatSync(0))
    : stat(file).then(
        (stats) => stats,
        () => undefined,
      );

/**
 * Throws unless rejected rows can be written there. Runs before the first row, and before any input could be
 * overwritten.
 */
export async function assertRejectsPlace(file: string, inputs: string[]): Promise<void> {
  const own = await describe(file);
  for (const input of own ? inputs : []) {
    const other = await describe(input);
    if (other && own?.dev === other.dev && own.ino === other.ino) {
      throw new Error(
        `Rejected rows cannot go to ${file}: it is the file being read. Name another file with --rejects.`,
      );
    }
  }
  // A separate file is removed and recreated, so only the folder's permissions matter.
  const isPlace =
    own && !own.isFile() ? !own.isDirectory() && (await isWritable(file)) : await isWritable(path.dirname(file));
  if (!isPlace) throw new Error(`Rejected rows cannot be written to ${file}. Name another file with --rejects.`);
}

/** Rows that were rejected for the same reason. */
export interface RejectReason {
  reason: string;
  rows: number;
  /** The first of them. */
  line: number;
}

export interface RejectsFile {
  add(reject: Reject): void;
  flush(): void;
  /** The commonest reasons, in words without values of the rows. */
  reasons(): RejectReason[];
}

const MOST_REASONS = 3;
/** Codes come from a short list, but fields may come from the file. */
const MOST_KINDS = 1_000;

/** A reason without the value that it is about. */
function toReason({ field, code, reason }: Reject): string {
  const text = code === 'invalid_json' ? 'The line is not JSON.' : reason.split('; got ', 1)[0];
  return field === null ? `${text}` : `${field} ${text}`;
}

export const reasonLines = (reasons: readonly RejectReason[]): string[] =>
  reasons.map(({ reason, rows, line }) => `- ${formatNumber(rows)} × ${reason} (first on line ${line})`);

/** NDJSON, one line per rejected row. There is only a file if there are rejects. */
export function openRejects(file: string): RejectsFile {
  // A device such as `/dev/null` is not removed.
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) rmSync(file);
  let lines: string[] = [];
  const kinds = new Map<string, RejectReason>();
  return {
    add: (reject) => {
      lines.push(`${JSON.stringify(reject)}\n`);
      const kind = `${reject.field} ${reject.code}`;
      const knownKind = kinds.get(kind);
      if (knownKind) knownKind.rows += reject.lines;
      else if (kinds.size < MOST_KINDS)
        kinds.set(kind, { reason: toReason(reject), rows: reject.lines, line: reject.line });
    },
    reasons: () => [...kinds.values()].toSorted((a, b) => b.rows - a.rows).slice(0, MOST_REASONS),
    flush: () => {
      if (lines.length > 0) appendFileSync(file, lines.join(''));
      lines = [];
    },
  };
}
