import { z } from 'zod';
import type { SetHeader } from '../../kit/access/rate-limit.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import type { Redis } from '../../kit/engines/redis/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { ApiError, unavailable } from '../../kit/values/errors.ts';
import { findReconciliation } from './rollups.ts';
import { CLICK_STREAM, CLICKS_HELD, REBUILD_NOTICE_MS } from './sums.ts';
import { findFreshness, isBeingRebuilt } from './sync.ts';

/** Longer than a click takes to reach the stream, with a margin for hosts whose clocks differ. */
const ON_ITS_WAY_MS = 3_000;
/** The time of the click, in each row of a group. */
const CLICKED_AT = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\b/g;

/** The time of the earliest click of a group. */
function parseFirstClick(group: string | undefined): number | undefined {
  const [oldest] = (group?.match(CLICKED_AT) ?? []).sort();
  return oldest === undefined ? undefined : Date.parse(`${oldest.replace(' ', 'T')}Z`);
}

/** The two oldest groups, and the oldest group of paused brands, read at once. */
const WAITING_LUA =
  "return { redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 2), redis.call('LINDEX', KEYS[2], 0) or '' }";
const Group = z.tuple([z.string(), z.array(z.string())]);
const Waiting = z.tuple([z.array(Group), z.string()]);

const recordedAt = ([id]: [id: string, fields: string[]]) => Number(id.split('-', 1)[0]);

/**
 * The earliest time at which any click that waits for ClickHouse can have happened. Figures select by the time of the
 * click, but groups are ordered by the time they were recorded, so only the oldest group is read. A later group may
 * hold older clicks, from a process that recorded them late. There may be too many groups to read, so a margin is
 * subtracted.
 */
export async function oldestWaitingClick(redis: Redis): Promise<number> {
  const [[first, second], heldGroup] = Waiting.parse(
    await redis.use((client) => client.eval(WAITING_LUA, 2, CLICK_STREAM, CLICKS_HELD)),
  );
  const heldAt = (parseFirstClick(heldGroup) ?? Number.POSITIVE_INFINITY) - ON_ITS_WAY_MS;
  if (!first) return heldAt;
  const clickedAt = parseFirstClick(first[1][1]) ?? recordedAt(first) - ON_ITS_WAY_MS;
  return Math.min(heldAt, clickedAt, second ? recordedAt(second) - ON_ITS_WAY_MS : Number.POSITIVE_INFINITY);
}

/** Shorter than the time between two reconciliations. */
const RECONCILED_KNOWN_MS = 1_000;
/** The time at which each ClickHouse was last found reconciled. */
const reconciledAt = new WeakMap<ClickHouse, number>();

/**
 * A ClickHouse that was just started may have lost data, until the reconciliation has checked it; see affiliates/ledger/ledger.jobs.ts.
 */
async function isReconciled(clickhouse: ClickHouse): Promise<boolean> {
  if (clickhouse.cluster !== undefined) return true;
  const requestedAt = performance.now();
  const isDone = (await findReconciliation(clickhouse))?.step === 'done';
  if (isDone) reconciledAt.set(clickhouse, requestedAt);
  else reconciledAt.delete(clickhouse);
  return isDone;
}

/**
 * A recent result is good enough before figures are read, because ClickHouse is checked again afterwards. If it was
 * reconciled both times, it was not restarted in between.
 */
async function wasReconciled(clickhouse: ClickHouse): Promise<boolean> {
  const lastReconciledAt = reconciledAt.get(clickhouse);
  return (
    (lastReconciledAt !== undefined && performance.now() - lastReconciledAt < RECONCILED_KNOWN_MS) ||
    (await isReconciled(clickhouse))
  );
}

type Engines = Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse' | 'clock'>;

/**
 * The sums that figures are read from: those of postings; of orders by the click that won them, which come later; or
 * also of customers.
 */
type FigureSource = 'postings' | 'orders' | 'customers';

/**
 * Undefined if the engine does not answer. If that is ClickHouse, there are no figures, so the caller does not wait for
 * it again.
 */
async function ifAnswered<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.engine !== 'ClickHouse') return undefined;
    throw error;
  }
}

interface Freshness {
  /** Everything acknowledged up to this time, inclusive, is in the figures. */
  at: Date;
  /** True if the figures stayed complete while they were read. */
  isStillWhole(): Promise<boolean>;
}

/** Reads how fresh the brand's figures are; undefined if an engine does not answer, or if figures are incomplete. */
async function readFreshness(
  { postgres, clicksRedis, clickhouse, clock }: Engines,
  brandId: string,
  source: FigureSource,
): Promise<Freshness | undefined> {
  const now = clock.now().getTime();
  const requestedAt = performance.now();
  const [{ oldestUnsynced, oldestUnsyncedOrder, oldestUnsyncedCustomer, isWhole }, clickedAt, wasSound] =
    await Promise.all([
      findFreshness(postgres.db, brandId),
      oldestWaitingClick(clicksRedis),
      wasReconciled(clickhouse),
    ]);
  if (!isWhole || !wasSound) return undefined;
  const missing = {
    postings: [oldestUnsynced],
    orders: [oldestUnsynced, oldestUnsyncedOrder],
    customers: [oldestUnsynced, oldestUnsyncedOrder, oldestUnsyncedCustomer],
  }[source];
  const waitingSince = Math.min(clickedAt, ...missing.flatMap((at) => at?.getTime() ?? []));
  return {
    at: new Date(Math.min(now, waitingSince - 1)),
    isStillWhole: async () => {
      const isWithinNotice = performance.now() - requestedAt < REBUILD_NOTICE_MS;
      const [isSound, isMissing] = await Promise.all([
        isReconciled(clickhouse),
        isWithinNotice ? false : isBeingRebuilt(postgres.db, brandId),
      ]);
      return isSound && !isMissing;
    },
  };
}

interface FreshnessRequest {
  caller: { brandId: string };
  setHeader: SetHeader;
}

/**
 * Reads figures and how fresh they are. The time is taken first, so figures that arrive in the meantime are newer than
 * promised.
 */
export async function withFreshness<T>(
  context: Engines,
  { caller: { brandId }, setHeader }: FreshnessRequest,
  read: () => Promise<T>,
  from: FigureSource = 'postings',
): Promise<T> {
  const freshness = await ifAnswered(() => readFreshness(context, brandId, from));
  const answer = await read();
  if (freshness && (await ifAnswered(freshness.isStillWhole))) setHeader('x-data-as-of', freshness.at.toISOString());
  return answer;
}

/** Aborts the stream unless the freshness in the header still holds after the last row. */
async function* verifyAfterRows<T>({ isStillWhole }: Freshness, rows: AsyncIterable<T>): AsyncGenerator<T> {
  yield* rows;
  if (await isStillWhole()) return;
  throw unavailable('The data behind the figures', new Error('They were rebuilt in the meantime.'));
}

/** Like `withFreshness`, for rows that are streamed after the header. */
export async function withFreshRows<T>(
  context: Engines,
  { caller: { brandId }, setHeader }: FreshnessRequest,
  rows: AsyncIterable<T>,
  from: FigureSource = 'postings',
): Promise<AsyncIterable<T>> {
  const freshness = await ifAnswered(() => readFreshness(context, brandId, from));
  if (!freshness) return rows;
  setHeader('x-data-as-of', freshness.at.toISOString());
  return verifyAfterRows(freshness, rows);
}

/**
 * The handlers of an operation that answers with a page of figures, or with all rows as CSV. Both say how fresh they
 * are.
 */
export function figuresHandlers<Query, Answer, Item extends z.ZodObject>({
  item,
  page,
  rows,
  from = 'orders',
}: {
  item: Item;
  page: (context: Context, brandId: string, query: Query) => Promise<Answer>;
  rows: (context: Context, brandId: string, query: Query) => AsyncIterable<z.input<Item>>;
  from?: FigureSource;
}) {
  type FiguresCall = FreshnessRequest & { query: Query };
  return {
    handler: (context: Context, call: FiguresCall) =>
      withFreshness(context, call, () => page(context, call.caller.brandId, call.query), from),
    csv: {
      item,
      rows: (context: Context, call: FiguresCall) =>
        withFreshRows(context, call, rows(context, call.caller.brandId, call.query), from),
    },
  };
}
