import type { z } from 'zod';
import { listKeyNames } from '../../kit/access/keys/queries.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { CALLS_KEPT_MS, listRequests as selectRequests, type RequestRow } from './requests.ts';
import { cursorOf, KeyRequest, KeyRequests, RequestFilter, readCursor } from './schema.ts';

const READ_AT_ONCE = 5_000;

function itemOf(row: RequestRow, names: ReadonlyMap<string, string>): z.input<typeof KeyRequest> {
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

const cursorAfter = ({ at_ms, request_id, micros }: RequestRow): string =>
  cursorOf({ atMs: at_ms, requestId: request_id, micros });

/** One page of calls, and the cursor after it if there are more. */
async function readPage(
  { clickhouse, postgres, clock }: Context,
  brandId: string,
  { limit, after, ...filter }: RequestFilter,
) {
  const kept = new Date(clock.now().getTime() - CALLS_KEPT_MS);
  const from = filter.from && filter.from > kept ? filter.from : kept;
  const window = { ...filter, from, to: filter.to, after: after === undefined ? undefined : readCursor(after) };
  const found = await selectRequests(clickhouse, brandId, window, limit + 1);
  const rows = found.slice(0, limit);
  const names = await listKeyNames(postgres.db, brandId, [...new Set(rows.map(({ key_id }) => key_id))]);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { items: rows.map((row) => itemOf(row, names)), next: last && cursorAfter(last) };
}

async function* eachRequest(context: Context, brandId: string, filter: RequestFilter) {
  let { after } = filter;
  do {
    const { items, next } = await readPage(context, brandId, { ...filter, after, limit: READ_AT_ONCE });
    yield* items;
    after = next;
  } while (after);
}

const listRequests = read({
  id: 'list_requests',
  path: '/v1/requests',
  tag: 'Usage',
  summary: 'Calls of the last 14 days',
  description:
    "Calls with the brand's keys, newest first, with their answer, cost and duration. A call appears within a " +
    'few seconds. Search texts are not kept. For balances use `GET /v1/usage`: single calls may be missing here.',
  // Operators of integrations read it; an agent sees its own answers.
  forAgents: false,
  query: RequestFilter,
  response: KeyRequests,
  handler: async (context, { caller, query }) => {
    const { items, next } = await readPage(context, caller.brandId, query);
    return { data: items, has_more: next !== undefined, next_after: next ?? null };
  },
  csv: { item: KeyRequest, rows: (context, { caller, query }) => eachRequest(context, caller.brandId, query) },
});

export const requestOperations = [listRequests] as const;
