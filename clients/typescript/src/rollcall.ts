import { toRollcallError } from './errors.js';
import { type Client, createClient, createConfig } from './generated/client/index.js';
import { retrying } from './retries.js';

export { type ClientErrorCode, type Problem, RollcallError } from './errors.js';

export interface RollcallOptions {
  /** An API key, `svk_…`. */
  key: string;
  /** Such as `https://api.example.com`. */
  baseUrl: string;
  /**
   * How often a call is tried again after 429, 502, 503, 504 or a broken connection; 3 when omitted. Apart from 429, all calls
   * of a client together are retried ten times at once, then a tenth of them, so that a crowd of clients is no storm.
   */
  retries?: number;
  fetch?: (request: Request) => Promise<Response>;
}

/** Names a call, so that the API makes a change once and is paid once, however often it is sent. */
function nameCall(request: Request): Request {
  const { method, headers } = request;
  if (!headers.has('x-request-id')) headers.set('x-request-id', crypto.randomUUID());
  if (method !== 'GET' && !headers.has('idempotency-key')) headers.set('idempotency-key', crypto.randomUUID());
  return request;
}

/** A client for every operation of `@rollcall/client/operations`: `await answerOf(listCampaigns({ client }))`. */
export function openRollcall({ key, baseUrl, retries = 3, fetch = globalThis.fetch }: RollcallOptions): Client {
  const send = retrying((request) => fetch(request), retries);
  const client = createClient(
    createConfig({
      baseUrl: baseUrl.replace(/\/$/, ''),
      auth: () => key,
      fetch: (input, init) => send(new Request(input, init)),
    }),
  );
  client.interceptors.request.use(nameCall);
  client.interceptors.error.use((error, response, request) =>
    // What failed before there was a request is a mistake of the caller's.
    request === undefined ? error : toRollcallError(error, response?.status, request.headers.get('x-request-id')),
  );
  return client;
}

interface Outcome<Answer> {
  data?: Answer | undefined;
  error?: unknown;
  response?: Response | undefined;
}

/** The answer of a call; throws a RollcallError if there is none. */
export async function answerOf<Answer>(calling: Promise<Outcome<Answer>>): Promise<NonNullable<Answer>> {
  const { data, error, response } = await calling;
  if (data !== undefined && data !== null) return data;
  throw toRollcallError(error, response?.status);
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
