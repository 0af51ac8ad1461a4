import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';
import type { Redis } from '../../engines/redis/open.ts';
import { CLICK_CLAIM, CLICK_STREAM } from '../figures/schema.ts';
import type { LinkRow } from '../links/queries.ts';

/** Figures know them too: what waits in the stream is in no figure yet. */
export const STREAM = CLICK_STREAM;
export const CLAIM = CLICK_CLAIM;

/** A second click of a visitor on a link within this time is a repeat. */
export const REPEAT_WINDOW_MS = 30_000;

/** Who clicked what when, in turns of the window within which a second click is a repeat. */
export const SEEN = ['seen:{clicks}:0', 'seen:{clicks}:1', 'seen:{clicks}:2'];

/** When the oldest click that ClickHouse may not hold yet was recorded; undefined: it holds all of them. */
export async function oldestClickAt(redis: Redis): Promise<Date | undefined> {
  const [oldest] = await redis.use((client) => client.xrange(STREAM, '-', '+', 'COUNT', 1));
  return oldest && new Date(Number(oldest[0].split('-', 1)[0]));
}

export interface Backlog {
  groups: number;
  oldestSeconds: number;
}

export async function backlogOf(redis: Redis, now: Date): Promise<Backlog> {
  const [groups, oldestAt] = await Promise.all([redis.use((client) => client.xlen(STREAM)), oldestClickAt(redis)]);
  return { groups, oldestSeconds: oldestAt ? Math.max(0, now.getTime() - oldestAt.getTime()) / 1000 : 0 };
}

/** What a click takes of its link. */
export type ClickedLink = Pick<LinkRow, 'id' | 'brandId' | 'creatorId' | 'currency' | 'destinationUrl' | 'active'>;

/** The links that short URLs name, of any brand, by slug. */
export async function listLinksBySlugs(db: Db, slugs: readonly string[]): Promise<Map<string, ClickedLink>> {
  const rows = await db
    .selectFrom('linkSlugs')
    .innerJoin('links', 'links.id', 'linkSlugs.linkId')
    .select(['links.id', 'links.brandId', 'links.creatorId', 'links.currency', 'links.destinationUrl', 'links.active'])
    .select('linkSlugs.slug')
    .where(sql<boolean>`link_slugs.slug = any(${[...slugs]}::text[])`)
    .execute();
  return new Map(rows.map(({ slug, ...link }) => [slug, link]));
}
