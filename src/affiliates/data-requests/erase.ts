import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { toLikePattern } from '../../workflow/creators/creators.ts';
import { OF_CREATORS, OF_CUSTOMERS, type PersonalTable } from './personal-columns.ts';

/** The number of rows of each table that an erasure took or changed. */
export type Removed = Record<string, number>;

/** Files and mails to be removed once the erasure is committed. */
export interface Leftovers {
  files: string[];
  mails: string[];
}

/** Finds a person in free texts and JSON that may mention them. */
export interface Traces {
  /** Ids of the person and of their rows: of what has one of them, every personal field goes. */
  ids: readonly string[];
  /** Addresses, full names and handles: a text that has one of them as a whole goes, wherever it stands. */
  names: readonly string[];
  /** Fields of JSON that are personal. */
  fields: readonly string[];
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

/** Longer ones are words, not names. */
const MOST_LENGTH = 200;
const LEAST_FULL_NAME = 8;

/** Lists the texts within a JSON value that name somebody and mean nothing else: addresses, `@handles`, names of several words. */
export function listNames(value: unknown): string[] {
  if (typeof value === 'string') {
    const text = value.trim();
    const isFullName = text.length >= LEAST_FULL_NAME && /\s/.test(text);
    return text.length <= MOST_LENGTH && (/\S@\S|^@\S/.test(text) || isFullName) ? [text] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(listNames);
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

/** Columns of JSON that may mention a person, and the column with the id of what each row is about. */
const TOLD: readonly {
  table: string;
  columns: Readonly<Record<string, 'json' | 'jsonb'>>;
  about?: RawBuilder<unknown>;
}[] = [
  { table: 'outbox', columns: { data: 'json' }, about: sql`own.data ->> 'id'` },
  { table: 'webhook_deliveries', columns: { own_data: 'json' }, about: sql`own.own_data ->> 'id'` },
  { table: 'audit_log', columns: { old_values: 'jsonb', new_values: 'jsonb' }, about: sql`own.resource_id` },
  {
    table: 'imports',
    columns: { mapping: 'jsonb', options: 'jsonb', reading: 'jsonb', plan: 'jsonb', stored: 'jsonb', result: 'jsonb' },
  },
  { table: 'import_lines', columns: { content: 'jsonb' } },
  { table: 'import_writes', columns: { before: 'jsonb' }, about: sql`own.row_id` },
  { table: 'jobs', columns: { request: 'jsonb', cursor: 'jsonb', result: 'jsonb' } },
];

/** Finds what may name the person, quickly; `mentions` decides. */
const patterns = (texts: readonly string[]) => sql`any(${texts.map(toLikePattern)}::text[])`;

/** Regular expressions that find each name as a whole: "Ann Lee" is not in "Joann Lee", nor `ann@x.com` in `joann@x.com`. */
const toExpressions = (names: readonly string[]): string[] =>
  names.map((name) => {
    const literal = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    return `(?<![[:alnum:]._+-])${literal}(?![[:alnum:]_-]|[.][[:alnum:]])`;
  });

const mentions = (text: RawBuilder<unknown>, names: readonly string[]) =>
  sql`${text} ~* any(${toExpressions(names)}::text[])`;

const redact = (value: RawBuilder<unknown>, fields: RawBuilder<unknown>, names: readonly string[]) =>
  sql`redact_json(${value}, ${fields}, ${toExpressions(names)}::text[])`;

const NO_FIELDS = sql`'{}'::text[]`;
const mentionsInJson = (value: RawBuilder<unknown>, names: readonly string[]) =>
  sql`(${value}::text ilike ${patterns(names)} and ${redact(value, NO_FIELDS, names)} is distinct from ${value})`;

/** Takes a person out of what is told of others and of what happened. Returns how many rows changed of each table. */
export async function redactMentions(work: Work, { ids, names, fields }: Traces): Promise<Removed> {
  const { db, brandId } = work;
  const removedCounts: Removed = {};
  for (const { table, columns, about } of TOLD) {
    const list = Object.entries(columns);
    const text = sql.join(
      list.map(([column]) => sql`coalesce(own.${sql.ref(column)}::text, '')`),
      sql` || `,
    );
    const isAbout = sql`(${about === undefined ? sql`false` : sql`coalesce(${about} = any(${[...ids]}::text[]), false)`}
      or ${text} like ${patterns(ids.slice(0, 1))})`;
    const { rows: found } = await sql<{ place: string; isOwn: boolean }>`
      select own.ctid::text as place, ${isAbout} as is_own from ${sql.table(table)} as own
      where own.brand_id = ${brandId} and (${isAbout} or ${text} ilike ${patterns(names)}) for update`.execute(db);
    const rows: { id: string | null }[] = [];
    for (const isOwn of [true, false]) {
      const redactions = list.map(([column, type]) => {
        const value = sql`own.${sql.ref(column)}::jsonb`;
        return { column, type, value, left: redact(value, sql`${isOwn ? [...fields] : []}::text[]`, names) };
      });
      const changes = redactions.map(
        ({ column, type, left }) => sql`${sql.ref(column)} = ${type === 'json' ? sql`${left}::text::json` : left}`,
      );
      const isOther = redactions.map(({ value, left }) => sql`${left} is distinct from ${value}`);
      const places = found.filter((row) => row.isOwn === isOwn).map(({ place }) => place);
      for (const part of toChunks(places, ROWS_AT_ONCE)) {
        const update = await sql<{ id: string | null }>`
          update ${sql.table(table)} as own set ${sql.join(changes)}
          where own.ctid = any(${part}::tid[]) and (${sql.join(isOther, sql` or `)})
          returning to_jsonb(own) ->> 'id' as id`.execute(db);
        rows.push(...update.rows);
      }
    }
    if (rows.length > 0) removedCounts[table] = rows.length;
    if (table === 'audit_log')
      await forgetSeals(
        work,
        table,
        rows.flatMap(({ id }) => id ?? []),
      );
  }
  return removedCounts;
}

/** Every address that the brand's imports, events, audit log and mails have. */
export async function listAddresses(db: Db, brandId: string): Promise<string[]> {
  const texts = TOLD.flatMap(({ table, columns }) =>
    Object.keys(columns).map(
      (column) => sql`select ${sql.ref(column)}::text as text from ${sql.table(table)} where brand_id = ${brandId}`,
    ),
  );
  const { rows } = await sql<{ address: string }>`
    select distinct (regexp_matches(text, '[^[:space:]"<>(),;:]+@[[:alnum:].-]+', 'g'))[1] as address from (
      ${sql.join([...texts, sql`select to_email as text from mails where brand_id = ${brandId}`], sql` union all `)}
    ) as told`.execute(db);
  return rows.map(({ address }) => address);
}

/** Ends files that were made of the brand's rows and plans that name a person, and takes them out of stored answers. */
export async function endCopies({ db, brandId, now }: Work, { ids, names, fields }: Traces): Promise<Removed> {
  const removedCounts: Removed = {};
  const count = (table: string, affected: bigint | undefined) => {
    if (affected) removedCounts[table] = Number(affected);
  };
  const fileUpdate =
    await sql`update jobs set files_end_at = ${now} where brand_id = ${brandId} and files_end_at > ${now}`.execute(db);
  count('job_files', fileUpdate.numAffectedRows);
  if (names.length === 0) return removedCounts;
  const planDeletion =
    await sql`delete from plans where brand_id = ${brandId} and ${mentionsInJson(sql`changes`, names)}`.execute(db);
  count('plans', planDeletion.numAffectedRows);
  // A stored answer stays, because its key makes a repeated call safe.
  const storedAnswer = sql`convert_from(own.answer, 'UTF8')::jsonb`;
  const fieldsOfOwn = sql`case when ${storedAnswer} #>> '{data,id}' = any(${[...ids]}::text[]) then ${[...fields]}::text[] else '{}' end`;
  const answers = await sql`
    update idempotency_keys as own set answer = convert_to((${redact(storedAnswer, fieldsOfOwn, names)})::text, 'UTF8')
    where own.brand_id = ${brandId} and not own.is_sealed and own.answer is not null
      and convert_from(own.answer, 'UTF8') ilike ${patterns(names)}`.execute(db);
  count('idempotency_keys', answers.numAffectedRows);
  const attempts = await sql`
    update webhook_attempts as own set response_excerpt = null, error = null from webhook_deliveries as delivery
    where delivery.id = own.delivery_id and delivery.brand_id = ${brandId}
      and (${mentions(sql`own.response_excerpt`, names)} or ${mentions(sql`own.error`, names)})`.execute(db);
  count('webhook_attempts', attempts.numAffectedRows);
  return removedCounts;
}

/** Columns of plain text in which somebody may have written a name. */
const TEXTS = [
  { table: 'data_requests', column: 'reason', left: null },
  { table: 'data_requests', column: 'refusal', left: null },
  { table: 'imports', column: 'file_name', left: 'erased' },
  { table: 'imports', column: 'error', left: null },
  { table: 'jobs', column: 'error', left: null },
] as const;

/** Empties texts that name the person. */
export async function eraseTexts(work: Work, names: readonly string[]): Promise<void> {
  const { db, brandId } = work;
  for (const { table, column, left } of TEXTS) {
    const { rows } = await sql<{ id: string }>`
      update ${sql.table(table)} set ${sql.ref(column)} = ${left}
      where brand_id = ${brandId} and ${mentions(sql.ref(column), names)} returning id`.execute(db);
    if (table === 'data_requests')
      await forgetSeals(
        work,
        table,
        rows.map(({ id }) => id),
      );
  }
}

/** Deletes mails to a person and about them. Returns their ids, by which files are named. */
export async function deleteMails(
  { db, brandId }: Work,
  creatorId: string | null,
  names: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from mails where brand_id = ${brandId} and (creator_id = ${creatorId}
      or ${mentions(sql`to_email`, names)} or ${mentionsInJson(sql`params::jsonb`, names)}) returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Keeps that a person wants no mails as a hash of their address under a salt of its own. */
export async function hashSuppression({ db, brandId }: Work, email: string): Promise<void> {
  await sql`
    update mail_suppressions set email = 'sha256:' || salt || ':' || encode(sha256(convert_to(salt || email, 'UTF8')), 'hex')
    from (select gen_random_uuid()::text as salt) as fresh
    where brand_id = ${brandId} and email = lower(${email})`.execute(db);
}

/** What is left of a line of an import that names somebody: the whole line was about them. */
const NO_LINE = sql`'{"cells": [], "record": null, "value": null}'::jsonb`;

/** Takes the files of imports that have a line which names the person, and empties the line, also where it is a sample. */
export async function takeImportFiles({ db, brandId }: Work, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ storageKey: string }>`
    update imports as own set storage_key = null from (
      select id, storage_key from imports where brand_id = ${brandId} and storage_key is not null and exists (
        select from import_lines as line where line.import_id = imports.id and ${mentionsInJson(sql`line.content`, names)})
    ) as taken where own.id = taken.id returning taken.storage_key`.execute(db);
  await sql`
    update import_lines as line set content = line.content || ${NO_LINE}
    where line.brand_id = ${brandId} and ${mentionsInJson(sql`line.content`, names)}`.execute(db);
  // Samples of columns name nobody either, and must stay texts.
  await sql`
    update imports set reading = reading || jsonb_build_object(
      'sample', (
        select coalesce(jsonb_agg(case when ${mentionsInJson(sql`one`, names)} then one || ${NO_LINE} else one end order by place), '[]')
        from jsonb_array_elements(reading -> 'sample') with ordinality as each (one, place)),
      'columns', (
        select coalesce(jsonb_agg(one || '{"samples": []}' order by place), '[]')
        from jsonb_array_elements(reading -> 'columns') with ordinality as each (one, place)))
    where brand_id = ${brandId} and jsonb_typeof(reading -> 'sample') = 'array'
      and jsonb_typeof(reading -> 'columns') = 'array' and ${mentionsInJson(sql`reading`, names)}`.execute(db);
  return rows.map(({ storageKey }) => storageKey);
}
