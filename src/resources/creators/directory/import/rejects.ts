import { appendFileSync, rmSync } from 'node:fs';
import type { Reject } from './rows.ts';

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

export interface RejectsFile {
  add(reject: Reject): void;
  flush(): void;
}

/** NDJSON, one line a rejected row; there is a file only when there are rejects. */
export function openRejects(file: string): RejectsFile {
  rmSync(file, { force: true });
  let lines: string[] = [];
  return {
    add: (reject) => void lines.push(`${JSON.stringify(reject)}\n`),
    flush: () => {
      if (lines.length > 0) appendFileSync(file, lines.join(''));
      lines = [];
    },
  };
}
