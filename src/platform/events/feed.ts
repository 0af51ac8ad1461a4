import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { eventNames } from '../../kit/outbox/events.ts';
import { selectNumbers } from '../../kit/outbox/queries.ts';
import { EVENTS_KEPT_MS } from '../../kit/outbox/relay.ts';
import { ApiError, ignoreFailure, type Problem, validationError } from '../../kit/values/errors.ts';
import { readBase62 } from '../../kit/values/ids.ts';
import type { EventFilter } from './events.api.ts';

/** Sent as `after`, starts the feed behind the newest event. */
export const LATEST = 'latest';

/** The position of an event in its brand's order. */
export interface Position {
  id: string;
  seq: number;
  createdAt: Date;
}

const positions = (db: Db, brandId: string) =>
  db.selectFrom('outbox').select(['id', 'seq', 'createdAt']).where('brandId', '=', brandId);

export async function findEvent(db: Db, brandId: string, id: string): Promise<Position | undefined> {
  return await positions(db, brandId).where('id', '=', id).executeTakeFirst();
}

export async function findNewest(db: Db, brandId: string): Promise<Position | undefined> {
  return await positions(db, brandId).orderBy('seq', 'desc').limit(1).executeTakeFirst();
}

export async function findOldest(db: Db, brandId: string, since: Date): Promise<Position | undefined> {
  return await positions(db, brandId).where('createdAt', '>=', since).orderBy('seq').limit(1).executeTakeFirst();
}

export interface FeedRow {
  id: string;
  seq: number;
  event: string;
  createdAt: Date;
  /** JSON text, as it was emitted. */
  data: string;
}

export interface Stretch {
  after: number;
  upTo: number;
  since: Date;
  names: readonly string[];
  limit: number;
}

/** Events with these names within a range of the brand's order. */
export async function listFeed(db: Db, brandId: string, stretch: Stretch): Promise<FeedRow[]> {
  return await db
    .selectFrom('outbox')
    .select(['id', 'seq', 'event', 'createdAt', sql<string>`data::text`.as('data')])
    .where('brandId', '=', brandId)
    .where('seq', '>', stretch.after)
    .where('seq', '<=', stretch.upTo)
    .where('createdAt', '>=', stretch.since)
    .where('event', 'in', stretch.names)
    .orderBy('seq')
    .limit(stretch.limit)
    .execute();
}

/** The brand's newest sequence number. */
export async function findHead(db: Db, brandId: string): Promise<number> {
  const row = await selectNumbers(db, brandId).select('seq').executeTakeFirst();
  return row?.seq ?? 0;
}

const LOOK_EVERY_MS = 200;
const WAITING_OF_A_BRAND = 10;

const waiting = new Map<string, number>();

export interface FeedPage {
  rows: FeedRow[];
  hasMore: boolean;
  /** The last event read, whether or not it matched the filter. */
  last: Start;
}

/** When the event was created: the first eight characters of the id encode it. */
const timeOf = (id: string): number => readBase62(id.slice(4, 12));

function namesOf(types: string | undefined): readonly string[] {
  const known = eventNames('current');
  const names = types?.split(',').flatMap((name) => name.trim() || []) ?? [];
  if (names.length === 0) return known;
  const details = names.flatMap((name): Problem[] =>
    known.includes(name)
      ? []
      : [{ field: 'types', code: 'unknown_event', message: `${JSON.stringify(name.slice(0, 60))} is not an event.` }],
  );
  if (details.length === 0) return names;
  throw new ApiError('VALIDATION_ERROR', 'types: names an unknown event.', { details, facts: { allowed: known } });
}

/** The event that the feed continues after; a null id starts at the first event. */
interface Start {
  id: string | null;
  seq: number;
}

async function startOf({ postgres }: Context, brandId: string, after: string | undefined, since: Date): Promise<Start> {
  if (after === undefined) return { id: null, seq: 0 };
  const { db } = postgres;
  if (after === LATEST) return (await findNewest(db, brandId)) ?? { id: null, seq: 0 };
  const found = await findEvent(db, brandId, after);
  if (found && found.createdAt >= since) return found;
  if (found || timeOf(after) < since.getTime()) {
    const oldest = (await findOldest(db, brandId, since))?.id ?? null;
    throw new ApiError('CONFLICT', 'Events are kept for 30 days, and `after` is older; leave it out.', {
      facts: { oldest },
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
  const stretch = { after: start.seq, upTo: newest.seq, since, names, limit: limit + 1 };
  const rows = await listFeed(db, brandId, stretch);
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  return { rows: shown, hasMore, last: (hasMore ? shown.at(-1) : undefined) ?? newest };
}

/** Resolves when the brand has an event after `seq`, at the deadline, or when the process starts to stop. */
async function awaitEvent({ postgres, stopping }: Context, brandId: string, seq: number, end: number): Promise<void> {
  while (performance.now() < end && !stopping.signal.aborted) {
    const pauseMs = Math.min(LOOK_EVERY_MS, Math.max(1, end - performance.now()));
    await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(ignoreFailure('woken up to stop'));
    if ((await findHead(postgres.db, brandId)) > seq) return;
  }
}

/** A brand has at most ten waiting calls; another one returns at once. */
async function whileWaiting(brandId: string, read: (mayWait: boolean) => Promise<FeedPage>): Promise<FeedPage> {
  const others = waiting.get(brandId) ?? 0;
  if (others >= WAITING_OF_A_BRAND) return await read(false);
  waiting.set(brandId, others + 1);
  try {
    return await read(true);
  } finally {
    const left = (waiting.get(brandId) ?? 1) - 1;
    if (left > 0) waiting.set(brandId, left);
    else waiting.delete(brandId);
  }
}

/** The next page of a brand's events; waits for one if there is none and the filter allows it. */
export async function readFeed(context: Context, brandId: string, filter: EventFilter): Promise<FeedPage> {
  const names = namesOf(filter.types);
  const since = new Date(context.clock.now().getTime() - EVENTS_KEPT_MS);
  const selection = { names, since, limit: filter.limit };
  const start = await startOf(context, brandId, filter.after, since);
  let page = await readPage(context, brandId, start, selection);
  if (page.rows.length > 0 || filter.wait === 0) return page;
  const end = performance.now() + filter.wait * 1_000;
  return await whileWaiting(brandId, async (mayWait) => {
    while (mayWait && page.rows.length === 0 && performance.now() < end && !context.stopping.signal.aborted) {
      // Skips events that were read but filtered out, so that they are not read again.
      const { last } = page;
      await awaitEvent(context, brandId, last.seq, end);
      page = await readPage(context, brandId, last, selection);
    }
    return page;
  });
}

/** The response body. Event data is stored as JSON text and copied without being parsed. */
export function renderFeed({ rows, hasMore, last }: FeedPage): Buffer {
  const events = rows.map(
    ({ id, event, createdAt, data }) =>
      `{"id":${JSON.stringify(id)},"event":${JSON.stringify(event)},"createdAt":"${createdAt.toISOString()}","data":${data}}`,
  );
  const more = `"has_more":${hasMore},"next_after":${JSON.stringify(last.id)}`;
  return Buffer.from(`{"data":[${events.join(',')}],${more}}`);
}
