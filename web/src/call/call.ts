import { operations } from 'virtual:operations';
import type { CallOf, OperationId } from '../../../src/interfaces/nouns.ts';
import {
  type Check,
  createAnswerCheck,
  isSigning,
  type OpenQuestion,
  parseRefusal,
  type Refusal,
  type Signing,
} from './check.ts';

export type { OperationId };
/** The answer of an operation, as declared. */
export type Answer<Id extends OperationId> = CallOf<Id>['answer'];
export type Body<Id extends OperationId> = CallOf<Id>['body'];
export type Query<Id extends OperationId> = Partial<CallOf<Id>['query']>;

/** One row of a list. */
export type Row<Id extends OperationId> = Answer<Id> extends { data: readonly (infer Item)[] } ? Item : never;

export type Params<Id extends OperationId> = CallOf<Id>['params'];

export interface Input<Id extends OperationId> {
  params?: Params<Id>;
  query?: Query<Id>;
  body?: Body<Id>;
  /** If the change is sent again under the same key, it is made only once. */
  idempotencyKey?: string;
}

export interface Problem {
  field: string;
  code?: string;
  message: string;
}

const NO_ANSWER = 'The server did not answer. Check your connection and try again.';
const OTHER_ANSWER = 'The response did not come from Rollcall. Check your connection, reload the page and try again.';
const SIGNED_OUT = 'Your session has ended. Sign in again in another tab, then try again.';
const TOO_MANY = 'Too many requests within a minute. Wait a moment.';
const MONEY_DUE =
  'Money is due to this creator. Pay it first, and settle payouts that are under way, or let it be rejected.';
const NOT_ALLOWED = 'Your role no longer allows this. Ask an owner of the brand.';
/** Plainer texts for errors about keys, roles and limits, which are written for programs. */
const IN_PLAIN_WORDS = new Map([
  ['AUTH_REQUIRED', SIGNED_OUT],
  ['INVALID_API_KEY', SIGNED_OUT],
  ['ROLE_REQUIRED', NOT_ALLOWED],
  ['RATE_LIMITED', TOO_MANY],
  ['MONEY_DUE', MONEY_DUE],
]);

/** An error response, with the API's message. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: readonly Problem[];
  readonly questions: readonly OpenQuestion[];
  /** The wait before a retry, after too many requests. */
  readonly retryAfterMs: number;
  constructor(status: number, { error, code, details, questions }: Refusal, retryAfter = 0) {
    super(code === undefined ? NO_ANSWER : (IN_PLAIN_WORDS.get(code) ?? error ?? NO_ANSWER));
    this.status = status;
    this.code = code ?? 'NO_ANSWER';
    this.problems = details ?? [];
    this.questions = questions ?? [];
    this.retryAfterMs = retryAfter * 1_000;
  }
}

/** The response did not come from our server: it may be a page from the network. */
export const otherAnswer = (status = 200) => new CallError(status, { code: 'OTHER_ANSWER', error: OTHER_ANSWER });

function buildUrl(path: string, params: object = {}, query: object = {}): string {
  const values = new Map<string, unknown>(Object.entries(params));
  const filledPath = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values.get(name) ?? '')),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size > 0 ? `${filledPath}?${search}` : filledPath;
}

async function fetchAnswer(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch(() => undefined);
  if (!response) throw new CallError(0, {});
  if (response.ok) return response;
  const retryAfter = Number(response.headers.get('retry-after') ?? 0);
  throw new CallError(response.status, parseRefusal(await readBody(response)), retryAfter);
}

/** Undefined if the body is not JSON. */
async function readBody(response: Response): Promise<unknown> {
  return await response.json().catch(() => undefined);
}

async function checked<T>(response: Response, isExpected: Check<T>): Promise<T> {
  const body = await readBody(response);
  if (isExpected(body)) return body;
  throw otherAnswer(response.status);
}

/** Calls an API operation, type-checked against its declaration. Throws `CallError`. */
export async function call<Id extends OperationId>(id: Id, input: Input<Id> = {}): Promise<Answer<Id>> {
  return await send(id, input, createAnswerCheck(id));
}

/** The wait until the API accepts a call that was over a minute's limit; undefined if it failed for another reason. */
export const acceptedAfterMs = (error: unknown): number | undefined =>
  error instanceof CallError && error.status === 429 ? Math.max(error.retryAfterMs, 1_000) : undefined;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** For many calls, one after the other: as fast as the API accepts them. */
export async function whenAccepted<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const afterMs = acceptedAfterMs(error);
      if (afterMs === undefined) throw error;
      await pause(afterMs);
    }
  }
}

interface Sent {
  params?: object;
  query?: object;
  body?: unknown;
  idempotencyKey?: string | undefined;
  /** The call stops waiting for the answer once this is aborted. */
  signal?: AbortSignal;
}

/** Like `call`, for hooks that know the declaration only by their own types. */
export async function send<T>(id: OperationId, input: Sent, isExpected: Check<T>): Promise<T> {
  const [method, path] = operations[id] ?? ['GET', ''];
  const headers: Record<string, string> = {};
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  if (input.idempotencyKey !== undefined) headers['idempotency-key'] = input.idempotencyKey;
  const body = input.body === undefined ? {} : { body: JSON.stringify(input.body) };
  const signal = input.signal ?? null;
  const response = await fetchAnswer(buildUrl(path, input.params, input.query), { method, headers, signal, ...body });
  return await checked(response, isExpected);
}

/** A list as the API's CSV file. */
export async function callCsv<Id extends OperationId>(
  id: Id,
  query: Query<Id> = {},
  profile = '',
  params: object = {},
): Promise<Blob> {
  const url = buildUrl(operations[id]?.[1] ?? '', params, query);
  return await (await fetchAnswer(url, { headers: { accept: `text/csv; profile=${profile || 'excel'}` } })).blob();
}

/** Calls that are not operations: signing in and out. */
export async function callApp(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Signing['data']> {
  const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {};
  return (await checked(await fetchAnswer(`/app/${path}`, { method, ...init }), isSigning)).data;
}

/** Sends a form with a file to an operation that accepts one. */
export async function uploadTo<Id extends OperationId>(
  id: Id,
  form: FormData,
  params: object = {},
): Promise<Answer<Id>> {
  const url = buildUrl(operations[id]?.[1] ?? '', params);
  return await checked(await fetchAnswer(url, { method: 'POST', body: form }), createAnswerCheck(id));
}
