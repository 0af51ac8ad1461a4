import { foldWords } from './fold.ts';

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
/** Every two-letter language that CLDR has names for. */
const listLanguages = () => Intl.DateTimeFormat.supportedLocalesOf(LETTERS.flatMap((a) => LETTERS.map((b) => a + b)));
/** Languages whose names win over the same name in others, where both would fit the whole column. */
const COMMON = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl'];

/** Abbreviations that spreadsheets and shops write, and CLDR does not have. */
const SPREADSHEETS = [
  ['sept', 'en', 9],
  ['mrz', 'de', 3],
  ['sep', 'es', 9],
  ['fev', 'fr', 2],
] as const;

export interface MonthNames {
  /** The month, 1 to 12, that each language means by a word. */
  months: ReadonlyMap<string, ReadonlyMap<string, number>>;
  weekdays: ReadonlySet<string>;
}

/** A word as it is compared: without case, accents and dots. */
export const foldWord = (word: string): string => foldWords(word).join('');

function collectNames(language: string, add: (name: string, month: number) => void, addDay: (name: string) => void) {
  const date = (month: number) => new Date(Date.UTC(2026, month, 15));
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
    for (let day = 1; day <= 7; day += 1) addDay(week.format(new Date(Date.UTC(2026, 5, day))));
  }
}

let names: MonthNames | undefined;

/** The names of months and weekdays in all languages, which take a quarter of a second to collect. */
export function loadMonthNames(): MonthNames {
  if (names) return names;
  const months = new Map<string, Map<string, number>>();
  const weekdays = new Set<string>();
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
    collectNames(language, add, (name) => weekdays.add(foldWord(name)));
  }
  for (const [word, language, month] of SPREADSHEETS)
    months.set(word, new Map([...(months.get(word) ?? []), [language, month]]));
  for (const word of months.keys()) weekdays.delete(word);
  names = { months, weekdays };
  return names;
}

export const isMonthName = (word: string): boolean => loadMonthNames().months.has(word);

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
