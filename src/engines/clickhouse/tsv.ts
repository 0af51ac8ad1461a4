import { DAY_MS } from '../../values/duration.ts';

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0' };

/** Text as one field of a tab-separated row. */
export function tsvText(text: string): string {
  return text.replace(/[\\\t\n\r\0]/g, (character) => ESCAPED[character] ?? '');
}

/** What a column `Date` can hold; rollups count by it. */
const FIRST = Date.UTC(1970, 0, 1);
const LAST = Date.UTC(2149, 5, 6);

/** Whether the time is on a day that such a column can hold. */
export const isOnStorableDay = (at: Date): boolean => at.getTime() >= FIRST && at.getTime() < LAST + DAY_MS;

/** A time as a field of a `DateTime64(3, 'UTC')` column; what lies beyond its days is put on the first or last. */
export function tsvTime(at: Date): string {
  const held = new Date(Math.min(Math.max(at.getTime(), FIRST), LAST));
  return held.toISOString().replace('T', ' ').slice(0, 23);
}
