import { seededRandom, weighted } from '../../directory/imports/indexing/random.ts';
import { readFilters, type SavedFilters } from '../../directory/saved-searches/filters.ts';
import { toSearchRecord } from '../../directory/search/search-record.ts';
import type { OperationId } from '../../interfaces/nouns.ts';
import { type Caller, updateLastUsed } from '../../kit/access/keys/callers.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { SearchOutcome } from '../../kit/operation/operation.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { type ErrorCode, STATUS } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { listKeys } from '../../platform/keys/keys.ts';
import { openCallRecord } from '../../platform/requests/call-record.ts';
import { CALLS_KEPT_MS } from '../../platform/requests/requests.ts';

const SEED = 14;
const CALLS_A_DAY = 70;

interface Kind {
  operation: OperationId;
  share: number;
  /** The usual time until the answer. */
  ms: number;
  /** The most matches of a list. */
  results?: number;
  /** A refused call has no matches. */
  code?: ErrorCode;
}

/** The calls of a warehouse that reads sales, a shop that makes links, and a person who tries something. */
const KINDS: readonly Kind[] = [
  { operation: 'list_orders', share: 22, ms: 38, results: 2_000 },
  { operation: 'list_commissions', share: 14, ms: 44, results: 1_400 },
  { operation: 'get_analytics', share: 10, ms: 70 },
  { operation: 'list_roster', share: 8, ms: 21, results: 40 },
  { operation: 'list_affiliate_links', share: 7, ms: 24, results: 60 },
  { operation: 'get_order', share: 7, ms: 12 },
  { operation: 'explain_attribution', share: 5, ms: 19 },
  { operation: 'list_payouts', share: 4, ms: 18, results: 50 },
  { operation: 'create_affiliate_link', share: 2, ms: 55 },
  { operation: 'get_order', share: 1, ms: 8, code: 'NOT_FOUND' },
  { operation: 'create_affiliate_link', share: 0.5, ms: 31, code: 'DUPLICATE_CODE' },
  { operation: 'review_commissions', share: 0.4, ms: 26, code: 'REVIEW_PERIOD_ACTIVE' },
  { operation: 'search_creators', share: 0.6, ms: 5, code: 'VALIDATION_ERROR' },
  { operation: 'list_orders', share: 0.8, ms: 2, code: 'RATE_LIMITED' },
  { operation: 'get_analytics', share: 0.2, ms: 2_030, code: 'SERVICE_UNAVAILABLE' },
];

/** Searches of the brand with their matches in the sample directory. */
const SEARCHED: readonly [SavedFilters, number][] = [
  [{ category: 'Beauty', city: 'NYC' }, 118],
  [{ category: 'Beauty', city: 'LA', follower_min: '10000' }, 64],
  [{ q: 'skincare', follower_min: '5000', follower_max: '50000' }, 231],
  [{ category: 'Beauty', country: 'DE', engagement_min: '4' }, 12],
  [{ q: 'barrier cream', city: 'Oakland' }, 0],
];
const SEARCHES = SEARCHED.map(([filters, results]) => ({
  results,
  record: toSearchRecord(readFilters('filters', filters)),
}));

const drawKind = weighted(KINDS, ({ share }) => share);

/** A preview, or a page of what was previewed. Neither costs credits: a brand's key pays with its plan. */
function drawSearch(random: ReturnType<typeof seededRandom>): SearchOutcome {
  const { results, record } = random.pick(SEARCHES);
  return { results, record: random.chance(0.4) ? { ...record, kind: 'preview' } : record };
}

/**
 * Records the calls of the last two weeks, as the API would have. They end with the last full hour, so that no hour has
 * them and calls of a person.
 */
export async function recordCalls(context: Context, caller: Caller, now: Date): Promise<void> {
  const keys = await listKeys(context.postgres.db, caller.brandId);
  const dataKey = keys.find(({ kind, revokedAt }) => kind === 'data' && revokedAt === null);
  const reader: Caller = dataKey ? { ...caller, kind: 'data', keyId: dataKey.id } : caller;
  const random = seededRandom(SEED);
  const until = now.getTime() - (now.getTime() % HOUR_MS);
  let at = now;
  const lastUses = new Map<string, Date>();
  const record = openCallRecord({ ...context, clock: { now: () => at } });
  const days = Math.floor(CALLS_KEPT_MS / DAY_MS);
  for (let day = days; day > 0; day -= 1) {
    const count = CALLS_A_DAY + random.below(CALLS_A_DAY / 2);
    for (let i = 0; i < count; i += 1) {
      at = new Date(until - day * DAY_MS + random.below(DAY_MS));
      const isLookUp = random.chance(0.06);
      const isSearch = !isLookUp && random.chance(0.12);
      const kind = drawKind(random);
      const operation = isLookUp ? 'get_directory_creator' : isSearch ? 'search_creators' : kind.operation;
      const code = isLookUp || isSearch ? undefined : kind.code;
      const call = record.begin(operation, newId('req', at.getTime()));
      const { keyId } = isLookUp ? reader : caller;
      call.caller = isLookUp ? reader : caller;
      if (at > (lastUses.get(keyId) ?? new Date(0))) lastUses.set(keyId, at);
      const ms = (isLookUp ? 6 : isSearch ? 34 : kind.ms) * (0.6 + random.next() + (random.chance(0.03) ? 6 : 0));
      call.startedAtMs = performance.now() - ms;
      if (isSearch) call.outcome = drawSearch(random);
      else if (!isLookUp && kind.results !== undefined && code === undefined) call.outcome = { results: kind.results };
      const status = code === undefined ? (operation.startsWith('create_') ? 201 : 200) : STATUS[code];
      record.end(call, status, code);
    }
  }
  await record.close();
  await updateLastUsed(context.postgres.db, lastUses);
}
