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

/** Most usernames and email addresses stay as they are. */
const FOLDED = /^[!-@[-~]*$/;

const trimSpaces = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The capitals İ and Σ are lowered by hand, because JavaScript lowers them by their context and Java does not. */
const lower = (text: string): string => text.replaceAll('İ', 'i').replaceAll('Σ', 'σ').toLowerCase();

/**
 * Folds case and accents and removes extra spaces, exactly like Elasticsearch's `lowercase` and `asciifolding`: for
 * patterns on fields that its normalizer folds, and for hashes that are kept.
 */
export function foldAccents(text: string): string {
  if (FOLDED.test(text)) return text;
  if (ASCII.test(text)) return trimSpaces(text.toLowerCase());
  const lowerText = lower(text.normalize('NFC'));
  return trimSpaces(lowerText.replace(FOLDABLE, foldLetter).replace(MARKS, '').normalize('NFC'));
}

/** Soft hyphens, joiners, variation selectors and their like. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/**
 * The one form in which codes, SKUs and categories are compared: without case in any alphabet, width and invisible
 * characters. Accents stay. A text in upper case folds like the same text in lower case, however it was lowered.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.trim().toLowerCase();
  const upper = text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().toUpperCase().normalize('NFKC');
  return lower(upper).normalize('NFKC').trim() || text;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';

/** A run of code points that stand for a to z in order. */
const alphabetFrom = (first: number): [string, string][] =>
  [...ALPHABET].map((letter, i) => [String.fromCodePoint(first + i), letter]);

/** The small capitals of Unicode in the order of the alphabet. It has none for x. */
const SMALL_CAPITALS = 'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ';

/** Letters that NFKC leaves, or turns into more than the letter that people see. */
const UNCOMPOSED: ReadonlyMap<string, string> = new Map([
  ...alphabetFrom(0x1f110),
  ...alphabetFrom(0x1f150),
  ...alphabetFrom(0x1f170),
  ...alphabetFrom(0x249c),
  ...[...SMALL_CAPITALS].map((capital, i): [string, string] => [capital, ALPHABET[i] ?? capital]),
  ['ǃ', '!'],
  ['™', ' '],
  ['℠', ' '],
  ...[...'’‘‛ʼʻʹ\u0374´\u1ffd`\u1fef′＇'].map((mark): [string, string] => [mark, "'"]),
]);
/** Generators of small capitals write ǫ for Q, which stays an o in other words. */
const WORD_IN_SMALL_CAPITALS = new RegExp(`\\p{L}*[${SMALL_CAPITALS.replace('x', '')}]\\p{L}*`, 'gu');
const UNCOMPOSED_LETTER = new RegExp(`[${[...UNCOMPOSED.keys()].filter((key) => key !== 'x').join('')}]`, 'gu');

/** Marks for symbols: keycaps and enclosing circles. */
const ENCLOSING = /[\u20d0-\u20f0]/g;
const STRANGE_DIGIT = /(?![0-9])\p{Nd}/gu;
const IS_DIGIT = /\p{Nd}/u;

/** Digits stand in runs of ten, from zero to nine. */
function foldDigit(digit: string): string {
  let before = digit.codePointAt(0) ?? 0;
  let position = -1;
  while (IS_DIGIT.test(String.fromCodePoint(before))) {
    before -= 1;
    position += 1;
  }
  return String(position % 10);
}

/** Cyrillic and Greek letters that pass for Latin ones. The capitals whose shape is another letter's stand apart. */
const LOOK_ALIKES = lookAlikes(
  // ғ is the F that generators of small capitals write.
  ['авекмнорстухіјѕԁԛԝһғє', 'abekmhopctyxijsdqwhfe'],
  ['αβγεικηνορτυχωζμ', 'abyeiknvoptuxwzu'],
  ['ΗΝΥΡΜ', 'HNYPM'],
);

function lookAlikes(...alphabets: [string, string][]): ReadonlyMap<string, string> {
  const lettersByLook = new Map<string, string>();
  for (const [letters, latin] of alphabets) {
    const shapes = [...latin];
    for (const [i, letter] of [...letters].entries()) {
      const shape = shapes[i] ?? letter;
      lettersByLook.set(letter, shape.toLowerCase());
      lettersByLook.set(letter.toUpperCase(), shape.toLowerCase());
    }
  }
  return lettersByLook;
}

/** Syllabics by which a generator of names stands for letters, with Latin ones for the others: ᗩᑎᗩ ᐯEGᗩ. */
const SYLLABICS: ReadonlyMap<string, string> = new Map(
  [...'ᗩᗷᑕᗪᖴᕼᒍᒪᗰᑎᑭᑫᖇᔕᑌᐯᗯ᙭ᘔ'].map((letter, i) => [letter, 'abcdfhjlmnpqrsuvwxz'.charAt(i)]),
);
/** A whole word of theirs that has a Latin letter, or one of those that few languages write. */
const SYLLABIC_WORD = new RegExp(
  `(?<![\\p{L}\\p{M}])(?=[^\\s]*[\\p{Script=Latin}ᗩᗷᗪᖴᗰᖇᗯᘔ])[\\p{Script=Latin}${[...SYLLABICS.keys()].join('')}]+(?![\\p{L}\\p{M}])`,
  'gu',
);
const IS_SYLLABIC = /[\u1400-\u167f]/;

const OTHER_LETTER = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
const LATIN = /\p{Script=Latin}/u;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

const unmask = (word: string): string =>
  LATIN.test(word) && OTHER_LETTER.test(word)
    ? [...word].map((letter) => LOOK_ALIKES.get(letter.normalize('NFD').charAt(0)) ?? letter).join('')
    : word;

const spellOut = (text: string): string =>
  text.replace(UNCOMPOSED_LETTER, (letter) => UNCOMPOSED.get(letter) ?? letter);

/** Plain letters in lower case that still have their accents. */
function readLetters(text: string): string {
  const spelled = text.includes('ǫ') ? text.replace(WORD_IN_SMALL_CAPITALS, (word) => word.replaceAll('ǫ', 'q')) : text;
  const plain = spellOut(spelled).normalize('NFKC').replace(INVISIBLE, '').replace(ENCLOSING, '').normalize('NFC');
  const unstyled = IS_SYLLABIC.test(plain)
    ? plain.replace(SYLLABIC_WORD, (word) => [...word].map((letter) => SYLLABICS.get(letter) ?? letter).join(''))
    : plain;
  const latin = OTHER_LETTER.test(unstyled) ? unstyled.replace(WORD, unmask) : unstyled;
  return spellOut(lower(latin).normalize('NFKC'));
}

/** Alef with hamza, madda or wasla, ya without dots, Persian ya and kaf, and ta marbuta, as people type them. */
const ARABIC: Readonly<Record<string, string>> = { أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ی: 'ي', ک: 'ك', ة: 'ه' };
const ARABIC_LETTER = /[أإآٱىیکة]/g;
const ARABIC_VOWELS = /[\u0640\u064b-\u0652\u0670]/g;

function foldLetters(letters: string): string {
  return letters
    .replace(ARABIC_VOWELS, '')
    .replace(ARABIC_LETTER, (letter) => ARABIC[letter] ?? letter)
    .normalize('NFKD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(FOLDABLE, foldLetter)
    .replaceAll('ς', 'σ')
    .replace(STRANGE_DIGIT, foldDigit);
}

/**
 * The one form under which text is found, at import and in a search: plain letters for every alphabet that people style
 * their names with, without case, accents, invisible characters and extra spaces.
 */
export function fold(text: string): string {
  if (FOLDED.test(text) && !text.includes('`')) return text;
  if (ASCII.test(text)) return trimSpaces(text.toLowerCase().replaceAll('`', "'"));
  return trimSpaces(foldLetters(readLetters(text)));
}

const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe', æ: 'ae', ß: 'ss' };
const UMLAUT = /[äöüåøæß]/g;
const SHORTEST_PART = 3;

/** A name with an apostrophe is also written without it, and is known by its parts: `O'Brien`, `Ana's`. */
function withoutApostrophes(word: string): string[] {
  if (!word.includes("'")) return [];
  const parts = word.split("'").filter((part) => [...part].length >= SHORTEST_PART);
  return [word.replaceAll("'", ''), ...parts];
}

/**
 * The other spellings of a word, folded: `mueller` for `Müller`, `obrien` and `brien` for `O'Brien`. Never the reverse:
 * `oe` is not read as `o`, because `poet` is no `pot`.
 */
export function variants(word: string): string[] {
  if (ASCII.test(word) && !/['`]/.test(word)) return [];
  const foldedWord = fold(word);
  const foldedUmlauts = foldLetters(readLetters(word).replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter)).trim();
  const others = [foldedUmlauts, ...withoutApostrophes(foldedWord), ...withoutApostrophes(foldedUmlauts)];
  return [...new Set(others)].filter((other) => other !== foldedWord && other !== '');
}
