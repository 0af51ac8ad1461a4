import type { Work } from '../../../kit/operation/work.ts';
import { slugOf, suffixedSlug } from '../policy.ts';
import { claimSlugs, setSlugs, type WantedSlug } from './queries.ts';

export interface SlugWish {
  linkId: string;
  /** The first wish. */
  slug: string;
  value: string;
  /** What the creator is called, for a slug when the value makes none. */
  names: readonly (string | null)[];
}

const MAX_ATTEMPTS = 12;

/** What a link wants to be called first: its value, where that can stand in a short URL. */
export function firstSlug(value: string, names: readonly (string | null)[]): string {
  return slugOf(value) ?? suffixedSlug(value, names, 0);
}

/**
 * Gives each link its own slug: what it wishes for, unless any brand ever had that. The links are there, with
 * their first wish as their slug. The index decides; who comes second tries a longer one.
 */
export async function giveSlugs({ db, now, brandId }: Work, wishes: readonly SlugWish[]): Promise<Map<string, string>> {
  const given = new Map<string, string>();
  let open = [...wishes];
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt === MAX_ATTEMPTS) throw new Error(`${open.length} links found no free slug.`);
    const wanted: WantedSlug[] = open.map(({ linkId, slug, value, names }) => ({
      linkId,
      slug: attempt === 0 ? slug : suffixedSlug(value, names, attempt),
    }));
    const got = await claimSlugs(db, brandId, now, wanted);
    for (const { linkId, slug } of wanted) if (got.has(linkId)) given.set(linkId, slug);
    open = open.filter(({ linkId }) => !got.has(linkId));
  }
  const first = new Map(wishes.map(({ linkId, slug }) => [linkId, slug]));
  const changed = [...given].map(([linkId, slug]) => ({ linkId, slug }));
  await setSlugs(
    db,
    brandId,
    changed.filter(({ linkId, slug }) => first.get(linkId) !== slug),
  );
  return given;
}
