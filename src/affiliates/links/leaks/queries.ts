import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { DayOfOrders } from './policy.ts';

export interface CodeDay extends DayOfOrders {
  linkId: string;
  creatorId: string;
  isNow: boolean;
}

export interface Windows {
  /** Where the period before begins. */
  since: Date;
  from: Date;
  until: Date;
}

/** Paid orders that codes won, by code and UTC day: those of the period, and those before it. */
export async function listCodeDays(db: Db, brandId: string, { since, from, until }: Windows): Promise<CodeDay[]> {
  const { rows } = await sql<CodeDay>`
    select link_id, creator_id, is_now, day::text, count(*) as orders, count(*) filter (where is_clickless) as clickless,
      count(*) filter (where is_known) as known, count(*) filter (where is_first) as firsts
    from (
      select commissions.link_id, commissions.creator_id, orders.occurred_at >= ${from} as is_now,
        (orders.occurred_at at time zone 'UTC')::date as day, orders.customer_hash is not null as is_known,
        not exists (
          select from jsonb_array_elements(orders.attribution -> 'candidates') as candidate
          join links on links.brand_id = ${brandId} and links.id = candidate ->> 'link_id'
          where candidate ->> 'type' = 'click' and links.creator_id = commissions.creator_id
            and candidate ->> 'reason' is distinct from 'click_after_order') as is_clickless,
        orders.customer_hash is not null and not exists (
          select from orders as earlier
          where earlier.brand_id = ${brandId} and earlier.customer_hash = orders.customer_hash
            and earlier.paid_at is not null and earlier.is_test is not true
            and (earlier.occurred_at, earlier.id) < (orders.occurred_at, orders.id)) as is_first
      from orders join commissions on commissions.order_id = orders.id
      where orders.brand_id = ${brandId} and orders.occurred_at >= ${since} and orders.occurred_at < ${until}
        and orders.paid_at is not null and orders.is_test is not true and orders.is_renewal is not true
        and commissions.discount_code is not null
    ) as won
    group by link_id, creator_id, is_now, day order by day`.execute(db);
  return rows;
}

/** The codes with their creators, unordered. */
export async function listCodes(db: Db, brandId: string, ids: readonly string[]) {
  return await db
    .selectFrom('links')
    .innerJoin('creators', 'creators.id', 'links.creatorId')
    .select(['links.id', 'links.value', 'links.active', 'creators.email as creatorEmail'])
    .select(sql<string | null>`coalesce(links.creator_name, creators.name)`.as('creatorName'))
    .where('links.brandId', '=', brandId)
    .where(sql<boolean>`links.id = any(${[...ids]}::text[])`)
    .execute();
}

/** The creators of links, by link. */
export async function listOwners(db: Db, brandId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('links')
    .select(['id', 'creatorId'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .execute();
  return new Map(rows.map(({ id, creatorId }) => [id, creatorId]));
}

/** Brands that flag leaked codes and were not searched since, marked as searched now. */
export async function claimSearches(db: Db, now: Date, since: Date, limit: number): Promise<string[]> {
  const { rows } = await sql<{ brandId: string }>`
    with due as (
      select brand_id from fraud_rules
      where rules -> 'code_leak' ->> 'action' <> 'off' and (searched_at is null or searched_at <= ${since})
      order by searched_at nulls first limit ${limit} for update skip locked)
    update fraud_rules set searched_at = ${now} from due where fraud_rules.brand_id = due.brand_id
    returning fraud_rules.brand_id`.execute(db);
  return rows.map(({ brandId }) => brandId);
}

/** A search that failed is due again. */
export async function forgetSearch(db: Db, brandId: string): Promise<void> {
  await db.updateTable('fraudRules').set({ searchedAt: null }).where('brandId', '=', brandId).execute();
}

/** Replaces what was found of the brand's codes. */
export async function replaceLeaks(
  db: Db,
  brandId: string,
  leaks: readonly { linkId: string; score: number }[],
  foundAt: Date,
): Promise<void> {
  const ids = leaks.map(({ linkId }) => linkId);
  await db
    .deleteFrom('codeLeaks')
    .where('brandId', '=', brandId)
    .where(sql<boolean>`link_id <> all(${ids}::text[])`)
    .execute();
  if (leaks.length === 0) return;
  await db
    .insertInto('codeLeaks')
    .values(leaks.map((one) => ({ ...one, brandId, foundAt })))
    .onConflict((conflict) =>
      conflict.column('linkId').doUpdateSet((eb) => ({
        score: eb.ref('excluded.score'),
        foundAt: eb.ref('excluded.foundAt'),
      })),
    )
    .execute();
}
