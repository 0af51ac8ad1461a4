import { fold, foldAccents } from '../../kit/values/fold.ts';

const POSTAL_WORDS: Readonly<Record<string, string>> = { saint: 'st', sainte: 'ste', fort: 'ft', mount: 'mt' };

const LONG_WORDS: Readonly<Record<string, string>> = { st: 'saint', ste: 'sainte', ft: 'fort', mt: 'mount' };

/**
 * The common spellings of a place's name, folded: postal words in full and abbreviated, without periods and
 * apostrophes, hyphens as spaces. `St. Louis` is `st. louis`, `st louis`, `saint louis`.
 */
export function listSpellings(name: string): string[] {
  const foldedName = foldAccents(name);
  const long = foldedName.replace(/\b(ste?|ft|mt)\b\.?/g, (_, word: string) => LONG_WORDS[word] ?? word);
  const short = foldedName.replace(/\b(?:sainte?|fort|mount)\b/g, (word) => `${POSTAL_WORDS[word] ?? word}.`);
  const plain = [foldedName, long, short].flatMap((spelling) => [spelling, spelling.replace(/[.']/g, '')]);
  return [...new Set(plain.flatMap((spelling) => [spelling, spelling.replaceAll('-', ' ')]))];
}

function keepLetters(foldedText: string): string {
  return foldedText.replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

/** A key shared by spellings of one place: letters and digits only, with postal short forms. */
export function placeKey(text: string): string {
  return keepLetters(fold(text).replace(/\b(?:sainte?|fort|mount)\b/g, (word) => POSTAL_WORDS[word] ?? word));
}

/** The keys of a name, including one for a spelling without spaces: `dallasfortworth` has no word to abbreviate. */
export function placeKeys(name: string): string[] {
  return [placeKey(name), keepLetters(fold(name))];
}

const FLAG_LETTER = /[\u{1f1e6}-\u{1f1ff}]/gu;
const FIRST_FLAG_LETTER = 0x1f1e6;

/** The code of a flag, which is two letters of its own alphabet: 🇩🇪. */
export const readFlag = (value: string): string =>
  value.replace(FLAG_LETTER, (letter) => String.fromCharCode(65 + (letter.codePointAt(0) ?? 0) - FIRST_FLAG_LETTER));

/** Words before a place by which it is meant with what lies around it: `near Berlin`, `close to NYC`. */
const NEAR =
  /^\s*(?:(?:somewhere|anywhere|based|living|located|just)\s+)?(?:near(?:by)?(?:\s+to)?|around|outside(?:\s+of)?|(?:close|next)\s+to|not\s+far\s+from|in\s+der\s+nähe\s+von|nahe|rund\s+um|près\s+de|autour\s+de|cerca\s+de|alrededor\s+de|vicino\s+a|perto\s+de)(?:\s+the)?\s+(?=\S)/iu;
/** Words that names begin with, too: In Salah, At Tur. */
const WITHIN = /^\s*(?:(?:based|living|located)\s+)?(?:in|inside|within|at|from|bei|bij)(?:\s+the)?\s+(?=\S)/iu;

/** A place without words that say that it is near or in it. */
export function withoutNear(text: string, isKnown: (place: string) => boolean): string {
  const within = text.replace(WITHIN, '');
  return within !== text && isKnown(within) ? within : text.replace(NEAR, '');
}
