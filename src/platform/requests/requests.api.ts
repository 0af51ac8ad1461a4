import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { idField } from '../../kit/values/fields.ts';
import { clampedParameter, timestamp, utcThroughInput, utcTimestampInput } from '../../kit/values/page.ts';
import { listKeyNames } from '../keys/keys.ts';
import { CALLS_KEPT_MS, type RequestRow, listRequests as selectRequests } from './requests.ts';

const MAX_REQUESTS = 1_000;
const DEFAULT_REQUESTS = 100;

const TEXT = z.string().max(200);

/** The end of a page, as the sort values of its last call. */
export interface Position {
  atMs: number;
  requestId: string;
  micros: number;
}

const CURSOR = /^(\d{1,15})\.(\d{1,15})\.(.{1,200})$/s;

const encodeCursor = ({ atMs, requestId, micros }: Position): string =>
  Buffer.from(`${atMs}.${micros}.${requestId}`).toString('base64url');

/** Decodes a cursor; undefined if it is malformed. */
function decodeCursor(cursor: string): Position | undefined {
  const [, atMs, micros, requestId] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return requestId === undefined ? undefined : { atMs: Number(atMs), micros: Number(micros), requestId };
}

const cursor = z
  .string()
  .max(400)
  .refine((text) => decodeCursor(text) !== undefined, 'must be the `next_after` of an earlier answer');

export const RequestFilter = z.object({
  request_id: TEXT.describe('Only the call with this request id.').optional(),
  key: TEXT.describe('Only calls with the key of this id.').optional(),
  operation: TEXT.describe('Only calls of this operation, such as `search_creators`.').optional(),
  status: z
    .string()
    .regex(/^[1-5](?:[0-9]{2}|[xX]{2})$/, 'must be a status such as 404, or a class of statuses such as 4xx')
    .describe('Only calls that were answered with this status, such as `404`, or class of statuses, such as `4xx`.')
    .optional(),
  from: utcTimestampInput.describe('Only calls at or after this time.').optional(),
  to: utcThroughInput.describe('Only calls at or before this time; a date includes the whole day.').optional(),
  after: cursor.describe('`next_after` of the previous page, to send with the same filters.').optional(),
  limit: clampedParameter(MAX_REQUESTS)
    .default(DEFAULT_REQUESTS)
    .describe('Most calls in one answer; larger values are clamped to 1,000.'),
});
export type RequestFilter = z.output<typeof RequestFilter>;

const KeyRequest = z
  .object({
    request_id: z.string().describe('`X-Request-Id` of the call.').meta({ example: 'req_0Uo3xK2mVdT2aXs7LpRb' }),
    at: timestamp.describe('When the call began.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    key_id: idField('key', 'Id of the key that made the call.'),
    key_name: z.string().nullable().describe('Name of the key that made the call.').meta({ example: 'warehouse' }),
    operation: z
      .string()
      .nullable()
      .describe('Operation that was called; null if there is none at the path.')
      .meta({ example: 'search_creators' }),
    status: z.number().int().describe('HTTP status of the answer.').meta({ example: 200 }),
    code: z
      .string()
      .nullable()
      .describe('Error code of the answer; null if the call succeeded.')
      .meta({ example: null }),
    credits: z.number().int().describe('Credits that the call cost; a walk costs the sum of its blocks.'),
    ms: z
      .number()
      .describe('Milliseconds until the answer was ready, or until a stream ended.')
      .meta({ example: 12.4 }),
    results: z
      .number()
      .int()
      .nullable()
      .describe(
        'Matches of a search or items of a list, on all pages; creators that a walk sent; null for other calls.',
      )
      .meta({ example: 1_284 }),
    search: z
      .object({
        kind: z
          .enum(['page', 'preview', 'look_up', 'walk'])
          .describe('`page`: one page of creators. `look_up`: creators by key, username or email address.'),
        filters: z
          .array(z.string())
          .describe('Names of the parameters that decided who matches. Their values are not kept.')
          .meta({ example: ['category', 'city', 'q'] }),
        fingerprint: z
          .string()
          .describe('The same for all searches with the same filters, whatever their page, order or kind.')
          .meta({ example: '5f0c2a91b7d3e486' }),
      })
      .nullable()
      .describe('The search; null for other calls and for refused ones.'),
  })
  .meta({ id: 'KeyRequest' });

const KeyRequests = z
  .object({
    data: z.array(KeyRequest).describe('Calls, newest first.'),
    has_more: z.boolean().describe('Whether there are earlier calls.').meta({ example: true }),
    next_after: z
      .string()
      .nullable()
      .describe('Send it as `after` for the calls before these; null if there are none.')
      .meta({ example: 'MTc3MjQ0MzgwMDAwMC4xMjQwMC5yZXE' }),
  })
  .meta({ id: 'KeyRequests' });

const CSV_PAGE_SIZE = 5_000;

function toKeyRequest(row: RequestRow, names: ReadonlyMap<string, string>): z.input<typeof KeyRequest> {
  const { at_ms, key_id, operation, code, micros, search, filters, fingerprint, ...same } = row;
  return {
    ...same,
    key_id,
    key_name: names.get(key_id) ?? null,
    at: new Date(at_ms).toISOString(),
    operation: operation || null,
    code: code || null,
    ms: Math.round(micros / 100) / 10,
    search: search === '' ? null : { kind: search, filters, fingerprint },
  };
}

/** Reads a page of calls, with the cursor of the next one if there is one. */
async function readPage(
  { clickhouse, postgres, clock }: Context,
  brandId: string,
  { limit, after, ...filter }: RequestFilter,
) {
  const oldest = new Date(clock.now().getTime() - CALLS_KEPT_MS);
  const from = filter.from && filter.from > oldest ? filter.from : oldest;
  const window = { ...filter, from, to: filter.to, after: after === undefined ? undefined : decodeCursor(after) };
  const matches = await selectRequests(clickhouse, brandId, window, limit + 1);
  const rows = matches.slice(0, limit);
  const names = await listKeyNames(postgres.db, brandId, [...new Set(rows.map(({ key_id }) => key_id))]);
  const last = matches.length > limit ? rows.at(-1) : undefined;
  return {
    items: rows.map((row) => toKeyRequest(row, names)),
    next: last && encodeCursor({ atMs: last.at_ms, requestId: last.request_id, micros: last.micros }),
  };
}

async function* iterateRequests(context: Context, brandId: string, filter: RequestFilter) {
  let { after } = filter;
  do {
    const { items, next } = await readPage(context, brandId, { ...filter, after, limit: CSV_PAGE_SIZE });
    yield* items;
    after = next;
  } while (after);
}

const listRequests = read({
  id: 'list_requests',
  path: '/v1/requests',
  tag: 'Usage',
  summary: 'List calls of the last 14 days',
  description:
    "Calls with the brand's keys, newest first, with their answer, cost and duration. A call appears within a " +
    'few seconds. Search texts are not kept. For balances use `GET /v1/usage`: single calls may be missing here.',
  // Operators of integrations read it; an agent sees its own answers.
  forAgents: { isListed: false },
  query: RequestFilter,
  response: KeyRequests,
  handler: async (context, { caller, query }) => {
    const { items, next } = await readPage(context, caller.brandId, query);
    return { data: items, has_more: next !== undefined, next_after: next ?? null };
  },
  csv: { item: KeyRequest, rows: (context, { caller, query }) => iterateRequests(context, caller.brandId, query) },
});

const requestOperations = [listRequests] as const;

export const requests = noun({ name: 'requests', operations: requestOperations });
