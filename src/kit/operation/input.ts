import { z } from 'zod';
import { type Problem, validationError } from '../values/errors.ts';
import { SEPARATOR } from '../values/page.ts';
import { isDeclared, toProblems } from '../values/problems.ts';
import { isBackwards, TimeText } from '../values/time.ts';
import type { CsvStyle } from './csv.ts';
import type { FormPart } from './upload.ts';

/** The input of a request before validation. */
export interface RawInput {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
  body: unknown;
  /** The parts of a form with a file, which can be read once. */
  parts?: () => AsyncIterable<FormPart>;
  /** The requested response format. */
  answer: 'json' | 'csv' | 'ndjson';
  /** For `csv`: the requested layout, for upload to another service. */
  profile?: string;
  /** Dates without a time are days in UTC, whatever the brand's zone. */
  hasUtcDays?: boolean;
  /** For `csv`: the table begins with a byte order mark, and its lines may end as Windows ends them. */
  csv?: CsvStyle;
}

/** The type of a parameter, and the separator of a list. */
function describeParameter(field: z.core.$ZodType | undefined): { type?: unknown; separator?: string | undefined } {
  if (!field) return {};
  const { type, [SEPARATOR]: separator } = z.toJSONSchema(field, { io: 'output', unrepresentable: 'any' });
  return { type, separator: type === 'array' ? String(separator ?? ',') : undefined };
}

/** Python writes `True`. */
const CAPITAL = /^(?:true|false)$/i;

function readText(field: z.core.$ZodType | undefined, text: string): string {
  const plain = text.toLowerCase();
  if (plain === text || !CAPITAL.test(text)) return text;
  return describeParameter(field).type === 'boolean' ? plain : text;
}

/** Ignores blank values, and reports duplicate and unknown parameters. A list may also be given one value at a time. */
function readQuery(shape: z.ZodObject, raw: RawInput['query']) {
  const values: Record<string, string> = {};
  const ignored: string[] = [];
  const problems: Problem[] = [];
  const give = (name: string, text: string) => {
    if (text.trim() !== '') values[name] = readText(shape.shape[name], text);
  };
  for (const [name, value] of Object.entries(raw)) {
    if (!isDeclared(shape, name)) ignored.push(name);
    else if (Array.isArray(value)) {
      const { separator } = describeParameter(shape.shape[name]);
      if (separator !== undefined) give(name, value.join(separator));
      else problems.push({ field: name, code: 'duplicate', message: `was given ${value.length} times; give it once.` });
    } else give(name, value);
  }
  return { values, ignored, problems };
}

/** The declared parameters that were sent and read as nothing: blank ones, and texts that fold to nothing. */
const listBlank = (shape: z.ZodObject, raw: RawInput['query'], read: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(raw).filter((name) => isDeclared(shape, name) && (isBlank(raw[name]) || read[name] === undefined));

const isBlank = (value: string | string[] | undefined): boolean => [value].flat().every((text) => !text?.trim());

/** The ends of windows in queries. */
const WINDOWS = [
  ['from', 'to'],
  ['created_after', 'created_before'],
] as const;

/** Windows that end before they begin, which would find nothing. Ends in other forms are left to the shape. */
const findBackwards = (values: Readonly<Record<string, string>>): Problem[] =>
  WINDOWS.flatMap(([start, end]) => {
    const [from, to] = [values[start], values[end]].map((text) => TimeText.safeParse(text).data);
    if (from === undefined || to === undefined || !isBackwards(from, to)) return [];
    return [{ field: start, code: 'invalid', message: `must not be after \`${end}\`: ${from} is after ${to}.` }];
  });

/** The maximum that `X-Ignored-Params` lists. */
const MAX_IGNORED = 20;

/** The shape inside an optional, nullable or default wrapper. */
function unwrapped(shape: unknown): unknown {
  let inner = shape;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
    inner = inner.unwrap();
  }
  return inner;
}

/** The unknown fields of a body, including nested ones. A shape that accepts any name has none. */
function* unknownFields(shape: unknown, value: unknown, path: string): Generator<string> {
  const target = unwrapped(shape);
  if (typeof value !== 'object' || value === null) return;
  if (target instanceof z.ZodArray && Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* unknownFields(target.element, item, `${path}.${i}`);
  }
  if (!(target instanceof z.ZodObject) || target.def.catchall) return;
  for (const [name, inner] of Object.entries(value)) {
    if (isDeclared(target, name)) yield* unknownFields(target.shape[name], inner, `${path}.${name}`);
    else yield `${path}.${name}`;
  }
}

/** Rejects NUL characters, which PostgreSQL cannot store. All other Unicode is kept unchanged. */
function unstorable({ params, query, body }: RawInput): Problem[] {
  const fields = [...Object.entries(params), ...Object.entries(query), ['body', body] as const];
  return fields
    .filter(([, value]) => hasNul(value))
    .map(([field]) => ({ field, code: 'invalid_character', message: 'must not have a NUL character.' }));
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => name.includes('\0') || hasNul(inner));
}

/** A query parameter is one text, even if a list is read from it: `facets.0` is `facets`. */
const ofParameter = (problem: Problem): Problem => ({ ...problem, field: problem.field.split('.', 1)[0] ?? '' });

/** The validated input of a request. */
export interface Input<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** Names of query parameters and body fields that were ignored. */
  ignored: readonly string[];
  /** Names of query parameters whose values say nothing, which were ignored too. */
  blank: readonly string[];
}

/** True if the body may be omitted: it has no fields, or it is a POST without required fields. */
export const mayBeBare = ({ method, body }: { method: string; body: z.ZodType }): boolean =>
  body instanceof z.ZodObject &&
  (Object.keys(body.shape).length === 0 || (method === 'POST' && body.safeParse({}).success));

/** Validates a request's path, query and body by an operation's shapes. */
export function readInput<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType>(
  declared: { method: string; params: P; query: Q; body: B },
  raw: RawInput,
): Input<z.output<P>, z.output<Q>, z.output<B>> {
  const { values, ignored, problems } = readQuery(declared.query, raw.query);
  const params = declared.params.safeParse(raw.params, { reportInput: true });
  const query = declared.query.safeParse(values, { reportInput: true });
  const body = declared.body.safeParse(raw.body === undefined && mayBeBare(declared) ? {} : raw.body, {
    reportInput: true,
  });
  problems.push(...toProblems(params), ...toProblems(query).map(ofParameter), ...toProblems(body), ...unstorable(raw));
  problems.push(...findBackwards(values).filter(({ field }) => !problems.some((problem) => problem.field === field)));
  if (!params.success || !query.success || !body.success || problems.length > 0) throw validationError(problems);
  for (const name of unknownFields(declared.body, raw.body, 'body')) {
    if (ignored.push(name) >= MAX_IGNORED) break;
  }
  const blank = listBlank(declared.query, raw.query, query.data);
  return { params: params.data, query: query.data, body: body.data, ignored, blank };
}
