import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { notFound } from '../../kit/values/errors.ts';
import { EXAMPLE_EMAIL, EXAMPLE_ID, EXAMPLE_ORDER } from '../../kit/values/fields.ts';

/** What belongs to the people of the brand, not to its sample; and files, which a job removes from the storage. */
const KEPT: ReadonlySet<string> = new Set([
  ...['subscriptions', 'people', 'api_keys', 'sign_in_links', 'passkeys', 'agent_policies', 'agent_grants'],
  ...[
    'attribution_rules',
    'fraud_rules',
    'credit_sums',
    'saved_searches',
    'creator_lists',
    'outbox_numbers',
    'outbox_positions',
    'asset_uploads',
  ],
]);

/** Who put the sample's creators on lists, in place of a key. */
export const SAMPLE_LIST_ADDER = 'sample';

/** Tables without a brand, by the table that their rows belong to. */
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
 * Nothing of a sample is due to be read outside. The tables grew at once: without statistics, `ledger verify` takes half a
 * minute instead of half a second.
 */
export async function endFilling(db: Db, brandId: string): Promise<void> {
  await db.updateTable('content').set({ nextRefreshAt: null }).where('brandId', '=', brandId).execute();
  await db.updateTable('shipments').set({ trackAt: null }).where('brandId', '=', brandId).execute();
  await sql`analyze`.execute(db);
  await setSample(db, brandId, 'filled');
}

/** Examples of the reference, and what stands for each in the newest sample: the oldest row of a kind, of which most is known. */
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

/** Locks the brand against every new row of it, and notes that its sample goes. Throws if it has none. */
export async function beginRemoval(db: Db, brandId: string, now: Date): Promise<void> {
  await sql`select from brands where id = ${brandId} for update`.execute(db);
  const { numUpdatedRows } = await db
    .updateTable('brands')
    .set({ sample: 'removing', updatedAt: now })
    .where('id', '=', brandId)
    .where('sample', 'in', ['filling', 'filled'])
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw notFound('sample');
}

/**
 * Deletes every row of the brand but the kept ones, also from tables that only grow, and empties its ledger. Triggers
 * and references are off in the meantime in this transaction, so it needs the superuser of an embedded database.
 */
export async function deleteEverything(db: Db, brandId: string): Promise<void> {
  await sql`set local session_replication_role = replica`.execute(db);
  await sql`insert into asset_uploads (storage_key, brand_id, begun_at, given_up_at)
    select file.key, brand_id, created_at, created_at
    from assets, unnest(array[storage_key, thumbnail_key]) as file (key)
    where brand_id = ${brandId} and purged_at is null and file.key is not null
    union all
    select storage_key, brand_id, created_at, created_at from job_files
    where brand_id = ${brandId} and storage_key is not null
    on conflict (storage_key) do nothing`.execute(db);
  // Lists that the sample made and people did not add to.
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
}

/** Brands whose sample was removed, but not yet from ClickHouse. */
export const listLosing = (db: Db) =>
  db.selectFrom('brands').select(['id', 'updatedAt']).where('sample', '=', 'removing').execute();

export const endRemoval = (db: Db, brandId: string) =>
  db.updateTable('brands').set({ sample: null }).where('id', '=', brandId).where('sample', '=', 'removing').execute();
