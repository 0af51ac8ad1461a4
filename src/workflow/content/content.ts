import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { callOutside } from '../../kit/engines/http/outside.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { ContentMetricsTable, ContentShortLinksTable, ContentTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Config } from '../../kit/values/config.ts';
import { ApiError, notFound, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { findAddressee, notOnRoster } from '../applications/applications.ts';
import { endRightsByPosts } from '../assets/assets.ts';
import { campaignProblems } from '../campaigns/campaigns.ts';
import { matchesCreator } from '../creators/creators.ts';
import { showCreator } from '../creators/renamed.ts';
import { listContractDeliverables, listSubmissions } from '../deliverables/deliverables.ts';
import { type ContentCreate, type ContentFilter, toContent, toNewContent } from './content.shapes.ts';
import {
  type AddressProblem,
  nextRefreshAt,
  type Post,
  type Reading,
  readPostAddress,
  refreshAvailableAt,
  SUPPORTED_HOSTS,
} from './posts.ts';
import type { ProvidedReading } from './readings.ts';

/** Joined with its creator; deleted posts are excluded. */
const withCreator = (db: Db) =>
  db
    .selectFrom('content')
    .leftJoin('creators as creator', 'creator.id', 'content.creatorId')
    .selectAll('content')
    .select(['creator.email as creatorEmail', 'creator.name as creatorName'])
    .where('content.deletedAt', 'is', null);

export type ContentRow = Awaited<ReturnType<typeof getContent>>;

/** What was never read comes last. An index has each in this form. */
const rankBy = (metric: 'views' | 'likes' | 'comments') => ({
  at: sql`coalesce(${sql.ref(`content.${metric}`)}, -1)`,
  of: (row: Pick<ContentTable, typeof metric>) => row[metric] ?? -1,
});

/** Exact where the shown percentage is rounded; PostgreSQL and JavaScript divide integers to the same double. */
const ENGAGEMENT = {
  at: sql`coalesce(case when num_nonnulls(content.likes, content.comments, content.shares, content.saves) > 0 then
    (coalesce(content.likes, 0) + coalesce(content.comments, 0) + coalesce(content.shares, 0) + coalesce(content.saves, 0))::float8
    / nullif(coalesce(nullif(content.views, 0), content.followers), 0) end, -1)`,
  of: ({ views, likes, comments, shares, saves, followers }: Reading) => {
    const engagements = [likes, comments, shares, saves].filter((count) => count !== null);
    const reach = views || followers || 0;
    return reach === 0 || engagements.length === 0 ? -1 : engagements.reduce((sum, count) => sum + count, 0) / reach;
  },
};

const posts = listing({
  noun: 'tracked content',
  table: 'content',
  time: 'trackedAt',
  changed: ['trackedAt', 'lastRefreshed', 'refreshRequestedAt'],
  shown: [showCreator('content')],
  matching: (db, brandId, { creator_email, platform, campaign_id }: Omit<ContentFilter, keyof Page>) =>
    db
      .selectFrom('content')
      .where('content.deletedAt', 'is', null)
      .where((eb) => eb.and(omitUndefined({ platform, campaignId: campaign_id })))
      .where(matchesCreator('content.creatorId', brandId, creator_email)),
  rows: withCreator,
  ranks: {
    views: rankBy('views'),
    likes: rankBy('likes'),
    comments: rankBy('comments'),
    engagement: ENGAGEMENT,
  },
});
export const { get: getContent, each: eachContent } = posts;

const SUMS = ['views', 'likes', 'comments', 'shares', 'saves'] as const;

/** A page, and the sums over all matching rows, counted and summed in one scan. */
export async function listContent(db: Db, brandId: string, where: Omit<ContentFilter, keyof Page>, page: Page) {
  const { total, ...sums } = await posts
    .found(db, brandId, where)
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      ...SUMS.map((name) => fn.coalesce(fn.sum<number>(name), sql<number>`0`).as(name)),
    ])
    .executeTakeFirstOrThrow();
  const { views, likes, comments, shares, saves } = sums;
  const summary = {
    content_count: total,
    total_views: views,
    total_likes: likes,
    total_comments: comments,
    total_shares: shares,
    total_saves: saves,
  };
  return { rows: await posts.select(db, brandId, where, page), total, summary };
}

/** The row, locked until the transaction ends; undefined if it is no longer tracked. */
async function findLockedContent(db: Db, brandId: string, id: string): Promise<ContentRow | undefined> {
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
async function insertContent(db: Db, row: Insertable<ContentTable>): Promise<string | undefined> {
  const insertedRow = await db
    .insertInto('content')
    .values(row)
    .onConflict((conflict) => conflict.columns(['brandId', 'canonicalKey']).where('deletedAt', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (insertedRow) return undefined;
  const { id } = await db
    .selectFrom('content')
    .select('id')
    .where('brandId', '=', row.brandId)
    .where('canonicalKey', '=', row.canonicalKey)
    .where('deletedAt', 'is', null)
    .executeTakeFirstOrThrow();
  return id;
}

async function updateContent(db: Db, brandId: string, id: string, change: Updateable<ContentTable>): Promise<void> {
  await db.updateTable('content').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** Counts the posts that were tracked at some time within the window. */
export const countTracked = (db: Db, brandId: string, from: Date, before: Date): Promise<number> =>
  countRows(
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
async function listPostDates(db: Db, brandId: string, canonicalKeys: readonly string[]): Promise<Date[]> {
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

/** Stores the post that a short link leads to. */
export async function insertShortLink(db: Db, link: ContentShortLinksTable): Promise<void> {
  await db
    .insertInto('contentShortLinks')
    .values(link)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Approved work whose URL has this post's id or a short link to it, under contracts whose rights count from the post.
 */
async function listWorkPostedAs(db: Db, brandId: string, canonicalKey: string) {
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

const ADDRESS_PROBLEMS = {
  not_an_address: 'must be the address of a post, such as https://www.instagram.com/reel/C1a2b3c4d5e/.',
  unsupported_platform: `must be a post on one of ${SUPPORTED_HOSTS.join(', ')}.`,
  not_a_post: 'is on a supported platform but is not a post: open the post and copy its address.',
  unresolved_link: 'is a short link that does not lead to a post: open it in a browser and copy the resulting URL.',
} as const;

const LINK = { timeoutMs: 5_000, maxBytes: 16 * 1024 } as const;
/** A short link may lead to the mobile page first. */
const MAX_HOPS = 3;

/** Resolves a platform's short link to the `location` of its response. */
async function readLocation({ tiktokLinksUrl, outboundAllow }: Config, shortUrl: string): Promise<string | undefined> {
  const at = new URL(shortUrl);
  const url = tiktokLinksUrl === undefined ? at : new URL(`${tiktokLinksUrl.replace(/\/$/, '')}${at.pathname}`);
  const answer = await callOutside({
    url,
    method: 'GET',
    headers: { accept: 'text/html' },
    allow: outboundAllow,
    ...LINK,
    answerAt: 'head',
  });
  if (answer.outcome !== 'answered' || answer.status < 300 || answer.status > 399) return undefined;
  const { location } = answer.headers;
  return location !== undefined && URL.canParse(location, at.href) ? new URL(location, at).href : undefined;
}

/**
 * Parses a post's URL and resolves a short link at its platform. Calls only hosts of known platforms. Call it before a
 * transaction opens.
 */
export async function resolvePost(config: Config, text: string): Promise<Post | AddressProblem | 'unresolved_link'> {
  let post = readPostAddress(text);
  for (let hop = 0; typeof post !== 'string' && post.isShort; hop += 1) {
    const location = hop < MAX_HOPS ? await readLocation(config, post.url) : undefined;
    if (location === undefined) return 'unresolved_link';
    post = readPostAddress(location);
  }
  return post;
}

export type ResolvedPost = Awaited<ReturnType<typeof resolvePost>>;

export interface TrackInput extends Omit<ContentCreate, 'url'> {
  post: ResolvedPost;
}

export async function trackContent(work: Work, input: TrackInput): Promise<ContentRow> {
  const { db, now, brandId } = work;
  const { post, creator_email: email } = input;
  const problems: Problem[] = [];
  if (typeof post === 'string') problems.push({ field: 'url', code: post, message: ADDRESS_PROBLEMS[post] });
  const addressee = email === null || email === undefined ? undefined : await findAddressee(db, brandId, email);
  if (email !== null && email !== undefined && !addressee) problems.push(notOnRoster(email));
  problems.push(...(await campaignProblems(work, input.campaign_id)));
  if (typeof post === 'string' || problems.length > 0) {
    const facts = post === 'unsupported_platform' ? { supported: SUPPORTED_HOSTS } : {};
    const { message } = validationError(problems);
    throw new ApiError('VALIDATION_ERROR', message, { details: problems, facts });
  }
  const id = newId('cnt', now.getTime());
  const existing = await insertContent(db, {
    id,
    brandId,
    url: post.url,
    canonicalKey: post.key,
    platform: post.platform,
    type: post.type,
    creatorId: addressee?.id ?? null,
    campaignId: input.campaign_id ?? null,
    status: 'tracking',
    trackedAt: now,
    nextRefreshAt: now,
  });
  if (existing !== undefined) {
    throw new ApiError('CONFLICT', 'The brand already tracks this post.', { facts: { existing_id: existing } });
  }
  const row = await getContent(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: row });
  work.emit('content.tracked', toNewContent(row, now));
  return row;
}

/** Requests a refresh, unless one is running or was requested less than an hour ago. */
export async function requestRefresh(work: Work, id: string): Promise<ContentRow> {
  const { db, now, brandId } = work;
  const old = await findLockedContent(db, brandId, id);
  if (!old) throw notFound('tracked content');
  if (old.status === 'refreshing' || refreshAvailableAt(old.refreshRequestedAt, now) !== null) return old;
  const change = { status: 'refreshing', refreshRequestedAt: now, refreshBeganAt: now, nextRefreshAt: null } as const;
  await updateContent(db, brandId, id, change);
  const row = await getContent(db, brandId, id);
  work.audit({ resourceId: id, old, new: row });
  return row;
}

export async function untrackContent(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  const old = await findLockedContent(db, brandId, id);
  if (!old) throw notFound('tracked content');
  await updateContent(db, brandId, id, { deletedAt: now, nextRefreshAt: null });
  work.audit({ resourceId: id, old, new: null });
}

type Failure = 'no_provider' | 'unavailable' | 'gone';
const AGAIN_AFTER_MS = 3_600_000;

/** Ends a refresh with the provider's reading, or with the reason it failed. Metrics are never estimated. */
export async function endRefresh(work: Work, id: string, reading: ProvidedReading | Failure): Promise<void> {
  const { db, now, brandId } = work;
  const old = await findLockedContent(db, brandId, id);
  if (old?.status !== 'refreshing') return;
  if (typeof reading === 'string') {
    const soon = new Date(now.getTime() + AGAIN_AFTER_MS);
    const next = { no_provider: nextRefreshAt(old.trackedAt, now), unavailable: soon, gone: null }[reading];
    await updateContent(db, brandId, id, { status: 'tracking', refreshError: reading, nextRefreshAt: next });
    return;
  }
  const { type, caption, posted_at: postedAt, paid_partnership: paidPartnership, followers, ...metrics } = reading;
  const change = {
    ...metrics,
    type: type ?? old.type,
    followers,
    caption,
    postedAt,
    paidPartnership,
    lastRefreshed: now,
    refreshError: null,
    nextRefreshAt: nextRefreshAt(old.trackedAt, now),
    status: 'tracking' as const,
  };
  await updateContent(db, brandId, id, change);
  // A later reading on the same day replaces the earlier one.
  await db
    .insertInto('contentMetrics')
    .values({ contentId: id, date: dayIn(await getTimeZone(db, brandId), now), ...metrics })
    .onConflict((conflict) => conflict.columns(['contentId', 'date']).doUpdateSet(metrics))
    .execute();
  if (postedAt?.getTime() !== old.postedAt?.getTime()) await followPost(work, old.canonicalKey);
  const { metrics: previous } = toContent(old, now);
  work.emit('content.refreshed', { ...toContent({ ...old, ...change }, now), previous_metrics: previous });
}

/** Maps URLs of posts to their keys; a short link has the key of the post that it leads to. */
async function resolveKeys({ db, brandId }: Work, urls: readonly (string | null)[]): Promise<Map<string, string>> {
  const posts = urls.flatMap((url) => {
    const post = url === null ? 'not_an_address' : readPostAddress(url);
    return url === null || typeof post === 'string' ? [] : [{ ...post, given: url }];
  });
  const shortKeys = posts.flatMap(({ key, isShort }) => (isShort ? [key] : []));
  const links =
    shortKeys.length === 0
      ? []
      : await db
          .selectFrom('contentShortLinks')
          .selectAll()
          .where('brandId', '=', brandId)
          .where('shortKey', 'in', shortKeys)
          .execute();
  const canonicalKeys = new Map(links.map((link) => [link.shortKey, link.canonicalKey]));
  return new Map(posts.map(({ given: url, key }) => [url, canonicalKeys.get(key) ?? key]));
}

/** Updates the end of rights that count from the first post. */
export async function followPosts(work: Work, contractId: string): Promise<void> {
  const { db, brandId } = work;
  const works = await listContractDeliverables(db, brandId, contractId);
  const approvedUrls = works.flatMap(({ status, contentUrl }) => (status === 'approved' ? [contentUrl] : []));
  const dates = await listPostDates(db, brandId, [...(await resolveKeys(work, approvedUrls)).values()]);
  if (dates.length === 0) return;
  const submissions = await listSubmissions(
    db,
    brandId,
    works.map(({ id }) => id),
  );
  await endRightsByPosts(work, [...new Set(submissions.flatMap(({ assetIds }) => assetIds))], dates);
}

/** Does the same for the contracts whose approved work includes this post. */
async function followPost(work: Work, canonicalKey: string): Promise<void> {
  const candidates = await listWorkPostedAs(work.db, work.brandId, canonicalKey);
  const keys = await resolveKeys(
    work,
    candidates.map(({ contentUrl }) => contentUrl),
  );
  const contracts = candidates.flatMap(({ contractId, contentUrl }) =>
    contractId !== null && keys.get(contentUrl ?? '') === canonicalKey ? [contractId] : [],
  );
  for (const contractId of new Set(contracts)) await followPosts(work, contractId);
}
