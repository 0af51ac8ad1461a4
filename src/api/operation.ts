import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Caller } from '../access/keys/queries.ts';
import type { CallerKind } from '../engines/postgres/tables.ts';
import { type ErrorCode, type Problem, validationError } from '../values/errors.ts';
import type { Context } from './context.ts';
import { csvOf } from './csv.ts';
import { findReplay, runOnce } from './idempotency/run-once.ts';
import { isDeclared, problemsOf } from './problems.ts';
import type { Work } from './work.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What a request carries, before its shapes are applied. */
export interface RawInput {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
  body: unknown;
  /** The form of the answer that was asked for. */
  answer: 'json' | 'csv';
}

/** Bytes that are already in the operation's shape; a test compares them with it. */
export class RawJson {
  readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** For an operation without parameters, query or body. */
export const nothing = z.object({});

/** Headers a handler sets, beside what it answers. */
export type SetHeader = (name: string, value: string) => void;

export interface Call<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  setHeader: SetHeader;
  /** Names of query parameters and body fields that were ignored. */
  ignored: readonly string[];
}

/** What every endpoint says of itself. */
interface Facts<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType> {
  /** snake_case; also the name of the MCP tool. */
  id: string;
  method: Method;
  /** With `{name}` parameters, as in the spec. */
  path: string;
  summary: string;
  description: string;
  tag: string;
  callers: readonly [CallerKind, ...CallerKind[]];
  /** Of a brand's people only its owners may. */
  ownersOnly?: boolean;
  /** Needs a plan with directory access. */
  directory?: boolean;
  params: P;
  query: Q;
  body: B;
  response: R;
  status?: 200 | 201;
  /** Codes beyond those that every operation can raise. */
  errors?: readonly ErrorCode[];
  /** Hints for agents. */
  hints: { readOnly: boolean; idempotent: boolean; destructive: boolean };
}

type CallOf<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Call<
  z.output<P>,
  z.output<Q>,
  z.output<B>
>;

export interface Declaration<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>
  extends Facts<P, Q, B, R> {
  /** What a data key pays; may refuse, before anything is charged, what needs no I/O to refuse. */
  price?: (context: Context, input: Pick<CallOf<P, Q, B>, 'params' | 'query' | 'body'>) => number;
  handler: (context: Context, call: CallOf<P, Q, B>) => Promise<z.input<R> | RawJson>;
  /** All rows of the list, for `Accept: text/csv`: the brand's own lists have it, the directory never. */
  csv?: {
    item: z.ZodObject;
    rows: (context: Context, call: CallOf<P, Q, B>) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
  };
}

export interface ChangeDeclaration<
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  L,
> extends Facts<P, Q, B, R> {
  /** What must be asked of the outside, before the transaction opens. `noLookUp` when nothing must. */
  lookUp: (context: Context, call: CallOf<P, Q, B>) => Promise<L>;
  /** The change, in the one transaction that also keeps the idempotent answer, the audit line and the events. */
  apply: (work: Work, call: CallOf<P, Q, B>, found: L) => Promise<z.input<R>>;
  /** What must be known elsewhere at once; the worker does the same soon, so it may be lost. */
  afterwards?: (context: Context, call: CallOf<P, Q, B>) => Promise<void>;
}

export const noLookUp = async (): Promise<undefined> => undefined;

/** What the door knows of a request beside its input. */
export interface Circumstances {
  requestId: string;
  idempotencyKey: string | undefined;
  setHeader: SetHeader;
}

/** JSON as bytes, or CSV as a stream. */
export type Answer = Buffer | Readable;

/** A request that passed its shapes: what it costs and how it is run. */
export interface Prepared {
  price: (context: Context) => number;
  run: (context: Context, caller: Caller, circumstances: Circumstances) => Promise<Answer>;
  ignored: readonly string[];
}

/** One endpoint, declared once: REST, the OpenAPI document and the tool list come from it. */
export interface Operation {
  id: string;
  method: Method;
  path: string;
  summary: string;
  description: string;
  tag: string;
  callers: readonly CallerKind[];
  ownersOnly: boolean;
  directory: boolean;
  params: z.ZodType;
  query: z.ZodObject;
  body: z.ZodType;
  response: z.ZodType;
  status: number;
  errors: readonly ErrorCode[];
  hints: Declaration<z.ZodType, z.ZodObject, z.ZodType, z.ZodType>['hints'];
  /** Whether it also answers text/csv. */
  hasCsv: boolean;
  /** Applies the shapes; throws VALIDATION_ERROR with every problem at once. */
  prepare(raw: RawInput): Prepared;
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

type Input<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Omit<
  CallOf<P, Q, B>,
  'caller' | 'setHeader'
>;

/** Applies an operation's three shapes to what a request carries. */
function readInput<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType>(
  declared: { params: P; query: Q; body: B },
  raw: RawInput,
): Input<P, Q, B> {
  const { values, ignored, problems } = readQuery(declared.query, raw.query);
  const params = declared.params.safeParse(raw.params, { reportInput: true });
  const query = declared.query.safeParse(values, { reportInput: true });
  const body = declared.body.safeParse(Object.is(declared.body, nothing) ? (raw.body ?? {}) : raw.body, {
    reportInput: true,
  });
  problems.push(...problemsOf(params), ...problemsOf(query), ...problemsOf(body), ...unstorable(raw));
  if (!params.success || !query.success || !body.success || problems.length > 0) throw validationError(problems);
  for (const name of unknownFields(declared.body, raw.body, 'body')) {
    if (ignored.push(name) >= MAX_IGNORED) break;
  }
  return { params: params.data, query: query.data, body: body.data, ignored };
}

const bytesOf = (response: z.ZodType, answer: unknown) => Buffer.from(JSON.stringify(response.parse(answer)));

function withDefaults<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>({
  id,
  method,
  path,
  summary,
  description,
  tag,
  callers,
  ...more
}: Facts<P, Q, B, R>): Omit<Operation, 'prepare' | 'hasCsv'> {
  const {
    directory = false,
    ownersOnly = false,
    params,
    query,
    body,
    response,
    status = 200,
    errors = [],
    hints,
  } = more;
  return {
    ...{ id, method, path, summary, description, tag, callers },
    ...{ directory, ownersOnly, params, query, body, response, status, errors, hints },
  };
}

/** An endpoint that reads. */
export function operation<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  declared: Declaration<P, Q, B, R>,
): Operation {
  return {
    ...withDefaults(declared),
    hasCsv: declared.csv !== undefined,
    prepare: (raw) => {
      const input = readInput(declared, raw);
      return {
        ignored: input.ignored,
        price: (context) => declared.price?.(context, input) ?? 0,
        run: async (context, caller, { setHeader }) => {
          if (raw.answer === 'csv' && declared.csv) {
            return csvOf(declared.csv.item, await declared.csv.rows(context, { ...input, caller, setHeader }));
          }
          const answer = await declared.handler(context, { ...input, caller, setHeader });
          return answer instanceof RawJson ? answer.bytes : bytesOf(declared.response, answer);
        },
      };
    },
  };
}

/** An endpoint that writes: one transaction, idempotent under the caller's `Idempotency-Key`, audited. */
export function change<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType, L>(
  declared: ChangeDeclaration<P, Q, B, R, L>,
): Operation {
  const facts = withDefaults(declared);
  return {
    ...facts,
    hasCsv: false,
    prepare: (raw) => {
      const input = readInput(declared, raw);
      return {
        ignored: input.ignored,
        price: () => 0,
        run: async (context, caller, circumstances) => {
          const call = { ...input, caller, setHeader: circumstances.setHeader };
          const request = { caller, circumstances, operation: facts.id, raw };
          const replay = Object.is(declared.lookUp, noLookUp) ? undefined : await findReplay(context, request);
          if (replay) return replay;
          const found = await declared.lookUp(context, call);
          const answer = await runOnce(context, request, async (work) =>
            bytesOf(declared.response, await declared.apply(work, call, found)),
          );
          await declared.afterwards?.(context, call);
          return answer;
        },
      };
    },
  };
}
