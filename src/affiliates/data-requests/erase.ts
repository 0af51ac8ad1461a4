import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { OF_CREATORS, OF_CUSTOMERS, type PersonalTable } from './personal-columns.ts';

/** The number of rows of each table that an erasure took or changed. */
export type Removed = Record<string, number>;

/** Sums the rows of each table. */
export function addCounts(...counts: readonly Removed[]): Removed {
  const sums: Removed = {};
  for (const [table, count] of counts.flatMap((one) => Object.entries(one))) sums[table] = (sums[table] ?? 0) + count;
  return sums;
}

/** Files and mails to be removed once the erasure is committed. */
export interface Leftovers {
  files: string[];
  mails: string[];
}

/** A statement has half a minute, and a person may stand in tens of thousands of rows. */
export const ROWS_AT_ONCE = 500;

/** From now on, what the transaction writes of sealed rows is told apart from what they were, whose salts can go. */
export const beginErasing = (db: Db) => sql`select set_config('rollcall.erasing', 'on', true)`.execute(db);
export const endErasing = (db: Db) => sql`select set_config('rollcall.erasing', '', true)`.execute(db);

/** Makes what was sealed of these rows before say nothing. */
export async function forgetSeals({ db, brandId }: Work, table: string, keys: readonly string[]): Promise<void> {
  for (const part of toChunks(keys, ROWS_AT_ONCE)) {
    await sql`select forget_salts(${brandId}, ${table}, ${[...part]}::text[])`.execute(db);
  }
}

/** Matches a creator's rows of a table. */
export function matchesOwner({ owner, email }: PersonalTable, creator: Person): RawBuilder<boolean> {
  const { column, table } = owner ?? { column: 'creator_id' };
  const parent = table === undefined ? undefined : OF_CREATORS[table];
  if (table !== undefined && parent !== undefined) {
    const key = column === 'canonical_key' ? column : 'id';
    return sql`own.brand_id = ${creator.brandId} and own.${sql.ref(column)} in (
      select own.${sql.ref(key)} from ${sql.table(table)} as own where ${matchesOwner(parent, creator)})`;
  }
  const byEmail =
    email === undefined || creator.email === null
      ? sql`false`
      : sql`lower(own.${sql.ref(email)}) = lower(${creator.email})`;
  return sql`own.brand_id = ${creator.brandId} and (own.${sql.ref(column)} = ${creator.id} or ${byEmail})`;
}

export interface Person {
  id: string;
  brandId: string;
  email: string | null;
}

/** The value that an erasure leaves: of a key, the text with the row's id, because keys are unique. */
const toLeft = (column: string, replacement: string) =>
  column === 'canonical_key' || column === 'url' ? sql`${replacement} || ':' || own.id` : sql.lit(replacement);

/** Erases a creator's rows of one table. Returns how many. */
export async function eraseTable({ db }: Work, name: string, table: PersonalTable, creator: Person): Promise<number> {
  const isOwn = matchesOwner(table, creator);
  if (table.goes) {
    const { numAffectedRows } = await sql`delete from ${sql.table(name)} as own where ${isOwn}`.execute(db);
    return Number(numAffectedRows ?? 0);
  }
  const columns = Object.entries(table.columns);
  const changes = columns.map(([column, replacement]) =>
    replacement === null ? sql`${sql.ref(column)} = null` : sql`${sql.ref(column)} = ${toLeft(column, replacement)}`,
  );
  const isWritten = columns.map(([column, replacement]) =>
    replacement === null
      ? sql`own.${sql.ref(column)} is not null`
      : sql`own.${sql.ref(column)}::text is distinct from ${sql.lit(replacement)}`,
  );
  const { numAffectedRows } = await sql`
    update ${sql.table(name)} as own set ${sql.join(changes)}
    where ${isOwn} and (${sql.join(isWritten, sql` or `)})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** All columns but those with bytes, which are sealed or hashes. */
const Row = z.record(z.string(), z.unknown());
export type TakenRow = z.output<typeof Row>;
const BYTES = /^\\x[0-9a-f]*$/;

export async function listRows(db: Db, name: string, isOwn: RawBuilder<unknown>): Promise<TakenRow[]> {
  const { rows } = await sql<{ row: unknown }>`
    select to_jsonb(own) as row from ${sql.table(name)} as own where ${isOwn}`.execute(db);
  return rows.map(({ row }) =>
    Object.fromEntries(
      Object.entries(Row.parse(row)).filter(([, value]) => !(typeof value === 'string' && BYTES.test(value))),
    ),
  );
}

const toCamel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The personal columns of these tables as the fields of events and of audit entries. */
function listFields(tables: Readonly<Record<string, PersonalTable>>, others: readonly string[]): string[] {
  const names = [...Object.values(tables).flatMap(({ columns }) => Object.keys(columns)), ...others];
  return [...new Set(names.flatMap((name) => [name, toCamel(name)]))];
}

export const CREATOR_FIELDS = listFields(OF_CREATORS, [
  'creator_email',
  'creator_name',
  'ig_followers',
  'tt_followers',
]);
export const CUSTOMER_FIELDS = listFields({ orders: OF_CUSTOMERS.orders ?? { columns: {} } }, ['customer']);

/** Keeps that a person wants no mails as a hash of their address under a salt of its own. */
export async function hashSuppression({ db, brandId }: Work, email: string): Promise<void> {
  await sql`
    update mail_suppressions set email = 'sha256:' || salt || ':' || encode(sha256(convert_to(salt || email, 'UTF8')), 'hex')
    from (select gen_random_uuid()::text as salt) as fresh
    where brand_id = ${brandId} and email = lower(${email})`.execute(db);
}
