import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { forgetSeals, type Removed, ROWS_AT_ONCE } from './erase.ts';
import { mentions, type Names, patterns, redact, replaceNames } from './names.ts';
import { listFreeTexts, NAMES_OF_THEIR_OWN } from './personal-columns.ts';

/** Finds a person in free texts and JSON that may mention them. */
interface Traces {
  /** Ids of the person and of their rows: of what has one of them, every personal field goes. */
  ids: readonly string[];
  /** A text that has one of them as a whole goes, wherever it stands. */
  names: Names;
  /** Fields of JSON that are personal. */
  fields: readonly string[];
}

/** Columns of JSON that may mention a person, and the column with the id of what each row is about. */
const TOLD: readonly {
  table: string;
  columns: Readonly<Record<string, 'json' | 'jsonb'>>;
  about?: RawBuilder<unknown>;
}[] = [
  { table: 'outbox', columns: { data: 'json' }, about: sql`own.data ->> 'id'` },
  { table: 'webhook_deliveries', columns: { own_data: 'json' }, about: sql`own.own_data ->> 'id'` },
  { table: 'audit_log', columns: { old_values: 'jsonb', new_values: 'jsonb' }, about: sql`own.resource_id` },
  { table: 'import_writes', columns: { before: 'jsonb' }, about: sql`own.row_id` },
  { table: 'jobs', columns: { request: 'jsonb', cursor: 'jsonb', result: 'jsonb' } },
];

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
      where own.brand_id = ${brandId} and (${isAbout} or ${text} ilike ${patterns(names.texts)}) for update`.execute(
      db,
    );
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

/** Columns with what files of other tools have. */
const IMPORTED = [
  { table: 'imports', columns: ['mapping', 'reading', 'plan', 'stored', 'result'] },
  { table: 'import_lines', columns: ['content'] },
] as const;

/** Every address that the brand's imports have, or also its events, audit log and mails. */
export async function listAddresses(db: Db, brandId: string, where: 'imports' | 'anywhere'): Promise<string[]> {
  const told = TOLD.map(({ table, columns }) => ({ table, columns: Object.keys(columns) }));
  const places = where === 'imports' ? IMPORTED : [...told, ...IMPORTED];
  const texts = places.flatMap(({ table, columns }) =>
    columns.map(
      (column) => sql`select ${sql.ref(column)}::text as text from ${sql.table(table)} where brand_id = ${brandId}`,
    ),
  );
  const mailed = sql`select to_email as text from mails where brand_id = ${brandId}`;
  const { rows } = await sql<{ address: string }>`
    select distinct (regexp_matches(text, '[^[:space:]"<>(),;:]+@[[:alnum:].-]+', 'g'))[1] as address from (
      ${sql.join(where === 'imports' ? texts : [...texts, mailed], sql` union all `)}
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
  if (names.texts.length === 0) return removedCounts;
  const planDeletion =
    await sql`delete from plans where brand_id = ${brandId} and ${mentions(sql`changes`, names)}`.execute(db);
  count('plans', planDeletion.numAffectedRows);
  // A stored answer stays, because its key makes a repeated call safe.
  const storedAnswer = sql`convert_from(own.answer, 'UTF8')::jsonb`;
  const fieldsOfOwn = sql`case when ${storedAnswer} #>> '{data,id}' = any(${[...ids]}::text[]) then ${[...fields]}::text[] else '{}' end`;
  const answers = await sql`
    update idempotency_keys as own set answer = convert_to((${redact(storedAnswer, fieldsOfOwn, names)})::text, 'UTF8')
    where own.brand_id = ${brandId} and not own.is_sealed and own.answer is not null
      and convert_from(own.answer, 'UTF8') ilike ${patterns([...names.texts, ...ids.slice(0, 1)])}`.execute(db);
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
export async function eraseTexts(work: Work, names: Names): Promise<void> {
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

/** A name that is the only one of its kind ends with a part of the row's id, because an earlier erasure may have left the same. */
const LEAST_UNIQUE = 17;

function toWritten(table: string, column: string, names: Names) {
  const value = sql`own.${sql.ref(column)}`;
  const written = replaceNames(value, names);
  if (!NAMES_OF_THEIR_OWN.includes(`${table}.${column}`)) return written;
  return sql`left(${written}, greatest(length(${value}), ${LEAST_UNIQUE}) - 9) || ' ' || right(own.id, 8)`;
}

/** Replaces a person's names in what others wrote of others. Returns how many rows changed of each table. */
export async function replaceMentions(work: Work, names: Names): Promise<Removed> {
  const { db, brandId } = work;
  const removedCounts: Removed = {};
  if (names.texts.length === 0) return removedCounts;
  for (const { table, columns, where, isSealed } of listFreeTexts()) {
    const changes = columns.map((column) => {
      const value = sql`own.${sql.ref(column)}`;
      const left = sql`case when ${mentions(value, names)} then ${toWritten(table, column, names)} else ${value} end`;
      return sql`${sql.ref(column)} = ${left}`;
    });
    const isFound = columns.map((column) => mentions(sql`own.${sql.ref(column)}`, names));
    const { rows } = await sql<{ id: string | null }>`
      update ${sql.table(table)} as own set ${sql.join(changes)}
      where own.brand_id = ${brandId} and ${sql.raw(where)} and (${sql.join(isFound, sql` or `)})
      returning to_jsonb(own) ->> 'id' as id`.execute(db);
    if (rows.length > 0) removedCounts[table] = rows.length;
    if (isSealed)
      await forgetSeals(
        work,
        table,
        rows.flatMap(({ id }) => id ?? []),
      );
  }
  return removedCounts;
}

/** Mails that an erasure deleted, and those in which it replaced a name. */
interface ErasedMails {
  removed: Removed;
  /** Their ids, by which files are named. */
  ids: string[];
}

/**
 * Deletes mails to a person and about their rows. What others were mailed stays, without the names; its file goes, because it
 * was written with them.
 */
export async function eraseMails(
  { db, brandId }: Work,
  { creatorId, ids }: { creatorId: string | null; ids: readonly string[] },
  names: Names,
): Promise<ErasedMails> {
  const addresses = names.texts.flatMap((name) => (/[^\s@]@[^\s@]/.test(name) ? [name.toLowerCase()] : []));
  const { rows: gone } = await sql<{ id: string }>`
    delete from mails where brand_id = ${brandId} and (creator_id = ${creatorId}
      or lower(to_email) = any(${addresses}::text[])
      or split_part(subject_row, ':', 1) = any(${[...ids]}::text[])
      or split_part(subject_row, ':', 1) in (
        select id from data_requests where brand_id = ${brandId} and creator_id = ${creatorId}))
    returning id`.execute(db);
  const params = sql`params::jsonb`;
  const { rows: changed } = await sql<{ id: string }>`
    update mails set params = (${replaceNames(params, names)})::json, error = ${replaceNames(sql`error`, names)}
    where brand_id = ${brandId} and ${names.texts.length > 0}
      and (${mentions(params, names)} or ${mentions(sql`error`, names)}) returning id`.execute(db);
  const count = gone.length + changed.length;
  return { removed: count > 0 ? { mails: count } : {}, ids: [...gone, ...changed].map(({ id }) => id) };
}
