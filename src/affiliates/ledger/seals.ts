import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { NOTED, selectNumbers } from '../../kit/outbox/outbox.ts';

const BATCH = 1_000;
/** Most unsealed rows that are reported of a table. */
const MOST_UNSEALED = 100;

/** A sealed table with the noun for its rows and its key. The triggers in `sql/postgres` list the same tables. */
interface SealedTable {
  table: string;
  noun: string;
  key: readonly string[];
}

const SEALED: readonly SealedTable[] = [
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

const ChainedSeals = z.array(
  z.object({
    seq: z.number().int(),
    hash: z.instanceof(Buffer),
    isRight: z.boolean(),
    /** False if the ledger no longer has the entry that was its last one then. */
    isInLedger: z.boolean(),
  }),
);

/** Lists the next seals of the brand's chain, each compared with the stored hash of the one before it. */
async function listSeals(db: Db, brandId: string, after: { seq: number; hash: Buffer | null }, limit: number) {
  const { rows } = await sql`
    with batch as (select * from seals where brand_id = ${brandId} and seq > ${after.seq} order by seq limit ${limit})
    select batch.seq, batch.hash,
      batch.ledger_seq = 0 and batch.ledger_hash is null or entry.hash is not distinct from batch.ledger_hash as is_in_ledger,
      batch.hash = seal_hash(coalesce(lag(batch.hash) over (order by batch.seq), ${after.hash}::bytea), batch.brand_id,
        batch.seq, batch.ledger_seq, batch.ledger_hash, batch.sealed_at, noted.rows) as is_right
    from batch
    left join lateral (
      select ${NOTED} as rows from sealed_rows where seal_id = batch.seal_id) as noted on true
    left join ledger_entries as entry on entry.brand_id = batch.brand_id and entry.seq = batch.ledger_seq
    order by batch.seq`.execute(db);
  return ChainedSeals.parse(rows);
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
type ComparedRow = z.output<typeof ComparedRows>[number];

const TIMES: readonly string[] = ['at', 'until'];

/** Matches the row of `present` with the key `one.key`. */
function matchesKey(columns: readonly string[]): RawBuilder<unknown> {
  const parts = columns.map((column, i) => {
    const part = sql`one.key[${sql.lit(i + 1)}]`;
    return sql`${sql.ref(`present.${column}`)} = ${TIMES.includes(column) ? sql`${part}::timestamptz` : part}`;
  });
  return sql.join(parts, sql` and `);
}

/**
 * Lists the next rows that were ever sealed, by key, if they differ from their seal. The last row of the batch is always
 * included, so that the caller can continue after it.
 */
async function compareSealed(
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
        where present.brand_id = ${brandId} and ${matchesKey(columns)}) as actual on true
    )
    select * from compared
    where sealed is distinct from actual or broken_at is not null or key = (select max(key) from keys)
    order by key`.execute(db);
  return ComparedRows.parse(rows);
}

/** Lists the keys of rows that no trigger noted. */
async function listUnnoted(db: Db, brandId: string, { table, key: columns }: SealedTable): Promise<string[][]> {
  const { rows } = await sql<{ key: string[] }>`
    select key from (
      select sealed_key(to_jsonb(present), ${[...columns]}::text[]) as key from ${sql.table(table)} as present
      where present.brand_id = ${brandId}) as one
    where not exists (
      select from sealed_rows as written
      where written.brand_id = ${brandId} and written.table_name = ${table} and written.key = one.key)
    order by key limit ${MOST_UNSEALED}`.execute(db);
  return rows.map(({ key }) => key);
}

/** Finds the problem of a row, if it has one. */
function findRowProblem({ sealed, actual, brokenAt }: ComparedRow): string | undefined {
  if (sealed === null && actual !== null) return 'it was not written by Rollcall';
  if (sealed !== null && actual === null) return 'it was sealed and is gone';
  const print = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
  const differences = Object.keys({ ...sealed, ...actual })
    .sort()
    .flatMap((name) => {
      const values = [actual?.[name], sealed?.[name]];
      const [actualText, sealedText] = values.map(print);
      if (actualText === sealedText) return [];
      const isDigest = values.some((value) => typeof value === 'string' && value.startsWith('sha256:'));
      return isDigest ? `${name} is not what was sealed` : `${name} is ${actualText}, sealed as ${sealedText}`;
    });
  if (differences.length > 0) return differences.join('; ');
  return brokenAt === null ? undefined : `it was edited before seal ${brokenAt} was written`;
}

const nameRow = ({ noun }: SealedTable, key: readonly string[]) => `${noun} ${key.join(' ')}`;

async function verifyTable(db: Db, brandId: string, table: SealedTable): Promise<string[]> {
  const problems = (await listUnnoted(db, brandId, table)).map(
    (key) => `${nameRow(table, key)}: it was not written by Rollcall`,
  );
  let after: string[] = [];
  for (;;) {
    const rows = await compareSealed(db, brandId, table, after, BATCH);
    for (const row of rows) {
      const problem = findRowProblem(row);
      if (problem !== undefined) problems.push(`${nameRow(table, row.key)}: ${problem}`);
    }
    const last = rows.at(-1);
    if (last === undefined) return problems;
    after = last.key;
  }
}

/** Walks the brand's seals, and compares every sealed row with its last sealed state. */
export async function verifySeals(db: Db, brandId: string): Promise<{ hash: Buffer | null; problems: string[] }> {
  // Rows are sealed with times as text in UTC.
  await sql`set local time zone 'UTC'`.execute(db);
  const problems: string[] = [];
  let last: { seq: number; hash: Buffer | null } = { seq: 0, hash: null };
  for (;;) {
    const seals = await listSeals(db, brandId, last, BATCH);
    for (const { seq, hash, isRight, isInLedger } of seals) {
      if (seq !== last.seq + 1) problems.push(`seals ${last.seq + 1} to ${seq - 1} are missing`);
      else if (!isRight) problems.push(`seal ${seq}: it or what it covers is not what was hashed`);
      if (!isInLedger) problems.push(`seal ${seq}: the ledger no longer has the entry that was its last one then`);
      last = { seq, hash };
    }
    if (seals.length < BATCH) break;
  }
  const row = await selectNumbers(db, brandId).select(['sealSeq as seq', 'sealHash as hash']).executeTakeFirst();
  const head = row ?? { seq: 0, hash: null };
  if (head.seq !== last.seq || !(head.hash ?? Buffer.alloc(0)).equals(last.hash ?? Buffer.alloc(0))) {
    problems.push(`the head says ${head.seq} seals, the last one is ${last.seq}, or has another hash`);
  }
  for (const table of SEALED) problems.push(...(await verifyTable(db, brandId, table)));
  return { hash: last.hash, problems };
}
