import { sql } from 'kysely';
import { seededRandom, weighted } from '../../directory/imports/indexing/random.ts';
import { readFilters, type SavedFilters } from '../../directory/saved-searches/filters.ts';
import { SEARCH_CREDITS } from '../../directory/search/preview.ts';
import { toSearchRecord } from '../../directory/search/search-record.ts';
import type { OperationId } from '../../interfaces/nouns.ts';
import { type ChargeEntry, insertEntries } from '../../kit/access/credits/entries.ts';
import { periodAt } from '../../kit/access/credits/period.ts';
import { type Caller, getSubscription, updateLastUsed } from '../../kit/access/keys/callers.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { SearchOutcome } from '../../kit/operation/operation.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { type ErrorCode, STATUS } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { listKeys } from '../../platform/keys/keys.ts';
import { type OpenCall, openCallRecord } from '../../platform/requests/call-record.ts';
import { CALLS_KEPT_MS } from '../../platform/requests/requests.ts';

const SEED = 14;
const CALLS_A_DAY = 70;

interface Kind {
  operation: OperationId;
  share: number;
  /** The usual time until the answer. */
  ms: number;
  /** A refused call has no matches. */
  code?: ErrorCode;
}

/** The calls of a warehouse that reads sales, a shop that makes links, and a person who tries something. */
const KINDS: readonly Kind[] = [
  { operation: 'list_orders', share: 22, ms: 38 },
  { operation: 'list_commissions', share: 14, ms: 44 },
  { operation: 'get_analytics', share: 10, ms: 70 },
  { operation: 'list_roster', share: 8, ms: 21 },
  { operation: 'list_affiliate_links', share: 7, ms: 24 },
  { operation: 'get_order', share: 7, ms: 12 },
  { operation: 'explain_attribution', share: 5, ms: 19 },
  { operation: 'list_payouts', share: 4, ms: 18 },
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

/** A preview, which is free, or a page of what was previewed. */
function drawSearch(random: ReturnType<typeof seededRandom>): SearchOutcome {
  const { results, record } = random.pick(SEARCHES);
  return { results, record: random.chance(0.4) ? { ...record, kind: 'preview' } : record };
}

/** The key that searches the directory: the brand's data key, or the caller's if there is none. */
async function findReader(db: Db, caller: Caller): Promise<Caller> {
  const dataKey = (await listKeys(db, caller.brandId)).find(({ kind, revokedAt }) => kind === 'data' && !revokedAt);
  if (!dataKey) return caller;
  return {
    ...caller,
    kind: 'data',
    keyId: dataKey.id,
    subscription: await getSubscription(db, dataKey.subscriptionId),
  };
}

/** The times at which the rows of each list came, because a call of a list matches what there was by then. */
async function listArrivals(db: Db, brandId: string): Promise<Map<string, { at: Date }[]>> {
  const { rows } = await sql<{ operation: OperationId; at: Date }>`
    select 'list_orders' as operation, occurred_at as at from orders where brand_id = ${brandId}
    union all select 'list_commissions', occurred_at from commissions where brand_id = ${brandId}
    union all select 'list_affiliate_links', created_at from links where brand_id = ${brandId}
    union all select 'list_payouts', created_at from payouts where brand_id = ${brandId}
    union all select 'list_roster', added_at from roster_entries where brand_id = ${brandId}`.execute(db);
  return Map.groupBy(rows, ({ operation }) => operation);
}

/** A page of creators costs a data key credits. */
const toCharge = ({ at, requestId }: OpenCall, { keyId, subscription }: Caller): ChargeEntry => ({
  chargeId: newId('chg', at.getTime()),
  kind: 'charge',
  subscriptionId: subscription.id,
  keyId,
  credits: SEARCH_CREDITS,
  periodStart: periodAt(subscription.anchorAt, at).start,
  requestId,
  occurredAt: at,
});

/**
 * Records the calls of the last two weeks, as the API would have. They end with the last full hour, so that no hour has
 * them and calls of a person.
 */
export async function recordCalls(context: Context, caller: Caller, now: Date): Promise<void> {
  const { db } = context.postgres;
  const reader = await findReader(db, caller);
  const arrivals = await listArrivals(db, caller.brandId);
  const random = seededRandom(SEED);
  const until = now.getTime() - (now.getTime() % HOUR_MS);
  let at = now;
  const lastUses = new Map<string, Date>();
  const charges: ChargeEntry[] = [];
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
      const by = isLookUp || isSearch ? reader : caller;
      call.caller = by;
      if (at > (lastUses.get(by.keyId) ?? new Date(0))) lastUses.set(by.keyId, at);
      const ms = (isLookUp ? 6 : isSearch ? 34 : kind.ms) * (0.6 + random.next() + (random.chance(0.03) ? 6 : 0));
      call.startedAtMs = performance.now() - ms;
      if (isSearch) call.outcome = drawSearch(random);
      if (by.kind === 'data' && call.outcome.record?.kind === 'page') {
        const charge = toCharge(call, by);
        charges.push(charge);
        call.credits = charge.credits;
      }
      const rows = code === undefined ? arrivals.get(operation) : undefined;
      if (rows) call.outcome = { results: rows.filter((row) => row.at <= call.at).length };
      const status = code === undefined ? (operation.startsWith('create_') ? 201 : 200) : STATUS[code];
      record.end(call, status, code);
    }
  }
  await record.close();
  await insertEntries(db, charges);
  await updateLastUsed(db, lastUses);
}
