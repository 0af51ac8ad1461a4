import { type RawBuilder, sql } from 'kysely';
import { ensureSalt, SALT_CONTEXT } from '../affiliates/orders/customers.ts';
import { KEY_CONTEXT } from '../directory/opt-out/forgotten.ts';
import type { Db } from '../kit/engines/postgres/open.ts';
import type { Secrets } from '../kit/values/secrets.ts';

/** A column with sealed values: `key` names its rows, and each value opens only with its own context. */
interface SealedColumn {
  table: string;
  column: string;
  /** A text that identifies a row. */
  key: RawBuilder<string>;
  /** The context that the value was sealed for. */
  context: RawBuilder<string>;
  /** For a column that is sealed in some rows only. */
  where?: RawBuilder<boolean>;
}

const id = sql<string>`id`;
const ofId = (table: string, column: string, context = id): SealedColumn => ({ table, column, key: id, context });

/** Everything that is sealed, one column per line; a test finds missing ones. */
export const SEALED: readonly SealedColumn[] = [
  // A shop whose orders are reported with a key has none.
  { ...ofId('integrations', 'secrets'), where: sql<boolean>`source_name is null` },
  ofId('store_deliveries', 'body'),
  ofId('webhook_subscriptions', 'secret'),
  ofId('webhook_subscriptions', 'previous_secret'),
  ofId('plans', 'request'),
  ofId('contracts', 'signer_ip_sealed', sql<string>`'contract ' || id`),
  ofId('contracts', 'signer_agent_sealed', sql<string>`'contract ' || id`),
  { ...ofId('export_schedules', 'credentials'), where: sql<boolean>`deleted_at is null` },
  ofId('store_authorizations', 'keys', sql<string>`'authorization ' || encode(token_hash, 'hex')`),
  {
    table: 'directory_forgotten_key',
    column: 'key',
    key: sql<string>`only_one::text`,
    context: sql<string>`${KEY_CONTEXT}::text`,
  },
  {
    table: 'customer_salt',
    column: 'salt',
    key: sql<string>`only_one::text`,
    context: sql<string>`${SALT_CONTEXT}::text`,
  },
  ofId('data_requests', 'selector', sql<string>`'data request ' || id`),
  ofId('data_requests', 'books', sql<string>`'books ' || id`),
  ofId('integrations', 'parting_secrets', sql<string>`'parting ' || id`),
  ofId('directory_forgotten', 'pks', sql<string>`'forgotten ' || id`),
  ofId('directory_forget_requests', 'email', sql<string>`'forget request ' || id`),
  {
    table: 'idempotency_keys',
    column: 'answer',
    key: sql<string>`brand_id || ' ' || key`,
    context: sql<string>`'idempotency ' || brand_id || ' ' || key`,
    where: sql<boolean>`is_sealed`,
  },
];

/** A store's delivery has up to 4 MB. */
const BATCH = 50;

export type Resealed = {
  /** `table.column`. */
  what: string;
  /** Newly sealed with the new secret. */
  resealed: number;
  /** Already sealed with it. */
  current: number;
  /** Neither secret opens them: sealed with a lost one. */
  lost: number;
};

interface SealedRow {
  key: string;
  context: string;
  value: Buffer;
}

async function readBatch(db: Db, { table, column, key, context, where }: SealedColumn, after: string) {
  const { rows } = await sql<SealedRow>`
    select ${key} as key, ${context} as context, ${sql.ref(column)} as value from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${where ?? sql<boolean>`true`} and ${key} > ${after}
    order by ${key} limit ${BATCH}`.execute(db);
  return rows;
}

/**
 * Replaces the value only if it is unchanged: one written in the meantime was sealed with the new secret by another process.
 */
async function replace(db: Db, { table, column, key }: SealedColumn, row: SealedRow, sealed: Buffer): Promise<void> {
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${sealed}
    where ${key} = ${row.key} and ${sql.ref(column)} = ${row.value}`.execute(db);
}

/** Reseals the values of one column. It is safe to interrupt and to run again. */
async function resealColumn(db: Db, secrets: Secrets, column: SealedColumn): Promise<Resealed> {
  const columnResult = { what: `${column.table}.${column.column}`, resealed: 0, current: 0, lost: 0 };
  for (let after = ''; ; ) {
    const rows = await readBatch(db, column, after);
    for (const row of rows) {
      const state = secrets.stateOf(row.value, row.context);
      columnResult[state === 'previous' ? 'resealed' : state] += 1;
      if (state !== 'previous') continue;
      await replace(db, column, row, secrets.seal(secrets.openBytes(row.value, row.context), row.context));
    }
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return columnResult;
    after = last.key;
  }
}

/** Seals everything with the new secret. */
export async function resealAll(db: Db, secrets: Secrets): Promise<Resealed[]> {
  const results: Resealed[] = [];
  // Before the old secret is forgotten, because the first salt is derived from it.
  await ensureSalt(db, secrets);
  for (const column of SEALED) results.push(await resealColumn(db, secrets, column));
  return results;
}
