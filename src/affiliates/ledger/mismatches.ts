import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { selectNumbers } from '../../kit/outbox/queries.ts';
import { NOTED } from '../../kit/outbox/sealing-queries.ts';

/** Enough to see what happened. */
const MOST = 100;

const POSTINGS = sql`jsonb_to_recordset(entry.postings) as posting (account text, amount_minor bigint)`;

const sumOf = (account: string) =>
  sql`coalesce(sum(posting.amount_minor) filter (where posting.account = ${account}), 0)`;

/**
 * Commissions whose status or amounts do not match their ledger entries, each as a sentence. A commission of an unpaid
 * order has no entries, and is compared with its order instead.
 */
export async function listWrongCommissions(db: Db, brandId: string): Promise<string[]> {
  const { rows } = await sql<{ problem: string }>`
    with sums as (
      select entry.commission_id as id, -${sumOf('sales')} as sales, ${sumOf('sales_refunds')} as refunds,
        -${sumOf('commission_pending')} as pending, -${sumOf('commission_approved')} as approved,
        -${sumOf('commission_paid')} as paid, ${sumOf('refund_adjustment')} as adjusted
      from ledger_entries as entry cross join lateral ${POSTINGS}
      where entry.brand_id = ${brandId} and entry.commission_id is not null group by entry.commission_id
    ), rows as (
      select id, status, order_id, paid_at, amount_minor, refunded_minor, commission_minor, commission_rate_ppm,
        coalesce((select sum(amount_minor) from commission_adjustments as one
          where one.brand_id = ${brandId} and one.commission_id = commissions.id), 0) as adjusted,
        coalesce((select sum(amount_minor) from payout_allocations as one
          where one.brand_id = ${brandId} and one.commission_id = commissions.id), 0) as allocated,
        coalesce((select base_minor from orders where orders.id = commissions.order_id), amount_minor) as base_minor
      from commissions where brand_id = ${brandId}
    )
    select case
      when rows.id is null then format('commission %s is in the ledger and nowhere else', sums.id)
      else format('commission %s is %s with %s of %s, %s refunded; the ledger says pending %s, approved %s, paid %s of %s, %s refunded',
        rows.id, rows.status, rows.commission_minor, rows.amount_minor, rows.refunded_minor,
        coalesce(sums.pending, 0), coalesce(sums.approved, 0), coalesce(sums.paid, 0), coalesce(sums.sales, 0),
        coalesce(sums.refunds, 0))
      end as problem
    from rows full join sums on sums.id = rows.id
    where rows.id is null
      or rows.allocated <> case when rows.status = 'paid' then rows.commission_minor else 0 end
      or rows.base_minor <> rows.amount_minor
      or case when rows.paid_at is null then
          rows.status not in ('pending', 'rejected') or sums.id is not null
          or abs(rows.commission_minor * 1000000::numeric
            - (rows.amount_minor - rows.refunded_minor) * rows.commission_rate_ppm::numeric) > 500000
        else
          coalesce(sums.sales, 0) <> rows.amount_minor or coalesce(sums.refunds, 0) <> rows.refunded_minor
          or coalesce(sums.adjusted, 0) <> rows.adjusted
          or coalesce(sums.pending, 0) <> case when rows.status = 'pending' then rows.commission_minor else 0 end
          or coalesce(sums.approved, 0) <> case when rows.status = 'approved' then rows.commission_minor else 0 end
          or coalesce(sums.paid, 0) <> case when rows.status = 'paid' then rows.commission_minor else 0 end
        end
    order by coalesce(rows.id, sums.id) limit ${MOST}`.execute(db);
  return rows.map(({ problem }) => problem);
}

/** Payouts whose amounts do not match their ledger entries, each as a sentence. */
export async function listWrongPayouts(db: Db, brandId: string): Promise<string[]> {
  const { rows } = await sql<{ problem: string }>`
    with sums as (
      select entry.payout_id as id, -${sumOf('cash')} as cash, ${sumOf('unallocated')} as unallocated,
        ${sumOf('fees')} as fees, ${sumOf('commission_settled')} as settled, -${sumOf('adjustments_netted')} as netted
      from ledger_entries as entry cross join lateral ${POSTINGS}
      where entry.brand_id = ${brandId} and entry.payout_id is not null and entry.commission_id is null
      group by entry.payout_id
    ), rows as (
      select id, is_fee, unallocated_minor, allocated_minor, netted_minor, amount_minor,
        case when status = 'paid' or method = 'wallet' then amount_minor else 0 end as paid_minor,
        coalesce((select sum(amount_minor) from payout_allocations as one
          where one.brand_id = ${brandId} and one.payout_id = payouts.id), 0) as allocations
      from payouts where brand_id = ${brandId}
    )
    select case
      when rows.id is null then format('payout %s is in the ledger and nowhere else', sums.id)
      else format('payout %s has paid %s, allocated %s, netted %s, %s left; the ledger says %s, %s, %s, %s',
        rows.id, rows.paid_minor, rows.allocated_minor, rows.netted_minor, rows.unallocated_minor,
        coalesce(sums.cash, 0), coalesce(sums.settled, 0), coalesce(sums.netted, 0), coalesce(sums.unallocated, 0))
      end as problem
    from rows full join sums on sums.id = rows.id
    where rows.id is null or rows.allocations <> rows.allocated_minor
      or coalesce(sums.cash, 0) <> rows.paid_minor
      or coalesce(sums.settled, 0) <> rows.allocated_minor
      or coalesce(sums.netted, 0) <> rows.netted_minor
      or coalesce(sums.unallocated, 0) <> rows.unallocated_minor
      or coalesce(sums.fees, 0) <> case when rows.is_fee then rows.paid_minor else 0 end
    order by coalesce(rows.id, sums.id) limit ${MOST}`.execute(db);
  return rows.map(({ problem }) => problem);
}

/**
 * Commissions and payouts whose entries name another creator, currency, order, assignment or payment day, each as a
 * sentence.
 */
export async function listMisposted(db: Db, brandId: string): Promise<string[]> {
  const { rows } = await sql<{ problem: string }>`
    select entry.seq, format('commission %s is of %s in %s, order %s, assignment %s; entry %s says %s, %s, %s, %s', row.id,
      row.creator_id, row.currency, row.order_id, row.link_id, entry.seq, entry.creator_id, entry.currency, entry.order_id,
      entry.link_id) as problem
    from ledger_entries as entry join commissions as row on row.id = entry.commission_id and row.brand_id = entry.brand_id
    where entry.brand_id = ${brandId} and (row.creator_id, row.currency, row.order_id, row.link_id)
      is distinct from (entry.creator_id, entry.currency, entry.order_id, entry.link_id)
    union all
    select entry.seq, format('payout %s is of %s in %s, paid at %s; entry %s says %s, %s, %s', row.id, row.creator_id,
      row.currency, row.paid_at, entry.seq, entry.creator_id, entry.currency, cash.at)
    from ledger_entries as entry join payouts as row on row.id = entry.payout_id and row.brand_id = entry.brand_id
    left join lateral (
      select at from jsonb_to_recordset(entry.postings) as posting (account text, at timestamptz)
      where account = 'cash') as cash on true
    where entry.brand_id = ${brandId} and (row.creator_id <> entry.creator_id or row.currency <> entry.currency
      or cash.at <> coalesce(row.paid_at, row.created_at))
    order by seq limit ${MOST}`.execute(db);
  return rows.map(({ problem }) => problem);
}

/** A sealed table: what its rows are called, and its key. The triggers' list is in `sql/postgres`. */
export interface SealedTable {
  table: string;
  noun: string;
  key: readonly string[];
}

export const SEALED: readonly SealedTable[] = [
  { table: 'creators', noun: 'creator', key: ['id'] },
  { table: 'links', noun: 'assignment', key: ['id'] },
  { table: 'link_slugs', noun: 'slug', key: ['slug'] },
  { table: 'link_states', noun: 'state of assignment', key: ['link_id', 'at'] },
  { table: 'link_past_codes', noun: 'earlier code of assignment', key: ['link_id', 'code', 'until'] },
  { table: 'orders', noun: 'order', key: ['id'] },
  { table: 'order_heads', noun: 'head of order', key: ['integration_id', 'order_id'] },
  { table: 'order_refunds', noun: 'refund of order', key: ['integration_id', 'order_id', 'refund_id'] },
  { table: 'order_disputes', noun: 'dispute of order', key: ['integration_id', 'order_id', 'dispute_id'] },
  { table: 'commissions', noun: 'commission', key: ['id'] },
  { table: 'commission_adjustments', noun: 'adjustment of commission', key: ['commission_id', 'cause'] },
  { table: 'payouts', noun: 'payout', key: ['id'] },
  { table: 'payout_allocations', noun: 'allocation of commission', key: ['commission_id', 'payout_id'] },
  { table: 'statements', noun: 'statement', key: ['id'] },
  { table: 'disputes', noun: 'dispute', key: ['id'] },
];

/** Enough to see what happened. */

const ChainedSeals = z.array(
  z.object({
    seq: z.number().int(),
    hash: z.instanceof(Buffer),
    /** Whether it matches its hash. */
    isRight: z.boolean(),
    /** Whether the ledger still has the entry that was its last one then. */
    isOfLedger: z.boolean(),
  }),
);

/** The next seals of the brand's chain, each compared with the stored hash of the one before it. */
export async function listSeals(db: Db, brandId: string, after: { seq: number; hash: Buffer | null }, limit: number) {
  const { rows } = await sql`
    with batch as (select * from seals where brand_id = ${brandId} and seq > ${after.seq} order by seq limit ${limit})
    select batch.seq, batch.hash,
      batch.ledger_seq = 0 and batch.ledger_hash is null or entry.hash is not distinct from batch.ledger_hash as is_of_ledger,
      batch.hash = seal_hash(coalesce(lag(batch.hash) over (order by batch.seq), ${after.hash}::bytea), batch.brand_id,
        batch.seq, batch.ledger_seq, batch.ledger_hash, batch.sealed_at, noted.rows) as is_right
    from batch
    left join lateral (
      select ${NOTED} as rows from sealed_rows where seal_id = batch.seal_id) as noted on true
    left join ledger_entries as entry on entry.brand_id = batch.brand_id and entry.seq = batch.ledger_seq
    order by batch.seq`.execute(db);
  return ChainedSeals.parse(rows);
}

export async function findSealHead(db: Db, brandId: string): Promise<{ seq: number; hash: Buffer | null }> {
  const row = await selectNumbers(db, brandId).select(['sealSeq as seq', 'sealHash as hash']).executeTakeFirst();
  return row ?? { seq: 0, hash: null };
}

/** Sets the transaction's time zone to UTC, because rows are sealed with times as text in UTC. */
export async function useUtc(db: Db): Promise<void> {
  await sql`set local time zone 'UTC'`.execute(db);
}

const Facts = z.record(z.string(), z.unknown()).nullable();
const ComparedRows = z.array(
  z.object({
    key: z.array(z.string()),
    /** The row as last sealed; null if it was sealed as deleted. */
    sealed: Facts,
    actual: Facts,
    /** The first seal whose writer found the row different from what the previous seal had left. */
    brokenAt: z.number().int().nullable(),
  }),
);
export type ComparedRow = z.output<typeof ComparedRows>[number];

const TIMES: readonly string[] = ['at', 'until'];

/** Whether `present` is the row with this `key`. */
function isOfKey(columns: readonly string[]): RawBuilder<unknown> {
  const parts = columns.map((column, i) => {
    const part = sql`one.key[${sql.lit(i + 1)}]`;
    return sql`${sql.ref(`present.${column}`)} = ${TIMES.includes(column) ? sql`${part}::timestamptz` : part}`;
  });
  return sql.join(parts, sql` and `);
}

/**
 * The next rows that were ever sealed, by key: those that differ, and the last of all, so that the caller can continue
 * after it.
 */
export async function compareSealed(
  db: Db,
  brandId: string,
  { table, key: columns }: SealedTable,
  after: readonly string[],
  limit: number,
): Promise<ComparedRow[]> {
  const { rows } = await sql`
    with keys as materialized (
      select distinct key from sealed_rows
      where brand_id = ${brandId} and table_name = ${table} and key > ${[...after]}::text[] order by key limit ${limit}
    ), writes as (
      select written.key, written.id, written.facts, seals.seq, written.found_hash is distinct from
        lag(sealed_digest(written.facts)) over (partition by written.key order by written.id) as is_broken
      from keys
      join sealed_rows as written on written.key = keys.key and written.brand_id = ${brandId} and written.table_name = ${table}
      join seals on seals.seal_id = written.seal_id and seals.brand_id = ${brandId}
    ), last as (
      select distinct on (key) key, facts from writes order by key, id desc
    ), compared as (
      select one.key, last.facts as sealed, actual.facts as actual,
        (select min(seq) from writes where writes.key = one.key and is_broken) as broken_at
      from keys as one
      left join last on last.key = one.key
      left join lateral (
        select sealed_facts(${table}, to_jsonb(present)) as facts from ${sql.table(table)} as present
        where present.brand_id = ${brandId} and ${isOfKey(columns)}) as actual on true
    )
    select * from compared
    where sealed is distinct from actual or broken_at is not null or key = (select max(key) from keys)
    order by key`.execute(db);
  return ComparedRows.parse(rows);
}

/** Rows that were never noted, by key. */
export async function listUnnoted(db: Db, brandId: string, { table, key: columns }: SealedTable): Promise<string[][]> {
  const { rows } = await sql<{ key: string[] }>`
    select key from (
      select sealed_key(to_jsonb(present), ${[...columns]}::text[]) as key from ${sql.table(table)} as present
      where present.brand_id = ${brandId}) as one
    where not exists (
      select from sealed_rows as written
      where written.brand_id = ${brandId} and written.table_name = ${table} and written.key = one.key)
    order by key limit ${MOST}`.execute(db);
  return rows.map(({ key }) => key);
}
