import { DAY_MS } from '../../values/duration.ts';

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0' };

/** Text as one field of a tab-separated row. */
export function tsvText(text: string): string {
  return text.replace(/[\\\t\n\r\0]/g, (character) => ESCAPED[character] ?? '');
}

/** Texts or numbers as one field. */
export const tsvArray = (values: readonly (string | number)[]): string =>
  `[${values.map((value) => (typeof value === 'number' ? value : `'${tsvText(value).replaceAll("'", "\\'")}'`)).join(',')}]`;

/** The range of a `Date` column, which rollups group by. */
const FIRST = Date.UTC(1970, 0, 1);
const LAST = Date.UTC(2149, 5, 6);

/** True if the time is on a day that a `Date` column can hold. */
export const isOnStorableDay = (at: Date): boolean => at.getTime() >= FIRST && at.getTime() < LAST + DAY_MS;

/** A time as a field of a `DateTime64(3, 'UTC')` column, clamped to the storable days. */
export function tsvTime(at: Date): string {
  const clampedTime = new Date(Math.min(Math.max(at.getTime(), FIRST), LAST));
  return clampedTime.toISOString().replace('T', ' ').slice(0, 23);
}
