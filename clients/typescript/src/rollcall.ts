import { type Client, createClient, createConfig } from './generated/client/index.js';
import type { ErrorCode } from './generated/types.gen.js';

export interface RollcallOptions {
  /** An API key, `svk_…`. */
  key: string;
  /** Such as `https://api.example.com`. */
  baseUrl: string;
  /** How often a call is tried again after 429, 503 or a broken connection; 3 when omitted. */
  retries?: number;
  fetch?: (request: Request) => Promise<Response>;
}

const RETRIED = [429, 503];
const LONGEST_WAIT_MS = 60_000;

/** What the server asks for, in seconds or as a date; else twice as long each time. */
function waitOf(response: Response | undefined, attempt: number): number {
  const retryAfter = response?.headers.get('retry-after');
  const seconds = retryAfter ? Number(retryAfter) : Number.NaN;
  const ms = Number.isFinite(seconds)
    ? seconds * 1_000
    : retryAfter
      ? Date.parse(retryAfter) - Date.now()
      : 250 * 2 ** attempt;
  return Math.min(Math.max(Number.isFinite(ms) ? ms : 250, 0), LONGEST_WAIT_MS);
}

/** Tries again what may be tried again: a change carries an Idempotency-Key, so that it is made once. */
function retrying(send: (request: Request) => Promise<Response>, retries: number) {
  return async (request: Request): Promise<Response> => {
    if (request.method !== 'GET' && !request.headers.has('idempotency-key')) {
      request.headers.set('idempotency-key', crypto.randomUUID());
    }
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt >= retries;
      const response = await send(request.clone()).catch((error: unknown) => {
        if (isLast || request.signal.aborted) throw error;
        return undefined;
      });
      if (response && (isLast || !RETRIED.includes(response.status))) return response;
      const ms = waitOf(response, attempt);
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  };
}

/** A client for every operation of `@rollcall/client/operations`: `listCampaigns({ client })`. */
export function openRollcall({ key, baseUrl, retries = 3, fetch = globalThis.fetch }: RollcallOptions): Client {
  const send = retrying((request) => fetch(request), retries);
  return createClient(
    createConfig({
      baseUrl: baseUrl.replace(/\/$/, ''),
      auth: () => key,
      fetch: (input, init) => send(new Request(input, init)),
    }),
  );
}

/** A refusal of the API's. `code` is one of a list: branch on it. */
export class RollcallError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  /** The whole body: `details` of a VALIDATION_ERROR, `credits_remaining`, `request_id` … */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(body: { error: string; code: ErrorCode }, status: number) {
    super(`${body.code}: ${body.error}`);
    this.code = body.code;
    this.status = status;
    this.body = { ...body };
  }
}

interface Outcome<Answer> {
  data?: Answer | undefined;
  error?: unknown;
  response?: Response | undefined;
}

const isRefusal = (error: unknown): error is { error: string; code: ErrorCode } =>
  typeof error === 'object' && error !== null && 'code' in error && 'error' in error;

/** The answer of a call, or its refusal as a RollcallError. */
export async function answerOf<Answer>(calling: Promise<Outcome<Answer>>): Promise<NonNullable<Answer>> {
  const { data, error, response } = await calling;
  if (data !== undefined && data !== null) return data;
  if (isRefusal(error)) throw new RollcallError(error, response?.status ?? 0);
  throw error instanceof Error ? error : new Error(`The API could not be read: ${String(error)}`);
}

/** Every item of a list, page after page: `everyItem((page) => listCampaigns({ client, query: { page } }))`. */
export async function* everyItem<Item>(
  list: (page: number) => Promise<Outcome<{ data: Item[]; pagination: { has_more: boolean } }>>,
): AsyncGenerator<Item> {
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await answerOf(list(page));
    yield* data;
    if (!pagination.has_more) return;
  }
}

const LISTED_AT_ONCE = 1_000;

/**
 * Puts the creators of an iterator on a list, 1,000 a call, and returns how many are new on it:
 * `fillList(pks, (some) => addToList({ client, path: { id }, body: { pks: some } }))`.
 */
export async function fillList<Item>(
  creators: Iterable<Item> | AsyncIterable<Item>,
  add: (some: Item[]) => Promise<Outcome<{ data: { added: number } }>>,
): Promise<number> {
  let added = 0;
  let some: Item[] = [];
  const send = async () => {
    if (some.length > 0) added += (await answerOf(add(some))).data.added;
    some = [];
  };
  for await (const creator of creators) {
    some.push(creator);
    if (some.length === LISTED_AT_ONCE) await send();
  }
  await send();
  return added;
}
