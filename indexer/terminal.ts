import { styleText } from 'node:util';
import { type RejectReason, reasonLines } from '../src/directory/imports/indexing/rejects.ts';
import { openBar } from '../src/local/bar.ts';
import { writeAbove } from '../src/local/last-line.ts';
import { around } from '../src/process/commands/around.ts';

const LINE_EVERY_MS = 2_000;

export const say = (line: string) => writeAbove(around().err, `${line}\n`);
export const print = (line: string) => writeAbove(around().out, `${line}\n`);
export const paint = (format: Parameters<typeof styleText>[0], text: string) =>
  around().out.isTTY ? styleText(format, text) : text;
export const groupDigits = (value: number) => value.toLocaleString('en');
export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export function inMegabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

interface Rejected {
  rejected: number;
  rejectsFile: string;
  reasons: RejectReason[];
}

export interface Progress {
  phase: string;
  rows: number;
  /** 0 to 1; null if the total is unknown. */
  progress: number | null;
}

export interface ProgressView {
  show(progress: Progress): void;
  /** Prints a line next to the progress. */
  note(line: string): void;
  end(): void;
}

function secondsLeft(elapsedMs: number, done: number): string {
  return done > 0.01 && done < 1 ? `, ${Math.ceil((elapsedMs / 1000) * (1 / done - 1))} s left` : '';
}

function plainLines(): ProgressView {
  const startedAt = performance.now();
  let phase = '';
  let lineAt = 0;
  return {
    show: (progress) => {
      const now = performance.now();
      if (progress.phase === phase && now - lineAt < LINE_EVERY_MS) return;
      const isFirst = progress.phase !== phase;
      phase = progress.phase;
      lineAt = now;
      if (phase !== 'bulk') {
        const part = phase === 'replicas' ? ` ${Math.floor((progress.progress ?? 0) * 100)}%` : '';
        if (isFirst || part !== '') say(`${phase}${part} ...`);
        return;
      }
      const rate = Math.round((progress.rows * 1000) / (now - startedAt));
      const part = progress.progress === null ? '' : ` (${Math.floor(progress.progress * 100)}%)`;
      const left = progress.progress === null ? '' : secondsLeft(now - startedAt, progress.progress);
      say(`Read ${groupDigits(progress.rows)} rows${part}, ${groupDigits(rate)} rows/s${left}`);
    },
    note: say,
    end: () => undefined,
  };
}

function bar(): ProgressView {
  const view = openBar(around().err, '{bar} {percentage}% | {phase} | {rows} rows | {rate} rows/s | {left} s left', {
    phase: '',
    rows: '0',
    rate: '-',
    left: '-',
  });
  const startedAt = performance.now();
  return {
    show: ({ phase, rows, progress }) => {
      const elapsedMs = performance.now() - startedAt;
      const isReading = phase === 'bulk';
      const left = isReading && progress ? String(Math.ceil((elapsedMs / 1000) * (1 / progress - 1))) : '-';
      const rate = isReading ? groupDigits(Math.round((rows * 1000) / elapsedMs)) : '-';
      view.update(progress ?? 0, { phase, rows: groupDigits(rows), rate, left });
    },
    note: say,
    end: view.end,
  };
}

/** A bar with rate and remaining time on a terminal; elsewhere a plain line every two seconds. */
export function openProgress(): ProgressView {
  return around().err.isTTY ? bar() : plainLines();
}

/** Says how many rows were rejected, and why most of them. */
export function sayRejects({ rejected, rejectsFile, reasons }: Rejected): void {
  say(`${groupDigits(rejected)} rows were rejected; see ${rejectsFile}`);
  for (const line of reasonLines(reasons)) say(line);
}

/** Lists the unknown fields of the file. */
export function sayUnknownFields(unknownFields: Record<string, number>): void {
  const names = Object.entries(unknownFields).map(([name, rows]) => `${name} (${groupDigits(rows)} rows)`);
  if (names.length > 0) say(`Ignored fields that are not the API's: ${names.join(', ')}.`);
}
