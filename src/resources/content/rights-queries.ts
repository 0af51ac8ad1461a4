import { sql } from 'kysely';
import type { ContentShortLinksTable } from '../../engines/postgres/content-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';

/** When these posts went out, as far as it is known; also of posts that are tracked no more. */
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

/** Remembers where a short link leads. */
export async function insertShortLink(db: Db, link: ContentShortLinksTable): Promise<void> {
  await db
    .insertInto('contentShortLinks')
    .values(link)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The posts that these short links lead to, as far as it is known. */
export async function listShortLinks(db: Db, brandId: string, shortKeys: readonly string[]) {
  if (shortKeys.length === 0) return [];
  return await db
    .selectFrom('contentShortLinks')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('shortKey', 'in', shortKeys)
    .execute();
}

/** Approved work under contracts whose rights count from the post, with the post's id, or that of a short link to it, in its address. */
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
