import { fold as foldText } from '../../../kit/values/fold.ts';

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
/** Places whose months have other names than those of the language elsewhere, or other letters. */
const ELSEWHERE = ['ar-SY', 'ar-IQ', 'ar-DZ', 'ar-MA', 'de-AT', 'sr-Latn', 'uz-Cyrl', 'zh-Hant'];
/** Every two-letter language that CLDR has names for. */
const listLanguages = () =>
  Intl.DateTimeFormat.supportedLocalesOf([...LETTERS.flatMap((a) => LETTERS.map((b) => a + b)), ...ELSEWHERE]);
/** Languages whose names win over the same name in others, where both would fit the whole column. */
const COMMON = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl'];

/** Abbreviations that spreadsheets and shops write, and CLDR does not have. */
const SPREADSHEETS = [
  ['sept', 'en', 9],
  ['mrz', 'de', 3],
  ['sep', 'es', 9],
  ['fev', 'fr', 2],
] as const;

interface MonthNames {
  /** The month, 1 to 12, that each language means by a word. */
  months: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Languages that write a word beside a month: the name of a weekday, or “de” and “года”. */
  besides: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A word as it is compared: without case, accents and dots. Vowels that an alphabet writes as marks stay. */
export const foldWord = (word: string): string => foldText(word).replace(/[^\p{L}\p{M}\p{Nd}]+/gu, '');
const WORD = /[\p{L}\p{M}]+/gu;

/** The words of a date, each with the part of the date that it has letters of. */
function splitDate(format: Intl.DateTimeFormat, date: Date): { word: string; isMonth: boolean }[] {
  const parts = format.formatToParts(date);
  const text = parts.map(({ value }) => value).join('');
  const month = parts.findIndex(({ type }) => type === 'month');
  const start = parts.slice(0, month).reduce((sum, { value }) => sum + value.length, 0);
  const end = start + (parts[month]?.value.length ?? 0);
  // A month may have a preposition before it, or an ending after it, in the same word: בפברואר, otsailaren.
  return [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    word: foldWord(word),
    isMonth: month >= 0 && index < end && index + word.length > start,
  }));
}

/** A day of each month of 2026 by which every weekday is met: Monday to Sunday, and once more. */
const WEEK = [12, 10, 11, 9, 15, 13, 12, 10, 8, 7, 5, 4];

const openFormats = (language: string) =>
  (['full', 'long', 'medium'] as const).map(
    (dateStyle) => new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { dateStyle, timeZone: 'UTC' }),
  );

function collectNames(language: string, add: (name: string, month: number) => void, addBeside: (name: string) => void) {
  const date = (month: number) => new Date(Date.UTC(2026, month, 15));
  const formats = openFormats(language);
  for (const style of ['long', 'short'] as const) {
    const alone = new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { month: style, timeZone: 'UTC' });
    const within = new Intl.DateTimeFormat(`${language}-u-ca-gregory`, {
      month: style,
      day: 'numeric',
      year: 'numeric',
      timeZone: 'UTC',
    });
    for (let month = 0; month < 12; month += 1) {
      add(alone.format(date(month)), month + 1);
      const part = within.formatToParts(date(month)).find(({ type }) => type === 'month');
      add(part?.value ?? '', month + 1);
    }
    const week = new Intl.DateTimeFormat(language, { weekday: style, timeZone: 'UTC' });
    for (let day = 1; day <= 7; day += 1)
      for (const word of week.format(new Date(Date.UTC(2026, 5, day))).match(WORD) ?? []) addBeside(foldWord(word));
  }
  for (const format of formats)
    for (let month = 0; month < 12; month += 1)
      for (const { word, isMonth } of splitDate(format, new Date(Date.UTC(2026, month, WEEK[month] ?? 1))))
        if (isMonth) add(word, month + 1);
        else addBeside(word);
}

let names: MonthNames | undefined;

/** The names of months and what stands beside them in all languages, which take half a second to collect. */
function loadMonthNames(): MonthNames {
  if (names) return names;
  const months = new Map<string, Map<string, number>>();
  const besides = new Map<string, Set<string>>();
  for (const language of listLanguages()) {
    const add = (name: string, month: number) => {
      const word = foldWord(name);
      if (word === '' || /^\d+$/.test(word)) return;
      const meanings = months.get(word) ?? new Map<string, number>();
      // A language that abbreviates two months to one word, as some do to a letter, says nothing by it.
      const knownMonth = meanings.get(language);
      meanings.set(language, knownMonth === undefined || knownMonth === month ? month : 0);
      months.set(word, meanings);
    };
    const addBeside = (word: string) => {
      if (word !== '') besides.set(word, (besides.get(word) ?? new Set()).add(language));
    };
    collectNames(language, add, addBeside);
  }
  for (const [word, language, month] of SPREADSHEETS)
    months.set(word, new Map([...(months.get(word) ?? []), [language, month]]));
  names = { months, besides };
  return names;
}

/** A month that some language writes beside all the other words. */
const isMonthBeside = (word: string, others: readonly string[], languages?: readonly string[]): boolean => {
  const { months, besides } = loadMonthNames();
  return [...(months.get(word) ?? [])].some(
    ([language, month]) =>
      month > 0 &&
      (languages === undefined || languages.includes(language)) &&
      others.every((other) => besides.get(other)?.has(language)),
  );
};

/**
 * The month among the words of a date. A word may be a month in one language and a weekday in another, as “Sat” and
 * “mar” are: the others must be what a language writes beside it.
 */
export function findMonth(words: readonly string[]): string | undefined {
  const { besides } = loadMonthNames();
  const candidates = [...new Set(words)].filter(isMonthName);
  const without = (word: string) => words.filter((other) => other !== word);
  const isNothingElse = (word: string) => without(word).every((other) => besides.has(other));
  const isSure = (languages?: readonly string[]) => {
    const fitting = candidates.filter((word) => isMonthBeside(word, without(word), languages));
    return fitting.length === 1 ? fitting[0] : undefined;
  };
  const [only, ...others] = candidates;
  if (others.length === 0) return only !== undefined && isNothingElse(only) ? only : undefined;
  return isSure(COMMON) ?? isSure();
}

const isMonthName = (word: string): boolean => loadMonthNames().months.has(word);

/** The languages that can read all words of a column; the common ones alone if any of them can. */
export function findLanguages(words: readonly string[]): string[] {
  if (words.length === 0) return [];
  const { months } = loadMonthNames();
  let languages: string[] | undefined;
  for (const word of words) {
    const meanings = months.get(word) ?? new Map<string, number>();
    languages = (languages ?? [...meanings.keys()]).filter((language) => (meanings.get(language) ?? 0) > 0);
  }
  const common = (languages ?? []).filter((language) => COMMON.includes(language));
  return common.length > 0 ? common : (languages ?? []);
}

/** The month that a word means in all of the languages; undefined if they differ. */
export function readMonth(word: string, languages: readonly string[]): number | undefined {
  const meanings = loadMonthNames().months.get(word);
  const months = new Set(languages.map((language) => meanings?.get(language) ?? 0));
  const [month] = months;
  return months.size === 1 && month !== undefined && month > 0 ? month : undefined;
}
