/** Latin letters, ligatures and full-width forms: what Elasticsearch's `asciifolding` turns into ASCII. */
const FOLDABLE =
  /[\u00ab\u00b2\u00b3\u00b9\u00bb-\u029f\u1e00-\u1eff\u2010-\u201e\u2039\u203a\u2070-\u209c\ufb00-\ufb06\uff01-\uff5e]/g;
const MARKS = /[\u0300-\u036f]/g;
const ASCII = /^[\x20-\x7e]*$/;

/** Letters of Latin alphabets that Unicode does not decompose into a base letter and a mark. */
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ĸ: 'q',
  ŋ: 'n',
  ŧ: 't',
  ƒ: 'f',
  ƙ: 'k',
  ƴ: 'y',
  ƶ: 'z',
  ɓ: 'b',
  ɔ: 'o',
  ɖ: 'd',
  ɗ: 'd',
  ə: 'a',
  ɛ: 'e',
  '‘': "'",
  '’': "'",
  '‚': "'",
  '‛': "'",
  '‹': "'",
  '›': "'",
  '«': '"',
  '»': '"',
  '“': '"',
  '”': '"',
  '„': '"',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '–': '-',
  '—': '-',
};

function foldLetter(letter: string): string {
  const base = letter.normalize('NFKD').replace(MARKS, '');
  const plain = UNDECOMPOSED[base] ?? base;
  return ASCII.test(plain) ? plain : letter;
}

/** Most usernames and e-mail addresses stay as they are. */
const FOLDED = /^[!-@[-~]*$/;

/**
 * Folds case and accents and removes extra spaces, like Elasticsearch's `lowercase` and `asciifolding`. The capitals İ
 * and Σ are lowered by hand, because JavaScript lowers them by their context and Java does not.
 */
export function fold(text: string): string {
  if (FOLDED.test(text)) return text;
  const plain = ASCII.test(text) ? text.toLowerCase() : foldUnicode(text);
  return plain.replace(/\s+/g, ' ').trim();
}

function foldUnicode(text: string): string {
  const lower = text.normalize('NFC').replaceAll('İ', 'i').replaceAll('Σ', 'σ').toLowerCase();
  return lower.replace(FOLDABLE, foldLetter).replace(MARKS, '').normalize('NFC');
}

const POSTAL_WORDS: Readonly<Record<string, string>> = { saint: 'st', sainte: 'ste', fort: 'ft', mount: 'mt' };

const LONG_WORDS: Readonly<Record<string, string>> = { st: 'saint', ste: 'sainte', ft: 'fort', mt: 'mount' };

/**
 * The common spellings of a place's name, folded: postal words in full and abbreviated, without periods and
 * apostrophes, hyphens as spaces. `St. Louis` is `st. louis`, `st louis`, `saint louis`.
 */
export function spellingsOf(name: string): string[] {
  const written = fold(name);
  const long = written.replace(/\b(ste?|ft|mt)\b\.?/g, (_, word: string) => LONG_WORDS[word] ?? word);
  const short = written.replace(/\b(?:sainte?|fort|mount)\b/g, (word) => `${POSTAL_WORDS[word] ?? word}.`);
  const plain = [written, long, short].flatMap((spelling) => [spelling, spelling.replace(/[.']/g, '')]);
  return [...new Set(plain.flatMap((spelling) => [spelling, spelling.replaceAll('-', ' ')]))];
}

function lettersOf(folded: string): string {
  return folded.replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

/** A key shared by spellings of one place: letters and digits only, with postal short forms. */
export function placeKey(text: string): string {
  return lettersOf(fold(text).replace(/\b(?:sainte?|fort|mount)\b/g, (word) => POSTAL_WORDS[word] ?? word));
}

/** The keys of a name, including one for a spelling without spaces: `dallasfortworth` has no word to abbreviate. */
export function placeKeys(name: string): string[] {
  return [placeKey(name), lettersOf(fold(name))];
}
