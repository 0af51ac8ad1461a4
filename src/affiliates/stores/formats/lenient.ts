import type { z } from 'zod';

/**
 * Reads what no payment depends on. What is not as its store documents it is left out, and a note says so; notes name fields,
 * never values, which may be a customer's.
 */
export interface LenientReader {
  /** Undefined where there is nothing, or nothing that fits. */
  one<T>(field: string, shape: z.ZodType<T>, value: unknown): T | undefined;
  /** The entries that fit. */
  list<T>(field: string, shape: z.ZodType<T>, value: unknown): T[];
  readonly notes: string[];
}

const count = (left: number, all: number, field: string): string =>
  left === 1 ? `One of ${all} entries of \`${field}\` was` : `${left} of ${all} entries of \`${field}\` were`;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** One for each delivery. */
export function createLenientReader(): LenientReader {
  const notes: string[] = [];
  const leaveOut = (field: string) =>
    void notes.push(`\`${field}\` was left out: it is not as the store documents it.`);

  /** PHP writes a list with gaps, and at times an empty one, as an object. */
  function entriesOf(field: string, value: unknown): unknown[] {
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
      const entries = entriesOf(field, value);
      const kept = entries.flatMap((entry) => {
        const parsed = shape.safeParse(entry);
        return parsed.success ? [parsed.data] : [];
      });
      const left = entries.length - kept.length;
      if (left > 0) notes.push(`${count(left, entries.length, field)} left out: not as the store documents them.`);
      return kept;
    },
  };
}
