import { type Selectable, sql, type Updateable } from 'kysely';
import { oldestWaitingClick } from '../../analytics/figures/freshness.ts';
import { withoutClicks } from '../../analytics/figures/pausing.ts';
import { deleteClicks } from '../../analytics/figures/rollups.ts';
import { removeFromUnsent } from '../../analytics/figures/sync.ts';
import { ensureMigrated } from '../../kit/engines/clickhouse/migrate.ts';
import type { BrandsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import type { Work } from '../../kit/operation/work.ts';
import { notFound } from '../../kit/values/errors.ts';
import { EXAMPLE_EMAIL, EXAMPLE_ID, EXAMPLE_ORDER } from '../../kit/values/fields.ts';
import { findBrand } from '../../platform/brands/brands.ts';
import { deleteCalls } from '../../platform/requests/requests.ts';
import { rebuildFigures } from '../ledger/rebuild-figures.ts';
import { DEMO_NAME, SAMPLE_BRAND } from './brand.ts';

/** Removes the sample and everything else in the brand. `removeFigures` removes its clicks and figures afterwards. */
export async function removeSample(work: Work): Promise<void> {
  const { db, brandId, now } = work;
  // The lock keeps new rows out of the brand.
  const brand = await db
    .selectFrom('brands')
    .selectAll()
    .where('id', '=', brandId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (brand.sample !== 'filling' && brand.sample !== 'filled') throw notFound('sample');
  const facts = await listNeutralFacts(db, brand);
  await db
    .updateTable('brands')
    .set({ ...facts, sample: 'removing', updatedAt: now })
    .where('id', '=', brandId)
    .execute();
  await removeFromUnsent(db, [brandId]);
  await deleteSampleSearches(db, brandId);
  await deleteSampleCharges(db, brandId);
  await deleteEverything(db, brandId);
  work.audit({ resourceId: brandId, old: brand, new: { ...brand, ...facts, sample: null } });
}

const FACTS = ['logo', 'website', 'contactName', 'contactEmail', 'industry', 'description'] as const;

/** The facts that the sample gave its brand and nobody has changed, without their values. */
async function listNeutralFacts(db: Db, brand: Selectable<BrandsTable>): Promise<Updateable<BrandsTable>> {
  const facts: Updateable<BrandsTable> = {};
  for (const fact of FACTS) if (brand[fact] === SAMPLE_BRAND[fact]) facts[fact] = null;
  if (brand.name === SAMPLE_BRAND.name && !(await findBrand(db, DEMO_NAME))) facts.name = DEMO_NAME;
  return facts;
}

/** Deletes the sample's saved searches, which are older than their brand, unless somebody has changed them. */
async function deleteSampleSearches(db: Db, brandId: string): Promise<void> {
  await sql`delete from saved_searches search using brands brand
    where search.brand_id = ${brandId} and brand.id = search.brand_id and search.updated_at is null
      and search.created_at < brand.created_at`.execute(db);
}

/** Deletes the credits that the sample's calls cost, which are older than their brand as well. */
async function deleteSampleCharges(db: Db, brandId: string): Promise<void> {
  await sql`delete from credit_entries charge using brands brand, subscriptions subscription
    where brand.id = ${brandId} and subscription.brand_id = brand.id and charge.subscription_id = subscription.id
      and charge.occurred_at < brand.created_at`.execute(db);
}

/** The brand that has a sample, the newest if there are several. */
export const findSampleBrand = (db: Db) =>
  db
    .selectFrom('brands')
    .select(['id', 'name'])
    .where('sample', 'in', ['filling', 'filled'])
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/**
 * Removes clicks and calls from before the removal and rebuilds the figures, which then cover only later events. While
 * earlier clicks still wait for ClickHouse, the brand is left to the next pass.
 */
export async function removeFigures(
  engines: Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse' | 'clock'>,
): Promise<void> {
  const { postgres, clicksRedis, clickhouse, clock } = engines;
  for (const { id, updatedAt } of await listPendingRemovals(postgres.db)) {
    const removedAt = updatedAt ?? clock.now();
    if ((await oldestWaitingClick(clicksRedis)) <= removedAt.getTime()) continue;
    await withoutClicks(clicksRedis, [id], () => deleteClicks(clickhouse, id, removedAt));
    await deleteCalls(clickhouse, id, removedAt);
    await rebuildFigures(engines, id);
    await postgres.db
      .updateTable('brands')
      .set({ sample: null })
      .where('id', '=', id)
      .where('sample', '=', 'removing')
      .execute();
  }
}

export const removeSampleFigures: Job = {
  name: 'remove-sample-figures',
  everyMs: 5_000,
  asksFor: 'brands whose sample was removed and still has clicks and figures',
  run: async (context) => {
    await ensureMigrated(context.clickhouse);
    await removeFigures(context);
  },
};

/** Tables that belong to the people of the brand instead of its sample, and files, which a job removes from storage. */
const KEPT: ReadonlySet<string> = new Set([
  'subscriptions',
  'people',
  'api_keys',
  'sign_in_links',
  'passkeys',
  'agent_policies',
  'agent_grants',
  'attribution_rules',
  'fraud_rules',
  'credit_sums',
  'saved_searches',
  'creator_lists',
  'outbox_numbers',
  'outbox_positions',
  'asset_uploads',
]);

/** Stands in place of a key as the one who added the sample's creators to lists. */
export const SAMPLE_LIST_ADDER = 'sample';

/** Tables without a brand, with the table that their rows belong to. */
const BELONGING = [
  { table: 'content_metrics', column: 'content_id', owner: 'content' },
  { table: 'webhook_attempts', column: 'delivery_id', owner: 'webhook_deliveries' },
] as const;

async function listOwned(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select class.relname as name from pg_class class
    join pg_attribute attribute on attribute.attrelid = class.oid and attribute.attname = 'brand_id'
    where class.relnamespace = current_schema()::regnamespace and class.relkind in ('r', 'p')
      and not class.relispartition and not attribute.attisdropped
    order by name`.execute(db);
  return rows.map(({ name }) => name).filter((name) => !KEPT.has(name));
}

export const setSample = (db: Db, brandId: string, sample: 'filling' | 'filled' | null) =>
  db.updateTable('brands').set({ sample }).where('id', '=', brandId).execute();

/**
 * Keeps jobs from looking up the sample's posts and parcels, which do not exist, and from noting its erasures outside of the
 * database, where they would outlive the sample. The tables grew at once, and without
 * statistics `ledger verify` takes half a minute instead of half a second.
 */
export async function endFilling(db: Db, brandId: string): Promise<void> {
  await db.updateTable('content').set({ nextRefreshAt: null }).where('brandId', '=', brandId).execute();
  await db.updateTable('shipments').set({ trackAt: null }).where('brandId', '=', brandId).execute();
  await db.updateTable('dataRequests').set({ leftovers: null }).where('brandId', '=', brandId).execute();
  await sql`analyze`.execute(db);
  await setSample(db, brandId, 'filled');
}

/** Maps the reference's examples to rows of the newest sample: the oldest of each kind, as it has the richest history. */
export async function listSampleExamples(db: Db): Promise<{ example: string; own: string }[]> {
  const { rows } = await sql<{ example: string; own: string }>`
    with brand as (select id from brands where sample = 'filled' order by created_at desc limit 1),
    audited as (select distinct on (left(resource_id, 4)) resource_id as id
      from audit_log where brand_id = (select id from brand) order by left(resource_id, 4), at, id),
    sold as (select orders.id, orders.order_id, creators.email from commissions
      join orders on orders.id = commissions.order_id join creators on creators.id = commissions.creator_id
      where commissions.brand_id = (select id from brand) and creators.email is not null order by orders.id limit 1),
    found as (select id from audited union all select id from sold
      union all (select id from audit_log where brand_id = (select id from brand) order by at, id limit 1)
      union all (select id from webhook_deliveries where brand_id = (select id from brand) order by id limit 1))
    select left(id, 4) || ${EXAMPLE_ID} as example, id as own from found
    union all select ${EXAMPLE_ORDER}, order_id from sold
    union all select ${EXAMPLE_EMAIL}, email from sold`.execute(db);
  return rows;
}

/**
 * Deletes all rows of the brand but the kept ones, even from append-only tables, and empties its ledger. Triggers and
 * references are off in this transaction, so it needs the superuser of an embedded database.
 */
async function deleteEverything(db: Db, brandId: string): Promise<void> {
  await sql`set local session_replication_role = replica`.execute(db);
  await sql`insert into asset_uploads (storage_key, brand_id, begun_at, given_up_at)
    select file.key, brand_id, created_at, created_at
    from assets, unnest(array[storage_key, thumbnail_key]) as file (key)
    where brand_id = ${brandId} and purged_at is null and file.key is not null
    union all
    select storage_key, brand_id, created_at, created_at from job_files
    where brand_id = ${brandId} and storage_key is not null
    on conflict (storage_key) do nothing`.execute(db);
  // Lists of the sample that nobody has added creators to.
  await sql`with gone as (
      delete from creator_lists list where brand_id = ${brandId} and id in (
        select list_id from listed_creators group by list_id
        having bool_and(added_by is not distinct from ${SAMPLE_LIST_ADDER})) returning id)
    delete from listed_creators where list_id in (select id from gone)`.execute(db);
  for (const { table, column, owner } of BELONGING) {
    await sql`delete from ${sql.table(table)} where ${sql.ref(column)} in
      (select id from ${sql.table(owner)} where brand_id = ${brandId})`.execute(db);
  }
  for (const table of await listOwned(db)) {
    await sql`delete from ${sql.table(table)} where brand_id = ${brandId}`.execute(db);
  }
  await sql`update outbox_numbers set version = version + 1, ledger_seq = 0, ledger_hash = null,
    ledger_recorded_at = null, seal_seq = 0, seal_hash = null where brand_id = ${brandId}`.execute(db);
  await sql`update outbox_positions as position set seq = head.seq from outbox_numbers as head
    where head.brand_id = ${brandId} and position.brand_id = head.brand_id`.execute(db);
  await sql`set local session_replication_role = origin`.execute(db);
  // The rows that stay begin the new chain of seals.
  await sql`select note_present(${brandId})`.execute(db);
}

/** Brands whose sample is removed from PostgreSQL but not yet from ClickHouse. */
export const listPendingRemovals = (db: Db) =>
  db.selectFrom('brands').select(['id', 'updatedAt']).where('sample', '=', 'removing').execute();
