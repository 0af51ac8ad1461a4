import { z } from 'zod';
import { type Problem, validationError } from '../values/errors.ts';
import { isDeclared, problemsOf } from '../values/problems.ts';
import type { FormPart } from './form-part.ts';

/** What a request carries, before its shapes are applied. */
export interface RawInput {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
  body: unknown;
  /** Of a request that carries a form with a file: its parts, read once. */
  parts?: () => AsyncIterable<FormPart>;
  /** The form of the answer that was asked for. */
  answer: 'json' | 'csv';
}

/** Blank values are ignored; a parameter given twice, or one that no shape knows, is said. */
function readQuery(shape: z.ZodObject, raw: RawInput['query']) {
  const values: Record<string, string> = {};
  const ignored: string[] = [];
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(raw)) {
    if (!isDeclared(shape, name)) ignored.push(name);
    else if (Array.isArray(value)) {
      problems.push({ field: name, code: 'duplicate', message: `was given ${value.length} times; give it once.` });
    } else if (value.trim() !== '') values[name] = value;
  }
  return { values, ignored, problems };
}

/** As many as `X-Ignored-Params` names. */
const MAX_IGNORED = 20;

/** What a field's shape wraps, when it is optional, nullable or has a default. */
function unwrapped(shape: unknown): unknown {
  let inner = shape;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
    inner = inner.unwrap();
  }
  return inner;
}

/** The fields of a body that no shape knows, also inside objects and arrays; a shape that takes any name knows all. */
function* unknownFields(shape: unknown, value: unknown, path: string): Generator<string> {
  const known = unwrapped(shape);
  if (typeof value !== 'object' || value === null) return;
  if (known instanceof z.ZodArray && Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* unknownFields(known.element, item, `${path}.${i}`);
  }
  if (!(known instanceof z.ZodObject) || known.def.catchall) return;
  for (const [name, inner] of Object.entries(value)) {
    if (isDeclared(known, name)) yield* unknownFields(known.shape[name], inner, `${path}.${name}`);
    else yield `${path}.${name}`;
  }
}

/** PostgreSQL's text has no NUL character; anything else of Unicode is kept as it came. */
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

/** What a request carries, after the operation's shapes. */
export interface Input<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** Names of query parameters and body fields that were ignored. */
  ignored: readonly string[];
}

/** Without fields, or a POST of which no field must be given: an action that was asked for as it is. */
export const mayBeBare = ({ method, body }: { method: string; body: z.ZodType }): boolean =>
  body instanceof z.ZodObject &&
  (Object.keys(body.shape).length === 0 || (method === 'POST' && body.safeParse({}).success));

/** Applies an operation's three shapes to what a request carries. */
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
  problems.push(...problemsOf(params), ...problemsOf(query), ...problemsOf(body), ...unstorable(raw));
  if (!params.success || !query.success || !body.success || problems.length > 0) throw validationError(problems);
  for (const name of unknownFields(declared.body, raw.body, 'body')) {
    if (ignored.push(name) >= MAX_IGNORED) break;
  }
  return { params: params.data, query: query.data, body: body.data, ignored };
}
