import { openDecoder } from './code-pages.ts';
import { FURTHER_WORDS } from './further-words.ts';

/** The encodings of people's files, and the languages that are written in each. */
const WESTERN = ['de', 'fr', 'es', 'it', 'nl', 'pt', 'sv', 'da', 'nb', 'fi', 'is', 'ca'];
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  'windows-1252': WESTERN,
  'windows-1250': ['pl', 'cs', 'sk', 'hu', 'ro', 'hr', 'sl'],
  'windows-1251': ['ru', 'uk', 'bg', 'sr', 'be', 'mk'],
  'windows-1253': ['el'],
  'windows-1254': ['tr', 'az'],
  'windows-1255': ['he'],
  'windows-1256': ['ar', 'fa', 'ur'],
  'windows-1257': ['et', 'lv', 'lt'],
  'windows-874': ['th'],
  macintosh: WESTERN,
  cp850: WESTERN,
  cp437: WESTERN,
  cp852: ['pl', 'cs', 'sk', 'hu', 'ro', 'hr', 'sl'],
  ibm866: ['ru', 'uk', 'bg', 'be'],
  'iso-8859-2': ['pl', 'cs', 'sk', 'hu', 'ro', 'hr', 'sl'],
  'koi8-u': ['ru', 'uk', 'bg'],
  shift_jis: ['ja'],
  'euc-jp': ['ja'],
  'euc-kr': ['ko'],
  gb18030: ['zh-Hans'],
  big5: ['zh-Hant'],
};
/** Logarithms of how much rarer a file in the encoding is than another one that reads as well. */
const RARE: Readonly<Record<string, number>> = {
  'windows-1250': -2,
  'windows-1254': -2,
  'iso-8859-2': -4,
  'koi8-u': -6,
  macintosh: -2.5,
  'windows-1257': -2,
  'windows-874': -2,
  'euc-jp': -1,
  cp850: -2,
  cp437: -2.5,
  cp852: -7,
  ibm866: -3,
};
/** Languages by their line in `FURTHER_WORDS`. */
const WORDS_OF = ['sv', 'da', 'fi', 'cs', 'hu', 'tr', 'ru', 'ja', 'zh-Hans'];
/** Names and words whose letters CLDR's texts hardly have. */
const RARE_WORDS: Readonly<Record<string, string>> = {
  fr: 'Œuvre œuvre cœur Cœur sœur Sœur œil bœuf Loïc Anaïs Maïté',
  es: 'Ñuñez Núñez Muñoz Peña Begoña Iñaki Íñigo Ibáñez Ordóñez Yáñez España año Toño',
  hr: 'Đurić Đorđević Petrović Kovačević Marković Jokić',
};
const REPEATED = 8;

/** Scripts of thousands of letters, of which names have many that the known texts lack. */
const WIDE: Readonly<Record<string, RegExp>> = {
  ja: /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}]/u,
  ko: /\p{Script=Hangul}/u,
  'zh-Hans': /\p{Script=Han}/u,
  'zh-Hant': /\p{Script=Han}/u,
};
const MARKS = /[€£¥–—„“”‚‘’«»…°§№ºª·•™®©¿¡\u00a0、。「」（）：，ー・々％＃]/u;
const IMPOSSIBLE = /[\ufffd\u0080-\u009f\ue000-\uf8ff]/gu;
/** Bytes that are enough to tell an encoding. */
const MOST_BYTES = 4_096;

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const PAIRS = LETTERS.flatMap((a) => LETTERS.map((b) => a + b));

/** CLDR's words of a language: names of countries, languages, currencies, days, units and times. */
function* listTexts(language: string): Generator<string> {
  const codes = {
    region: PAIRS.map((pair) => pair.toUpperCase()),
    language: PAIRS,
    currency: Intl.supportedValuesOf('currency'),
  };
  for (const type of ['region', 'language', 'currency'] as const) {
    const names = new Intl.DisplayNames(language, { type, fallback: 'none' });
    for (const code of codes[type]) yield names.of(code) ?? '';
  }
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' });
  for (let day = 0; day < 365; day += 13) yield date.format(new Date(Date.UTC(2026, 0, 1 + day)));
  for (const unit of Intl.supportedValuesOf('unit')) {
    const count = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
    yield* [count.format(1), count.format(5)];
  }
  const ago = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  for (const unit of ['year', 'month', 'week', 'day', 'hour', 'minute'] as const)
    yield* [-5, -1, 0, 1, 5].map((count) => ago.format(count, unit));
  for (let i = 0; i < REPEATED; i += 1) yield RARE_WORDS[language] ?? '';
  const line = WORDS_OF.indexOf(language);
  if (line >= 0) yield* Object.values(FURTHER_WORDS).map((words) => words.split('\n')[line] ?? '');
}

/** The frequency of each letter in a language's texts, alone and after each other one; a blank stands for all that is no letter. */
interface Frequencies {
  letters: Map<string, number>;
  pairs: Map<string, number>;
  total: number;
}

/** The signs of ordinals, as in Mª and Nº, are marks. */
const isLetter = (character: string) => /[\p{L}\p{M}]/u.test(character) && !/[ªº]/.test(character);
/** No word has letters of two of these alphabets. Others stand beside Latin letters, as in Tシャツ. */
const MIXED =
  /\p{Script=Latin}\p{M}*(?=[\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}])|[\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}](?=\p{Script=Latin})/gu;
/** A mark that opens something behind a letter, signs that touch one, and a letter for the ends of words within one. */
const ODD = /(?<=\p{L})[‘“„‚«](?!\p{L})|[©®¤¦¹²³¼½¾±¶](?=\p{L})|ς(?=\p{L})/gu;
const cache = new Map<string, Frequencies>();

function countLetters(language: string): Frequencies {
  const cachedFrequencies = cache.get(language);
  if (cachedFrequencies) return cachedFrequencies;
  const frequencies: Frequencies = { letters: new Map(), pairs: new Map(), total: 0 };
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const text of listTexts(language)) {
    let before = ' ';
    // The encodings of Romanian have the cedillas that its texts of today have as commas.
    const foldedText = text.toLowerCase().replaceAll('ș', 'ş').replaceAll('ț', 'ţ');
    for (const letter of `${foldedText.replace(/[^\p{L}\p{M}]+/gu, ' ')} `) {
      add(frequencies.letters, letter);
      add(frequencies.pairs, before + letter);
      frequencies.total += 1;
      before = letter;
    }
  }
  cache.set(language, frequencies);
  return frequencies;
}

function getLeast(character: string, language: string, isCommon: boolean): number {
  const wide = WIDE[language];
  if (wide) return wide.test(character) ? 5e-5 : 1e-7;
  if (!isLetter(character)) return 2e-5;
  // Names have letters that few other words of their language have: Œuvre, Ñuñez, Þór.
  return isCommon ? 2e-5 : 2e-6;
}

/** Characters alone beside a digit, or one blank away: amounts have signs and blanks there, and no letters. */
const BESIDE_DIGIT = /(?<=\d ?)[\u0080-\uffff](?![\p{L}\p{M}])|(?<![\p{L}\p{M}])[\u0080-\uffff](?= ?\d)/gu;
function rateBeside(character: string): number {
  const isWord = Object.values(WIDE).some((script) => script.test(character));
  if (isLetter(character) && !isWord) return Math.log(0.00001);
  return /[€£¥\u00a0]/.test(character) ? Math.log(100) : 0;
}

/** The logarithm of how likely a language is to have the letters of a text that are not ASCII, and those beside them. */
function rateText(text: string, language: string, isCommon: boolean): number {
  const { letters, pairs, total } = countLetters(language);
  let rate = 0;
  let before = { letter: ' ', character: ' ' };
  const characters = [...text];
  for (const [at, character] of characters.entries()) {
    const foldedCharacter = character.toLowerCase();
    const letter = isLetter(character) ? foldedCharacter : ' ';
    const isForeign = character > '\x7f';
    const next = characters[at + 1] ?? ' ';
    if (isForeign && letter === ' ') {
      const isWithin = before.letter !== ' ' && isLetter(next) && !/[’‘´]|[\p{Lo}]/u.test(character + next);
      rate += Math.log(MARKS.test(character) && !(isWithin && before.letter !== 'l') ? 0.002 : 0.00001);
    } else if (isForeign || before.character > '\x7f') {
      const behind = (pairs.get(before.letter + letter) ?? 0) / (letters.get(before.letter) ?? 1);
      const alone = (letters.get(letter) ?? 0) / total;
      rate += Math.log(0.6 * behind + 0.38 * alone + getLeast(character, language, isCommon));
      // A capital stands first, or among capitals.
      const isAfterSmall = before.character !== before.character.toUpperCase();
      const isBeforeSmall = before.letter !== ' ' && next !== next.toUpperCase();
      const isCapitalWithin = character !== foldedCharacter && (isAfterSmall || isBeforeSmall);
      if (isCapitalWithin) rate += Math.log(0.005);
    }
    before = { letter, character };
  }
  return rate;
}

/** The encoding in which bytes read most like one of its languages. */
export function findEncoding(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, MOST_BYTES);
  const western = new TextDecoder('windows-1252').decode(sample, { stream: true });
  let best = { encoding: 'windows-1252', rate: Number.NEGATIVE_INFINITY };
  for (const [encoding, languages] of Object.entries(LANGUAGES)) {
    // A sample may end within a letter of several bytes.
    const text = openDecoder(encoding).decode(sample, { stream: true });
    const impossible = [IMPOSSIBLE, MIXED].reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);
    const odd = text.match(ODD)?.length ?? 0;
    const rates = languages.map((language) => rateText(text, language, encoding === 'windows-1252'));
    const beside = (text.match(BESIDE_DIGIT) ?? []).reduce((sum, character) => sum + rateBeside(character), 0);
    const rate = Math.max(...rates) + beside + (RARE[encoding] ?? 0) - 25 * impossible - 6 * odd;
    // A sign alone, such as £, is the same in several.
    if (rate > best.rate) best = { encoding: text === western ? 'windows-1252' : encoding, rate };
  }
  return best.encoding;
}
