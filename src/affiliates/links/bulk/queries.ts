import { sql } from 'kysely';
import { COUNT, countOf } from '../../../kit/engines/postgres/count.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { LinkType } from '../queries.ts';

/** What is to be assigned; an assignment of the same kind that exists, active or not, is kept. */
export interface Kind {
  type: LinkType;
  campaignId: string | null;
}

const wasAccepted = (
  brandId: string,
  campaignId: string | null,
) => sql<boolean>`(${campaignId}::text is null or exists (
  select from applications as application
  where application.brand_id = ${brandId} and application.campaign_id = ${campaignId}
    and application.status = 'accepted' and application.creator_id = entry.creator_id))`;

/** Everybody the brand ever had on its roster, with whether they are within the campaign and what they have already. */
const members = (db: Db, brandId: string, { type, campaignId }: Kind) =>
  db
    .selectFrom('rosterEntries as entry')
    .innerJoin('creators as creator', 'creator.id', 'entry.creatorId')
    .select(['entry.id as rosterId', 'entry.status', 'creator.id as creatorId', 'creator.email', 'creator.name'])
    .select(['creator.igHandle', 'creator.ttHandle'])
    .select((eb) => [
      wasAccepted(brandId, campaignId).as('isInCampaign'),
      eb
        .selectFrom('links as link')
        .select('link.id')
        .where('link.brandId', '=', brandId)
        .whereRef('link.creatorId', '=', 'entry.creatorId')
        .where('link.type', '=', type)
        .where('link.campaignId', 'is not distinct from', campaignId)
        .orderBy('link.createdAt')
        .orderBy('link.id')
        .limit(1)
        .as('linkId'),
    ])
    .where('entry.brandId', '=', brandId);

export type Member = Awaited<ReturnType<typeof listByRosterIds>>[number];

export async function listByRosterIds(db: Db, brandId: string, kind: Kind, ids: string[]) {
  return await members(db, brandId, kind).where(sql<boolean>`entry.id = any(${ids}::text[])`).execute();
}

/** `emails` in lower case. */
export async function listByEmails(db: Db, brandId: string, kind: Kind, emails: string[]): Promise<Member[]> {
  return await members(db, brandId, kind).where(sql<boolean>`lower(creator.email) = any(${emails}::text[])`).execute();
}

/** On the roster, within the campaign, and with nothing of the kind. */
const missing = (db: Db, brandId: string, kind: Kind) =>
  db
    .selectFrom(members(db, brandId, kind).select('entry.addedAt').as('member'))
    .selectAll('member')
    .where('member.status', '<>', 'removed')
    .where('member.isInCampaign', '=', true)
    .where('member.linkId', 'is', null);

/** Longest on the roster first: those with an e-mail address, or those without. */
export async function listMissing(
  db: Db,
  brandId: string,
  kind: Kind,
  { hasEmail, limit }: { hasEmail: boolean; limit: number },
): Promise<Member[]> {
  return await missing(db, brandId, kind)
    .where('member.email', hasEmail ? 'is not' : 'is', null)
    .orderBy('member.addedAt')
    .orderBy('member.rosterId')
    .limit(limit)
    .execute();
}

export const countMissing = (db: Db, brandId: string, kind: Kind): Promise<number> =>
  countOf(missing(db, brandId, kind).clearSelect().select(COUNT).where('member.email', 'is not', null));
