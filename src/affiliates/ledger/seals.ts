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
  /** Rows from before the table was sealed have no seal until they are written again. */
  isPartial?: boolean;
}

const SEALED: readonly SealedTable[] = [
  { table: 'creators', noun: 'creator', key: ['id'] },
  { table: 'links', noun: 'assignment', key: ['id'] },
  { table: 'link_slugs', noun: 'slug', key: ['slug'] },
  { table: 'link_states', noun: 'state of assignment', key: ['link_id', 'at'] },
  { table: 'link_past_codes', noun: 'earlier code of assignment', key: ['link_id', 'code', 'until'] },
  { table: 'orders', noun: 'order', key: ['id'] },
  { table: 'terms', noun: 'version of terms', key: ['id'] },
  { table: 'creator_groups', noun: 'group', key: ['id'] },
  { table: 'group_memberships', noun: 'membership of group', key: ['id'] },
  { table: 'commission_parts', noun: 'part of commission', key: ['commission_id', 'rule'] },
  { table: 'customers', noun: 'customer', key: ['id'] },
  { table: 'customer_keys', noun: 'key of customer', key: ['customer_id', 'kind', 'key'] },
  { table: 'order_heads', noun: 'head of order', key: ['integration_id', 'order_id'] },
  { table: 'order_refunds', noun: 'refund of order', key: ['integration_id', 'order_id', 'refund_id'] },
  { table: 'order_disputes', noun: 'dispute of order', key: ['integration_id', 'order_id', 'dispute_id'] },
  { table: 'commissions', noun: 'commission', key: ['id'] },
  { table: 'commission_adjustments', noun: 'adjustment of commission', key: ['commission_id', 'cause'] },
  { table: 'payouts', noun: 'payout', key: ['id'] },
  { table: 'payout_allocations', noun: 'allocation of commission', key: ['commission_id', 'payout_id'] },
  { table: 'statements', noun: 'statement', key: ['id'] },
  { table: 'disputes', noun: 'dispute', key: ['id'] },
  { table: 'payment_profiles', noun: 'payment profile of creator', key: ['creator_id'] },
  { table: 'brands', noun: 'settings of brand', key: ['id'] },
  { table: 'attribution_rules', noun: 'attribution rules of brand', key: ['brand_id'] },
  { table: 'fraud_rules', noun: 'fraud rules of brand', key: ['brand_id'] },
  { table: 'referrer_checks', noun: 'check of the referrer of commission', key: ['commission_id'] },
  { table: 'agent_policies', noun: 'agent policy of brand', key: ['brand_id'] },
  { table: 'integrations', noun: 'store', key: ['id'] },
  { table: 'api_keys', noun: 'API key', key: ['id'] },
  { table: 'webhook_subscriptions', noun: 'webhook', key: ['id'] },
  { table: 'reports', noun: 'report', key: ['id'] },
  { table: 'costs', noun: 'cost', key: ['id'] },
  { table: 'contracts', noun: 'contract', key: ['id'] },
  { table: 'data_requests', noun: 'request of a person', key: ['id'] },
  { table: 'seal_conversions', noun: 'conversion of seals of brand', key: ['brand_id'] },
  { table: 'past_commissions', noun: 'past commission', key: ['id'] },
  { table: 'order_items', noun: 'lines of order', key: ['integration_id', 'order_id', 'refund_id'], isPartial: true },
  {
    table: 'order_clicks',
    noun: 'click of order',
    key: ['integration_id', 'order_id', 'click'],
    isPartial: true,
  },
  { table: 'audit_log', noun: 'audit entry', key: ['id'], isPartial: true },
];

/** A brand's own row has its id instead of a brand's. */
const ownsRow = (table: string, brandId: string) =>
  sql`present.${sql.ref(table === 'brands' ? 'id' : 'brand_id')} = ${brandId}`;

/** The number and hash of a seal; 0 and null before the first. */
export interface SealHead {
  seq: number;
  hash: Buffer | null;
}

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
async function listSeals(db: Db, brandId: string, after: SealHead, limit: number) {
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
    /** The actual values themselves, which `actual` has as commitments under the salt of the seal. */
    present: Facts,
    /** The first seal whose writer found the row different from what the previous seal had left. */
    brokenAt: z.number().int().nullable(),
    /** The number of rows of the batch, most of which are as sealed and not listed. */
    batchRows: z.number().int(),
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
 * included, so that the caller can continue after it. Without `offset 0` each batch would be joined with all rows of the
 * table, and a comparison of the whole would take their square.
 */
async function compareSealed(
  db: Db,
  brandId: string,
  { table, key: columns, isPartial = false }: SealedTable,
  since: number,
  after: readonly string[],
  limit: number,
): Promise<ComparedRow[]> {
  const isNew = sql`exists (select from seals where seals.seal_id = sealed_rows.seal_id and seals.seq > ${since})
    or not exists (select from seals where seals.seal_id = sealed_rows.seal_id)`;
  const { rows } = await sql`
    with keys as materialized (
      select distinct key from sealed_rows
      where brand_id = ${brandId} and table_name = ${table} and key > ${[...after]}::text[]
        and (${since === 0 ? sql`true` : isNew}) order by key limit ${limit}
    ), writes as (
      select written.key, written.id, written.facts, written.salt, seals.seq, written.found_hash is distinct from
        lag(sealed_digest(written.facts)) over (partition by written.key order by written.id)
        and not (${isPartial} and row_number() over (partition by written.key order by written.id) = 1) as is_broken
      from keys
      cross join lateral (
        select * from sealed_rows
        where brand_id = ${brandId} and table_name = ${table} and sealed_rows.key = keys.key offset 0) as written
      join seals on seals.seal_id = written.seal_id and seals.brand_id = ${brandId}
    ), last as (
      select distinct on (key) key, facts, salt, min(seq) filter (where is_broken) over (partition by key) as broken_at
      from writes order by key, id desc
    ), compared as (
      select one.key, last.facts as sealed, commit_facts(${table}, actual.facts, last.salt) as actual, actual.facts as present,
        last.broken_at
      from keys as one
      left join last on last.key = one.key
      left join lateral (
        select sealed_facts(${table}, to_jsonb(present)) as facts from ${sql.table(table)} as present
        where ${ownsRow(table, brandId)} and ${matchesKey(columns)} offset 0) as actual on true
    )
    select compared.*, (select count(*)::int from keys) as batch_rows from compared
    where sealed is distinct from actual or broken_at is not null or key = (select max(key) from keys)
    order by key`.execute(db);
  return ComparedRows.parse(rows);
}

/** The tables in which the brand has rows that were ever sealed: most brands use a few of them. */
async function listSealedTables(db: Db, brandId: string): Promise<Set<string>> {
  const names = SEALED.map(({ table }) => table);
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) as name
    where exists (select from sealed_rows where brand_id = ${brandId} and table_name = name)`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** Lists the keys of rows that no trigger noted. As a join, without statistics, it would compare all rows with all. */
async function listUnnoted(db: Db, brandId: string, { table, key: columns }: SealedTable): Promise<string[][]> {
  const { rows } = await sql<{ key: string[] }>`
    select sealed_key(to_jsonb(present), ${[...columns]}::text[]) as key from ${sql.table(table)} as present
    where ${ownsRow(table, brandId)} and sealed_facts(${table}, to_jsonb(present)) is not null
    except select key from sealed_rows where brand_id = ${brandId} and table_name = ${table}
    order by key limit ${MOST_UNSEALED}`.execute(db);
  return rows.map(({ key }) => key);
}

/** Finds the problem of a row, if it has one. */
function findRowProblem({ sealed, actual, present, brokenAt }: ComparedRow): string | undefined {
  if (sealed === null && actual !== null) return 'it was not written by Rollcall';
  if (sealed !== null && actual === null) return 'it was sealed and is gone';
  const print = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
  const differences = Object.keys({ ...sealed, ...actual })
    .sort()
    .flatMap((name) => {
      const values = [actual?.[name], sealed?.[name]];
      const [actualText, sealedText] = values.map(print);
      if (actualText === sealedText) return [];
      const isSealedAs = (form: string) => values.some((value) => typeof value === 'string' && value.startsWith(form));
      if (isSealedAs('sha256:') || print(present?.[name]).startsWith('"sha256:'))
        return `${name} is not what was sealed`;
      if (isSealedAs('hmac:')) return `${name} is ${print(present?.[name])}, which is not what was sealed`;
      return `${name} is ${actualText}, sealed as ${sealedText}`;
    });
  if (differences.length > 0) return differences.join('; ');
  return brokenAt === null ? undefined : `it was edited before seal ${brokenAt} was written`;
}

const nameRow = ({ noun }: SealedTable, key: readonly string[]) =>
  [noun, ...key.filter((part) => part !== '')].join(' ');

/** Lists rows that somebody else wrote: nothing sealed what their triggers noted. */
async function listUnsealed(db: Db, brandId: string): Promise<{ table: string; key: string[] }[]> {
  const { rows } = await sql<{ table: string; key: string[] }>`
    select distinct table_name as table, key from sealed_rows as written
    where brand_id = ${brandId} and not exists (select from seals where seals.seal_id = written.seal_id)
    order by table_name, key limit ${MOST_UNSEALED * SEALED.length}`.execute(db);
  return rows;
}

/** Compares the rows that were written after the seal `since`, or all. */
async function verifyTable(
  db: Db,
  brandId: string,
  table: SealedTable,
  since: number,
  unsealed: Awaited<ReturnType<typeof listUnsealed>>,
  hasSealedRows: boolean,
): Promise<string[]> {
  const unnotedRows = since > 0 || table.isPartial ? [] : await listUnnoted(db, brandId, table);
  const problems = [
    ...unnotedRows.map((key) => `${nameRow(table, key)}: it was not written by Rollcall`),
    ...unsealed
      .filter((one) => one.table === table.table)
      .slice(0, MOST_UNSEALED)
      .map(({ key }) => `${nameRow(table, key)}: it was edited, or edited and set back`),
  ];
  let after: string[] | undefined = hasSealedRows ? [] : undefined;
  while (after !== undefined) {
    const rows: ComparedRow[] = await compareSealed(db, brandId, table, since, after, BATCH);
    for (const row of rows) {
      const problem = findRowProblem(row);
      if (problem !== undefined) problems.push(`${nameRow(table, row.key)}: ${problem}`);
    }
    const last = rows.at(-1);
    after = last === undefined || last.batchRows < BATCH ? undefined : last.key;
  }
  return problems;
}

/** Walks the brand's seals after `since`, and compares the rows that they cover with their last sealed state. */
export async function verifySeals(
  db: Db,
  brandId: string,
  since: SealHead,
): Promise<{ head: SealHead; problems: string[] }> {
  // Rows are sealed with times as text in UTC.
  await sql`set local time zone 'UTC'`.execute(db);
  const problems: string[] = [];
  let last = since;
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
  const unsealedRows = await listUnsealed(db, brandId);
  const sealedTables = await listSealedTables(db, brandId);
  for (const table of SEALED) {
    const hasSealedRows = sealedTables.has(table.table);
    problems.push(...(await verifyTable(db, brandId, table, since.seq, unsealedRows, hasSealedRows)));
  }
  return { head: last, problems };
}
