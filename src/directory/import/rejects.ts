import { appendFileSync, constants, fstatSync, rmSync, type Stats, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Reject } from './rows.ts';
import { STDIN } from './source.ts';

/** A number of rows, or a share of all of them in percent. */
export type RejectLimit = { rows: number } | { percent: number };

/** Reads `100` or `1%`; undefined when it is neither. */
export function readRejectLimit(text: string): RejectLimit | undefined {
  const [, digits, percent] = /^(\d{1,12}(?:\.\d{1,6})?)(%?)$/.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (percent) return value <= 100 ? { percent: value } : undefined;
  return Number.isInteger(value) ? { rows: value } : undefined;
}

export class TooManyRejects extends Error {}

/** Throws when more rows were left out than the limit allows; of a share, only the end can tell. */
export function assertFewRejects(limit: RejectLimit, rejected: number, rows: number, isEnd: boolean): void {
  const isOver = 'rows' in limit ? rejected > limit.rows : isEnd && rejected * 100 > limit.percent * rows;
  if (!isOver) return;
  const allowed = 'rows' in limit ? `${limit.rows}` : `${limit.percent} %`;
  throw new TooManyRejects(
    `${rejected} of ${rows} rows were rejected; at most ${allowed} may be. Nothing was swapped.`,
  );
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
  onNotice?.(`${folder} cannot be written: rejected rows, if any, go to ${file}`);
  return file;
}

const describe = (file: string): Promise<Stats | undefined> =>
  file === STDIN
    ? Promise.resolve(fstatSync(0))
    : stat(file).then(
        (found) => found,
        () => undefined,
      );

/** Throws unless rejected rows can be written there: before the first row, and before what is read is overwritten. */
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

export interface RejectsFile {
  add(reject: Reject): void;
  flush(): void;
}

/** NDJSON, one line a rejected row; there is a file only when there are rejects. */
export function openRejects(file: string): RejectsFile {
  // Not a device: `--rejects /dev/null` is to stay one.
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) rmSync(file);
  let lines: string[] = [];
  return {
    add: (reject) => void lines.push(`${JSON.stringify(reject)}\n`),
    flush: () => {
      if (lines.length > 0) appendFileSync(file, lines.join(''));
      lines = [];
    },
  };
}
