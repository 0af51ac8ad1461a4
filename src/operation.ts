import { z } from 'zod';
import type { Caller } from './auth/queries.ts';
import type { Context } from './context.ts';
import type { KeyKind } from './engines/postgres/tables.ts';
import { type ErrorCode, type Problem, validationError } from './errors.ts';
import { isDeclared, problemsOf } from './problems.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What a request carries, before its shapes are applied. */
export interface RawInput {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
  body: unknown;
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

export interface Declaration<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType> {
  /** snake_case; also the name of the MCP tool. */
  id: string;
  method: Method;
  /** With `{name}` parameters, as in the spec. */
  path: string;
  summary: string;
  description: string;
  tag: string;
  callers: readonly [KeyKind, ...KeyKind[]];
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
  /** What a data key pays; may refuse, before anything is charged, what needs no I/O to refuse. */
  price?: (context: Context, input: { params: z.output<P>; query: z.output<Q>; body: z.output<B> }) => number;
  handler: (context: Context, call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<z.input<R> | RawJson>;
}

/** A request that passed its shapes: what it costs and how it is run. */
export interface Prepared {
  price: (context: Context) => number;
  run: (context: Context, caller: Caller, setHeader: SetHeader) => Promise<Buffer>;
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
  callers: readonly KeyKind[];
  directory: boolean;
  params: z.ZodType;
  query: z.ZodObject;
  body: z.ZodType;
  response: z.ZodType;
  status: number;
  errors: readonly ErrorCode[];
  hints: Declaration<z.ZodType, z.ZodObject, z.ZodType, z.ZodType>['hints'];
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

function unknownBodyFields(shape: z.ZodType, body: unknown): string[] {
  if (!(shape instanceof z.ZodObject) || typeof body !== 'object' || body === null) return [];
  return Object.keys(body)
    .filter((name) => !isDeclared(shape, name))
    .map((name) => `body.${name}`);
}

export function operation<P extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  declared: Declaration<P, Q, B, R>,
): Operation {
  function prepare(raw: RawInput): Prepared {
    const { values, ignored, problems } = readQuery(declared.query, raw.query);
    const params = declared.params.safeParse(raw.params, { reportInput: true });
    const query = declared.query.safeParse(values, { reportInput: true });
    const body = declared.body.safeParse(raw.body ?? {}, { reportInput: true });
    problems.push(...problemsOf(params), ...problemsOf(query), ...problemsOf(body));
    if (!params.success || !query.success || !body.success || problems.length > 0) throw validationError(problems);

    const input = { params: params.data, query: query.data, body: body.data };
    const allIgnored = [...ignored, ...unknownBodyFields(declared.body, raw.body)];
    return {
      ignored: allIgnored,
      price: (context) => declared.price?.(context, input) ?? 0,
      run: async (context, caller, setHeader) => {
        const answer = await declared.handler(context, { ...input, caller, setHeader, ignored: allIgnored });
        return answer instanceof RawJson ? answer.bytes : Buffer.from(JSON.stringify(declared.response.parse(answer)));
      },
    };
  }

  const { price: _price, handler: _handler, ...facts } = declared;
  return {
    ...facts,
    prepare,
    directory: declared.directory ?? false,
    status: declared.status ?? 200,
    errors: declared.errors ?? [],
  };
}
