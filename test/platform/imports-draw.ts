/** Cases are drawn from a random of their own, the ways of countries, and cells by their meaning. */
import type { DateOrder } from '../../src/platform/imports/reading/shapes.ts';

export type Random = () => number;

/** Mulberry32: 32 bits of state suffice for a test, and any seed can be printed. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const below = (random: Random, most: number) => Math.floor(random() * most);
export const pick = <Value>(random: Random, values: readonly Value[]): Value => {
  const value = values[below(random, values.length)];
  if (value === undefined) throw new Error('Nothing to pick from.');
  return value;
};

export interface Locale {
  key: string;
  currency: string;
  decimal: '.' | ',';
  group: string;
  dates: DateOrder;
  mark: string;
  separator: string;
  encoding: 'windows-1252' | 'windows-1250' | 'utf-16le';
  names: readonly string[];
}

export const LOCALES: readonly Locale[] = [
  {
    key: 'us',
    currency: 'USD',
    decimal: '.',
    group: ',',
    dates: 'mdy',
    mark: '/',
    separator: ',',
    encoding: 'windows-1252',
    names: ['Ana Lopez', 'Zoë Hart'],
  },
  {
    key: 'gb',
    currency: 'GBP',
    decimal: '.',
    group: ',',
    dates: 'dmy',
    mark: '/',
    separator: ',',
    encoding: 'windows-1252',
    names: ['Renée Hill', 'Max Two'],
  },
  {
    key: 'de',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '.',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Jörg Müller', 'Söre Groß'],
  },
  {
    key: 'fr',
    currency: 'EUR',
    decimal: ',',
    group: '\u202f',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'utf-16le',
    names: ['Chloé Bœuf', 'Loïc Né'],
  },
  {
    key: 'es',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Íñigo Peña', 'María Ríos'],
  },
  {
    key: 'it',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Niccolò Pià', 'Ugo Bò'],
  },
  {
    key: 'nl',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '-',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Daniël Vos', 'Zoë Bos'],
  },
  {
    key: 'br',
    currency: 'BRL',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'windows-1252',
    names: ['João Gonçalves', 'Inês Só'],
  },
  {
    key: 'pl',
    currency: 'PLN',
    decimal: ',',
    group: '\u00a0',
    dates: 'dmy',
    mark: '.',
    separator: ';',
    encoding: 'utf-16le',
    names: ['Łukasz Żak', 'Zofia Dąb'],
  },
  {
    key: 'ch',
    currency: 'CHF',
    decimal: '.',
    group: "'",
    dates: 'dmy',
    mark: '.',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Käthi Rüegg', 'Max Two'],
  },
  {
    key: 'jp',
    currency: 'JPY',
    decimal: '.',
    group: ',',
    dates: 'ymd',
    mark: '/',
    separator: ',',
    encoding: 'utf-16le',
    names: ['佐藤 花', 'Ken Abe'],
  },
  {
    key: 'ca',
    currency: 'CAD',
    decimal: '.',
    group: ',',
    dates: 'mdy',
    mark: '/',
    separator: ',',
    encoding: 'windows-1252',
    names: ['Élise Roy', 'Max Two'],
  },
];
/** A cell by what it means, so that it can be written in several ways. */
export type Cell = { money: number } | { at: Date } | { id: string } | { text: string };
export type Row = Record<string, Cell>;

export const money = (minor: number): Cell => ({ money: minor });
export const text = (value: string): Cell => ({ text: value });
export const at = (date: Date): Cell => ({ at: date });
export const id = (value: string): Cell => ({ id: value });

export interface Truth {
  who: string;
  amount: number;
  refunded: number;
  day: string;
}
