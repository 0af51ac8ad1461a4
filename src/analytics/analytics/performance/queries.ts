import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { shownName } from '../../../workflow/creators/queries.ts';

/** Assignments by id, with their creators as the API shows them. */
export async function listAssignments(db: Db, brandId: string, ids: readonly string[]) {
  const rows = await db
    .selectFrom('links')
    .innerJoin('creators', 'creators.id', 'links.creatorId')
    .select(['links.id', 'links.campaignId', 'links.type', 'links.value', 'creators.email as creatorEmail'])
    .select(shownName)
    .where('links.brandId', '=', brandId)
    .where('creators.brandId', '=', brandId)
    .where('links.id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Campaigns with their current links, of all creators or of these. */
export async function listLinksByCampaign(db: Db, brandId: string, creatorIds: readonly string[] | undefined) {
  return await db
    .selectFrom('links')
    .innerJoin('campaigns', (join) =>
      join.onRef('campaigns.id', '=', 'links.campaignId').onRef('campaigns.brandId', '=', 'links.brandId'),
    )
    .select(['campaigns.id', 'campaigns.title', sql<string[]>`array_agg(links.id)`.as('linkIds')])
    .where('links.brandId', '=', brandId)
    .$if(creatorIds !== undefined, (query) => query.where('links.creatorId', '=', sql<string>`any(${creatorIds})`))
    .groupBy('campaigns.id')
    .execute();
}

/** Ids of the creator with this address in the figures: several once records were merged. */
export async function listCreatorIds(db: Db, brandId: string, email: string): Promise<string[]> {
  const rows = await db
    .selectFrom('creators')
    .leftJoin('creatorMerges as merged', (join) =>
      join.onRef('merged.brandId', '=', 'creators.brandId').onRef('merged.creatorId', '=', 'creators.id'),
    )
    .select(['creators.id', 'merged.goneId'])
    .where('creators.brandId', '=', brandId)
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .execute();
  return [...new Set(rows.flatMap(({ id, goneId }) => (goneId === null ? [id] : [id, goneId])))];
}
