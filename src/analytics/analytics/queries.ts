import { sql } from 'kysely';
import { COUNT, countOf } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Window } from '../figures/schema.ts';

export const countActiveCampaigns = (db: Db, brandId: string): Promise<number> =>
  countOf(db.selectFrom('campaigns').select(COUNT).where('brandId', '=', brandId).where('status', '=', 'active'));

/** Paid orders that a click earned, placed in the window. */
export const countConversionsByClick = (db: Db, brandId: string, { from, until }: Window): Promise<number> =>
  countOf(
    db
      .selectFrom('commissions')
      .where('brandId', '=', brandId)
      .where('clickId', 'is not', null)
      .where('paidAt', 'is not', null)
      .where(sql<boolean>`(${from ?? null}::timestamptz is null or occurred_at >= ${from ?? null})`)
      .where(sql<boolean>`(${until ?? null}::timestamptz is null or occurred_at < ${until ?? null})`)
      .select(COUNT),
  );

/** A creator's own name, else the name given with their newest link, else their handle. */
export async function listNames(db: Db, brandId: string, ids: readonly string[]): Promise<Map<string, string | null>> {
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
