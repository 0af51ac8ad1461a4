import { readFileSync } from 'node:fs';

/** A moment in a zone, as Python's zoneinfo knows it. Spans are milliseconds, without their ends. */
export interface Moment {
  zone: string;
  at: number;
  day: string;
  dayFrom: number;
  dayUntil: number;
  monthFrom: number;
  monthUntil: number;
  /** The same local time so many months later. */
  months: number;
  later: number;
}

const [, ...LINES] = readFileSync(new URL('../../fixtures/zones/moments.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n');

/** Written by test/fixtures/zones/moments.py. */
export const MOMENTS: readonly Moment[] = LINES.map((line) => {
  const [zone = '', at, day = '', ...rest] = line.split('\t');
  const [dayFrom = 0, dayUntil = 0, monthFrom = 0, monthUntil = 0, months = 0, later = 0] = rest.map(Number);
  return { zone, at: Number(at), day, dayFrom, dayUntil, monthFrom, monthUntil, months, later };
});
