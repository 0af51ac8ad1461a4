import type { CreatorRow } from '../../search/document.ts';
import { CREATOR_FIELDS, type CreatorField } from './fields.ts';

const [FIRST_SEED, SECOND_SEED] = [0x811c9dc5, 0x9747b28c];
const [FIRST_FACTOR, SECOND_FACTOR] = [0x01000193, 0x5bd1e995];
/** Ends a field. Neither it nor the mark of an unknown value is in a row, which holds no such characters. */
const [END, UNKNOWN] = [1, '\u0000'];

function toText(row: CreatorRow, field: CreatorField): string {
  const value = row[field];
  return value === null || value === undefined ? UNKNOWN : String(value);
}

/** 64 bits of what a row says about its creator, as a signed decimal number. Rows with the same values have the same. */
export function hashContent(row: CreatorRow): string {
  let [first, second] = [FIRST_SEED, SECOND_SEED];
  for (const field of CREATOR_FIELDS) {
    const text = toText(row, field);
    for (let i = 0; i <= text.length; i += 1) {
      const character = i < text.length ? text.charCodeAt(i) : END;
      first = Math.imul(first ^ character, FIRST_FACTOR);
      second = Math.imul(second ^ (second >>> 15) ^ character, SECOND_FACTOR);
    }
  }
  first = Math.imul(first ^ (first >>> 16), 0x85ebca6b);
  first ^= first >>> 13;
  return ((BigInt(first) << 32n) | BigInt(second >>> 0)).toString();
}
