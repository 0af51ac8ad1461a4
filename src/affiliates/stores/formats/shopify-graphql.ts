import { z } from 'zod';
import {
  getFromStore,
  getHeader,
  readAnswer,
  type StoreAccess,
  storeBusy,
  storeUnavailable,
  unauthorized,
} from './provider.ts';

/** The newest stable version. Shopify answers one that it no longer supports with the oldest that it does. */
export const SHOPIFY_VERSION = '2026-10';
const PATH = `/admin/api/${SHOPIFY_VERSION}/graphql.json`;

const GraphqlError = z.object({
  message: z.string(),
  extensions: z
    .object({ code: z.string().optional(), cost: z.number().optional(), maxCost: z.number().optional() })
    .optional(),
});

/** Cost of a query in points of a bucket that refills. */
const Cost = z.object({
  requestedQueryCost: z.number(),
  throttleStatus: z.object({ currentlyAvailable: z.number(), restoreRate: z.number().positive() }),
});
type Cost = z.output<typeof Cost>;

const Answer = z.object({
  data: z.unknown().optional(),
  errors: z.array(GraphqlError).optional(),
  extensions: z.object({ cost: Cost.optional() }).optional(),
});

/** A query that is always refused, because it could cost more than any query may. */
class TooCostly extends Error {
  /** Share of the query that would be accepted, from 0 to 1. */
  readonly share: number;

  constructor(message: string, share: number) {
    super(message);
    this.share = share;
  }
}

/** Returns the share of a too costly query that would be accepted; undefined for other errors. */
export const getAffordableShare = (error: unknown): number | undefined =>
  error instanceof Error && error.cause instanceof TooCostly ? error.cause.share : undefined;

/** Computes the pause until the bucket holds enough points for the same query. */
function computeWaitMs(cost: Cost | undefined): number {
  if (!cost) return 0;
  const { requestedQueryCost, throttleStatus } = cost;
  const missing = requestedQueryCost - throttleStatus.currentlyAvailable;
  return missing <= 0 ? 0 : Math.ceil((missing / throttleStatus.restoreRate) * 1_000);
}

const LEAST_BUSY_MS = 1_000;

function toError({ message, extensions }: z.output<typeof GraphqlError>, cost: Cost | undefined): Error {
  const cause = new Error(message);
  if (extensions?.code === 'ACCESS_DENIED') return unauthorized(cause);
  if (extensions?.code === 'THROTTLED') return storeBusy(Math.max(computeWaitMs(cost), LEAST_BUSY_MS));
  if (extensions?.code !== 'MAX_COST_EXCEEDED') return storeUnavailable(cause);
  const { cost: estimate = 2, maxCost = 1 } = extensions;
  return storeUnavailable(new TooCostly(message, maxCost / estimate));
}

export interface ShopifyAnswer<T> {
  data: T;
  /** Pause before the same query may be sent again. */
  waitMs: number;
}

/**
 * Calls GraphQL, whose errors have status 200: a missing scope is the token's fault, anything else the store's. With
 * `isPartial`, fields that the token may not read are null and the rest of the answer counts.
 */
export async function callShopify<T>(
  store: StoreAccess,
  {
    query,
    variables,
    data,
    isPartial = false,
  }: { query: string; variables: object; data: z.ZodType<T>; isPartial?: boolean },
): Promise<ShopifyAnswer<T>> {
  const endpoint = { method: 'POST', path: PATH } as const;
  const answer = await getFromStore(store, {
    ...endpoint,
    credentials: ({ token }) => ({ headers: { 'x-shopify-access-token': token } }),
    versionOf: (headers) => getHeader(headers, 'x-shopify-api-version'),
    body: { query, variables },
    shape: Answer,
    isList: isPartial,
  });
  const cost = answer.extensions?.cost;
  const isLeftOut = (code: string | undefined) => isPartial && code === 'ACCESS_DENIED' && answer.data;
  const error = answer.errors?.find(({ extensions }) => !isLeftOut(extensions?.code));
  if (error) throw toError(error, cost);
  return { data: readAnswer(endpoint, data, answer.data), waitMs: computeWaitMs(cost) };
}

/** Calls Shopify and returns the data alone. */
export const askShopify = async <T>(
  store: StoreAccess,
  query: string,
  variables: object,
  data: z.ZodType<T>,
): Promise<T> => (await callShopify(store, { query, variables, data })).data;
