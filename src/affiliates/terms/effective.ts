import { sql } from 'kysely';
import { z } from 'zod';
import { changePlainFields, makePlainTerms, toPlainFields } from '../../analytics/pricing/plain.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { fromPpm, toPpm } from '../../kit/values/money.ts';
import { selectInherited } from '../../workflow/terms/inherited.ts';
import { TERMS_PLACES, type TermsPlace } from '../../workflow/terms/places.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import { endVersions, parseTerms, setTerms } from '../../workflow/terms/versions.ts';

const Inherited = z.object({
  place: z.enum(TERMS_PLACES),
  id: z.string().nullable(),
  terms: z.unknown().optional(),
  ppm: z.number().optional(),
});

/** The columns of a link that say its terms. */
export interface LinkTermsColumns {
  commissionRatePpm: number;
  paysRenewals: boolean | null;
  termsId: string | null;
  /** Of its own version; null where the other columns say all. */
  terms: unknown;
  /** What it takes from elsewhere, as `INHERITED` selects it. */
  inherited: unknown;
}

/** The terms in effect for a link, with their version and their place. */
interface EffectiveTerms {
  terms: Terms;
  termsId: string | null;
  source: TermsPlace;
}

function readInherited(storedTerms: unknown): EffectiveTerms {
  const { place: source, id: termsId, terms, ppm = 0 } = Inherited.parse(storedTerms);
  return { terms: termsId === null ? makePlainTerms(fromPpm(ppm), 'order') : parseTerms(terms), termsId, source };
}

export function getLinkTerms(link: LinkTermsColumns): EffectiveTerms {
  const { commissionRatePpm, paysRenewals, termsId, terms, inherited } = link;
  if (inherited !== null && inherited !== undefined) return readInherited(inherited);
  const own =
    terms === null || terms === undefined
      ? makePlainTerms(fromPpm(commissionRatePpm), paysRenewals ? 'subscription' : 'order')
      : parseTerms(terms);
  return { terms: own, termsId, source: 'link' };
}

/** The columns of a link with these terms of its own. */
export function toOwnColumns(terms: Terms, termsId: string | null) {
  const { percent, paysRenewals } = toPlainFields(terms);
  return {
    commissionRatePpm: toPpm(percent) ?? 0,
    paysRenewals: paysRenewals || null,
    termsId,
    inheritsTerms: null,
  };
}

/** How a creator's new link starts if nobody says its terms: with those of a place, or with a copy of the brand's rate. */
interface LinkStart {
  columns: { commissionRatePpm: number; inheritsTerms: true | null };
  /** The group's defaults; null without any. */
  holdDays: number | null;
  attributionDays: number | null;
}

/** Lists how new links of creators start, by the creators' ids. */
export async function listLinkStarts(
  db: Db,
  brandId: string,
  creatorIds: readonly string[],
  campaignId: string | null,
): Promise<Map<string, LinkStart>> {
  const inheritedTerms = selectInherited(sql`${brandId}::text`, sql`given.id`, sql`${campaignId}::text`);
  const { rows } = await sql<{
    id: string;
    inherited: unknown;
    holdDays: number | null;
    attributionDays: number | null;
  }>`
    select given.id, ${inheritedTerms} as inherited, grouped.hold_days, grouped.attribution_days
    from unnest(${[...creatorIds]}::text[]) as given (id)
    left join group_memberships as member
      on member.brand_id = ${brandId} and member.creator_id = given.id and member.until is null
    left join creator_groups as grouped on grouped.brand_id = member.brand_id and grouped.id = member.group_id`.execute(
    db,
  );
  return new Map(
    rows.map(({ id, inherited: stored, holdDays, attributionDays }) => {
      const { terms, termsId } = readInherited(stored);
      const { percent } = toPlainFields(terms);
      const columns = {
        commissionRatePpm: toPpm(percent) ?? 0,
        inheritsTerms: termsId === null ? null : true,
      } as const;
      return [id, { columns, holdDays, attributionDays }];
    }),
  );
}

/** Changes of a link's terms. */
interface TermsChange {
  /** Null drops the link's own. */
  terms?: Terms | null | undefined;
  percent?: number | undefined;
  paysRenewals?: boolean | undefined;
}

/**
 * Returns the columns of a locked link that a change of its terms sets, and inserts their version. A percentage or `pays_renewals`
 * changes a copy of the terms in effect, unless the link has a percentage alone, which its columns say.
 */
export async function changeLinkTerms(
  work: Work,
  link: LinkTermsColumns & { id: string },
  { terms, percent, paysRenewals }: TermsChange,
) {
  const target = { place: 'link', placeId: link.id } as const;
  if (terms === null) {
    await endVersions(work, 'link', [link.id]);
    return { termsId: null, paysRenewals: null, inheritsTerms: true };
  }
  if (terms) return toOwnColumns(terms, await setTerms(work, target, terms));
  const { terms: present, source, termsId } = getLinkTerms(link);
  const changedTerms = changePlainFields(present, {
    ...(percent === undefined ? {} : { percent }),
    ...(paysRenewals === undefined ? {} : { paysRenewals }),
  });
  const isSaidByColumns = source === 'link' && termsId === null;
  return toOwnColumns(changedTerms, isSaidByColumns ? null : await setTerms(work, target, changedTerms));
}
