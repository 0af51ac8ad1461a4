import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { eventNames, LATEST } from '../../kit/outbox/events.ts';
import { selectNumbers } from '../../kit/outbox/outbox.ts';
import { EVENTS_KEPT_MS } from '../../kit/outbox/relay.ts';
import { ApiError, ignoreFailure, type Problem, validationError } from '../../kit/values/errors.ts';
import { readBase62 } from '../../kit/values/ids.ts';
import type { EventFilter } from './events.api.ts';

/** The position of an event in its brand's order. */
export interface FeedPosition {
  id: string;
  seq: number;
  createdAt: Date;
}

const selectPositions = (db: Db, brandId: string) =>
  db.selectFrom('outbox').select(['id', 'seq', 'createdAt']).where('brandId', '=', brandId);

async function findNewest(db: Db, brandId: string): Promise<FeedPosition | undefined> {
  return await selectPositions(db, brandId).orderBy('seq', 'desc').limit(1).executeTakeFirst();
}

export interface FeedRow {
  id: string;
  seq: number;
  event: string;
  createdAt: Date;
  /** JSON text, as it was emitted. */
  data: string;
}

export interface FeedRange {
  after: number;
  upTo: number;
  since: Date;
  names: readonly string[];
  limit: number;
}

/** Lists events with these names within a range of the brand's order. */
async function listFeed(db: Db, brandId: string, range: FeedRange): Promise<FeedRow[]> {
  return await db
    .selectFrom('outbox')
    .select(['id', 'seq', 'event', 'createdAt', sql<string>`data::text`.as('data')])
    .where('brandId', '=', brandId)
    .where('seq', '>', range.after)
    .where('seq', '<=', range.upTo)
    .where('createdAt', '>=', range.since)
    .where('event', 'in', range.names)
    .orderBy('seq')
    .limit(range.limit)
    .execute();
}

/** Reads the sequence number of the brand's newest event. */
export async function findHead(db: Db, brandId: string): Promise<number> {
  const row = await selectNumbers(db, brandId).select('seq').executeTakeFirst();
  return row?.seq ?? 0;
}

const POLL_EVERY_MS = 200;
const MAX_WAITS_PER_BRAND = 10;

const waitCounts = new Map<string, number>();

export interface FeedPage {
  rows: FeedRow[];
  hasMore: boolean;
  /** The last event read, even if it did not match the filter. */
  last: Start;
}

function parseEventTypes(types: string | undefined): readonly string[] {
  const allowed = eventNames('current');
  const names = types?.split(',').flatMap((name) => name.trim() || []) ?? [];
  if (names.length === 0) return allowed;
  const details = names.flatMap((name): Problem[] =>
    allowed.includes(name)
      ? []
      : [{ field: 'types', code: 'unknown_event', message: `${JSON.stringify(name.slice(0, 60))} is not an event.` }],
  );
  if (details.length === 0) return names;
  throw new ApiError('VALIDATION_ERROR', 'types: names an unknown event.', { details, facts: { allowed } });
}

/** The event behind which the feed continues; a null id starts at the first event. */
interface Start {
  id: string | null;
  seq: number;
}

async function resolveStart(
  { postgres }: Context,
  brandId: string,
  after: string | undefined,
  since: Date,
): Promise<Start> {
  if (after === undefined) return { id: null, seq: 0 };
  const { db } = postgres;
  if (after === LATEST) return (await findNewest(db, brandId)) ?? { id: null, seq: 0 };
  const event = await selectPositions(db, brandId).where('id', '=', after).executeTakeFirst();
  if (event && event.createdAt >= since) return event;
  if (event || readBase62(after.slice(4, 12)) < since.getTime()) {
    const oldest = await selectPositions(db, brandId)
      .where('createdAt', '>=', since)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    throw new ApiError('CONFLICT', 'Events are kept for 30 days, and `after` is older; leave it out.', {
      facts: { oldest: oldest?.id ?? null },
    });
  }
  throw validationError([{ field: 'after', code: 'not_found', message: 'is not an event of this brand.' }]);
}

async function readPage(
  { postgres: { db } }: Context,
  brandId: string,
  start: Start,
  { names, since, limit }: { names: readonly string[]; since: Date; limit: number },
): Promise<FeedPage> {
  // Read first: events committed after this belong to the next response.
  const newest = await findNewest(db, brandId);
  if (!newest || newest.seq <= start.seq) return { rows: [], hasMore: false, last: start };
  const range = { after: start.seq, upTo: newest.seq, since, names, limit: limit + 1 };
  const rows = await listFeed(db, brandId, range);
  const hasMore = rows.length > limit;
  const pageRows = rows.slice(0, limit);
  return { rows: pageRows, hasMore, last: (hasMore ? pageRows.at(-1) : undefined) ?? newest };
}

/** Resolves when the brand has an event after `seq`, at the deadline, or when the process starts to stop. */
async function awaitEvent({ postgres, stopping }: Context, brandId: string, seq: number, end: number): Promise<void> {
  while (performance.now() < end && !stopping.signal.aborted) {
    const pauseMs = Math.min(POLL_EVERY_MS, Math.max(1, end - performance.now()));
    await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(ignoreFailure('woken up to stop'));
    if ((await findHead(postgres.db, brandId)) > seq) return;
  }
}

/** A brand has at most ten waiting calls; another one returns at once. */
async function withWaitSlot(brandId: string, read: (mayWait: boolean) => Promise<FeedPage>): Promise<FeedPage> {
  const others = waitCounts.get(brandId) ?? 0;
  if (others >= MAX_WAITS_PER_BRAND) return await read(false);
  waitCounts.set(brandId, others + 1);
  try {
    return await read(true);
  } finally {
    const remaining = (waitCounts.get(brandId) ?? 1) - 1;
    if (remaining > 0) waitCounts.set(brandId, remaining);
    else waitCounts.delete(brandId);
  }
}

/** Reads the next page of a brand's events; waits for one if there is none and the filter allows it. */
export async function readFeed(context: Context, brandId: string, filter: EventFilter): Promise<FeedPage> {
  const names = parseEventTypes(filter.types);
  const since = new Date(context.clock.now().getTime() - EVENTS_KEPT_MS);
  const selection = { names, since, limit: filter.limit };
  const start = await resolveStart(context, brandId, filter.after, since);
  let page = await readPage(context, brandId, start, selection);
  if (page.rows.length > 0 || filter.wait === 0) return page;
  const end = performance.now() + filter.wait * 1_000;
  return await withWaitSlot(brandId, async (mayWait) => {
    while (mayWait && page.rows.length === 0 && performance.now() < end && !context.stopping.signal.aborted) {
      // Skips events that were read but filtered out, so that they are not read again.
      const { last } = page;
      await awaitEvent(context, brandId, last.seq, end);
      page = await readPage(context, brandId, last, selection);
    }
    return page;
  });
}

/** Renders the response body. Event data is stored as JSON text and copied without being parsed. */
export function renderFeed({ rows, hasMore, last }: FeedPage): Buffer {
  const events = rows.map(
    ({ id, event, createdAt, data }) =>
      `{"id":${JSON.stringify(id)},"event":${JSON.stringify(event)},"createdAt":"${createdAt.toISOString()}","data":${data}}`,
  );
  const more = `"has_more":${hasMore},"next_after":${JSON.stringify(last.id)}`;
  return Buffer.from(`{"data":[${events.join(',')}],${more}}`);
}
