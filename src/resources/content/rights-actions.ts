import type { Work } from '../../operation/work.ts';
import { endRightsByPosts } from '../assets/rights-actions.ts';
import { type DeliverableFacts, listOfContract, listSubmissions } from '../deliverables/queries.ts';
import { readPostAddress } from './post-address.ts';
import { listPostDates, listWorkPostedAs } from './rights-queries.ts';

function keyOf(contentUrl: string | null): string | undefined {
  const post = contentUrl === null ? 'not_an_address' : readPostAddress(contentUrl);
  return typeof post === 'string' ? undefined : post.key;
}

/** The post keys in the URLs of approved work. */
const approvedKeys = (works: readonly Pick<DeliverableFacts, 'status' | 'contentUrl'>[]): string[] =>
  works.flatMap(({ status, contentUrl }) => (status === 'approved' ? (keyOf(contentUrl) ?? []) : []));

/** Updates the end of rights that count from the first post. */
export async function followPosts(work: Work, contractId: string): Promise<void> {
  const { db, brandId } = work;
  const works = await listOfContract(db, brandId, contractId);
  const dates = await listPostDates(db, brandId, approvedKeys(works));
  if (dates.length === 0) return;
  const submissions = await listSubmissions(
    db,
    brandId,
    works.map(({ id }) => id),
  );
  await endRightsByPosts(work, [...new Set(submissions.flatMap(({ assetIds }) => assetIds))], dates);
}

/** Does the same for the contracts whose approved work includes this post. */
export async function followPost(work: Work, canonicalKey: string): Promise<void> {
  const postId = canonicalKey.slice(canonicalKey.indexOf(':') + 1);
  const found = await listWorkPostedAs(work.db, work.brandId, postId);
  const contracts = found.flatMap(({ contractId, contentUrl }) =>
    contractId !== null && keyOf(contentUrl) === canonicalKey ? [contractId] : [],
  );
  for (const contractId of new Set(contracts)) await followPosts(work, contractId);
}
