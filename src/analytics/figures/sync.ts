import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { insertOnce } from '../../kit/engines/clickhouse/insert.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { tsvText, tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { StoredPostings } from '../../kit/outbox/ledger-entry.ts';
import { movedSince } from '../../kit/outbox/outbox.ts';
import { IS_CUSTOMER_DUE, UNSENT_CUSTOMER_SINCE } from './customer-rows.ts';

/** A batch goes to the table of postings, and to the table of orders once the clicks that won them are in ClickHouse. */
export type SentAt = 'sentAt' | 'ordersSentAt';

/** Entries of one brand, inclusive at both ends. */
export const Range = z.object({ brand_id: z.string(), from: z.number().int(), to: z.number().int() });
export type Range = z.output<typeof Range>;
const Ranges = z.array(Range);

export interface BrandBacklog {
  brandId: string;
  position: number;
  head: number;
}

/** Gives every brand with a ledger a position, which can be locked. */
export async function insertPositions(db: Db, after?: Date): Promise<void> {
  await db
    .insertInto('ledgerPositions')
    .columns(['brandId', 'seq'])
    .expression(
      db
        .selectFrom('outboxNumbers as head')
        .leftJoin('ledgerPositions as position', 'position.brandId', 'head.brandId')
        .select(['head.brandId', sql<number>`0`.as('seq')])
        .where(movedSince(after))
        .where('head.ledgerSeq', '>', 0)
        .where('position.seq', 'is', null),
    )
    .onConflict((conflict) => conflict.column('brandId').doNothing())
    .execute();
}

/**
 * Brands with entries that are not in a batch yet, locked until the transaction ends. Skips those that another worker
 * has locked.
 */
export async function lockBehind(db: Db, limit: number, after?: Date): Promise<BrandBacklog[]> {
  return await db
    .selectFrom('ledgerPositions as position')
    .innerJoin('outboxNumbers as head', 'head.brandId', 'position.brandId')
    .select(['position.brandId', 'position.seq as position', 'head.ledgerSeq as head'])
    .where(movedSince(after))
    .whereRef('head.ledgerSeq', '>', 'position.seq')
    .orderBy('position.brandId')
    .limit(limit)
    .forUpdate('position')
    .skipLocked()
    .execute();
}

/** True if any entry or order must be sent to ClickHouse, in one statement. */
export async function isAnythingToSync(db: Db, after?: Date): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from ledger_batches where sent_at is null)
      or exists (select from ledger_batches where orders_sent_at is null) or exists (
      select from outbox_numbers as head left join ledger_positions as position on position.brand_id = head.brand_id
      where ${movedSince(after)} and head.ledger_seq > coalesce(position.seq, 0))
      or ${IS_CUSTOMER_DUE(after)} as due`.execute(db);
  return rows[0]?.due ?? false;
}

/** Fixes the batch's contents, so that no other batch includes them. */
export async function insertBatch(db: Db, now: Date, ranges: readonly Range[]): Promise<void> {
  await db
    .insertInto('ledgerBatches')
    .values({ ranges: JSON.stringify(ranges), createdAt: now, sentAt: null, ordersSentAt: null })
    .execute();
  const of = <V>(value: (range: Range) => V) => ranges.map(value);
  await sql`update ledger_positions position set seq = range.seq
    from unnest(${of(({ brand_id }) => brand_id)}::text[], ${of(({ to }) => to)}::bigint[]) as range (brand_id, seq)
    where position.brand_id = range.brand_id`.execute(db);
}

export interface SyncBatch {
  id: number;
  createdAt: Date;
  ranges: Range[];
}

/** A worker that hangs while sending loses what it has locked after this time; a second send is harmless. */
export const allowSending = (db: Db) =>
  sql`select set_config('idle_in_transaction_session_timeout', '90s', true)`.execute(db);

/**
 * The oldest unsent batch, locked until the transaction ends; undefined if there is none or another worker has it.
 * Batches are sent one at a time, because ClickHouse only remembers the last 10,000 tokens.
 */
export async function lockOldestUnsent(db: Db, column: SentAt = 'sentAt'): Promise<SyncBatch | undefined> {
  await allowSending(db);
  const row = await db
    .selectFrom('ledgerBatches')
    .select(['id', 'createdAt', 'ranges'])
    .where(column, 'is', null)
    .where('id', '=', (eb) =>
      eb
        .selectFrom('ledgerBatches as oldest')
        .select(({ fn }) => fn.min('oldest.id').as('id'))
        .where(`oldest.${column}`, 'is', null),
    )
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row && { id: row.id, createdAt: row.createdAt, ranges: Ranges.parse(row.ranges) };
}

export async function markSent(db: Db, id: number, column: SentAt, now: Date): Promise<void> {
  const change = column === 'sentAt' ? { sentAt: now } : { ordersSentAt: now };
  await db.updateTable('ledgerBatches').set(change).where('id', '=', id).execute();
}

/** Deletes sent batches once no worker can still be sending them. */
export async function deleteSentBatches(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('ledgerBatches').where('sentAt', '<', before).where('ordersSentAt', '<', before).execute();
}

/** The entries of all the ranges with their orders, in one statement and always in the same order. */
export async function listEntries(db: Db, ranges: readonly Range[]) {
  const of = <V>(value: (range: Range) => V) => ranges.map(value);
  const rows = await db
    .selectFrom('ledgerEntries as entry')
    .innerJoin(
      sql<{ brandId: string; first: number; last: number; place: number }>`unnest(
        ${of(({ brand_id }) => brand_id)}::text[], ${of(({ from }) => from)}::bigint[], ${of(({ to }) => to)}::bigint[])
        with ordinality`.as<'range'>(sql`range (brand_id, first, last, place)`),
      (join) => join.onRef('range.brandId', '=', 'entry.brandId'),
    )
    .leftJoin('commissions', (join) =>
      join.onRef('commissions.id', '=', 'entry.commissionId').onRef('commissions.brandId', '=', 'entry.brandId'),
    )
    .leftJoin('orders', 'orders.id', 'commissions.orderId')
    .select(['entry.brandId', 'entry.seq', 'entry.kind', 'entry.currency', 'entry.linkId', 'entry.creatorId'])
    .select(['entry.postings', 'entry.recordedAt'])
    .select(['commissions.clickId', 'commissions.source', 'orders.integrationId', 'orders.orderId as storeOrderId'])
    .select(['commissions.termsId', 'commissions.decidedFacts', 'commissions.room', 'commissions.commissionRatePpm'])
    .select(['orders.baseMinor', 'orders.occurredAt as placedAt', 'orders.isTest'])
    .select(['orders.paidAt', 'orders.cancelledAt', 'orders.disputeLostAt'])
    .select(
      sql<string>`case when orders.id is null then '' when orders.is_renewal then coalesce(orders.kind, 'renewal')
        else coalesce(orders.kind, 'once') end`.as('orderKind'),
    )
    .whereRef('entry.seq', '>=', 'range.first')
    .whereRef('entry.seq', '<=', 'range.last')
    .orderBy('range.place')
    .orderBy('entry.seq')
    .execute();
  return rows.map((row) => ({ ...row, postings: StoredPostings.parse(row.postings) }));
}
export type SyncedEntry = Awaited<ReturnType<typeof listEntries>>[number];

/** The brand's ranges in batches that may not have been sent yet. */
export async function listUnsentRanges(db: Db, brandId: string, column: SentAt): Promise<Range[]> {
  const rows = await db.selectFrom('ledgerBatches').select('ranges').where(column, 'is', null).orderBy('id').execute();
  return rows.flatMap(({ ranges }) => Ranges.parse(ranges)).filter((range) => range.brand_id === brandId);
}

export interface StoredFreshness {
  /** The time at which the oldest entry that is missing from the figures was recorded; null if none is missing. */
  oldestUnsynced: Date | null;
  /** The same time for the table of orders, which may lack later batches too. */
  oldestUnsyncedOrder: Date | null;
  /** The time since which an order of customers may have changed without being sent; null if none has. */
  oldestUnsyncedCustomer: Date | null;
  /** True if the brand's figures are complete: no rebuild is running or was interrupted. */
  isWhole: boolean;
}

/** Reads the freshness of a brand's figures in one statement, so that all values are from the same moment. */
export async function findFreshness(db: Db, brandId: string): Promise<StoredFreshness> {
  const since = (column: 'sent_at' | 'orders_sent_at') => sql`
    (select min(recorded_at) from ledger_entries where brand_id = ${brandId} and seq >= least(
      coalesce((select seq from ledger_positions where brand_id = ${brandId}), 0) + 1,
      (select min((range ->> 'from')::bigint) from ledger_batches, jsonb_array_elements(ranges) range
        where ${sql.ref(column)} is null and range ->> 'brand_id' = ${brandId})))`;
  const { rows } = await sql<StoredFreshness>`
    select not exists (select from unfolded_brands where brand_id = ${brandId}) as is_whole,
      ${since('sent_at')} as oldest_unsynced, ${since('orders_sent_at')} as oldest_unsynced_order,
      ${UNSENT_CUSTOMER_SINCE(brandId)} as oldest_unsynced_customer`.execute(db);
  const [standing] = rows;
  if (!standing) throw new Error('A statement that returns one row returned none.');
  return standing;
}

/** The brand's last entry that is in a batch. */
export async function findPosition(db: Db, brandId: string): Promise<number> {
  const row = await db.selectFrom('ledgerPositions').select('seq').where('brandId', '=', brandId).executeTakeFirst();
  return row?.seq ?? 0;
}

/** The number of entries of all brands that are not in the figures yet. */
export async function countUnsynced(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select
      (select coalesce(sum(head.ledger_seq - coalesce(position.seq, 0)), 0) from outbox_numbers head
        left join ledger_positions position on position.brand_id = head.brand_id)
      + (select coalesce(sum((range ->> 'to')::bigint - (range ->> 'from')::bigint + 1), 0)
        from ledger_batches, jsonb_array_elements(ranges) range where sent_at is null) as count`.execute(db);
  return rows[0]?.count ?? 0;
}

const toFoldingLock = (brandId: string | RawBuilder<unknown>) =>
  sql`hashtext('rollcall folding'), hashtext(${brandId})`;

/** True if the brand's figures are incomplete: a rebuild is running or was interrupted. */
export async function isBeingRebuilt(db: Db, brandId: string): Promise<boolean> {
  const { rows } = await sql<{ noted: boolean }>`
    select exists (select from unfolded_brands where brand_id = ${brandId}) as noted`.execute(db);
  return rows[0]?.noted !== false;
}

/**
 * Records that the brands' figures are incomplete, or will be within `REBUILD_NOTICE_MS`. It is written outside the
 * rebuild's transaction, so that readers see it at once and it survives a killed process.
 */
export async function insertUnfolded(db: Db, brandIds: readonly string[]): Promise<void> {
  await sql`insert into unfolded_brands (brand_id, tried_at) select id, now() from unnest(${[...brandIds].sort()}::text[]) as id
    on conflict (brand_id) do update set tried_at = now()`.execute(db);
}

/** The figures are complete when the transaction commits. */
export async function deleteUnfolded(db: Db, brandIds: readonly string[]): Promise<void> {
  await db.deleteFrom('unfoldedBrands').where('brandId', 'in', brandIds).execute();
}

/** Brands with an interrupted rebuild that no worker is repairing or tried to repair within the last minute. */
export async function listUnfolded(db: Db): Promise<string[]> {
  const { rows } = await sql<{ brandId: string }>`
    select brand_id from unfolded_brands
    where tried_at < now() - interval '1 minute'
      and pg_try_advisory_xact_lock_shared(${toFoldingLock(sql.ref('brand_id'))})
    order by tried_at`.execute(db);
  return rows.map(({ brandId }) => brandId);
}

/**
 * Locks the brands' positions: until the transaction ends, none of their entries goes into a batch, and no other worker
 * considers their rebuild abandoned. The lock is taken in the order of ids, so that rebuilds do not deadlock.
 */
export async function lockPositions(db: Db, brandIds: readonly string[]): Promise<Map<string, number>> {
  const ids = sql`unnest(${[...brandIds].sort()}::text[])`;
  await sql`insert into ledger_positions (brand_id, seq)
    select brand_id, 0 from outbox_numbers where brand_id in (select ${ids}) and ledger_seq > 0
    order by brand_id on conflict (brand_id) do nothing`.execute(db);
  await sql`select pg_advisory_xact_lock(${toFoldingLock(sql.ref('id'))}) from ${ids} as id`.execute(db);
  const rows = await db
    .selectFrom('ledgerPositions')
    .select(['brandId', 'seq'])
    .where('brandId', 'in', brandIds)
    .orderBy('brandId')
    .forUpdate()
    .execute();
  return new Map(rows.map(({ brandId, seq }) => [brandId, seq]));
}

/**
 * Removes the brands from unsent batches, because a rebuild inserts those entries itself. Waits for a batch that is being
 * sent, and must be committed at once, so that the others are sent in the meantime. The token stays, so the rest of such a batch
 * is counted once, whether or not it was sent.
 */
export async function removeFromUnsent(db: Db, brandIds: readonly string[]): Promise<void> {
  await sql`
    with unsent as (
      select id from ledger_batches where sent_at is null or orders_sent_at is null order by id for update)
    update ledger_batches batch set ranges = (
      select coalesce(jsonb_agg(range order by place), '[]') from jsonb_array_elements(batch.ranges)
        with ordinality as of_batch (range, place)
      where not (range ->> 'brand_id' = any(${brandIds}::text[])))
    from unsent where batch.id = unsent.id`.execute(db);
}

/** The batch that is being sent or is next; 0 if none. */
export async function oldestUnsentId(db: Db): Promise<number> {
  const row = await db
    .selectFrom('ledgerBatches')
    .select(({ fn }) => fn.min('id').as('id'))
    .where((eb) => eb.or([eb('sentAt', 'is', null), eb('ordersSentAt', 'is', null)]))
    .executeTakeFirst();
  return row?.id ?? 0;
}

/** The timeline of the log and the id of the system: they change when a standby is promoted or a dump restored. */
const HISTORY = sql<string>`(select system_identifier from pg_control_system()) || ' ' ||
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)`;

/** The database's history, and the one under which figures were last sent; null before the first. */
export async function findHistory(db: Db): Promise<{ current: string; recorded: string | null }> {
  const { rows } = await sql<{ current: string; recorded: string | null }>`
    select ${HISTORY} as current, (select history from figures_history) as recorded`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('A statement that returns one row returned none.');
  return row;
}

export async function recordHistory(db: Db, history: string): Promise<void> {
  await sql`insert into figures_history (history) values (${history})
    on conflict (only_one) do update set history = excluded.history`.execute(db);
}

/** True if ClickHouse may have entries that a failover lost. Until it is compared, nothing more is sent to it. */
export async function isAfterFailover(db: Db): Promise<boolean> {
  const { current, recorded } = await findHistory(db);
  return recorded !== null && recorded !== current;
}

/** The last entry that is in a batch, for each brand with a ledger here. */
export async function listPositions(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('brands')
    .leftJoin('ledgerPositions as position', 'position.brandId', 'brands.id')
    .select(['brands.id as brandId', 'position.seq'])
    .execute();
  return new Map(rows.map(({ brandId, seq }) => [brandId, seq ?? 0]));
}

const COLUMNS = [
  'brand_id',
  'seq',
  'line',
  'kind',
  'account',
  'amount_minor',
  'currency',
  'link_id',
  'creator_id',
  'at',
  'recorded_at',
];

/** One row per posting of the entry. */
function toRows({ brandId, seq, kind, currency, linkId, creatorId, postings, recordedAt }: SyncedEntry): string {
  const recordedTime = tsvTime(recordedAt);
  return postings
    .map(({ account, amount_minor, at }, line) => {
      const facts = [tsvText(brandId), seq, line, kind, account, amount_minor, currency];
      const where = [tsvText(linkId ?? ''), tsvText(creatorId), tsvTime(new Date(at)), recordedTime];
      return `${[...facts, ...where].join('\t')}\n`;
    })
    .join('');
}

/** Inserts entries into ClickHouse, which adds them to every rollup. Resolves to whether they were sent more than once. */
export async function insertPostings(
  clickhouse: ClickHouse,
  entries: readonly SyncedEntry[],
  token: string,
): Promise<boolean> {
  return await insertOnce(clickhouse, 'ledger_v1', COLUMNS, entries.map(toRows).join(''), token);
}
