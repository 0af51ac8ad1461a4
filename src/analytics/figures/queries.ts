import { z } from 'zod';
import type { SetHeader } from '../../kit/access/rate/headers.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { idArray, idSet, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import type { Context } from '../../kit/operation/context.ts';
import { ApiError, unavailable } from '../../kit/values/errors.ts';
import { SUMS } from './columns.ts';
import { isReconciled, wasReconciled } from './reconciled.ts';
import { type CurrencyFigures, figuresOf, type LinkFigures, REBUILD_NOTICE_MS, Sums, type Window } from './schema.ts';
import { sourceOf } from './source.ts';
import { findStanding, isBeingRebuilt } from './sync/queries.ts';
import { oldestWaitingClick } from './waiting-clicks.ts';

const LinkSums = Sums.extend({ link_id: z.string() });
const CreatorSums = Sums.extend({ owner_id: z.string() });

/** Merged creators: maps the id in the figures to the current id. */
export type Merged = ReadonlyMap<string, string>;

/** The current creator of a row. Almost no brand has merged creators; then it is just the column. */
export const ownerOf = (merged: Merged, column = 'creator_id'): string =>
  merged.size === 0
    ? column
    : `transform(${column}, ${idArray([...merged.keys()])}, ${idArray([...merged.values()])}, ${column})`;

/** Lifetime figures of each link; zeros for a link without any yet. */
export async function lifetimeOf(
  clickhouse: ClickHouse,
  brandId: string,
  links: readonly { id: string; currency: string }[],
): Promise<Map<string, LinkFigures>> {
  if (links.length === 0) return new Map();
  const rows = await queryInTime(
    clickhouse,
    LinkSums,
    `SELECT link_id, currency, ${SUMS} FROM link_life_v1
    WHERE brand_id = {brand:String} AND link_id IN ${idSet(links.map(({ id }) => id))}
    GROUP BY link_id, currency ORDER BY link_id, currency`,
    { brand: brandId },
  );
  const found = Map.groupBy(rows, ({ link_id }) => link_id);
  return new Map(links.map(({ id, currency }) => [id, linkFigures((found.get(id) ?? []).map(figuresOf), currency)]));
}

function linkFigures(figures: readonly CurrencyFigures[], currency: string): LinkFigures {
  const own = figures.find((one) => one.currency === currency);
  return {
    clicks: figures.reduce((sum, { clicks }) => sum + clicks, 0),
    conversions: figures.reduce((sum, { conversions }) => sum + conversions, 0),
    revenueMinor: own?.revenueMinor ?? 0,
    commissionMinor: own?.commissionMinor ?? 0,
    others: figures.filter((one) => one !== own),
  };
}

/** Lifetime figures of creators, one row for each currency; no row for a creator without any. */
export async function byCreator(
  clickhouse: ClickHouse,
  brandId: string,
  creatorIds: readonly string[],
  merged: Merged,
): Promise<Map<string, CurrencyFigures[]>> {
  if (creatorIds.length === 0) return new Map();
  const rows = await queryInTime(
    clickhouse,
    CreatorSums,
    `SELECT ${ownerOf(merged)} AS owner_id, currency, ${SUMS} FROM link_life_v1
    WHERE brand_id = {brand:String} AND owner_id IN ${idSet(creatorIds)}
    GROUP BY owner_id, currency ORDER BY owner_id, currency`,
    { brand: brandId },
  );
  const found = Map.groupBy(rows, ({ owner_id }) => owner_id);
  return new Map([...found].map(([id, sums]) => [id, sums.map(figuresOf)]));
}

const DaySums = Sums.extend({ day: z.string() });

/** Sums per UTC day and currency, in order. */
export async function listDays(clickhouse: ClickHouse, brandId: string, window: Window) {
  const { from, params } = sourceOf(brandId, window, 'brand_daily_v1');
  const sql = `SELECT day, currency, ${SUMS} FROM ${from} GROUP BY day, currency ORDER BY day, currency`;
  return await queryInTime(clickhouse, DaySums, sql, params);
}

/** Sums per creator and currency. */
export async function listCreatorSums(clickhouse: ClickHouse, brandId: string, window: Window, merged: Merged) {
  const { from, params } = sourceOf(brandId, window, 'link_daily_v1');
  const sql = `SELECT ${ownerOf(merged)} AS owner_id, currency, ${SUMS} FROM ${from} GROUP BY owner_id, currency ORDER BY owner_id, currency`;
  return await queryInTime(clickhouse, CreatorSums, sql, params);
}

type Engines = Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse' | 'clock'>;

/** What figures are read from: the postings' sums; those of orders by the click that won them, which come later; or also customers. */
type Read = 'postings' | 'orders' | 'customers';

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

interface Standing {
  /** Everything acknowledged up to this time, inclusive, is in the figures. */
  at: Date;
  /** Whether the figures stayed complete while they were read. */
  isStillWhole(): Promise<boolean>;
}

/** How fresh the brand's figures are; undefined if an engine does not answer, or if figures are incomplete. */
async function standingOf(
  { postgres, clicksRedis, clickhouse, clock }: Engines,
  brandId: string,
  read: Read,
): Promise<Standing | undefined> {
  const now = clock.now().getTime();
  const requestedAt = performance.now();
  const [{ oldestUnsynced, oldestUnsyncedOrder, oldestUnsyncedCustomer, isWhole }, clickedAt, wasSound] =
    await Promise.all([findStanding(postgres.db, brandId), oldestWaitingClick(clicksRedis), wasReconciled(clickhouse)]);
  if (!isWhole || !wasSound) return undefined;
  const missing = {
    postings: [oldestUnsynced],
    orders: [oldestUnsynced, oldestUnsyncedOrder],
    customers: [oldestUnsynced, oldestUnsyncedOrder, oldestUnsyncedCustomer],
  }[read];
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

interface Requested {
  caller: { brandId: string };
  setHeader: SetHeader;
}

/**
 * Reads figures and how fresh they are. The time is taken first, so figures that arrive in the meantime are newer than
 * promised.
 */
export async function fresh<T>(
  context: Engines,
  { caller: { brandId }, setHeader }: Requested,
  read: () => Promise<T>,
  from: Read = 'postings',
): Promise<T> {
  const standing = await ifAnswered(() => standingOf(context, brandId, from));
  const answer = await read();
  if (standing && (await ifAnswered(standing.isStillWhole))) setHeader('x-data-as-of', standing.at.toISOString());
  return answer;
}

/** Aborts the stream unless the freshness in the header still holds after the last row. */
async function* stillWhole<T>({ isStillWhole }: Standing, rows: AsyncIterable<T>): AsyncGenerator<T> {
  yield* rows;
  if (await isStillWhole()) return;
  throw unavailable('The data behind the figures', new Error('They were rebuilt in the meantime.'));
}

/** Like `fresh`, for rows that are streamed after the header. */
export async function freshRows<T>(
  context: Engines,
  { caller: { brandId }, setHeader }: Requested,
  rows: AsyncIterable<T>,
  from: Read = 'postings',
): Promise<AsyncIterable<T>> {
  const standing = await ifAnswered(() => standingOf(context, brandId, from));
  if (!standing) return rows;
  setHeader('x-data-as-of', standing.at.toISOString());
  return stillWhole(standing, rows);
}

/** How an operation answers with a page of figures, and with all rows as CSV: both say how fresh they are. */
export function figuresAnswer<Query, Answer, Item extends z.ZodObject>({
  item,
  page,
  rows,
  from = 'orders',
}: {
  item: Item;
  page: (context: Context, brandId: string, query: Query) => Promise<Answer>;
  rows: (context: Context, brandId: string, query: Query) => AsyncIterable<z.input<Item>>;
  from?: Read;
}) {
  type Question = Requested & { query: Query };
  return {
    handler: (context: Context, call: Question) =>
      fresh(context, call, () => page(context, call.caller.brandId, call.query), from),
    csv: {
      item,
      rows: (context: Context, call: Question) =>
        freshRows(context, call, rows(context, call.caller.brandId, call.query), from),
    },
  };
}
