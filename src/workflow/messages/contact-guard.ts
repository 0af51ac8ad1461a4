import { createRequire } from 'node:module';
import { ApiError } from '../../kit/values/errors.ts';
import { later } from '../../kit/values/later.ts';
import words from './contact-words.json' with { type: 'json' };

const load = createRequire(import.meta.url);
/** Loading takes a tenth of a second, so it happens only for messages with many digits. */
const phones = later((): typeof import('libphonenumber-js/min') => load('libphonenumber-js/min'));

/** The number of replies that a creator may send in an hour. */
export const REPLIES_PER_HOUR = 20;

const NAMES: Readonly<Record<ContactKind, string>> = { email: 'an email address', phone: 'a phone number' };

/** The kinds of contact details in a message's subject or text. */
export function findMessageContacts({
  subject,
  body,
}: {
  subject?: string | null | undefined;
  body: string;
}): ContactKind[] {
  return [...new Set([...findContacts(subject ?? ''), ...findContacts(body)])].sort();
}

export const describeContacts = (kinds: readonly ContactKind[]): string =>
  kinds.map((kind) => NAMES[kind]).join(' and ');

/** Throws CONTACT_INFO_BLOCKED with the kind of contact that was found, but not its text. */
export function assertNoContacts(message: { subject?: string | null | undefined; body: string }): void {
  const contacts = findMessageContacts(message);
  if (contacts.length === 0) return;
  const text = `The message contains ${describeContacts(contacts)}; remove it, because messages must not contain contact details.`;
  throw new ApiError('CONTACT_INFO_BLOCKED', text, { facts: { matched: contacts } });
}

export type ContactKind = 'email' | 'phone';

/** Invisible characters, which only serve to hide text from a pattern. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|\p{Cf}|\u20e3/gu;
/**
 * A ligature of a whole phrase, such as U+FDFA, is not expanded, because the text would become eighteen times as long.
 */
const MAX_FORM = 3;

/** Reads a character beyond ASCII in its compatible form, with the digits of every script as 0 to 9. */
function readCharacter(character: string): string {
  // U+2474 and U+2488, `(1)` and `1.`, become the number alone.
  const form = character.normalize('NFKC').replace(/^\(?(\d+)[).]$/, '$1');
  return (form.length > MAX_FORM ? character : form).replace(/[^\P{Nd}0-9]/gu, (digit) => {
    // The ten digits of a script are consecutive; zero follows the last character that is not a digit.
    const value = digit.codePointAt(0) ?? 0;
    let zero = value;
    while (value - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String(value - zero);
  });
}

/**
 * Normalizes the text to its appearance: compatible forms folded, invisible characters removed, digits of every script
 * as 0 to 9.
 */
function normalizeText(text: string): string {
  const forms = new Map<string, string>();
  const toForm = (character: string): string => {
    const cachedForm = forms.get(character);
    if (cachedForm !== undefined) return cachedForm;
    const form = readCharacter(character);
    forms.set(character, form);
    return form;
  };
  return text
    .normalize('NFC')
    .replace(/[^\0-\x7f]/gu, toForm)
    .normalize('NFC')
    .replace(INVISIBLE, '')
    .replace(/(?<=[\p{L}\p{N}])。(?=[a-z])/giu, '.');
}

const toAlternation = (list: readonly string[]) => `(?:${[...list].sort((a, b) => b.length - a.length).join('|')})`;
const START = '(?<![\\p{L}\\p{N}])';
const END = '(?![\\p{L}\\p{N}])';
/**
 * The end of a name. Every pattern starts here and not at the name, because that would restart at each of its
 * characters; `NAME_BEFORE` finds the name afterwards.
 */
const NAME = '(?<=[\\p{L}\\p{N}][._%+-]{0,3})';
const NAME_BEFORE = /(?<=([\p{L}\p{N}][\p{L}\p{N}._%+-]{0,63}))/uy;
/** Few hyphens, and below few dots in a row, because matching `a-at-a-at-…` would restart at each of them. */
const HOST = '[\\p{L}\\p{N}]{1,63}(?:-{1,2}[\\p{L}\\p{N}]{1,63}){0,4}';
const LEVELS = '{0,5}';
const [TLD, PLAIN_TLD] = [toAlternation(words.tlds), toAlternation(words.plainTlds)];
const [AT, DOT] = [toAlternation(words.at), toAlternation(words.dot)];
const PROVIDER = toAlternation(words.providers);
const OPEN = '[([{<*_|/\\-"\']{1,3}\\s*';
const CLOSE = '\\s*[)\\]}>*_|/\\-"\']{1,3}';
/** `(at)`, `[ät]`, `{arroba}`, and a bare at sign in brackets. */
const BRACKETED_AT = `${OPEN}(?:${AT}|@|a)${CLOSE}`;
const BRACKETED_DOT = `${OPEN}(?:${DOT}|\\.)${CLOSE}`;
const ANY_DOT = `(?:\\s*\\.\\s*|\\s*${BRACKETED_DOT}\\s*|\\s+${DOT}\\s+)`;

const EMAILS = [
  `${NAME}@${HOST}(?:\\.${HOST})${LEVELS}\\.\\p{L}{2,24}${END}`,
  // With spaces around the at sign and the dot.
  `${NAME}(?:\\s+@\\s+|@\\s+)${HOST}${ANY_DOT}${TLD}${END}`,
  `${NAME}\\s*@\\s*${HOST}(?:\\s*${BRACKETED_DOT}\\s*|\\s+${DOT}\\s+|\\s+\\.\\s*|\\s*\\.\\s+)${TLD}${END}`,
  `${NAME}\\s*[@]\\s*${PROVIDER}${END}(?!\\s*\\p{L})`,
  `@\\s*${PROVIDER}\\s*\\.\\s*${TLD}${END}`,
  `${NAME}\\s*${BRACKETED_AT}\\s*${HOST}(?:${ANY_DOT}${HOST})${LEVELS}${ANY_DOT}${TLD}${END}`,
  `${NAME}\\s*${BRACKETED_AT}\\s*${PROVIDER}${END}`,
  `${NAME}\\s+${AT}\\s+${HOST}(?:\\s+${DOT}\\s+${HOST})${LEVELS}\\s+${DOT}\\s+${PLAIN_TLD}${END}`,
  `${NAME}\\s+${AT}\\s+${PROVIDER}(?:\\s+${DOT}\\s+|\\s*${BRACKETED_DOT}\\s*|\\s*\\.\\s*)${TLD}${END}`,
  `${NAME}\\s+${AT}\\s+${toAlternation(words.bareProviders)}${END}`,
].map((pattern) => new RegExp(pattern, 'giu'));

/** Capitals separate the words: `annaATexampleDOTcom`. */
const CAMEL = /[a-z0-9._-]AT[a-z0-9-]+(?:DOT[a-z0-9-]+)*DOT[a-z]{2,}/;

const isWrittenIn = (text: string): boolean => EMAILS.some((pattern) => text.search(pattern) >= 0);

const hasEmail = (text: string): boolean => {
  if (CAMEL.test(text) || isWrittenIn(text)) return true;
  // Joins single characters with spaces between them: `a n n @ m a i l . c o m`.
  const together = text.replace(/(?<!\S)(?:[\p{L}\p{N}@._-]\s{1,3}){5,}[\p{L}\p{N}@._-](?!\S)/gu, (spelt) =>
    spelt.replace(/\s/g, ''),
  );
  return together !== text && isWrittenIn(together);
};

/** Removes the matches of the pattern, with the name before each. */
function removeMatches(text: string, pattern: RegExp): string {
  const parts: string[] = [];
  let from = 0;
  for (const { index, 0: match } of text.matchAll(pattern)) {
    NAME_BEFORE.lastIndex = index;
    const name = NAME_BEFORE.exec(text)?.[1] ?? '';
    parts.push(text.slice(from, Math.max(from, index - name.length)), ' ¤ ');
    from = index + match.length;
  }
  return parts.join('') + text.slice(from);
}

/** Links that dial a number; other links are not searched. */
const CALLING =
  /(?:tel:|sms:|callto:|wa\.me\/|whatsapp\.com\/send\/?\?phone=|t\.me\/\+|viber:\/\/\S{0,100}number=)\s*[+%\d][\d\s%().-]{5,}/i;

const AMOUNT = "\\d{1,9}(?:[.,'’ ]\\d{3}){0,20}(?:[.,]\\d{1,2})?";
const CURRENCY =
  '(?:[$€£¥₹₽₺₩]|r\\$|zł|kr\\.?|chf|usd|eur|gbp|cad|aud|jpy|sek|nok|dkk|pln|brl|inr|mxn|try|rub|euros?|dollars?|pounds?)';
const DAY = '(?:0?[1-9]|[12]\\d|3[01])';
const MONTH = '(?:0?[1-9]|1[0-2])';
const YEAR = '(?:(?:19|20)\\d{2})';
const ALONE = '(?<![\\d./:-])';
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const AND_NO_MORE = '(?![./:-]?\\d)';
const LABEL =
  '(?:\\s*(?:(?:numbers?|nummer|num[eé]ro|n[uú]mero|numer|номер|no|nr|code|id|is|ist|est|es)\\b\\.?|n[o°]\\.?)){0,3}';

/** Things with many digits that are not phone numbers, in the order in which they are removed. */
const NUMBERS_OF_OTHER_THINGS = [
  '(?:https?://|www\\.)\\S+',
  `${START}(?:[\\p{L}\\p{N}-]{1,63}\\.){1,5}\\p{L}{2,24}/\\S*`,
  '[@#][\\p{L}\\p{N}._]*\\p{L}[\\p{L}\\p{N}._]*',
  `${START}[a-z]{3}_[0-9A-Za-z]{20}${END}`,
  `${START}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}${END}`,
  `(?<![\\d.])${OCTET}(?:\\.${OCTET}){3}(?!\\.?\\d)`,
  `${START}(?:${toAlternation(words.context)})${LABEL}\\s*[:#=]?\\s*[#(]?\\p{L}{0,4}-?\\d[\\d-]*(?:\\s\\d{4,})*`,
  '(?<!\\d)#\\s?\\d[\\d-]*',
  `${ALONE}${DAY}\\.?\\s?[-–]\\s?${DAY}[./]${MONTH}[./](?:${YEAR}|\\d{2})?${AND_NO_MORE}`,
  `${ALONE}${YEAR}[-/.]${MONTH}[-/.]${DAY}(?:[t ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:z|[+-]\\d{2}:?\\d{2})?)?${AND_NO_MORE}`,
  `${ALONE}${DAY}[./-]${MONTH}[./-](?:${YEAR}|\\d{2})${AND_NO_MORE}`,
  `${ALONE}${MONTH}[./-]${DAY}[./-](?:${YEAR}|\\d{2})${AND_NO_MORE}`,
  `${ALONE}${YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])${AND_NO_MORE}`,
  '(?<![\\d./:])\\d{1,2}[:h]\\d{2}(?::\\d{2})?(?![./:]?\\d)',
  `${ALONE}${DAY}[./]${MONTH}\\.?${AND_NO_MORE}`,
  `(?<![\\d+])${YEAR}(?:\\s*(?:[-–/,&]|to|and|bis|und|y|et|e|a|à)?\\s*${YEAR}){1,9}(?!\\d)`,
  `${CURRENCY}\\s?${AMOUNT}(?!\\d)(?:\\s?[-–]\\s?${CURRENCY}?\\s?${AMOUNT}(?!\\d))?`,
  `(?<![\\d+])${AMOUNT}(?:\\s?[-–]\\s?${AMOUNT})?\\s?(?:${CURRENCY}|%)`,
  `(?<![\\d+])\\d[\\d.,' ]{0,20}\\s?(?:million|mio|k|m)?\\.?\\s?(?:\\p{L}+\\s)?${toAlternation(words.units)}${END}`,
  `(?<![\\d+.,])\\d{1,3}(?:[,'’]\\d{3})+(?:\\.\\d+)?(?![\\d,])`,
  '(?<![\\d+.,])\\d{1,2}(?:[. ]\\d{3}){2,}(?:,\\d+)?(?![.\\s/-]?\\d)',
  '(?<![\\d+.])-?\\d{1,3}[.,]\\d{4,}(?!\\d)°?',
  '(?<!\\d)\\d{1,6}(?:\\s?[x×]\\s?\\d{1,6}){1,2}(?!\\d)',
  // A choice of round amounts: 500/750/1000.
  `${ALONE}[1-9]\\d{1,4}0(?:\\s?/\\s?[1-9]\\d{1,4}0){2,}${AND_NO_MORE}`,
  '(?<![\\d*])\\d{1,6}\\s?\\*\\s?\\d{1,6}(?!\\d|\\s?\\*)',
  `(?<![\\d*])\\d{1,4}(?:\\s?\\*\\s?\\d{1,4}){2}\\s?(?:mm|cm|m|in|inch|inches|px)${END}`,
].map((pattern) => new RegExp(pattern, 'giu'));

/** Codes of parcels and products, which mix capitals and digits. */
const CODE = /(?<![\p{L}\p{N}])(?=[A-Z0-9]*[A-Z])(?=(?:[A-Z]*\d){4})[A-Z0-9]{8,}(?![\p{L}\p{N}])/gu;

/** Replaces letters that stand for digits in mostly numeric text: `O151 234 S678`. */
const replaceLookalikes = (text: string): string =>
  text.replace(/(?<![\p{L}\p{N}])[\dOoIlS|]{3,}(?![\p{L}\p{N}])/gu, (run) =>
    run.replace(/\d/g, '').length * 2 > run.length
      ? run
      : run.replace(/[Oo]/g, '0').replace(/[Il|]/g, '1').replace(/S/g, '5'),
  );

const DIGIT_WORDS = new Map(Object.entries(words.digits));
const REPEATED: Readonly<Record<string, number>> = { double: 2, triple: 3, doppel: 2, doble: 2, duplo: 2 };
const MIN_SPELT = 4;
const MIN_DIGITS = 7;
const MAX_DIGITS = 15;

const GLUED = new RegExp(`^(?:${toAlternation([...DIGIT_WORDS.keys()])}){${MIN_SPELT},}$`, 'u');
const EACH_WORD = new RegExp(toAlternation([...DIGIT_WORDS.keys()]), 'gu');

/**
 * Finds a number that is spelt in words: four words and seven digits in total, or two words within a number of nine.
 */
function isSpelt(text: string): boolean {
  let [digits, spelt, times] = ['', 0, 1];
  // Splits `nullfünfeinszweidrei` into its words.
  for (const [token] of text
    .toLowerCase()
    .replace(/\p{L}{12,80}/gu, (token) => (GLUED.test(token) ? (token.match(EACH_WORD) ?? []).join(' ') : token))
    .matchAll(/[\p{L}]+|\d+|[¤:;!?&]/gu)) {
    if (BETWEEN_WORDS.has(token)) continue;
    const value = DIGIT_WORDS.get(token) ?? (/^\d{1,4}$/.test(token) ? token : undefined);
    if (REPEATED[token] !== undefined) times = REPEATED[token];
    else if (value === undefined) [digits, spelt, times] = ['', 0, 1];
    else {
      digits += value.repeat(times);
      if (!/^\d/.test(token)) spelt += 1;
      times = 1;
    }
    // Counting words are not a phone number.
    const isEnough = spelt >= MIN_SPELT ? digits.length >= MIN_DIGITS : spelt > 1 && digits.length >= MIN_LISTED;
    if (isEnough && !'12345678910'.startsWith(digits)) return true;
  }
  return false;
}

/** Digits and the separators that people use, not adjacent to a letter; or seven digits in a row anywhere. */
const RUN = /(?<![\p{L}\d])[+(]{0,3}\d(?:[\s.\-–—/():·•_*~|#]{0,4}\d)*(?![\p{L}])|\d{7,}/gu;

/** Separators that only phone numbers have: `415+555+2671`, `415 dash 555 dash 2671`. */
const BETWEEN_WORDS = new Set([...words.between, ...words.dot]);
const ODD = new RegExp(
  `(?<=\\d)(?:\\s{0,2}[^\\p{L}\\p{N}\\s.,;%\\-–—/():·•_~|#$€£¥₹₽₺₩¤]{1,3}\\s{0,2}|\\s(?:${toAlternation([...BETWEEN_WORDS, ...words.and])})\\s)(?=\\d)`,
  'giu',
);

/**
 * A number starts like a phone number, has the form 555 123 4567 or consists of single digits, and is complete, with no
 * further `between`.
 */
const formedWith = (between: string, inside = between): RegExp =>
  new RegExp(
    `(?<![\\d.,^])(?:(?:\\+\\d|0\\d)\\d{0,4}(?:${between}\\d{1,7}){2,12}|[2-9]\\d{2}${inside}\\d{3}${inside}\\d{4}|\\d(?:${between}\\d){8,14})(?!${between}\\d|\\d)`,
    'gu',
  );
/** Groups separated by commas are usually a list; groups with unusual signs are usually a sum. */
const LISTED = formedWith('\\s?[,;]\\s?', '[,;]');
const ADDED = formedWith('[\\s^.\\-–—/()]{1,4}');
const MIN_LISTED = 9;

function isFormed(text: string, form: RegExp): boolean {
  return (text.match(form) ?? []).some((run) => {
    const groups = run.match(/\d+/g) ?? [];
    const { length } = groups.join('');
    const isRound = groups.every((group) => group.endsWith('0'));
    const isCounting = groups.every((group, i) => {
      const before = groups[i - 1] ?? '';
      return i === 0 || (group.length === before.length && group > before);
    });
    return length >= MIN_LISTED && length <= MAX_DIGITS && !isRound && !isCounting;
  });
}

/** A run of more digits than a phone number has may contain one. */
const MAX_LOOKED_INTO = 5;
const MAX_RUN = 60;

const countDigits = (run: string): number => run.replace(/\D/g, '').length;

function isNumber(run: string): boolean {
  const count = countDigits(run);
  return count >= MIN_DIGITS && count <= MAX_DIGITS;
}

function hasPhone(text: string): boolean {
  let rest = text.replace(CODE, ' ~ ');
  for (const pattern of NUMBERS_OF_OTHER_THINGS) rest = rest.replace(pattern, ' ¤ ');
  const bare = replaceLookalikes(rest);
  const runs = bare.match(RUN) ?? [];
  if (
    runs.some(isNumber) ||
    isFormed(bare.replace(ODD, '^'), ADDED) ||
    isFormed(replaceLookalikes(text), LISTED) ||
    isSpelt(rest)
  ) {
    return true;
  }
  const long = runs.filter((run) => countDigits(run) > MAX_DIGITS).map((run) => run.slice(0, MAX_RUN));
  if (long.slice(MAX_LOOKED_INTO).some((run) => run.split(/\s+/).some(isNumber))) return true;
  return long.slice(0, MAX_LOOKED_INTO).some((run) => phones().findPhoneNumbersInText(run, 'US').length > 0);
}

/**
 * The contact details that a text contains: an email address or a phone number, including spelt-out or spaced ones and
 * other scripts. Prices, dates, order numbers, handles and links do not count. Seven or more digits are a phone number,
 * unless the word right before them or their form says otherwise.
 */
export function findContacts(text: string): ContactKind[] {
  const normalText = normalizeText(text);
  const kinds: ContactKind[] = [];
  if (hasEmail(normalText)) kinds.push('email');
  const withoutEmails = EMAILS.reduce(removeMatches, normalText);
  if (CALLING.test(normalText) || hasPhone(withoutEmails)) kinds.push('phone');
  return kinds;
}
