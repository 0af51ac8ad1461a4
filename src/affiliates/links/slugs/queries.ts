import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';

export interface WantedSlug {
  linkId: string;
  slug: string;
}

/**
 * Takes slugs for links of the brand, and answers the links that now have theirs, be it from before. In the order of
 * the slugs, so that two transactions that want the same ones do not wait for each other.
 */
export async function claimSlugs(db: Db, brandId: string, now: Date, wanted: WantedSlug[]): Promise<Set<string>> {
  const sorted = wanted.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
  const taken = await db
    .insertInto('linkSlugs')
    .values(sorted.map((one) => ({ ...one, brandId, createdAt: now })))
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returning('linkId')
    .execute();
  const got = new Set(taken.map(({ linkId }) => linkId));
  const rest = sorted.filter(({ linkId }) => !got.has(linkId));
  for (const linkId of await listOwned(db, brandId, rest)) got.add(linkId);
  return got;
}

/** The links that have the wanted slug already. */
async function listOwned(db: Db, brandId: string, wanted: WantedSlug[]): Promise<string[]> {
  if (wanted.length === 0) return [];
  const owned = await db
    .selectFrom('linkSlugs')
    .select(['linkId', 'slug'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`slug = any(${wanted.map(({ slug }) => slug)}::text[])`)
    .execute();
  const has = new Set(owned.map(({ linkId, slug }) => `${linkId} ${slug}`));
  return wanted.filter(({ linkId, slug }) => has.has(`${linkId} ${slug}`)).map(({ linkId }) => linkId);
}

/** Sets the links' present slugs, in one statement. */
export async function setSlugs(db: Db, brandId: string, slugs: WantedSlug[]): Promise<void> {
  if (slugs.length === 0) return;
  await sql`
    update links set slug = given.slug
    from unnest(${slugs.map(({ linkId }) => linkId)}::text[], ${slugs.map(({ slug }) => slug)}::text[])
      as given (link_id, slug)
    where links.brand_id = ${brandId} and links.id = given.link_id`.execute(db);
}
