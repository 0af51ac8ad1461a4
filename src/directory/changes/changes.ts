import { isDeepStrictEqual } from 'node:util';
import { type Selectable, sql } from 'kysely';
import type { DirectoryChangesTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { validationError } from '../../kit/values/errors.ts';
import { TimeText } from '../../kit/values/time.ts';
import { CREATOR_FIELDS, type CreatorField } from '../imports/indexing/fields.ts';

export const CHANGE_TYPES = ['added', 'updated', 'removed', 'opted_out'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** A change to one creator of the directory. */
export interface Change {
  pk: number;
  type: ChangeType;
  /** The fields that an update changed. */
  fields: readonly string[];
  /** The version of the document with the change; 0 for a change of the whole index. */
  version: number;
}

/** The fields in which two rows of a creator differ. */
export function listChangedFields(before: object, after: object): CreatorField[] {
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return CREATOR_FIELDS.filter((field) => !isDeepStrictEqual(was.get(field) ?? null, is.get(field) ?? null));
}

const LINE = /^(\d+)\t(added|updated|removed|opted_out)\t([\w,]*)\t(\d+)$/;
const TYPES = new Map(CHANGE_TYPES.map((type) => [String(type), type]));

/** Changes as the text that PostgreSQL keeps until ClickHouse has them. */
const serializeChanges = (changes: readonly Change[]): string =>
  changes.map(({ pk, type, fields, version }) => `${pk}\t${type}\t${fields.join(',')}\t${version}\n`).join('');

export function parseChanges(lines: string): Change[] {
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, pk, word = '', fields = '', version] = LINE.exec(line) ?? [];
      const type = TYPES.get(word);
      if (!type) throw new Error(`Not a change of the directory: ${JSON.stringify(line)}.`);
      return { pk: Number(pk), type, fields: fields.split(',').filter(Boolean), version: Number(version) };
    });
}

export type ChangeBatch = Selectable<DirectoryChangesTable>;
export type ChangeKind = ChangeBatch['kind'];

interface Origin {
  alias: string;
  kind: ChangeKind;
  /** The index that has the changes. */
  version: string;
}

/** Records changes before they are made; `settleChanges` reports them once searches see them. */
export async function stageChanges(db: Db, origin: Origin, changes: readonly Change[]): Promise<number> {
  const row = { ...origin, seq: null, at: null, lines: serializeChanges(changes) };
  const { id } = await db.insertInto('directoryChanges').values(row).returning('id').executeTakeFirstOrThrow();
  return id;
}

/** The staged changes of a directory, in order. Only its single writer stages any. */
export async function listStaged(db: Db, alias: string): Promise<ChangeBatch[]> {
  return await db
    .selectFrom('directoryChanges')
    .selectAll()
    .where('alias', '=', alias)
    .where('seq', 'is', null)
    .orderBy('id')
    .execute();
}

export async function hasStaged(db: Db, alias: string): Promise<boolean> {
  const query = db.selectFrom('directoryChanges').select('id').where('alias', '=', alias).where('seq', 'is', null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** Numbers are given in commit order, because readers ask for what comes after a number. Held until the commit. */
const lockNumbers = (db: Db) => sql`select pg_advisory_xact_lock(hashtext('directory_changes'))`.execute(db);

/** Numbers the staged changes of a directory: from now on they are in the feed. Runs in a transaction. */
export async function settleChanges(transaction: Db, alias: string, at: Date): Promise<void> {
  await lockNumbers(transaction);
  await sql`
    update directory_changes as change set seq = numbered.seq, at = ${at}
    from (
      select id, nextval('directory_changes_seq') as seq
      from (select id from directory_changes where alias = ${alias} and seq is null order by id) as staged
    ) as numbered
    where change.id = numbered.id`.execute(transaction);
}

/** Deletes staged changes that were not made. */
export async function dropChanges(db: Db, alias: string): Promise<void> {
  await db.deleteFrom('directoryChanges').where('alias', '=', alias).where('seq', 'is', null).execute();
}

/** Keeps only those changes of a staged batch that were made. */
export async function replaceStaged(db: Db, id: number, changes: readonly Change[]): Promise<void> {
  await db
    .updateTable('directoryChanges')
    .set({ lines: serializeChanges(changes) })
    .where('id', '=', id)
    .where('seq', 'is', null)
    .execute();
}

/**
 * Reports changes that have just been made, such as opt-outs. Needs no write lock, because it does not touch staged
 * changes.
 */
export async function appendChanges(db: Db, origin: Origin, at: Date, changes: readonly Change[]): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await lockNumbers(transaction);
    await sql`
      insert into directory_changes (alias, kind, version, seq, at, lines)
      values (${origin.alias}, ${origin.kind}, ${origin.version}, nextval('directory_changes_seq'), ${at},
        ${serializeChanges(changes)})`.execute(transaction);
  });
}

/** The oldest batches that ClickHouse lacks, of all directories. */
export async function listUnsent(db: Db, limit: number): Promise<ChangeBatch[]> {
  return await db
    .selectFrom('directoryChanges')
    .selectAll()
    .where('seq', 'is not', null)
    .where('lines', 'is not', null)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

export async function hasUnsent(db: Db, alias: string): Promise<boolean> {
  const query = db.selectFrom('directoryChanges').select('id').where('alias', '=', alias).where('seq', 'is not', null);
  return (await query.where('lines', 'is not', null).limit(1).executeTakeFirst()) !== undefined;
}

export async function markSent(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.updateTable('directoryChanges').set({ lines: null }).where('id', 'in', ids).execute();
}

/** Deletes batches that ClickHouse has deleted too. */
export async function deleteOldBatches(db: Db, before: Date, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from directory_changes where id in (
      select id from directory_changes where at < ${before} and lines is null order by at limit ${limit}
    ) returning id`.execute(db);
  return rows.length;
}

/** The number up to which ClickHouse has every batch of a directory. */
export async function findHorizon(db: Db, alias: string): Promise<number> {
  const { rows } = await sql<{ horizon: number | null }>`
    select coalesce(
      (select min(seq) - 1 from directory_changes where alias = ${alias} and seq is not null and lines is not null),
      (select max(seq) from directory_changes where alias = ${alias})
    ) as horizon`.execute(db);
  return rows[0]?.horizon ?? 0;
}

/** The last batch that was reported, and the index that has it. */
export async function findLast(db: Db, alias: string) {
  const row = await db
    .selectFrom('directoryChanges')
    .select(['seq', 'at', 'version'])
    .where('alias', '=', alias)
    .where('seq', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq ? { seq: row.seq, at: row.at, version: row.version } : undefined;
}

/** Tells if a rollback made an earlier version live again after a batch and up to another. */
export async function hasRollback(db: Db, alias: string, after: number, upTo: number): Promise<boolean> {
  const { rows } = await sql`
    select from directory_changes
    where alias = ${alias} and seq > ${after} and seq <= ${upTo} and kind = 'rollback' limit 1`.execute(db);
  return rows.length > 0;
}

/** The last batch that was reported at or before a time; 0 if there is none. */
async function findSeqAt(db: Db, alias: string, at: Date): Promise<number> {
  const { rows } = await sql<{ seq: number | null }>`
    select max(seq) as seq from directory_changes where alias = ${alias} and at <= ${at}`.execute(db);
  return rows[0]?.seq ?? 0;
}

/** The last batch with which a version went live; undefined if the feed does not reach back to it. */
async function findSeqByVersion(db: Db, alias: string, version: string): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number | null }>`
    select max(seq) as seq from directory_changes
    where alias = ${alias} and version = ${version} and kind in ('import', 'rollback')`.execute(db);
  return rows[0]?.seq ?? undefined;
}

/** The oldest batch since a time; if there is none, the number that the next one will have. */
export async function findOldestSeq(db: Db, alias: string, since: Date): Promise<number> {
  const { rows } = await sql<{ oldest: number }>`
    select coalesce(
      (select min(seq) from directory_changes where alias = ${alias} and at >= ${since}),
      (select max(seq) + 1 from directory_changes where alias = ${alias}),
      1
    ) as oldest`.execute(db);
  return rows[0]?.oldest ?? 1;
}

/**
 * The start of an import or write whose changes searches could not see yet at a time, although their `changed_at` is
 * earlier: `changed_at` is the start of the import or write that changed the creator.
 */
export async function findUnderWay(db: Db, alias: string, at: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ startedAt: Date | null }>`
    select min(started_at) as started_at from (
      select started_at from directory_imports as import
      where alias = ${alias} and started_at <= ${at} and swapped_at > ${at} and not exists (
        -- A rollback made it live again.
        select from directory_changes as change
        where change.alias = import.alias and change.version = import.index_name and kind = 'import' and at <= ${at})
      union all
      select started_at from directory_writes where alias = ${alias} and started_at <= ${at} and rows > 0
        and (finished_at > ${at} or finished_at is null and started_at > ${at}::timestamptz - interval '1 hour')
    ) as under_way`.execute(db);
  return rows[0]?.startedAt ?? undefined;
}

/** Returns the start of the build of a version that has been live. */
async function findStart(db: Db, alias: string, version: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('directoryImports')
    .select('startedAt')
    .where('alias', '=', alias)
    .where('indexName', '=', version)
    .where('swappedAt', 'is not', null)
    .executeTakeFirst();
  return row?.startedAt;
}

/** A position in the feed, and in the documents' `changed_at`. */
export interface Since {
  /** The last batch of changes at that point. */
  seq: number;
  /** Content that searches began to see later has this `changed_at` or a later one, in milliseconds since 1970. */
  changedFrom: number;
}

/** Reads a time, or a version of the directory: everything after its import. */
export async function readSince(db: Db, alias: string, field: string, value: string): Promise<Since> {
  const time = TimeText.safeParse(value);
  if (time.success) {
    const at = new Date(time.data);
    const from = await findUnderWay(db, alias, at);
    return { seq: await findSeqAt(db, alias, at), changedFrom: (from ?? at).getTime() };
  }
  const startedAt = await findStart(db, alias, value);
  if (startedAt) return { seq: (await findSeqByVersion(db, alias, value)) ?? 0, changedFrom: startedAt.getTime() + 1 };
  const message = `${JSON.stringify(value)} is neither a time such as 2026-11-22T09:30:00Z nor a version from X-Directory-Version.`;
  throw validationError([{ field, code: 'not_found', message }]);
}
