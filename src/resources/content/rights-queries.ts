import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';

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

/** Approved work with this post id in its URL, under contracts whose rights count from the post. */
export async function listWorkPostedAs(db: Db, brandId: string, postId: string) {
  return await db
    .selectFrom('deliverables')
    .innerJoin('contracts', 'contracts.id', 'deliverables.contractId')
    .select(['deliverables.contractId', 'deliverables.contentUrl'])
    .where('deliverables.brandId', '=', brandId)
    .where('deliverables.status', '=', 'approved')
    .where(sql<boolean>`contracts.terms ->> 'starts' = 'posted'`)
    .where(sql<boolean>`position(${postId} in deliverables.content_url) > 0`)
    .execute();
}
