import { randomBytes } from 'node:crypto';
import offensive from './offensive.json' with { type: 'json' };

const LETTERS = 'CFHJKMNPRTVWXY';
const DIGITS = '34679';
const MIN_STEM = 2;
const MAX_STEM = 10;
const NEUTRAL_STEM = 'FRIEND';
const SHORTEST_SUFFIX = 3;
const LONGEST_SUFFIX = 8;

/** Letters that Unicode does not take apart. */
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ẞ: 'SS',
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Ð: 'D',
  Þ: 'TH',
  Ħ: 'H',
  Ŋ: 'N',
  Ŧ: 'T',
};

/** Upper-case, accents removed: `Zoë Ångström` is `ZOE ANGSTROM`. A character without an ASCII letter is unchanged. */
export function foldName(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toUpperCase();
  return plain.replace(/[^\0-\x7f]/gu, (letter) => UNDECOMPOSED[letter] ?? letter);
}

/** Digits that are read as letters, undone. */
const READ_AS: Readonly<Record<string, string>> = {
  0: 'O',
  1: 'I',
  3: 'E',
  4: 'A',
  5: 'S',
  6: 'G',
  7: 'T',
  8: 'B',
  9: 'G',
};

/** Whether a code says something that nobody should have to hand out: as written, with digits as letters, or without. */
export function isOffensive(code: string): boolean {
  const folded = foldName(code);
  const readings = [
    folded.replace(/[^A-Z]/g, ''),
    folded.replace(/\d/g, (digit) => READ_AS[digit] ?? '').replace(/[^A-Z]/g, ''),
  ];
  const words = folded.split(/[^A-Z]+/);
  return (
    readings.some((text) => offensive.anywhere.some((word) => text.includes(word))) ||
    [...readings, ...words].some((word) => offensive.whole.includes(word))
  );
}

/** The first of the names' words that a code can begin with. */
export function stemOf(names: readonly (string | null)[]): string {
  const words = names.flatMap((name) => foldName(name ?? '').split(/[^A-Z]+/));
  const fits = (word: string) => word.length >= MIN_STEM && !isOffensive(word);
  return words.map((word) => word.slice(0, MAX_STEM)).find(fits) ?? NEUTRAL_STEM;
}

/** A byte maps to one of at most 19 symbols; the bias of a remainder is harmless, as codes are no secrets. */
function pick(symbols: string): string {
  return symbols[(randomBytes(1)[0] ?? 0) % symbols.length] ?? '';
}

/**
 * A digit, then digits and letters, of symbols that look like no other: no 0, 1, 2, 5, 8, and no letter like them. So
 * a letter of the name is never taken for a digit, and a suffix has no vowel to make a word with.
 */
function suffixOf(length: number): string {
  const suffix = pick(DIGITS) + Array.from({ length: length - 1 }, () => pick(DIGITS + LETTERS)).join('');
  return isOffensive(suffix) ? suffixOf(length) : suffix;
}

/** A code such as `ANNA7KX` from the creator's names. Each attempt that was taken makes the next one longer. */
export function codeFor(names: readonly (string | null)[], attempt: number): string {
  const length = Math.min(SHORTEST_SUFFIX + attempt, LONGEST_SUFFIX);
  const stem = stemOf(names);
  for (let tries = 0; tries < 20; tries += 1) {
    const code = stem + suffixOf(length);
    if (!isOffensive(code)) return code;
  }
  return codeFor([], attempt);
}

const SLUG = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;
const MAX_SLUG_STEM = 50;

/** A value as the last part of a short URL; undefined when it has characters that do not belong there. */
export function slugOf(value: string): string | undefined {
  const slug = value.toLowerCase();
  return SLUG.test(slug) ? slug : undefined;
}

/** `value` or else the creator's name, with a short suffix that grows with each attempt that was taken. */
export function suffixedSlug(value: string, names: readonly (string | null)[], attempt: number): string {
  const isAddress = /^https?:/i.test(value);
  const words = isAddress
    ? ''
    : foldName(value)
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-');
  const stem = words.replace(/^-+/, '').slice(0, MAX_SLUG_STEM).replace(/-+$/, '');
  const start = stem.length < MIN_STEM ? stemOf(names).toLowerCase() : stem;
  return `${start}-${suffixOf(Math.min(SHORTEST_SUFFIX + attempt, LONGEST_SUFFIX)).toLowerCase()}`;
}
