import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { tsvText } from '../../kit/engines/clickhouse/tsv.ts';
import type { Redis } from '../../kit/engines/redis/open.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { OTHER_VALUE, UTM_NAMES } from '../../kit/values/utm.ts';
import type { Parameter } from './forwarding.ts';
import { COLUMNS } from './row.ts';

const NOTE_LUA = readFileSync(new URL('./note-utm.lua', import.meta.url), 'utf8');

const MOST_CHARACTERS = 100;
/** Of a parameter, for a link and day. */
const MOST_VALUES = 200;
/** A click of a day is stored by then. */
const KEPT_SECONDS = (3 * DAY_MS) / 1_000;
/** Limits how long one call blocks Redis. */
const NOTED_AT_ONCE = 1_000;

/** The fields of a click without any. */
export const NO_UTM = '\t'.repeat(UTM_NAMES.length - 1);

const PLACES: ReadonlyMap<string, number> = new Map(UTM_NAMES.map((name, place) => [name, place]));

/** Nothing in it is decoded or escaped. */
const PLAIN = /^[\w.~-]*$/;

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    // As a shop reads it: what is no UTF-8 is replaced.
    return new URLSearchParams(`value=${text}`).get('value') ?? '';
  }
}

const truncate = (line: string): string =>
  line.length <= MOST_CHARACTERS ? line : [...line].slice(0, MOST_CHARACTERS).join('').trimEnd();

/** The value that a shop reads, as a field on one line. */
function readField(text: string): string {
  if (PLAIN.test(text)) return truncate(text);
  const line = decode(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
  return tsvText(truncate(line.trim()));
}

/** The `utm_` values of a click as fields of its row: the first of each that is not empty. */
export function toUtmFields(forwarded: readonly Parameter[]): string {
  let fields: string[] | undefined;
  for (const { name, text } of forwarded) {
    const place = PLACES.get(name);
    if (place === undefined || text.length <= name.length || fields?.[place]) continue;
    fields ??= UTM_NAMES.map(() => '');
    fields[place] = readField(text.slice(text.indexOf('=') + 1));
  }
  return fields?.join('\t') ?? NO_UTM;
}

const [LINK, AT, FIRST] = [COLUMNS.indexOf('link_id'), COLUMNS.indexOf('at'), COLUMNS.indexOf(UTM_NAMES[0])];
const DAY_CHARACTERS = '2026-03-01'.length;
/** Before the kind of a row without values: also the end of its rule. */
const NO_FIELDS = `\t${NO_UTM}\t`;

/** True if the row that ends there has no value. */
const isBare = (rows: string, end: number): boolean =>
  rows.startsWith(NO_FIELDS, rows.lastIndexOf('\t', end) + 1 - NO_FIELDS.length);

function hasUtm(rows: string): boolean {
  for (let end = rows.indexOf('\n'); end !== -1; end = rows.indexOf('\n', end + 1)) if (!isBare(rows, end)) return true;
  return false;
}

/** 48 bits: Redis keeps a set of a few hundred numbers in eight bytes each. */
const toFingerprint = (value: string): number => Number.parseInt(hash('sha256', value, 'hex').slice(0, 12), 16);

interface NotedValue {
  /** Its link, day and parameter. */
  key: string;
  value: string;
}

/** The values of a row, and those of other rows that are alike. */
interface Marks {
  fields: readonly string[];
  values: readonly (NotedValue | undefined)[];
}

function readMarks(row: readonly string[], fields: readonly string[]): Marks {
  const day = row[AT]?.slice(0, DAY_CHARACTERS);
  const values = fields.map((value, place) =>
    value === '' || value === OTHER_VALUE
      ? undefined
      : { key: `utm:{clicks}:${day}:${row[LINK]}:${UTM_NAMES[place]}`, value },
  );
  return { fields, values };
}

const Places = z.array(z.number());
const toText = ({ key, value }: NotedValue) => `${key} ${value}`;

/** The fields of alike rows as they are stored. */
const toStored = ({ fields, values }: Marks, beyond: ReadonlySet<string>): string[] =>
  fields.map((field, place) => {
    const value = values[place];
    return value && beyond.has(toText(value)) ? OTHER_VALUE : field;
  });

/**
 * Makes of rows those that are stored: of each parameter a link has 200 different values a day, and every other is
 * `(other)`. The same rows give the same again, by whichever process.
 */
export function openUtmLimit(redis: Redis): (rows: string) => Promise<string> {
  const note = redis.script(NOTE_LUA);
  async function listBeyond(values: readonly NotedValue[]): Promise<Set<string>> {
    const beyond = new Set<string>();
    for (const some of toChunks(values, NOTED_AT_ONCE)) {
      const keys = some.map(({ key }) => key);
      const fingerprints = some.map(({ value }) => toFingerprint(value));
      for (const place of Places.parse(await note(keys, [MOST_VALUES, KEPT_SECONDS, ...fingerprints]))) {
        const refusedRow = some[place - 1];
        if (refusedRow) beyond.add(toText(refusedRow));
      }
    }
    return beyond;
  }
  return async (rows) => {
    if (!hasUtm(rows)) return rows;
    const lines = rows.split('\n');
    const alike = new Map<string, Marks>();
    const markedRows = lines.flatMap((line, number) => {
      if (line === '' || isBare(line, line.length)) return [];
      const row = line.split('\t');
      const fields = row.slice(FIRST, FIRST + UTM_NAMES.length);
      const key = [row[LINK], row[AT]?.slice(0, DAY_CHARACTERS), ...fields].join('\t');
      const marks = alike.get(key) ?? readMarks(row, fields);
      alike.set(key, marks);
      return [{ number, row, marks }];
    });
    const values = [...alike.values()].flatMap((marks) => marks.values.filter((value) => value !== undefined));
    const beyond = await listBeyond([...new Map(values.map((value) => [toText(value), value])).values()]);
    if (beyond.size === 0) return rows;
    for (const { number, row, marks } of markedRows) {
      row.splice(FIRST, UTM_NAMES.length, ...toStored(marks, beyond));
      lines[number] = row.join('\t');
    }
    return lines.join('\n');
  };
}
