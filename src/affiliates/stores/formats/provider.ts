import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { callOutside, type OutsideAnswer } from '../../../kit/engines/http/outside.ts';
import { latestNow } from '../../../kit/values/clock.ts';
import { ApiError, unavailable } from '../../../kit/values/errors.ts';
import { toProblems } from '../../../kit/values/problems.ts';
import { withoutMarks } from '../../../kit/values/text.ts';
import { TimeZone } from '../../../kit/values/time-zone.ts';
import { WebAddress } from '../../../kit/values/web-address.ts';
import type { OrderFacts, ProductFacts, ReportedDispute, ReportedRefunds } from './facts.ts';

export const PROVIDERS = ['shopify', 'woocommerce', 'generic'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Access data for calls to a store. */
export interface StoreAccess {
  baseUrl: string;
  /** The access token; `renew` replaces it. */
  token: string;
  /** WooCommerce only: the keys go in the query because the host drops the `Authorization` header. */
  keysInQuery?: boolean;
  /** Private addresses that may be called. */
  allow: readonly string[];
  /** Ends a call at once when it is aborted: that of the turn for which the store was opened. */
  signal?: AbortSignal | undefined;
  /** Gets another token in place of the one that the store refused. */
  renew?: (refused: string) => Promise<string>;
  /** Called after each successful answer. */
  onAnswer?: () => void;
  /** Called with the version of its API that answered. */
  onVersion?: (version: string) => Promise<void> | void;
  /** Called when the store accepts keys in the query. */
  remember?: () => Promise<void>;
}

/** An app that gets tokens in exchange for its id and secret. */
export interface StoreApp {
  id: string;
  secret: string;
}

export interface NewToken {
  token: string;
  expiresInMs: number;
}

/** The store refused an app's credentials; the message says how to fix it. */
export class AppRefused extends Error {
  readonly field: 'client_id' | 'client_secret';

  constructor(field: AppRefused['field'], message: string) {
    super(message);
    this.field = field;
  }
}

/** What readers of its deliveries know of a store without calling it. */
export interface StoreSettings {
  currency: string;
  /** The brand's own words for the tags of renewals and of first orders of subscriptions. */
  renewalTags: readonly string[] | null;
  firstTags: readonly string[] | null;
}

export const getSettings = ({ currency, renewalTags, firstTags }: StoreSettings): StoreSettings => ({
  currency,
  renewalTags,
  firstTags,
});

/** Facts that a store reports about itself when it is connected. */
export interface StoreFacts {
  name: string;
  currency: string;
  storefrontUrl: string;
  /** An IANA name; null or absent if the store says none. */
  timeZone?: string | null;
}

/** A zone as a store names it. WordPress has an empty text where its owner chose an offset. */
export const StoreZone = TimeZone.nullish()
  .catch(null)
  .transform((zone) => zone ?? null);

export type Coupon =
  | { state: 'active'; percentage: number; endsAt: Date | null }
  | { state: 'not_found' }
  | { state: 'inactive' }
  | { state: 'not_percentage' };

/** Facts of a delivery. Readers return undefined for deliveries that attribution does not need. */
export type Reading = (
  | { kind: 'order'; facts: OrderFacts }
  | { kind: 'refund'; facts: ReportedRefunds }
  | { kind: 'dispute'; facts: ReportedDispute }
  /** The store deleted the order for good. */
  | { kind: 'deletion'; orderId: string }
) & {
  /** One sentence for the store's owner about each part that was left out. */
  notes: string[];
};

export type OrderReading = Extract<Reading, { kind: 'order' }>;

export const getOrderId = (reading: Reading): string =>
  reading.kind === 'deletion' ? reading.orderId : reading.facts.orderId;

/** A webhook as the store lists it. */
export interface ListedWebhook {
  id: string;
  topic: string;
  url: string;
  /** `paused`: by its owner, on purpose. */
  state: 'active' | 'paused' | 'disabled';
}

/** Webhooks that a store lets its callers list and make. */
export interface StoreWebhooks {
  /** Optional topics; the store may reject them. */
  alsoTopics: readonly string[];
  /** True if the store signs them with a secret that we know. */
  mayBeMade(secrets: { app?: StoreApp | undefined }): boolean;
  list(store: StoreAccess): Promise<ListedWebhook[]>;
  /** Throws `WebhookRefused` if this caller may not create it. */
  make(store: StoreAccess, webhook: { topic: string; url: string; secret: string }): Promise<void>;
  remove(store: StoreAccess, id: string): Promise<void>;
  /** Makes the store sign a webhook with another secret. */
  sign?(store: StoreAccess, id: string, secret: string): Promise<void>;
}

export class WebhookRefused extends Error {}

/** A person's wish that a store passes on, or one that is about all its buyers. */
export interface PersonWish {
  kind: 'erasure' | 'access';
  email: string | null;
  /** The store's id of the customer, where nothing else says whom it is about. */
  customerId: string | null;
  orderIds: readonly string[];
  isWholeStore: boolean;
}

/** The product that a line is of. */
export interface ProductLine {
  productId: string;
  variantId: string | null;
}

/** Access to one kind of store. */
export interface StoreClient {
  /** The events that it must report. */
  topics: readonly string[];
  webhooks?: StoreWebhooks;
  /** Returns the time of uninstallation if the delivery reports one. */
  uninstalledAt?(headers: IncomingHttpHeaders): Date | undefined;
  /** Reads a delivery about a person's rights; undefined if it is about something else. */
  readWish?(delivery: Delivery): PersonWish | undefined;
  /** Version of the API that we call, if the store has versions. */
  version?: string;
  /** Reads the store's facts; fails if the token lacks permissions for later calls. */
  connect(store: StoreAccess): Promise<StoreFacts>;
  /** Exchanges an app's id and secret for a token. Throws `AppRefused` if the store rejects them. */
  newToken?(place: Pick<StoreAccess, 'baseUrl' | 'allow'>, app: StoreApp): Promise<NewToken>;
  findCoupon(store: StoreAccess, code: string, now: Date): Promise<Coupon>;
  verify(rawBody: Buffer, headers: IncomingHttpHeaders, secret: string): boolean;
  /** True for an unsigned test call of a new webhook, which only needs a 200. */
  isPing(rawBody: Buffer, headers: IncomingHttpHeaders): boolean;
  /** Reads a delivery, with calls to the store if the body is incomplete. Throws a ZodError if the body is invalid. */
  read(delivery: Delivery, store: StoreAccess & StoreSettings): Promise<Reading | undefined>;
  /** Asks which order started a subscription; undefined if the store does not say. */
  findFirstOrder?(store: StoreAccess, subscriptionId: string): Promise<string | undefined>;
  /** Reads products by their ids. Those that are gone are left out. */
  listProducts?(store: StoreAccess, lines: readonly ProductLine[]): Promise<Map<string, ProductFacts>>;
  /** Lists changed orders, oldest change first; undefined if the store does not list its orders. */
  listOrders(store: StoreAccess, since: ChangedOrdersQuery): Promise<OrderPage | undefined>;
}

/** Query for a page of changed orders; the cursor comes from the page before. */
export interface ChangedOrdersQuery {
  since: Date;
  /** Only changes before this time, if the store supports it. */
  before?: Date;
  cursor: string | null;
}

export interface OrderPage {
  /** Each order as a webhook would report it now. */
  orders: Delivery[];
  /** Null on the last page. */
  cursor: string | null;
  /** Pause that the store asks for before the next page. */
  waitMs: number;
}

export interface Delivery {
  headers: IncomingHttpHeaders;
  body: unknown;
}

export const getHeader = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

/** Parses a delivery's body; errors contain the received value. */
export const parseBody = <T>(shape: z.ZodType<T>, body: unknown): T => shape.parse(body, { reportInput: true });

/** Stores use numbers or text as ids; both become text. */
export const StoreId = z
  .union([
    z
      .string()
      .overwrite(withoutMarks)
      .trim()
      .min(1)
      .max(200)
      // PostgreSQL stores neither NUL nor half of a surrogate pair.
      .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must be text without NUL'),
    z.number().int(),
  ])
  .transform(String);

const NAME_LENGTH = 200;

/** Name of a store on one line for lists and terminals. A long one is cut, not refused, because its owner chose it. */
export const StoreName = z.string().transform((name) => {
  const line = name.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return [...line].slice(0, NAME_LENGTH).join('').trimEnd();
});

/** Address of a storefront, without the blanks and escapes that a URL may hold but lists and terminals should not. */
export const StorefrontUrl = WebAddress.regex(
  // The OpenAPI document has this pattern, and Python has no `\p{Cc}`.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused.
  /^[^\s\u0000-\u001f\u007f-\u009f]*$/u,
  'must be without blanks and control characters',
);

/** Body of a deletion. */
export const DeletedOrder = z.object({ id: StoreId });

/** First day of figures. */
const FIRST_MS = Date.UTC(1970, 0, 1);
/** A store's clock may be ahead of ours, and a day may have begun before ours. */
const AHEAD_MS = 24 * 60 * 60 * 1_000;

/**
 * Time of an event at a store. It is compared with this machine's own clock, because the store's may be ahead of it.
 */
export const Happened = z
  .date()
  .refine(
    (at) => at.getTime() >= FIRST_MS && at.getTime() <= latestNow().getTime() + AHEAD_MS,
    'must be a time since 1970, at most a day from now',
  );

/** A time with its offset, as every store but WooCommerce writes it. */
export const StoreTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .pipe(Happened);

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 2 * 1024 * 1024;
const LIST_TIMEOUT_MS = 30_000;
const LIST_MAX_BYTES = 16 * 1024 * 1024;
const NAME = 'The store';

export interface StoreRequest<T> {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Returns the headers or query that carry the token. Called again after a renewal. */
  credentials(store: StoreAccess): { headers?: Record<string, string>; query?: Record<string, string> };
  /** Switches the store to another way of sending the token if the 401 asks for it, and returns true. */
  showsAgain?(store: StoreAccess, text: string): boolean;
  /** Reads the version of the API that answered. */
  versionOf?(headers: IncomingHttpHeaders): string;
  body?: object;
  shape: z.ZodType<T>;
  /** Text that a 404 must contain to mean "no such object" rather than "no such route". */
  goneText?: string;
  /** Lists get more time and bytes. */
  isList?: boolean;
}

/** Creates the error for a store that cannot be called until its brand connects it again. */
export const reconnectRequired = (message: string, cause: unknown): ApiError =>
  new ApiError('CONFLICT', message, { facts: { integration_status: 'reauth_required' }, cause });

export const unauthorized = (cause: unknown): ApiError =>
  reconnectRequired('The store refuses its access token; connect it again.', cause);

export const needsReconnect = (error: unknown): boolean =>
  error instanceof ApiError && error.facts.integration_status === 'reauth_required';

export const storeUnavailable = (cause: unknown): ApiError => unavailable(NAME, cause);

export const isStoreUnavailable = (error: unknown): boolean => error instanceof ApiError && error.engine === NAME;

/** The store's rate limit refused a call, which may be repeated later. */
class StoreBusy extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super(`It wants to be asked again in ${Math.ceil(retryAfterMs / 1_000)} s.`);
    this.retryAfterMs = retryAfterMs;
  }
}

export const storeBusy = (retryAfterMs: number): ApiError =>
  unavailable(NAME, new StoreBusy(retryAfterMs), Math.max(1, Math.ceil(retryAfterMs / 1_000)));

/** Returns the pause that a busy store asks for; undefined for other errors. */
export const getRetryAfterMs = (error: unknown): number | undefined =>
  error instanceof ApiError && error.cause instanceof StoreBusy ? error.cause.retryAfterMs : undefined;

/** Default pause after a 429 without `Retry-After`. */
const BUSY_MS = 10_000;
const LONGEST_BUSY_MS = 60 * 60_000;

/** `Retry-After` is seconds, which Shopify writes with decimals, or a date. */
function readRetryAfter(header: string): number {
  const ms = header === '' ? Number.NaN : Number(header) * 1_000;
  const waitMs = Number.isNaN(ms) ? Date.parse(header) - Date.now() : ms;
  return Number.isNaN(waitMs) ? BUSY_MS : Math.min(Math.max(waitMs, 1_000), LONGEST_BUSY_MS);
}

/** Parses a store's answer; an invalid one makes the store unavailable. */
export function readAnswer<T>(
  { method, path }: Pick<StoreRequest<T>, 'method' | 'path'>,
  shape: z.ZodType<T>,
  body: unknown,
): T {
  const parsed = shape.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  const lines = toProblems(parsed).map(({ field, message }) => `\n  ${field}: ${message}`);
  const cause = new Error(`Its answer to ${method} ${path} is invalid:${lines.join('')}`);
  const problemTexts = toProblems(parsed).map(({ field, message }) => `${field} ${message}`);
  const { headers } = storeUnavailable(cause);
  throw new ApiError(
    'SERVICE_UNAVAILABLE',
    `The store's answer to ${method} ${path} is invalid: ${problemTexts.join(' ')}`,
    {
      headers,
      engine: NAME,
      cause,
    },
  );
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw storeUnavailable(new Error('Its answer is not JSON.'));
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'Its name leads nowhere',
  EAI_AGAIN: 'Its name cannot be looked up just now',
  ECONNREFUSED: 'Nothing listens there',
  ECONNRESET: 'It breaks the connection off',
};

/** Describes the failure for the person who typed the address; messages of libraries would name source files. */
function describeFailure({ reason, cause }: Extract<OutsideAnswer, { outcome: 'failed' }>): string {
  if (reason === 'timeout' && cause instanceof Error) return cause.message;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  const others =
    reason === 'tls' ? 'It has no valid certificate, or speaks no TLS there' : 'It does not answer as HTTP';
  return `${FAILURES[code ?? ''] ?? others}${code === undefined ? '' : ` (${code})`}.`;
}

/** Calls a store once, with limits on time and bytes. */
export async function requestStore(
  { baseUrl, allow, signal }: Pick<StoreAccess, 'baseUrl' | 'allow' | 'signal'>,
  call: Pick<StoreRequest<unknown>, 'method' | 'path' | 'body' | 'isList'> &
    ReturnType<StoreRequest<unknown>['credentials']>,
) {
  const { method, path, headers = {}, query = {}, body, isList = false } = call;
  const url = new URL(`${baseUrl}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const answer = await callOutside({
    url,
    method,
    allow,
    timeoutMs: isList ? LIST_TIMEOUT_MS : TIMEOUT_MS,
    signal,
    maxBytes: isList ? LIST_MAX_BYTES : MAX_BYTES,
    headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (answer.outcome === 'refused') throw storeUnavailable(new Error(`Its address ${answer.reason}.`));
  if (answer.outcome === 'failed') throw storeUnavailable(new Error(describeFailure(answer), { cause: answer.cause }));
  return answer;
}

/**
 * Sends the request, and repeats it if the store wants the token sent in another way, or if the token can be renewed.
 */
async function showToken<T>(store: StoreAccess, request: StoreRequest<T>) {
  const { method, path, body, isList = false } = request;
  const once = () =>
    requestStore(store, { method, path, isList, ...(body ? { body } : {}), ...request.credentials(store) });
  const first = await once();
  if (first.status !== 401) return first;
  const isShownAgain = request.showsAgain?.(store, first.text) === true;
  const second = isShownAgain ? await once() : first;
  if (isShownAgain && second.status === 200) await store.remember?.();
  if (second.status !== 401 || !store.renew) return second;
  store.token = await store.renew(store.token);
  return await once();
}

export interface StoreAnswer<T> {
  body: T;
  headers: IncomingHttpHeaders;
}

/** Calls a store; undefined if it has no such object (404). */
export async function callStore<T>(store: StoreAccess, request: StoreRequest<T>): Promise<StoreAnswer<T> | undefined> {
  const answer = await showToken(store, request);
  const cause = new Error(`It answered ${answer.status}.`);
  if (answer.status === 404) {
    if (answer.text.includes(request.goneText ?? '')) return undefined;
    throw storeUnavailable(cause);
  }
  if (answer.status === 401 || answer.status === 403) throw unauthorized(cause);
  if (answer.status === 429) throw storeBusy(readRetryAfter(getHeader(answer.headers, 'retry-after')));
  if (answer.status !== 200 && answer.status !== 201) throw storeUnavailable(cause);
  const version = request.versionOf?.(answer.headers);
  if (version) await store.onVersion?.(version);
  store.onAnswer?.();
  return { body: readAnswer(request, request.shape, parseJson(answer.text)), headers: answer.headers };
}

/** Calls a store and returns the body alone. */
export const askStore = async <T>(store: StoreAccess, request: StoreRequest<T>): Promise<T | undefined> =>
  (await callStore(store, request))?.body;

/** Calls a store for an object that must exist. */
export async function getFromStore<T>(store: StoreAccess, request: StoreRequest<T>): Promise<T> {
  const body = await askStore(store, request);
  if (body === undefined) throw storeUnavailable(new Error(`It has no ${request.path}.`));
  return body;
}
