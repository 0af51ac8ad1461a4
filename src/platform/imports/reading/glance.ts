import { isCross, readAnswer } from './answers.ts';
import { cleanCell, isPlaceholder } from './cells.ts';
import { isCurrency, readSign } from './currencies.ts';
import { isDirection, isSign, isState } from './flags.ts';
import type { FieldType } from './kinds.ts';
import { readCount, readNumber } from './numbers.ts';
import { readEmail, readPlatform } from './people.ts';
import { readRateType } from './rate-types.ts';
import type { Row } from './rows.ts';
import { hasType } from './statuses.ts';
import { readTime } from './times.ts';

/** The first cells of a column, counted by what they can be. */
export interface Glance {
  filled: number;
  empty: number;
  /** Cells such as n/a, and different texts, the first of them. */
  blank: number;
  texts: Set<string>;
  money: number;
  /** Cells with decimals or a sign beside them. */
  priced: number;
  percents: number;
  /** Cells that are numbers or counts such as 12k. */
  counts: number;
  /** Cells that say that money came in, or went out; signs alone among them. */
  directions: number;
  signs: number;
  above100: number;
  times: number;
  /** Numbers with decimals that may be days of a spreadsheet with a time, from 2000 on. */
  serials: number;
  emails: number;
  currencies: number;
  /** Cells that say yes, or no. */
  yes: number;
  no: number;
  /** The crosses among them. */
  crosses: number;
  /** Cells that say that something is paid, cancelled and the like. */
  states: number;
  /** Cells that say what a line is: a sale, a refund, a fee. */
  types: number;
  /** Numbers of telephones, with a plus or two zeros before them. */
  phones: number;
  /** Single words with a letter in them, as codes are. */
  codes: number;
  /** Addresses of pages without anything in them that a tool follows a buyer by. */
  pages: number;
  /** Pages that something after a question mark tells apart, such as `https://shop.example/?ref=ANA`. */
  tagged: number;
  /** Handles written with a sign before them, and addresses of profiles. */
  handles: number;
  /** Cells that say that a rate is a percentage, or an amount of money. */
  rateTypes: number;
}

const MOST_TEXTS = 60;

/** `46066.5`, which a spreadsheet shows as a day and a time. */
const isSerial = (text: string): boolean => /^(?:3[6-9]|[4-6]\d)\d{3}[.,]\d{1,12}$/.test(text);

function glanceAt(position: number, sample: readonly Row[]): Glance {
  const glance: Glance = {
    filled: 0,
    empty: 0,
    blank: 0,
    texts: new Set(),
    money: 0,
    priced: 0,
    percents: 0,
    counts: 0,
    directions: 0,
    signs: 0,
    above100: 0,
    times: 0,
    serials: 0,
    emails: 0,
    currencies: 0,
    yes: 0,
    no: 0,
    crosses: 0,
    states: 0,
    types: 0,
    phones: 0,
    codes: 0,
    pages: 0,
    tagged: 0,
    handles: 0,
    rateTypes: 0,
  };
  for (const { cells } of sample) {
    const text = cleanCell(cells[position] ?? '');
    if (text === '') {
      glance.empty += 1;
      continue;
    }
    glance.filled += 1;
    if (isPlaceholder(text)) glance.blank += 1;
    if (glance.texts.size < MOST_TEXTS) glance.texts.add(text);
    if (text.includes('%')) glance.percents += 1;
    const number = readNumber(text);
    const time = readTime(text);
    if (number) glance.money += 1;
    if (text.includes('%') || number?.symbols.length === 0 || readCount(text) !== undefined) glance.counts += 1;
    if (isDirection(text)) glance.directions += 1;
    if (isSign(text)) glance.signs += 1;
    const isSigned = number?.symbols.some((symbol) => readSign(symbol) !== undefined) ?? false;
    if (number && (number.value.scale > 0 || number.open || isSigned)) glance.priced += 1;
    const whole = number?.value.digits.slice(0, number.value.digits.length - number.value.scale);
    if (number && (isSigned || Number(whole) > 100)) glance.above100 += 1;
    if (time && time.date.form !== 'digits') glance.times += 1;
    else if (time && number?.value.scale === 0) glance.times += 1;
    if (isSerial(text)) glance.serials += 1;
    if (readEmail(text) !== undefined) glance.emails += 1;
    // Bob is somebody, and BOB is a currency.
    if (/^(?:[A-Z]{3}|[a-z]{3})$/.test(text) && isCurrency(text.toUpperCase())) glance.currencies += 1;
    const answer = readAnswer(text);
    if (answer !== undefined) glance[answer] += 1;
    if (isCross(text)) glance.crosses += 1;
    if (isState(text)) glance.states += 1;
    if (hasType(text)) glance.types += 1;
    if (readRateType(text) !== undefined) glance.rateTypes += 1;
    if (/^(?:\+|00)\d[\d\s()./-]{6,}$/.test(text)) glance.phones += 1;
    if (/^(?=.*\p{L})[\p{L}\p{N}_.&-]{2,40}$/u.test(text)) glance.codes += 1;
    if (/^https?:\/\/[^/?#]+\.[^/?#]+\/[^?#]+$/i.test(text) && readPlatform(text) === 'other') glance.pages += 1;
    if (/^https?:\/\/[^/?#\s]+\.[^/?#\s]+\/?[^?#\s]*\?[^=\s]+=\S+$/i.test(text)) glance.tagged += 1;
    if (/^@[\w.]{2,30}$/.test(text) || ['instagram', 'tiktok'].includes(readPlatform(text) ?? '')) glance.handles += 1;
  }
  return glance;
}

/** Columns are glanced at when a word alone says what they are. */
export function openGlances(sample: readonly Row[]): (position: number) => Glance {
  const glances = new Map<number, Glance>();
  return (position) => {
    const glance = glances.get(position) ?? glanceAt(position, sample);
    glances.set(position, glance);
    return glance;
  };
}

/** A word names a column wrongly if none of its cells can be what the word says. */
export function isMisnamed(type: FieldType, glance: Glance): boolean {
  const { filled, money, priced, times, serials, emails, above100, counts } = glance;
  if (filled === 0) return false;
  // “Instagram” may stand above followers.
  if (type === 'handle') return counts === filled;
  if (type === 'time') return times + serials === 0;
  // “Time created” may stand above days.
  if (type === 'clock') return times === filled;
  if (type === 'money') return money === 0;
  if (type === 'email') return emails === 0;
  // “Valuta” is a currency in some languages, and the day of a booking in others.
  if (type === 'currency') return times === filled || money === filled;
  if (type === 'rate') return above100 > 0;
  // “Paid” may stand above a sum as well as above a yes.
  return type === 'status' && (times === filled || (money === filled && priced > 0));
}

export const isPercent = ({ filled, percents }: Glance): boolean => filled > 0 && percents === filled;

/** A column of amounts, whatever its header says. */
export const isPriced = ({ filled, money, priced, times, percents }: Glance): boolean =>
  filled > 0 && money === filled && priced > 0 && times < filled && percents === 0;

/** A column of amounts, whole ones among them. */
export const isAmounts = ({ filled, money, times, percents }: Glance): boolean =>
  filled > 0 && money === filled && times < filled && percents === 0;

export const isCurrencies = ({ filled, currencies }: Glance): boolean => filled > 0 && currencies === filled;
/** Every third cell names a state, so that the others do as well. */
export const isStates = ({ filled, states }: Glance): boolean => states > 0 && states * 3 >= filled;
export const isTimes = ({ filled, times }: Glance): boolean => filled > 0 && times === filled;
export const isTagged = ({ filled, tagged }: Glance): boolean => filled > 0 && tagged === filled;
export const isRateTypes = ({ filled, rateTypes }: Glance): boolean => filled > 0 && rateTypes === filled;
export const isHandles = ({ filled, handles }: Glance): boolean => filled > 0 && handles === filled;
export const isPages = ({ filled, pages }: Glance): boolean => filled > 0 && pages === filled;
export const isPhones = ({ filled, phones }: Glance): boolean => filled > 0 && phones === filled;
export const isEmails = ({ filled, emails }: Glance): boolean => filled > 0 && emails === filled;
/** Addresses of people, and not of profiles, which have an @ as well. */
export const isAddresses = (glance: Glance): boolean => isEmails(glance) && glance.handles === 0;
