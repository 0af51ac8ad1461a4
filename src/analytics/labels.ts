import { sql } from 'kysely';
import type { Db } from '../kit/engines/postgres/open.ts';
import type { Group } from './figures/breakdown.ts';

/** A creator's own name, else the name given with their newest link, else their handle. */
export async function listCreatorNames(
  db: Db,
  brandId: string,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  const ofLink = sql<string | null>`(select link.creator_name from links as link
    where link.brand_id = creators.brand_id and link.creator_id = creators.id and link.creator_name is not null
    order by link.created_at desc, link.id desc limit 1)`;
  const rows = await db
    .selectFrom('creators')
    .select(['id', sql<string | null>`coalesce(name, ${ofLink}, ig_handle, tt_handle)`.as('name')])
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Groups links by their campaign or platform. */
export async function listLinkGroups(
  db: Db,
  brandId: string,
  column: 'campaignId' | 'platform',
): Promise<readonly Group[]> {
  return await db
    .selectFrom('links')
    .select([sql<string>`${sql.ref(column)}`.as('key'), sql<string[]>`array_agg(id)`.as('linkIds')])
    .where('brandId', '=', brandId)
    .where(column, 'is not', null)
    .groupBy(column)
    .execute();
}

/** Looks up the names of links, campaigns or stores. */
export async function listNames(
  db: Db,
  brandId: string,
  table: 'links' | 'campaigns' | 'integrations',
  ids: readonly string[],
): Promise<Map<string, string>> {
  const column = { links: 'value', campaigns: 'title', integrations: 'name' }[table];
  const rows = await db
    .selectFrom(table)
    .select(['id', sql<string>`${sql.ref(column)}`.as('name')])
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
