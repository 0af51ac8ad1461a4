import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';
import { toPpm } from '../../kit/values/money.ts';
import type { TermsPlace } from './places.ts';
import { Terms } from './terms.shapes.ts';
import { canonicalTerms, hashTerms, highestPercent } from './terms.ts';

const termsByText = new Map<string, Terms>();
const MOST_PARSED = 1_000;

/** Parses stored terms. Equal ones become the same object, whose rules are compiled once. */
export function parseTerms(storedTerms: unknown): Terms {
  const text = JSON.stringify(storedTerms);
  const cachedTerms = termsByText.get(text);
  if (cachedTerms) return cachedTerms;
  const terms = Terms.parse(storedTerms);
  if (termsByText.size >= MOST_PARSED) termsByText.clear();
  termsByText.set(text, terms);
  return terms;
}

/** Where terms stand: a link, a group, a campaign, or the brand under its own id. */
interface TermsTarget {
  place: TermsPlace;
  placeId: string;
}

/**
 * Inserts a version of the same terms for each of several places of a kind. The audit log has the terms with their highest
 * percentage, which limits what agents may set.
 */
export async function insertVersions(
  work: Work,
  place: TermsPlace,
  placeIds: readonly string[],
  terms: Terms,
  replaced: { terms: unknown } | null = null,
): Promise<Map<string, string>> {
  const { db, now, brandId } = work;
  const ids = new Map(placeIds.map((placeId) => [placeId, newId('trm', now.getTime())]));
  if (ids.size === 0) return ids;
  const [text, hash] = [canonicalTerms(terms), hashTerms(terms)];
  const rows = [...ids].map(([placeId, id]) => ({ id, brandId, place, placeId, terms: text, hash }));
  await db
    .insertInto('terms')
    .values(rows.map((row) => ({ ...row, createdAt: now, replacedAt: null })))
    .execute();
  const commissionRatePpm = toPpm(highestPercent(terms) ?? 0) ?? 0;
  for (const { id, placeId } of rows) {
    const old = replaced && { id: null, place, placeId, terms: replaced.terms };
    work.audit({ resourceId: id, old, new: { id, place, placeId, terms, commissionRatePpm }, generated: ['id'] });
  }
  return ids;
}

/** Marks the versions of places that are no longer in effect. */
export async function endVersions({ db, now, brandId }: Work, place: TermsPlace, placeIds: readonly string[]) {
  await db
    .updateTable('terms')
    .set({ replacedAt: now })
    .where('brandId', '=', brandId)
    .where('place', '=', place)
    .where(sql<boolean>`place_id = any(${[...placeIds]}::text[])`)
    .where('replacedAt', 'is', null)
    .execute();
}

/** Sets the terms of a place, whose row is locked, and returns their version. The same terms stay the same version. */
export async function setTerms(
  work: Work,
  { place, placeId }: TermsTarget,
  terms: Terms | null,
): Promise<string | null> {
  const present = await work.db
    .selectFrom('terms')
    .select(['id', 'hash', 'terms'])
    .where('brandId', '=', work.brandId)
    .where('place', '=', place)
    .where('placeId', '=', placeId)
    .where('replacedAt', 'is', null)
    .executeTakeFirst();
  if (terms && present?.hash === hashTerms(terms)) return present.id;
  if (present) await endVersions(work, place, [placeId]);
  if (!terms) return null;
  return (await insertVersions(work, place, [placeId], terms, present)).get(placeId) ?? null;
}

/** Lists versions of terms by their ids. */
export async function listTermsByIds(db: Db, brandId: string, ids: readonly string[]): Promise<Map<string, Terms>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('terms')
    .select(['id', 'terms'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${[...new Set(ids)]}::text[])`)
    .execute();
  return new Map(rows.map(({ id, terms }) => [id, parseTerms(terms)]));
}
