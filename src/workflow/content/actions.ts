import { callOutside } from '../../kit/engines/http/outside.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Config } from '../../kit/values/config.ts';
import { ApiError, notFound, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { findAddressee, notOnRoster } from '../applications/queries.ts';
import { endRightsByPosts } from '../assets/actions.ts';
import { campaignProblems } from '../campaigns/actions.ts';
import { listOfContract, listSubmissions } from '../deliverables/queries.ts';
import type { ProvidedReading } from './metrics/actions.ts';
import {
  type AddressProblem,
  nextRefreshAt,
  type Post,
  readPostAddress,
  refreshAvailableAt,
  SUPPORTED_HOSTS,
} from './policy.ts';
import {
  type ContentRow,
  findLockedContent,
  getContent,
  insertContent,
  listPostDates,
  listShortLinks,
  listWorkPostedAs,
  updateContent,
  upsertMetrics,
} from './queries.ts';
import { type ContentCreate, contentOf, startingWith } from './schema.ts';

const ADDRESS_PROBLEMS = {
  not_an_address: 'must be the address of a post, such as https://www.instagram.com/reel/C1a2b3c4d5e/.',
  unsupported_platform: `must be a post on one of ${SUPPORTED_HOSTS.join(', ')}.`,
  not_a_post: 'is on a supported platform but is not a post: open the post and copy its address.',
  unresolved_link: 'is a short link that does not lead to a post: open it in a browser and copy the resulting URL.',
} as const;

const LINK = { timeoutMs: 5_000, maxBytes: 16 * 1024 } as const;
/** A short link may lead to the mobile page first. */
const MAX_HOPS = 3;

/** Where a platform's short link leads: the `location` of its response. */
async function locationOf({ tiktokLinksUrl, outboundAllow }: Config, shortUrl: string): Promise<string | undefined> {
  const at = new URL(shortUrl);
  const url = tiktokLinksUrl === undefined ? at : new URL(`${tiktokLinksUrl.replace(/\/$/, '')}${at.pathname}`);
  const answer = await callOutside({
    ...{ url, method: 'GET', headers: { accept: 'text/html' }, allow: outboundAllow },
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
    const location = hop < MAX_HOPS ? await locationOf(config, post.url) : undefined;
    if (location === undefined) return 'unresolved_link';
    post = readPostAddress(location);
  }
  return post;
}

export type FoundPost = Awaited<ReturnType<typeof resolvePost>>;

function readAddress(post: FoundPost) {
  if (typeof post !== 'string') return { post, problems: [] };
  const problem: Problem = { field: 'url', code: post, message: ADDRESS_PROBLEMS[post] };
  return { post: undefined, problems: [problem] };
}

/** The id of the creator in the body, if any, and the problem if the brand may not refer to that creator. */
async function creatorOf({ db, brandId }: Work, email: string | null | undefined) {
  if (email === null || email === undefined) return { creatorId: null, problems: [] };
  const addressee = await findAddressee(db, brandId, email);
  return { creatorId: addressee?.id ?? null, problems: addressee ? [] : [notOnRoster(email)] };
}

export interface TrackedPost extends Omit<ContentCreate, 'url'> {
  post: FoundPost;
}

export async function trackContent(work: Work, input: TrackedPost): Promise<ContentRow> {
  const { db, now, brandId } = work;
  const { post, problems } = readAddress(input.post);
  const creator = await creatorOf(work, input.creator_email);
  const all = [...problems, ...creator.problems, ...(await campaignProblems(work, input.campaign_id))];
  if (!post || all.length > 0) {
    const facts = problems.some(({ code }) => code === 'unsupported_platform') ? { supported: SUPPORTED_HOSTS } : {};
    const { message } = validationError(all);
    throw new ApiError('VALIDATION_ERROR', message, { details: all, facts });
  }
  const id = newId('cnt', now.getTime());
  const existing = await insertContent(db, {
    ...{ id, brandId, url: post.url, canonicalKey: post.key, platform: post.platform, type: post.type },
    ...{ creatorId: creator.creatorId, campaignId: input.campaign_id ?? null, status: 'tracking' },
    ...{ trackedAt: now, nextRefreshAt: now },
  });
  if (existing !== undefined) {
    throw new ApiError('CONFLICT', 'The brand already tracks this post.', { facts: { existing_id: existing } });
  }
  const row = await getContent(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: row });
  work.emit('content.tracked', startingWith(row, now));
  return row;
}

/** Requests a refresh, unless one is running or was requested less than an hour ago. */
export async function requestRefresh(work: Work, id: string): Promise<ContentRow> {
  const { db, now, brandId } = work;
  const old = await findLockedContent(db, brandId, id);
  if (!old) throw notFound('tracked content');
  if (old.status === 'refreshing' || refreshAvailableAt(old.refreshRequestedAt, now) !== null) return old;
  const begun = { status: 'refreshing', refreshRequestedAt: now, refreshBeganAt: now, nextRefreshAt: null } as const;
  await updateContent(db, brandId, id, begun);
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

function afterFailure(row: ContentRow, failure: Failure, now: Date) {
  const soon = new Date(now.getTime() + AGAIN_AFTER_MS);
  const next = { no_provider: nextRefreshAt(row.trackedAt, now), unavailable: soon, gone: null }[failure];
  return { status: 'tracking', refreshError: failure, nextRefreshAt: next } as const;
}

/** Ends a refresh with the provider's reading, or with the reason it failed. Metrics are never estimated. */
export async function endRefresh(work: Work, id: string, reading: ProvidedReading | Failure): Promise<void> {
  const { db, now, brandId } = work;
  const old = await findLockedContent(db, brandId, id);
  if (old?.status !== 'refreshing') return;
  if (typeof reading === 'string') {
    await updateContent(db, brandId, id, afterFailure(old, reading, now));
    return;
  }
  const { type, caption, posted_at: postedAt, paid_partnership: paidPartnership, followers, ...metrics } = reading;
  const change = {
    ...metrics,
    ...{ type: type ?? old.type, followers, caption, postedAt, paidPartnership },
    ...{ lastRefreshed: now, refreshError: null, nextRefreshAt: nextRefreshAt(old.trackedAt, now) },
    status: 'tracking' as const,
  };
  await updateContent(db, brandId, id, change);
  await upsertMetrics(db, { contentId: id, date: now.toISOString().slice(0, 10), ...metrics });
  if (postedAt?.getTime() !== old.postedAt?.getTime()) await followPost(work, old.canonicalKey);
  const { metrics: previous } = contentOf(old, now);
  work.emit('content.refreshed', { ...contentOf({ ...old, ...change }, now), previous_metrics: previous });
}

/** Maps URLs of posts to their keys; a short link has the key of the post that it leads to. */
async function keysOf({ db, brandId }: Work, urls: readonly (string | null)[]): Promise<Map<string, string>> {
  const posts = urls.flatMap((url) => {
    const post = url === null ? 'not_an_address' : readPostAddress(url);
    return url === null || typeof post === 'string' ? [] : [{ ...post, given: url }];
  });
  const short = posts.flatMap(({ key, isShort }) => (isShort ? [key] : []));
  const resolved = new Map(
    (await listShortLinks(db, brandId, short)).map((link) => [link.shortKey, link.canonicalKey]),
  );
  return new Map(posts.map(({ given, key }) => [given, resolved.get(key) ?? key]));
}

/** Updates the end of rights that count from the first post. */
export async function followPosts(work: Work, contractId: string): Promise<void> {
  const { db, brandId } = work;
  const works = await listOfContract(db, brandId, contractId);
  const approved = works.flatMap(({ status, contentUrl }) => (status === 'approved' ? [contentUrl] : []));
  const dates = await listPostDates(db, brandId, [...(await keysOf(work, approved)).values()]);
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
  const found = await listWorkPostedAs(work.db, work.brandId, canonicalKey);
  const keys = await keysOf(
    work,
    found.map(({ contentUrl }) => contentUrl),
  );
  const contracts = found.flatMap(({ contractId, contentUrl }) =>
    contractId !== null && keys.get(contentUrl ?? '') === canonicalKey ? [contractId] : [],
  );
  for (const contractId of new Set(contracts)) await followPosts(work, contractId);
}
