import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';

/** Assignments by id, with their creators as the API shows them. */
export async function listAssignments(db: Db, brandId: string, ids: readonly string[]) {
  const rows = await db
    .selectFrom('links')
    .innerJoin('creators', 'creators.id', 'links.creatorId')
    .select(['links.id', 'links.campaignId', 'links.type', 'links.value', 'creators.email as creatorEmail'])
    .select(sql<string | null>`coalesce(links.creator_name, creators.name)`.as('creatorName'))
    .where('links.brandId', '=', brandId)
    .where('creators.brandId', '=', brandId)
    .where('links.id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Null when the brand has no such creator. */
export async function findCreatorId(db: Db, brandId: string, email: string): Promise<string | null> {
  const row = await db
    .selectFrom('creators')
    .select('id')
    .where('brandId', '=', brandId)
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .executeTakeFirst();
  return row?.id ?? null;
}
