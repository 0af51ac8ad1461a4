import { type Selectable, sql } from 'kysely';
import type { DirectoryImportsTable, DirectoryWritesTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { settleChanges } from '../../changes/changes.ts';
import { OWN_EMAILS } from './identity.ts';

type ImportState = DirectoryImportsTable['state'];

export type DirectoryImport = Selectable<DirectoryImportsTable>;
export type DirectoryWrite = Selectable<DirectoryWritesTable>;

/** An import in one of these states can still become live. */
const UNFINISHED: ImportState[] = ['queued', 'building', 'verified'];

const toJson = (value: unknown) => (value === undefined || value === null ? value : JSON.stringify(value));

/** The JSON columns as text; columns that a change leaves out stay undefined. */
function writeJson({ bounds, fill, comparison, mapping }: Partial<DirectoryImport>) {
  return { bounds: toJson(bounds), fill: toJson(fill), comparison: toJson(comparison), mapping: toJson(mapping) };
}

export async function insertImport(db: Db, row: DirectoryImport): Promise<void> {
  await db
    .insertInto('directoryImports')
    .values({ ...row, ...writeJson(row) })
    .execute();
}

export async function updateImport(
  db: Db,
  id: string,
  change: Partial<Omit<DirectoryImport, 'id' | 'alias'>> & { updatedAt: Date },
): Promise<void> {
  await db
    .updateTable('directoryImports')
    .set({ ...change, ...writeJson(change) })
    .where('id', '=', id)
    .execute();
}

export async function findImport(db: Db, id: string): Promise<DirectoryImport | undefined> {
  return await db.selectFrom('directoryImports').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The import that waits for an operator's decision, if any. */
export async function findHeld(db: Db, alias: string): Promise<DirectoryImport | undefined> {
  return await db
    .selectFrom('directoryImports')
    .selectAll()
    .where('alias', '=', alias)
    .where('state', '=', 'held')
    .executeTakeFirst();
}

/** The newest unfinished import of the same files. */
export async function findUnfinished(db: Db, alias: string, identity: string): Promise<DirectoryImport | undefined> {
  return await db
    .selectFrom('directoryImports')
    .selectAll()
    .where('alias', '=', alias)
    .where('identity', '=', identity)
    .where('state', 'in', UNFINISHED)
    .orderBy('startedAt', 'desc')
    .executeTakeFirst();
}

export async function listUnfinished(db: Db, alias: string): Promise<DirectoryImport[]> {
  return await db
    .selectFrom('directoryImports')
    .selectAll()
    .where('alias', '=', alias)
    .where('state', 'in', UNFINISHED)
    .orderBy('startedAt')
    .execute();
}

/** Imports that were live and no longer are, latest first. */
export async function listRetired(db: Db, alias: string): Promise<DirectoryImport[]> {
  return await db
    .selectFrom('directoryImports')
    .selectAll()
    .where('alias', '=', alias)
    .where('state', 'in', ['superseded', 'rolled_back'])
    .orderBy('swappedAt', 'desc')
    .execute();
}

export async function findImportByIndex(db: Db, index: string): Promise<DirectoryImport | undefined> {
  return await db.selectFrom('directoryImports').selectAll().where('indexName', '=', index).executeTakeFirst();
}

/** The import of this id, or whose index has this name. */
export async function findVersionRow(db: Db, alias: string, name: string): Promise<DirectoryImport | undefined> {
  return await db
    .selectFrom('directoryImports')
    .selectAll()
    .where('alias', '=', alias)
    .where(({ eb, or }) => or([eb('id', '=', name), eb('indexName', '=', name)]))
    .executeTakeFirst();
}

/**
 * Records which index is live, according to Elasticsearch, and reports the changes that were staged for it: after a
 * swap, or when a process died between the swap and this. What was live before becomes `retiredAs`.
 */
export async function recordLive(
  db: Db,
  alias: string,
  index: string,
  now: Date,
  retiredAs: 'superseded' | 'rolled_back' = 'superseded',
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('directoryImports')
      .set({ state: retiredAs, retiredAt: now, updatedAt: now })
      .where('alias', '=', alias)
      .where('state', '=', 'live')
      .where('indexName', '!=', index)
      .execute();
    await transaction
      .updateTable('directoryImports')
      .set({ state: 'live', swappedAt: now, retiredAt: null, updatedAt: now })
      .where('indexName', '=', index)
      .where('state', '!=', 'live')
      .execute();
    await settleChanges(transaction, alias, now);
  });
}

export async function insertWrite(db: Db, row: DirectoryWrite): Promise<void> {
  await db.insertInto('directoryWrites').values(row).execute();
}

export async function updateWrite(
  db: Db,
  id: string,
  change: Pick<DirectoryWrite, 'rows' | 'lastVersion'>,
): Promise<void> {
  await db.updateTable('directoryWrites').set(change).where('id', '=', id).execute();
}

/** Records the end of a write and how many creators its index should have since then; `verify` compares with that. */
export async function finishWrite(
  db: Db,
  write: { id: string; indexName: string; added: number; forgottenBefore: number; finishedAt: Date },
): Promise<void> {
  const { id, indexName, added, forgottenBefore, finishedAt } = write;
  await db.transaction().execute(async (transaction) => {
    await transaction.updateTable('directoryWrites').set({ finishedAt }).where('id', '=', id).execute();
    await transaction
      .updateTable('directoryImports')
      // Opt-outs during the write have lowered `documents` themselves.
      .set({ documents: sql`documents + ${added} + forgotten - ${forgottenBefore}` })
      .where('indexName', '=', indexName)
      .execute();
  });
}

export async function listWrites(db: Db, index: string): Promise<DirectoryWrite[]> {
  return await db
    .selectFrom('directoryWrites')
    .selectAll()
    .where('indexName', '=', index)
    .orderBy('startedAt')
    .execute();
}

/** Tells if an upsert, a patch, a delete or a swap of the alias came after a time. */
export async function hasChangedSince(db: Db, alias: string, since: Date): Promise<boolean> {
  const { rows } = await sql`
    select 1 from directory_writes where alias = ${alias} and started_at >= ${since} and rows > 0
    union all
    select 1 from directory_imports where alias = ${alias} and swapped_at >= ${since}
    limit 1`.execute(db);
  return rows.length > 0;
}

export async function highestVersion(db: Db, alias: string): Promise<number> {
  const row = await db
    .selectFrom('directoryWrites')
    .select(({ fn }) => fn.max('lastVersion').as('version'))
    .where('alias', '=', alias)
    .executeTakeFirst();
  return row?.version ?? 0;
}

export interface Writer {
  command: string;
  holder: string;
  since: Date;
}

/** Tells if the writer is running this import. A writer records its progress from the start. */
export function isRun({ state, updatedAt }: DirectoryImport, writer: Writer | undefined): boolean {
  return writer?.command === 'import' && (state === 'building' || state === 'verified') && updatedAt >= writer.since;
}

/** A silent writer keeps the lock this long. */
const HELD_FOR = sql`interval '10 seconds'`;

export interface WriterClaim extends Writer {
  token: string;
  /** The writer's process, if others on the machine can tell whether it still runs. */
  process: string | null;
}

/** Takes the lock if it is free, or if its holder is the process `ended`. */
export async function tryLock(
  db: Db,
  alias: string,
  claim: WriterClaim,
  endedProcess: string | null,
): Promise<boolean> {
  const { token, process, command, holder, since } = claim;
  const { rows } = await sql`
    insert into directory_writers as held (alias, command, holder, since, token, process, held_until)
    values (${alias}, ${command}, ${holder}, ${since}, ${token}, ${process}, clock_timestamp() + ${HELD_FOR})
    on conflict (alias) do update set command = excluded.command, holder = excluded.holder, since = excluded.since,
      token = excluded.token, process = excluded.process, held_until = excluded.held_until
    where held.held_until is null or held.held_until < clock_timestamp() or held.process = ${endedProcess}
    returning alias`.execute(db);
  return rows.length > 0;
}

/** Renews the lock, even if it expired, unless another writer took it. Returns false if it was lost. */
export async function renewLock(db: Db, alias: string, token: string): Promise<boolean> {
  const { rows } = await sql`
    update directory_writers set held_until = clock_timestamp() + ${HELD_FOR}
    where alias = ${alias} and token = ${token} and held_until is not null
    returning alias`.execute(db);
  return rows.length > 0;
}

export async function unlock(db: Db, alias: string, token: string): Promise<void> {
  await sql`update directory_writers set held_until = null where alias = ${alias} and token = ${token}`.execute(db);
}

/** The holder of the write lock, if any. */
export async function findWriter(db: Db, alias: string): Promise<(Writer & { process: string | null }) | undefined> {
  return await db
    .selectFrom('directoryWriters')
    .select(['command', 'holder', 'since', 'process'])
    .where('alias', '=', alias)
    .where('heldUntil', '>', sql<Date>`clock_timestamp()`)
    .executeTakeFirst();
}

/** One import into or write to the directory. */
export interface HistoryRow {
  id: string;
  what: 'import' | 'upsert' | 'patch' | 'delete';
  state: string;
  startedAt: Date;
  /** Null while it runs, and for an interrupted write. */
  endedAt: Date | null;
  rows: number;
  /** Null for writes, which are all or nothing. */
  rejects: number | null;
  files: string[];
  failure: string | null;
}

/** Imports and writes, newest first. */
export async function listHistory(db: Db, alias: string | undefined, limit: number): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    select id, 'import' as what, state, started_at, coalesce(swapped_at, case when state = 'failed' then updated_at end)
        as ended_at, position as rows, rejected as rejects, files, failure
      from directory_imports where ${alias ?? null}::text is null or alias = ${alias ?? null}
    union all
    select id, kind, case when finished_at is null then 'unfinished' else 'done' end, started_at, finished_at, rows, null,
        array[file], null
      from directory_writes where ${alias ?? null}::text is null or alias = ${alias ?? null}
    order by started_at desc, id desc limit ${limit}`.execute(db);
  return rows;
}

export interface ImportFigures {
  imports: { state: string; count: number; accepted: number; rejected: number }[];
  /** The last time an import or write changed the directory; null if never. */
  changedAt: Date | null;
  /** By field: the share of the live import's rows that have a value. */
  fill: Record<string, number>;
}

/** Sums up the imports and writes under an alias. */
export async function readImportFigures(db: Db, alias: string): Promise<ImportFigures> {
  const imports = await sql<ImportFigures['imports'][number]>`
    select state, count(*) as count, sum(accepted)::float8 as accepted, sum(rejected)::float8 as rejected
    from directory_imports where alias = ${alias} group by state`.execute(db);
  const lastChange = await sql<{ at: Date | null }>`
    select greatest((select max(swapped_at) from directory_imports where alias = ${alias} and state = 'live'),
      (select max(finished_at) from directory_writes where alias = ${alias})) as at`.execute(db);
  const live = await sql<{ fill: Record<string, number> | null }>`
    select fill from directory_imports where alias = ${alias} and state = 'live'`.execute(db);
  const { [OWN_EMAILS]: _, ...fill } = live.rows[0]?.fill ?? {};
  return { imports: imports.rows, changedAt: lastChange.rows[0]?.at ?? null, fill };
}
