import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';

export async function countActiveCampaigns(db: Db, brandId: string): Promise<number> {
  const { count } = await db
    .selectFrom('campaigns')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('brandId', '=', brandId)
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow();
  return count;
}

export async function listNames(db: Db, brandId: string, ids: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await db
    .selectFrom('creators')
    .select(['id', 'name'])
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
