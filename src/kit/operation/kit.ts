import { z } from 'zod';
import { ListQuery, listSchema, type PageQuery } from '../values/page.ts';
import type { Context } from './context.ts';
import { answersWhere, type ListCall, type ListQueries, type SumUp, type Totals, totalsSchema } from './list.ts';
import {
  type Call,
  type ChangeDeclaration,
  change,
  type Declaration,
  type Facts,
  noLookUp,
  nothing,
  type Operation,
  operation,
  type Typed,
} from './operation.ts';
import type { Work } from './work.ts';

type None = typeof nothing;
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type ParamsOf<Path extends string> = z.ZodObject<{ [Name in NamesIn<Path>]: z.ZodString }>;

/** `campaigns` → `Campaign id.` */
const aboutId = (plural: string): string => {
  const noun = plural
    .replace(/ies$/, 'y')
    .replace(/(?<=ch)es$|s$/, '')
    .replaceAll('-', ' ');
  return `${noun.slice(0, 1).toUpperCase()}${noun.slice(1)} id.`;
};

/** The default shape of a path's `{name}` parameters: ids of any form, described by the word before them. */
const pathParams = (path: string): z.ZodObject =>
  z.object(
    Object.fromEntries(
      [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].map(([, plural = '', name = '']) => [
        name,
        z.string().max(100).describe(aboutId(plural)),
      ]),
    ),
  );

const READS = { readOnly: true, idempotent: true, destructive: false };
const CHANGES = { readOnly: false, idempotent: false, destructive: false };
const REPEATABLE = { ...CHANGES, idempotent: true };

type Needed = 'id' | 'path' | 'tag' | 'summary' | 'description';
type Shapes = 'method' | 'params' | 'query' | 'body' | 'response' | 'hints';

/** The declaration of an operation. Omitted facts get the default of its kind. */
type OperationOptions<I extends string, Path extends string> = Pick<Facts<I>, Exclude<Needed, 'path'>> &
  Partial<Omit<Facts, Needed | Shapes>> & { path: Path; hints?: Partial<Facts['hints']> };

type Wrapped<Item extends z.ZodType> = z.ZodObject<{ data: Item }>;

/** One item, as `{data}`. */
const wrapAnswer = (item: z.ZodType) => z.object({ data: item });

type AnyRead = OperationOptions<string, string> &
  Pick<Declaration<string, z.ZodType, z.ZodObject, None, z.ZodType>, 'response' | 'handler'> & {
    params?: z.ZodType;
    query?: z.ZodObject;
  };

/** A GET that changes nothing. By default brand keys may call it, and its parameters come from its path. */
export function read<
  const I extends string,
  const Path extends string,
  R extends z.ZodType,
  P extends z.ZodType = ParamsOf<Path>,
  Q extends z.ZodObject = None,
>(
  said: OperationOptions<I, Path> &
    Pick<Declaration<I, P, Q, None, R>, 'response' | 'handler' | 'csv' | 'price' | 'repeats'> & {
      params?: P;
      query?: Q;
    },
): Operation & Typed<I, P, Q, None, R>;
export function read(said: AnyRead): Operation {
  const { params = pathParams(said.path), query = nothing, callers = ['brand'], hints } = said;
  return operation({ ...said, method: 'GET', params, query, body: nothing, callers, hints: { ...READS, ...hints } });
}

/** One item, as `{data}`. */
export function get<
  const I extends string,
  const Path extends string,
  Item extends z.ZodType,
  P extends z.ZodType = ParamsOf<Path>,
  Q extends z.ZodObject = None,
>(
  said: OperationOptions<I, Path> & {
    item: Item;
    params?: P;
    query?: Q;
    find: (context: Context, call: Call<z.output<P>, z.output<Q>, z.output<None>>) => Promise<z.input<Item>>;
  },
): Operation & Typed<I, P, Q, None, Wrapped<Item>>;
export function get({
  item,
  find,
  ...said
}: Omit<AnyRead, 'response' | 'handler'> & { item: z.ZodType; find: AnyRead['handler'] }): Operation {
  return read({
    errors: said.path.includes('{') ? ['NOT_FOUND'] : [],
    ...said,
    response: wrapAnswer(item),
    handler: async (context, call) => ({ data: await find(context, call) }),
  });
}

const listQuery = z.object(ListQuery);

type ListAnswer<Item extends z.ZodType, Sum extends string> = [Sum] extends [never]
  ? ReturnType<typeof listSchema<Item>>
  : z.ZodObject<ReturnType<typeof listSchema<Item>>['shape'] & { totals: Totals<Sum> }>;

/**
 * A GET of one page of the brand's items, or all of them as CSV. Pass `query` if the list has filters, and `whereOf` if
 * they depend on more than the query. With `sums`, which describes each sum, the list answers `totals=true`; the sums in
 * `counts` are numbers of things.
 */
export function list<
  const I extends string,
  const Path extends string,
  Where,
  Row,
  Item extends z.ZodObject,
  Q extends z.ZodObject = typeof listQuery,
  P extends z.ZodType = ParamsOf<Path>,
  Sum extends string = never,
>(
  said: OperationOptions<I, Path> & {
    item: Item;
    query?: Q;
    params?: P;
    rows: ListQueries<Where, Row> & { sumUp?: SumUp<Where, Sum> };
    sums?: Record<Sum, string>;
    counts?: readonly NoInfer<Sum>[];
    itemOf: (row: Row, context: Context) => z.input<Item>;
  } & (z.output<Q> extends Where
      ? { whereOf?: (context: Context, call: ListCall<z.output<Q>, z.output<P>>) => Where | Promise<Where> }
      : { whereOf: (context: Context, call: ListCall<z.output<Q>, z.output<P>>) => Where | Promise<Where> }),
): Operation & Typed<I, P, Q, None, ListAnswer<Item, Sum>>;
export function list({
  item,
  rows,
  sums,
  counts,
  itemOf,
  whereOf = (_context, { query }) => query,
  ...said
}: Omit<AnyRead, 'response' | 'handler'> & {
  item: z.ZodObject;
  query?: z.ZodObject<typeof PageQuery>;
  rows: ListQueries<unknown, unknown> & { sumUp?: SumUp<unknown> };
  sums?: Record<string, string>;
  counts?: readonly string[];
  itemOf: (row: unknown, context: Context) => Record<string, unknown>;
  whereOf?: (context: Context, call: ListCall<unknown, unknown>) => unknown;
}): Operation {
  const { params = pathParams(said.path), query = listQuery, callers = ['brand'], hints } = said;
  return operation({
    ...said,
    method: 'GET',
    params,
    query,
    body: nothing,
    callers,
    hints: { ...READS, ...hints },
    response: sums ? listSchema(item).extend({ totals: totalsSchema(sums, counts) }) : listSchema(item),
    ...answersWhere(rows, whereOf, item, itemOf, sums && rows.sumUp, counts),
  });
}

type AnyCall = Call<unknown, Record<string, unknown>, unknown>;
interface AnyInput {
  params?: z.ZodType;
  query?: z.ZodObject;
  body?: z.ZodType;
  // Methods, so that the types of each declaration are accepted.
  lookUp?(context: Context, call: AnyCall): Promise<unknown>;
  apply(work: Work, call: AnyCall, found: unknown): Promise<unknown>;
}
type AnyWrite = OperationOptions<string, string> & AnyInput & Pick<Facts, 'method' | 'response'>;
type AnyChange = OperationOptions<string, string> & AnyInput & { item: z.ZodType };

/** The declaration of a change. Without `lookUp` it needs nothing from outside its transaction. */
type ChangeOf<
  I extends string,
  Path extends string,
  Answer extends z.ZodType,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  L,
> = OperationOptions<I, Path> &
  Pick<ChangeDeclaration<I, P, Q, B, Answer, L>, 'apply' | 'sealsAnswer' | 'afterwards' | 'later' | 'wasThere'> & {
    params?: P;
    query?: Q;
    body?: B;
    lookUp?: ChangeDeclaration<I, P, Q, B, Answer, L>['lookUp'];
  };

/** A change whose response is not `{data}` alone. By default brand keys may call it, with the parameters of its path. */
export function write<
  const I extends string,
  const Path extends string,
  R extends z.ZodType,
  B extends z.ZodType = None,
  P extends z.ZodType = ParamsOf<Path>,
  Q extends z.ZodObject = None,
  L = undefined,
>(said: ChangeOf<I, Path, R, P, Q, B, L> & { method: Facts['method']; response: R }): Operation & Typed<I, P, Q, B, R>;
export function write(said: AnyWrite): Operation {
  const {
    params = pathParams(said.path),
    query = nothing,
    body = nothing,
    callers = ['brand'],
    lookUp = noLookUp,
    hints,
  } = said;
  return change({ ...said, params, query, body, callers, lookUp, hints: { ...CHANGES, ...hints } });
}

/** The defaults of changes with one method. */
type Usual = Pick<Facts, 'method' | 'status' | 'hints'>;

function changing<
  I extends string,
  Path extends string,
  Item extends z.ZodType,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  L,
>(
  usual: Usual,
  said: ChangeOf<I, Path, Item, P, Q, B, L> & { item: Item },
): Operation & Typed<I, P, Q, B, Wrapped<Item>>;
function changing(usual: Usual, { item, apply, ...said }: AnyChange): Operation {
  return write({
    ...usual,
    ...said,
    hints: { ...usual.hints, ...said.hints },
    response: wrapAnswer(item),
    apply: async (work: Work, call: AnyCall, found: unknown) => ({ data: await apply(work, call, found) }),
  });
}

/** A change that returns its item as `{data}`. */
type Change = <
  const I extends string,
  const Path extends string,
  Item extends z.ZodType,
  B extends z.ZodType = None,
  P extends z.ZodType = ParamsOf<Path>,
  Q extends z.ZodObject = None,
  L = undefined,
>(
  said: ChangeOf<I, Path, Item, P, Q, B, L> & { item: Item },
) => Operation & Typed<I, P, Q, B, Wrapped<Item>>;

/** A POST that creates an item. */
export const create: Change = (said) => changing({ method: 'POST', status: 201, hints: CHANGES }, said);

/** A POST that performs an action on existing items. */
export const act: Change = (said) => changing({ method: 'POST', status: 200, hints: CHANGES }, said);

/** A PATCH: a value sets a field, omitting it keeps it, null clears it. */
export const patch: Change = (said) => changing({ method: 'PATCH', status: 200, hints: REPEATABLE }, said);

/** A PUT: the item is as it was sent. */
export const put: Change = (said) => changing({ method: 'PUT', status: 200, hints: REPEATABLE }, said);

/** A DELETE that returns the item as it was. */
export const remove: Change = (said) =>
  changing({ method: 'DELETE', status: 200, hints: { ...REPEATABLE, destructive: true } }, said);
