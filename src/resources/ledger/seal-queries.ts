import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../engines/postgres/open.ts';
import { numbersOf } from '../../outbox/queries.ts';
import { NOTED } from '../../outbox/sealing-queries.ts';

/** A table that is sealed: what one of its rows is called, and its key. The triggers' list is in `sql/postgres`. */
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
const MOST = 100;

const ChainedSeals = z.array(
  z.object({
    seq: z.number().int(),
    hash: z.instanceof(Buffer),
    /** Whether it is what its hash was made of. */
    isRight: z.boolean(),
    /** Whether the ledger still has the entry that was the last one then. */
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
  const row = await numbersOf(db, brandId).select(['sealSeq as seq', 'sealHash as hash']).executeTakeFirst();
  return row ?? { seq: 0, hash: null };
}

/** Rows are sealed with times as text of UTC; for the rest of the transaction they are compared so. */
export async function useUtc(db: Db): Promise<void> {
  await sql`set local time zone 'UTC'`.execute(db);
}

const Facts = z.record(z.string(), z.unknown()).nullable();
const ComparedRows = z.array(
  z.object({
    key: z.array(z.string()),
    /** As it was last sealed; null: as deleted. */
    sealed: Facts,
    actual: Facts,
    /** The first seal whose writer found another row than the seal before it had left. */
    brokenAt: z.number().int().nullable(),
  }),
);
export type ComparedRow = z.output<typeof ComparedRows>[number];

const TIMES: readonly string[] = ['at', 'until'];

/** Whether `present` is the row of `key`. */
function isOfKey(columns: readonly string[]): RawBuilder<unknown> {
  const parts = columns.map((column, i) => {
    const part = sql`one.key[${sql.lit(i + 1)}]`;
    return sql`${sql.ref(`present.${column}`)} = ${TIMES.includes(column) ? sql`${part}::timestamptz` : part}`;
  });
  return sql.join(parts, sql` and `);
}

/**
 * The next rows that were ever sealed, by key: those that differ, and the last of all, so that the caller can go on behind
 * it.
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

/** Rows of which nothing was ever noted, by key. */
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
