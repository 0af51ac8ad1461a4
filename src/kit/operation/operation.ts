import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Repeatable } from '../access/credits/marks.ts';
import type { Block, MeterResult } from '../access/credits/meter.ts';
import type { Caller, CallerKind } from '../access/keys/callers.ts';
import type { SetHeader } from '../access/rate-limit.ts';
import { type ErrorCode, validationError } from '../values/errors.ts';
import type { Context } from './context.ts';
import { type Cells, prefixBom, toCsv, toPlainCsv, toTable } from './csv.ts';
import { assertKeyForm, findReplay, runOnce } from './idempotency.ts';
import { type Input, type RawInput, readInput } from './input.ts';
import { placeDays } from './local-days.ts';
import { makePlan, takeMode } from './plans.ts';
import type { WeighedFields, Work } from './work.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Bytes that already match the operation's response shape; a test verifies that. */
export class RawJson {
  readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** For an operation without parameters, query or body. */
export const nothing = z.object({});

export interface Call<Params, Query, Body> extends Input<Params, Query, Body> {
  caller: Caller;
  setHeader: SetHeader;
}

/** The facts that every endpoint declares. */
export interface Facts<
  I extends string = string,
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> {
  /** snake_case; also the name of the MCP tool. */
  id: I;
  method: Method;
  /** The path with `{name}` parameters. */
  path: string;
  summary: string;
  description: string;
  tag: string;
  callers: readonly [CallerKind, ...CallerKind[]];
  /** Only owners may call it, among a brand's people. */
  ownersOnly?: boolean;
  /** Viewers may call it although it changes something, because it is their own. */
  forViewers?: boolean;
  /** Needs a plan with directory access. */
  directory?: boolean;
  params: P;
  query: Q;
  body: B;
  response: R;
  status?: 200 | 201 | 202;
  /** Error codes in addition to those of every operation. */
  errors?: readonly ErrorCode[];
  /**
   * Hints for agents. `dataOut`: the call sends data to an address that it names: always, if one of these fields is
   * set, or if one of its texts contains a link. `planned`: an agent may only plan it, always or if one of these fields is set.
   */
  hints: {
    readOnly: boolean;
    idempotent: boolean;
    destructive: boolean;
    moneyOut?: boolean;
    planned?: true | readonly string[];
    dataOut?: true | 'links' | readonly string[];
  };
  /** The columns of changed rows that the brand's agent policy checks. */
  weighs?: WeighedFields;
  /** The operation as a tool. False for decisions reserved to people. */
  forAgents?: ForAgents | false;
}

/** Replaces the text that a REST client reads. */
export interface ForAgents {
  /** Replaces the description, which may speak of headers, paths or CSV. */
  readonly description?: string;
  /** Example arguments. An id such as `cmp_…` stands for one of the brand's own. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Arguments that the tool lists only where the connection asks for it, by `?toolsets=` or `?tools=`. */
  readonly omits?: readonly string[];
  /** Arguments that only REST can use, because they are of streams, files or an answer's headers. */
  readonly restOnly?: readonly string[];
  /** False for a tool that is listed only where the connection asks for it, by `?toolsets=` or `?tools=`. */
  readonly isListed?: boolean;
}

/** A stream's needs besides the call's input. */
export interface Streaming extends Pick<Circumstances, 'requestId' | 'pay' | 'note'> {
  answer: 'ndjson' | 'csv';
}

type CallOf<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Call<
  z.output<P>,
  z.output<Q>,
  z.output<B>
>;

export interface Declaration<
  I extends string,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  A extends z.ZodType = never,
> extends Facts<I, P, Q, B, R> {
  /** The price for a data key in credits. May throw for invalid calls, before anything is charged; makes no I/O. */
  price?: (context: Context, input: Pick<CallOf<P, Q, B>, 'params' | 'query' | 'body'>) => number;
  /** For priced calls: the call, which is paid once under an id of its caller's. */
  repeats?: (context: Context, input: Pick<CallOf<P, Q, B>, 'params' | 'query'>) => Promise<Repeatable>;
  /** May return the whole row: the door cuts it to `response`. */
  handler: (
    context: Context,
    call: CallOf<P, Q, B> & Pick<Circumstances, 'waive' | 'note' | 'paidVersion' | 'gone'>,
  ) => Promise<z.input<R> | RawJson>;
  /** A job in place of the response, for a call whose work takes longer. Its `Idempotency-Key` makes one job of repeats. */
  later?: {
    response: A;
    /** The change that starts the job. Undefined: the handler answers at once. */
    begin: (context: Context, call: CallOf<P, Q, B>) => Promise<((work: Work) => Promise<z.input<A>>) | undefined>;
  };
  /** A stream in place of the response, for calls that say so in their query. */
  stream?: {
    isFor: (query: RawInput['query']) => boolean;
    open: (context: Context, call: CallOf<P, Q, B> & Streaming) => Promise<Readable>;
  };
  /** All rows of the list, for `Accept: text/csv`. Only the brand's own lists have it, never the directory. */
  csv?: {
    item: z.ZodObject;
    rows: (context: Context, call: CallOf<P, Q, B>) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
    /**
     * Other layouts by name, for `Accept: text/csv; profile=name`: without a header, as another service's upload
     * expects them.
     */
    profiles?: Readonly<Record<string, (context: Context, call: CallOf<P, Q, B>) => Promise<readonly Cells[]>>>;
    /** A table with a header of its own, for calls that are answered by one in place of the rows. */
    table?: (context: Context, call: CallOf<P, Q, B>) => Promise<readonly Cells[] | undefined>;
  };
}

export interface ChangeDeclaration<
  I extends string,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  L,
> extends Facts<I, P, Q, B, R> {
  /** Makes outside calls before the transaction opens. `noLookUp` if there are none. */
  lookUp: (context: Context, call: CallOf<P, Q, B>) => Promise<L>;
  /** The response contains a secret or a link that opens a page, so it is stored encrypted for its `Idempotency-Key`. */
  sealsAnswer?: boolean;
  /** The change, in the transaction that also stores the idempotent response, the audit entries and the events. */
  apply: (work: Work, call: CallOf<P, Q, B>, found: L) => Promise<z.input<R>>;
  /** True if the answer is an item that was there before: its status is 200 in place of `status`. */
  wasThere?: (answer: z.output<R>) => boolean;
  /** Propagates the change at once. It may be lost, because the worker does the same soon. */
  afterwards?: (context: Context, call: CallOf<P, Q, B>) => Promise<void>;
  /**
   * A job in place of the change, if its work takes longer than a call. Plans and agents never start one, because their
   * changes are checked within one transaction.
   */
  later?: {
    response: z.ZodType;
    /** The change that starts the job. Undefined: the change itself is made. */
    begin: (context: Context, call: CallOf<P, Q, B>) => Promise<((work: Work) => Promise<unknown>) | undefined>;
  };
}

export const noLookUp = async (): Promise<undefined> => undefined;

/** A search as the record of calls has it: no values, only the names of its filters and a digest. */
export interface SearchRecord {
  kind: 'page' | 'preview' | 'look_up' | 'walk';
  /** Names of the parameters that decide who matches. */
  filters: readonly string[];
  /** These parameters with their values, for a keyed digest. */
  text: string;
}

/** The result of a search, for the record of calls. */
export interface SearchOutcome {
  /** Matches; for a walk the creators that were sent. */
  results?: number;
  record?: SearchRecord;
}

/** Facts about a request besides its input. */
export interface Circumstances {
  requestId: string;
  idempotencyKey: string | undefined;
  setHeader: SetHeader;
  /** Gives the credits of this call back before its answer is sent. */
  waive: () => void;
  /** Adds to what the record of calls says about this one. */
  note: (found: SearchOutcome) => void;
  /** Pays for a block of a walk, unless it was paid before. Throws CREDITS_EXHAUSTED, or if the key was revoked. */
  pay: (credits: number, block: Block) => Promise<Pick<MeterResult, 'isPaid'>>;
  /** The version that the call read when it was paid; the live one if it is gone. */
  paidVersion?: string | undefined;
  /** Aborted when the client closes the connection before its answer. */
  gone?: AbortSignal | undefined;
  /** True if an agent makes the call by MCP. */
  byAgent?: boolean | undefined;
  /** Wraps a change within its transaction, and may reject it by its effects, as the agent policy does. */
  guard?: ((work: Work, change: (work: Work) => Promise<Buffer>) => Promise<Buffer>) | undefined;
}

/** JSON as bytes, or CSV as a stream. */
export type Answer = Buffer | Readable;

/** A validated request: its price and how to run it. */
export interface PreparedOperation {
  price: (context: Context) => number;
  run: (context: Context, caller: Caller, circumstances: Circumstances) => Promise<Answer>;
  /** The call as it is paid once under an id of its caller's; undefined if it is paid each time. */
  repeats?: ((context: Context) => Promise<Repeatable>) | undefined;
  /** Makes the change's outside calls, and returns the change for a transaction of the caller's. */
  begin?: (context: Context, caller: Caller, setHeader: SetHeader) => Promise<(work: Work) => Promise<Buffer>>;
  /** Overrides the operation's status. */
  status?: number;
  /** The media type of a stream; CSV if omitted. */
  streamType?: string;
  ignored: readonly string[];
}

/** One endpoint, declared once: REST, the OpenAPI document and the tool list come from it. */
export interface Operation extends Required<Facts> {
  /** True if it also returns text/csv. */
  hasCsv: boolean;
  /** The names of its other CSV layouts. */
  csvProfiles: readonly string[];
  /** True if a query asks for a stream, as NDJSON or CSV. */
  isStreamFor?: (query: RawInput['query']) => boolean;
  /** The shape of the job that it starts, with status 202, if the work takes longer than a call. */
  later?: { response: z.ZodType };
  /** True if a change may find its item instead, which is status 200. */
  mayFind?: boolean;
  /** Another operation at the same address, which bodies of its shape run; it has a status of its own. */
  alternative?: Operation;
  /** True if a data key pays for it. */
  isPriced: boolean;
  /** For a read: the same operation with another response shape, for a door that shows rows differently. */
  answeredAs?: (response: z.ZodType) => Operation;
  /** Takes `multipart/form-data` with one file instead of JSON. */
  takesFile?: true;
  /** An operation that takes a file accepts a JSON body as well. */
  mayOmitFile?: boolean;
  /** The largest file that it takes; by default that of assets. */
  maxFileBytes?: number;
  /** Validates the input; throws VALIDATION_ERROR with all problems at once. */
  prepare(raw: RawInput): PreparedOperation;
}

/** A query parameter as a client writes it: as text, or as the number or boolean that the shape parses. */
type Sent<Read, Becomes> = {
  [Name in keyof Read]: Name extends keyof Becomes
    ? Read[Name] | Extract<NonNullable<Becomes[Name]>, number | boolean>
    : Read[Name];
};

/** A search whose criteria are a body changes nothing, although it is a POST. */
export const isChange = ({ method, hints }: Operation) => method !== 'GET' && !hints.readOnly;

/** A repeat under the same key makes no second change, and starts no second job. */
export const takesKey = (operation: Operation) => isChange(operation) || operation.later !== undefined;

/** The types of an operation for a typed client. `types` has no value at run time. */
export interface Typed<
  I extends string,
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
> {
  readonly id: I;
  readonly types?: {
    params: z.input<P>;
    query: Sent<z.input<Q>, z.output<Q>>;
    body: z.input<B>;
    answer: z.output<R>;
  };
}

export const serialize = (response: z.ZodType, answer: unknown) => Buffer.from(JSON.stringify(response.parse(answer)));

/** Reads the total of a list from its answer; undefined for any other answer. */
function readTotal(answer: unknown): number | undefined {
  if (typeof answer !== 'object' || answer === null || !('pagination' in answer)) return undefined;
  const { pagination } = answer;
  if (typeof pagination !== 'object' || pagination === null || !('total' in pagination)) return undefined;
  return typeof pagination.total === 'number' ? pagination.total : undefined;
}

export const NDJSON = 'application/x-ndjson';
const NO_STREAM = {
  field: 'walk',
  code: 'not_supported',
  message: 'is a stream, which this interface does not support.',
};

/** The status of a change that found its item as it was. */
export const FOUND_STATUS = 200;
/** The status of a change that is only planned. */
export const PLANNED_STATUS = 202;
/** The status of a call that started a job in place of its answer. */
export const LATER_STATUS = 202;

export const DEFAULTS = {
  forAgents: {},
  directory: false,
  ownersOnly: false,
  forViewers: false,
  isPriced: false,
  status: 200,
  errors: [],
  weighs: {},
} as const;

/** An endpoint that reads. */
export function operation<
  const I extends string,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  A extends z.ZodType = never,
>(declared: Declaration<I, P, Q, B, R, A>): Operation & Typed<I, P, Q, B, R | A> {
  const { handler, price, repeats, csv, stream, later, ...facts } = declared;
  return {
    ...DEFAULTS,
    ...facts,
    hasCsv: csv !== undefined,
    csvProfiles: Object.keys(csv?.profiles ?? {}),
    isPriced: price !== undefined,
    ...(stream ? { isStreamFor: stream.isFor } : {}),
    ...(later ? { later } : {}),
    answeredAs: (response) => operation({ ...declared, response }),
    prepare: (raw) => {
      const input = readInput(declared, raw);
      const preparedOperation: PreparedOperation = {
        ignored: input.ignored,
        price: (context) => price?.(context, input) ?? 0,
        repeats: repeats && ((context) => repeats(context, input)),
        ...(raw.answer === 'ndjson' ? { streamType: NDJSON } : {}),
        run: async (context, caller, circumstances) => {
          const { setHeader, waive, requestId, pay, note, paidVersion, gone } = circumstances;
          const placedInput = await placeDays(context, caller, input, raw);
          const call = { ...placedInput, caller, setHeader, waive, note, paidVersion, gone };
          if (stream?.isFor(raw.query)) {
            if (raw.answer === 'json') throw validationError([NO_STREAM]);
            const openStream = await stream.open(context, { ...call, requestId, pay, answer: raw.answer });
            return raw.csv?.bom ? prefixBom(openStream) : openStream;
          }
          const cellsOf = raw.profile === undefined ? undefined : csv?.profiles?.[raw.profile];
          if (cellsOf) return toPlainCsv(await cellsOf(context, call));
          if (raw.answer === 'csv' && csv) {
            const table = await csv.table?.(context, call);
            return table ? toTable(table, raw.csv) : toCsv(csv.item, await csv.rows(context, call), raw.csv);
          }
          if (later) {
            assertKeyForm(circumstances);
            const request = { caller, circumstances, operation: declared.id, raw, sealsAnswer: true };
            const start = (await findReplay(context, request)) ?? (await later.begin(context, call));
            if (start) preparedOperation.status = LATER_STATUS;
            if (Buffer.isBuffer(start)) return start;
            if (start)
              return await runOnce(context, request, async (work) => serialize(later.response, await start(work)));
          }
          const answer = await handler(context, call);
          if (answer instanceof RawJson) return answer.bytes;
          const results = readTotal(answer);
          if (results !== undefined) note({ results });
          return serialize(declared.response, answer);
        },
      };
      return preparedOperation;
    },
  };
}

/** An endpoint that writes: one transaction, idempotent under the caller's `Idempotency-Key`, audited. */
export function change<
  const I extends string,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  L,
>(declared: ChangeDeclaration<I, P, Q, B, R, L>): Operation & Typed<I, P, Q, B, R> {
  const { lookUp, apply, afterwards, later, wasThere, sealsAnswer = false, ...facts } = declared;
  return {
    ...DEFAULTS,
    ...facts,
    ...(later ? { later } : {}),
    ...(wasThere ? { mayFind: true } : {}),
    hasCsv: false,
    csvProfiles: [],
    prepare: (sentInput) => {
      const { mode, raw } = takeMode(sentInput);
      const input = readInput(declared, raw);
      const begin: PreparedOperation['begin'] = async (context, caller, setHeader) => {
        const call = { ...(await placeDays(context, caller, input, raw)), caller, setHeader };
        const lookup = await lookUp(context, call);
        return async (work) => serialize(declared.response, await apply(work, call, lookup));
      };
      const preparedOperation: PreparedOperation = {
        ignored: input.ignored,
        price: () => 0,
        begin,
        ...(mode === 'plan' ? { status: PLANNED_STATUS } : {}),
        run: async (context, caller, circumstances) => {
          assertKeyForm(circumstances);
          const request = { caller, circumstances, operation: declared.id, raw, sealsAnswer };
          const isReplayed = mode === 'apply' && !Object.is(lookUp, noLookUp);
          const replay = isReplayed ? await findReplay(context, request) : undefined;
          // A repeat is answered as the first call was, whatever it would start itself.
          const startedJob = (answer: Buffer): boolean => {
            const isJob = later?.response.safeParse(JSON.parse(answer.toString())).success ?? false;
            if (isJob) preparedOperation.status = LATER_STATUS;
            if (wasThere?.(declared.response.parse(JSON.parse(answer.toString()))))
              preparedOperation.status = FOUND_STATUS;
            return isJob;
          };
          if (replay) {
            startedJob(replay);
            return replay;
          }
          const placedInput = await placeDays(context, caller, input, raw);
          const call = { ...placedInput, caller, setHeader: circumstances.setHeader };
          const isDirect = mode === 'apply' && circumstances.byAgent !== true;
          const startJob = isDirect ? await later?.begin(context, call) : undefined;
          const start =
            later && startJob
              ? async (work: Work) => serialize(later.response, await startJob(work))
              : await begin(context, caller, circumstances.setHeader);
          if (mode === 'plan') return await makePlan(context, request, start);
          const answer = await runOnce(context, request, start);
          if (!startedJob(answer)) await afterwards?.(context, call);
          return answer;
        },
      };
      return preparedOperation;
    },
  };
}
