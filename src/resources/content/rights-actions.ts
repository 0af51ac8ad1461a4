import type { Work } from '../../operation/work.ts';
import { endRightsByPosts } from '../assets/rights-actions.ts';
import { listOfContract, listSubmissions } from '../deliverables/queries.ts';
import { readPostAddress } from './post-address.ts';
import { listPostDates, listShortLinks, listWorkPostedAs } from './rights-queries.ts';

/** The keys of posts by their addresses; a short link has that of the post to which it leads. */
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

/** Rights that count from the first post end at a time that follows from the known posts. */
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

/** The contracts of which a post is approved work, and whose rights count from it. */
export async function followPost(work: Work, canonicalKey: string): Promise<void> {
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
