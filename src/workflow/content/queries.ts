import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countOf } from '../../kit/engines/postgres/count.ts';
import type { ContentMetricsTable, ContentShortLinksTable, ContentTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Page } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { isOfCreator } from '../creators/queries.ts';
import type { ContentFilter } from './schema.ts';

/** Joined with its creator; deleted posts are excluded. */
const withCreator = (db: Db) =>
  db
    .selectFrom('content')
    .leftJoin('creators as creator', 'creator.id', 'content.creatorId')
    .selectAll('content')
    .select(['creator.email as creatorEmail', 'creator.name as creatorName'])
    .where('content.deletedAt', 'is', null);

export type ContentRow = Awaited<ReturnType<typeof getContent>>;

export type ContentWhere = Pick<
  ContentFilter,
  'creator_email' | 'platform' | 'campaign_id' | 'created_after' | 'created_before' | 'updated_after' | 'sort'
>;

const posts = listing({
  noun: 'tracked content',
  table: 'content',
  time: 'trackedAt',
  changed: ['trackedAt', 'lastRefreshed', 'refreshRequestedAt'],
  matching: (db, brandId, { creator_email, platform, campaign_id }: ContentWhere) =>
    db
      .selectFrom('content')
      .where('content.deletedAt', 'is', null)
      .where((eb) => eb.and(given({ platform, campaignId: campaign_id })))
      .where(isOfCreator('content.creatorId', brandId, creator_email)),
  rows: withCreator,
});
export const { get: getContent, each: eachContent } = posts;

const SUMS = ['views', 'likes', 'comments', 'shares', 'saves'] as const;

/** A page, and the sums over all matching rows, counted and summed in one scan. */
export async function listContent(db: Db, brandId: string, where: ContentWhere, page: Page) {
  const { total, ...sums } = await posts
    .found(db, brandId, where)
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      ...SUMS.map((name) => fn.coalesce(fn.sum<number>(name), sql<number>`0`).as(name)),
    ])
    .executeTakeFirstOrThrow();
  const { views, likes, comments, shares, saves } = sums;
  const summary = {
    ...{ content_count: total, total_views: views, total_likes: likes },
    ...{ total_comments: comments, total_shares: shares, total_saves: saves },
  };
  return { rows: await posts.select(db, brandId, where, page), total, summary };
}

/** The row, locked until the transaction ends; undefined if it is no longer tracked. */
export async function findLockedContent(db: Db, brandId: string, id: string): Promise<ContentRow | undefined> {
  return await withCreator(db)
    .where('content.brandId', '=', brandId)
    .where('content.id', '=', id)
    .forUpdate('content')
    .executeTakeFirst();
}

/** Each day's last reading, oldest first. */
export async function listMetrics(db: Db, contentId: string): Promise<Selectable<ContentMetricsTable>[]> {
  return await db.selectFrom('contentMetrics').selectAll().where('contentId', '=', contentId).orderBy('date').execute();
}

/** Returns the id of the existing row if the brand already tracks the post. */
export async function insertContent(db: Db, row: Insertable<ContentTable>): Promise<string | undefined> {
  const inserted = await db
    .insertInto('content')
    .values(row)
    .onConflict((conflict) => conflict.columns(['brandId', 'canonicalKey']).where('deletedAt', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted) return undefined;
  const { id } = await db
    .selectFrom('content')
    .select('id')
    .where('brandId', '=', row.brandId)
    .where('canonicalKey', '=', row.canonicalKey)
    .where('deletedAt', 'is', null)
    .executeTakeFirstOrThrow();
  return id;
}

export async function updateContent(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<ContentTable>,
): Promise<void> {
  await db.updateTable('content').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** Stores the day's reading; a later one on the same day replaces it. */
export async function upsertMetrics(db: Db, row: Insertable<ContentMetricsTable>): Promise<void> {
  const { contentId: _id, date: _date, ...metrics } = row;
  await db
    .insertInto('contentMetrics')
    .values(row)
    .onConflict((conflict) => conflict.columns(['contentId', 'date']).doUpdateSet(metrics))
    .execute();
}

/** How many posts were tracked at some time within the window. */
export const countTracked = (db: Db, brandId: string, from: Date, before: Date): Promise<number> =>
  countOf(
    db
      .selectFrom('content')
      .select(COUNT)
      .where('brandId', '=', brandId)
      .where('trackedAt', '<', before)
      .where((eb) => eb.or([eb('deletedAt', 'is', null), eb('deletedAt', '>=', from)])),
  );

export interface DuePost {
  id: string;
  brandId: string;
}

/** Claims posts whose next reading is due, by marking them as refreshing. */
export async function claimDuePosts(db: Db, now: Date, limit: number): Promise<DuePost[]> {
  return await db
    .updateTable('content')
    .set({ status: 'refreshing', refreshBeganAt: now, nextRefreshAt: null })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('content')
        .select('id')
        .where('nextRefreshAt', '<=', now)
        .where('deletedAt', 'is', null)
        .where('status', '=', 'tracking')
        .orderBy('nextRefreshAt')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'brandId'])
    .execute();
}

/** Posts that are being refreshed; a lost job is recreated from them. */
export async function listRefreshing(db: Db, limit: number): Promise<DuePost[]> {
  return await db
    .selectFrom('content')
    .select(['id', 'brandId'])
    .where('status', '=', 'refreshing')
    .where('deletedAt', 'is', null)
    .orderBy('refreshBeganAt')
    .limit(limit)
    .execute();
}

/** Ends refreshes that started before `before` and never finished; the posts are read again at `again`. */
export async function endInterrupted(db: Db, before: Date, again: Date): Promise<void> {
  await db
    .updateTable('content')
    .set({ status: 'tracking', refreshError: 'interrupted', nextRefreshAt: again })
    .where('status', '=', 'refreshing')
    .where('refreshBeganAt', '<', before)
    .execute();
}

/** Found by id alone, because a job carries nothing else. */
export async function findPost(db: Db, id: string) {
  return await db
    .selectFrom('content')
    .select(['id', 'brandId', 'platform', 'url', 'canonicalKey', 'status'])
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
}

/** Other posts on a host that are being refreshed, so that one call reads them together. */
export async function listRefreshingAt(db: Db, host: string, except: string, limit: number) {
  return await db
    .selectFrom('content')
    .select(['id', 'brandId', 'canonicalKey'])
    .where('status', '=', 'refreshing')
    .where('deletedAt', 'is', null)
    .where('canonicalKey', 'like', `${host}:%`)
    .where('id', '<>', except)
    .orderBy('refreshBeganAt')
    .limit(limit)
    .execute();
}

/** The known publication dates of these posts, including posts that are no longer tracked. */
export async function listPostDates(db: Db, brandId: string, canonicalKeys: readonly string[]): Promise<Date[]> {
  if (canonicalKeys.length === 0) return [];
  const rows = await db
    .selectFrom('content')
    .select('postedAt')
    .where('brandId', '=', brandId)
    .where('canonicalKey', 'in', canonicalKeys)
    .where('postedAt', 'is not', null)
    .execute();
  return rows.flatMap(({ postedAt }) => postedAt ?? []);
}

/** Stores where a short link leads. */
export async function insertShortLink(db: Db, link: ContentShortLinksTable): Promise<void> {
  await db
    .insertInto('contentShortLinks')
    .values(link)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The posts that these short links lead to, where known. */
export async function listShortLinks(db: Db, brandId: string, shortKeys: readonly string[]) {
  if (shortKeys.length === 0) return [];
  return await db
    .selectFrom('contentShortLinks')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('shortKey', 'in', shortKeys)
    .execute();
}

/**
 * Approved work whose URL has this post's id or a short link to it, under contracts whose rights count from the post.
 */
export async function listWorkPostedAs(db: Db, brandId: string, canonicalKey: string) {
  const postId = canonicalKey.slice(canonicalKey.indexOf(':') + 1);
  return await db
    .selectFrom('deliverables')
    .innerJoin('contracts', 'contracts.id', 'deliverables.contractId')
    .select(['deliverables.contractId', 'deliverables.contentUrl'])
    .where('deliverables.brandId', '=', brandId)
    .where('deliverables.status', '=', 'approved')
    .where(sql<boolean>`contracts.terms ->> 'starts' = 'posted'`)
    .where(sql<boolean>`(position(${postId} in deliverables.content_url) > 0 or exists (
      select from content_short_links as link
      where link.brand_id = ${brandId} and link.canonical_key = ${canonicalKey}
        and position(split_part(link.short_key, ':', 2) in deliverables.content_url) > 0))`)
    .execute();
}
