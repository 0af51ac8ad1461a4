import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { selectNumbers } from '../../kit/outbox/queries.ts';

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
