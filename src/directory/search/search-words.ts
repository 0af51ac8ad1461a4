import { fold, foldAccents, variants } from '../../kit/values/fold.ts';

const PLAIN = /^[^'`\u0080-\uffff]*$/;
/** The engine keeps marks and letters of Hangul that stand beside others instead of in one character with them. */
const isComposed = (word: string): boolean => !/[\u0300-\u036f]/.test(word) && word.normalize('NFC') === word;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Spaces and punctuation, save the apostrophes inside a word. */
const BETWEEN_WORDS = /(?:(?!['’‘‛′])[\s\p{P}|+<>=~])+/u;

/** Styled letters, such as 🅐, count as the letters that they show. */
export const hasLetterOrDigit = (word: string): boolean =>
  LETTER_OR_DIGIT.test(word) || (!PLAIN.test(word) && LETTER_OR_DIGIT.test(fold(word)));

/** Words repeat, and most of the cost is that of folding them; hostile input only empties the cache. */
const KEPT_WORDS = 100_000;
const LONGEST_KEPT = 40;
const spellingsByWord = new Map<string, readonly string[]>();

/** The other spellings of a word, at import and in a search alike. The engine's own folding is none of them. */
export function expandWord(word: string): readonly string[] {
  if (PLAIN.test(word)) return [];
  const cachedSpellings = spellingsByWord.get(word);
  if (cachedSpellings) return cachedSpellings;
  const spellings = listSpellings(word);
  if (word.length > LONGEST_KEPT) return spellings;
  if (spellingsByWord.size >= KEPT_WORDS) spellingsByWord.clear();
  spellingsByWord.set(word, spellings);
  return spellings;
}

function listSpellings(word: string): string[] {
  const foldedWord = fold(word);
  const isIndexed = foldedWord === foldAccents(word) && isComposed(word);
  return [...(isIndexed ? [] : [foldedWord]), ...variants(word)].filter((other) => LETTER_OR_DIGIT.test(other));
}

/** The spellings of all words that the engine does not make itself, as one text; undefined if there are none. */
export function listOtherSpellings(texts: readonly (string | null | undefined)[]): string | undefined {
  const otherSpellings = new Set<string>();
  for (const text of texts) {
    if (!text || PLAIN.test(text)) continue;
    for (const word of text.split(BETWEEN_WORDS)) {
      for (const spelling of expandWord(word)) otherSpellings.add(spelling);
    }
  }
  return otherSpellings.size === 0 ? undefined : [...otherSpellings].join(' ');
}
