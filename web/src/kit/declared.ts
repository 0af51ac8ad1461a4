import type { DeclaredField } from 'virtual:forms';
import { toDay, toDayEnd } from './last-day.ts';

/** A body as it is read from a form; the API checks it. */
export type ReadBody = Readonly<Record<string, unknown>>;

export interface Reading {
  data: FormData;
  /** Dates that end with their day. */
  lastDays: ReadonlySet<string>;
  /** A change: what was emptied is sent as null. A new item leaves it out. */
  isChange: boolean;
}

const listLines = (text: string, separator: RegExp) =>
  text
    .split(separator)
    .map((line) => line.trim())
    .filter(Boolean);

/** Texts with commas of their own stand one on a line. */
export const isByLine = ({ kind, item }: DeclaredField) => kind === 'pairs' || item === 'textarea' || item === 'url';

function readList(field: DeclaredField, path: string, { data }: Reading): unknown[] {
  if (field.values) return field.values.filter((value) => data.get(`${path}.${value}`) !== null);
  const parts = listLines(String(data.get(path) ?? ''), isByLine(field) ? /\n/ : /[\n,]/);
  return field.item === 'number' ? parts.map(Number) : parts;
}

/** A line for each entry: `country = US`. */
const readPairs = (text: string) =>
  Object.fromEntries(
    listLines(text, /\n/).map((line) => {
      const [name = '', ...value] = line.split('=');
      return [name.trim(), value.join('=').trim()];
    }),
  );

function readText({ kind, name }: DeclaredField, path: string, { data, lastDays }: Reading): unknown {
  const text = String(data.get(path) ?? '').trim();
  if (text === '') return undefined;
  if (kind === 'number') return Number(text.replace(',', '.'));
  if (lastDays.has(path)) return toDayEnd(text);
  return name === 'currency' ? text.toUpperCase() : text;
}

/** Undefined if the part is empty or has no value for something that it needs. */
function readGroup(field: DeclaredField, path: string, reading: Reading): ReadBody | undefined {
  const fields = field.fields ?? [];
  const body = readFields(fields, reading, `${path}.`);
  const isLacking = fields.some((one) => one.isRequired && (body[one.name] ?? null) === null);
  const isEmpty = fields.every(({ name }) => (body[name] ?? null) === null || String(body[name]) === '');
  return !field.isRequired && (isLacking || isEmpty) ? undefined : body;
}

function readEntries({ fields = [] }: DeclaredField, path: string, reading: Reading): ReadBody[] {
  const names = [...reading.data.keys()].filter((name) => name.startsWith(`${path}.`));
  const places = new Set(names.map((name) => Number(name.slice(path.length + 1).split('.')[0])));
  return [...places].sort((one, other) => one - other).map((place) => readFields(fields, reading, `${path}.${place}.`));
}

function readValue(field: DeclaredField, path: string, reading: Reading): unknown {
  const { kind } = field;
  if (kind === 'checkbox') {
    const isChecked = reading.data.get(path) !== null;
    return isChecked || reading.isChange || field.value === true ? isChecked : undefined;
  }
  if (kind === 'group') return readGroup(field, path, reading);
  if (kind === 'groups') return readEntries(field, path, reading);
  if (kind === 'list') return readList(field, path, reading);
  if (kind === 'pairs') return readPairs(String(reading.data.get(path) ?? ''));
  return readText(field, path, reading);
}

const isBlank = (value: unknown) =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** The body that a form's fields describe. */
export function readFields(fields: readonly DeclaredField[], reading: Reading, prefix = ''): ReadBody {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const value = readValue(field, `${prefix}${field.name}`, reading);
    if (!isBlank(value)) body[field.name] = value;
    else if (reading.isChange && field.isNullable) body[field.name] = null;
    else if (reading.isChange && value !== undefined) body[field.name] = value;
  }
  return body;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const isBody = (value: unknown): value is ReadBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The fields that differ, so that a colleague's change of another one stays. A part that can be null is sent whole,
 * unless the operation merges it.
 */
export function differing(
  fields: readonly DeclaredField[],
  now: ReadBody,
  was: ReadBody,
  mergedGroups: readonly string[] = [],
): ReadBody {
  const change: Record<string, unknown> = {};
  for (const { name, kind, isNullable, fields: parts = [] } of fields) {
    const [value, old] = [now[name], was[name]];
    if (isSame(value, old)) continue;
    const isMerged = kind === 'group' && (!isNullable || mergedGroups.includes(name)) && isBody(value) && isBody(old);
    change[name] = isMerged ? differing(parts, value, old) : value;
  }
  return change;
}

/** A value as its input shows it. */
export function toInputValue(field: DeclaredField, value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.join(isByLine(field) ? '\n' : ', ');
  if (isBody(value)) {
    return Object.entries(value)
      .map(([name, one]) => `${name} = ${one}`)
      .join('\n');
  }
  const text = String(value);
  return field.kind === 'date' || field.kind === 'moment' ? toDay(text) : text;
}

/** The value at a path such as `terms.days`. */
export const valueAt = (item: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isBody(value) ? value[name] : undefined), item);
