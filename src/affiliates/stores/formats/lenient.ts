import type { z } from 'zod';

/**
 * Reads fields that no payment depends on. Invalid ones are left out with a note; notes name fields,
 * never values, which may be a customer's.
 */
export interface LenientReader {
  /** Undefined if the value is missing or invalid. */
  one<T>(field: string, shape: z.ZodType<T>, value: unknown): T | undefined;
  /** Valid entries. */
  list<T>(field: string, shape: z.ZodType<T>, value: unknown): T[];
  readonly notes: string[];
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Creates a reader for one delivery. */
export function createLenientReader(): LenientReader {
  const notes: string[] = [];
  const leaveOut = (field: string) =>
    void notes.push(`\`${field}\` was left out: it is not as the store documents it.`);

  /** Reads a list. PHP writes a list with gaps, and sometimes an empty one, as an object. */
  function readEntries(field: string, value: unknown): unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    if (!isObject(value)) leaveOut(field);
    else notes.push(`\`${field}\` is an object instead of a list: its values were read.`);
    return isObject(value) ? Object.values(value) : [];
  }

  return {
    notes,
    one: (field, shape, value) => {
      if (value === undefined || value === null) return undefined;
      const { success, data } = shape.safeParse(value);
      if (!success) leaveOut(field);
      return data;
    },
    list: (field, shape, value) => {
      const entries = readEntries(field, value);
      const valid = entries.flatMap((entry) => {
        const parsed = shape.safeParse(entry);
        return parsed.success ? [parsed.data] : [];
      });
      const omittedCount = entries.length - valid.length;
      if (omittedCount > 0) {
        const count = `${omittedCount === 1 ? 'One' : omittedCount} of ${entries.length} entries of \`${field}\``;
        notes.push(`${count} ${omittedCount === 1 ? 'was' : 'were'} left out: not as the store documents them.`);
      }
      return valid;
    },
  };
}
