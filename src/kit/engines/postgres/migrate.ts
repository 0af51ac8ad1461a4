import { readdir, readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';

const FOLDER = new URL('../../../../sql/postgres/', import.meta.url);

/** Their names, in order. */
async function listMigrations(): Promise<string[]> {
  const files = await readdir(FOLDER);
  return files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const entries = (await listMigrations()).map(async (name): Promise<[string, Migration]> => {
    const statements = await readFile(new URL(`${name}.sql`, FOLDER), 'utf8');
    return [name, { up: async (db) => void (await sql.raw(statements).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Indexes of large tables, which are built while others write. */
const INDEXES = new URL('../../../../sql/postgres-indexes/', import.meta.url);
const INDEX_NAME = /INDEX CONCURRENTLY IF NOT EXISTS (\w+)/;

/** Checks that each migration was applied, and no other. Kysely's own check reads all columns of all tables. */
async function isUpToDate(db: Kysely<Database>, names: readonly string[]): Promise<boolean> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (!tables[0]?.exists) return false;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name collate "C"`.execute(db);
  return isDeepStrictEqual(
    rows.map(({ name }) => name),
    names,
  );
}

/** The names of indexes that are missing, or that were not finished. */
async function listMissingIndexes(db: Kysely<Database>, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) as wanted (name)
    where not exists (select from pg_index where indexrelid = to_regclass(name) and indisvalid)`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Builds the indexes that a migration's transaction would build under a lock. Only the first of several processes does: the
 * others must not wait with a snapshot, for which the build would wait. An index that was not finished is built again.
 */
async function buildIndexes(db: Kysely<Database>): Promise<void> {
  const files = (await readdir(INDEXES)).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, INDEXES), 'utf8')));
  const statements = texts.flatMap((text) => text.split(';').filter((statement) => INDEX_NAME.test(statement)));
  const names = statements.map((statement) => INDEX_NAME.exec(statement)?.[1] ?? '');
  if ((await listMissingIndexes(db, names)).length === 0) return;
  await db.connection().execute(async (connection) => {
    const lock = sql`hashtext('rollcall indexes')`;
    const { rows: locks } = await sql<{ isLocked: boolean }>`select pg_try_advisory_lock(${lock}) as is_locked`.execute(
      connection,
    );
    if (!locks[0]?.isLocked) return;
    try {
      for (const statement of statements) {
        const name = INDEX_NAME.exec(statement)?.[1] ?? '';
        const { rows } = await sql<{ indisvalid: boolean }>`
          select indisvalid from pg_index where indexrelid = to_regclass(${name})`.execute(connection);
        if (rows[0]?.indisvalid) continue;
        if (rows[0]) await sql`drop index concurrently ${sql.ref(name)}`.execute(connection);
        await sql.raw(statement).execute(connection);
      }
    } finally {
      await sql`select pg_advisory_unlock(${lock})`.execute(connection);
    }
  });
}

/** Migrations up to 0007 are the baseline of 1.0.0. Before it, their numbers meant other migrations. */
const BASELINE = '0008';
const UNKNOWN = /previously executed migration (\S+) is missing/;

/** Kysely calls a database with migrations that it does not know corrupted; it is another version's. */
function explain(error: unknown): unknown {
  const name = error instanceof Error ? UNKNOWN.exec(error.message)?.[1] : undefined;
  if (name === undefined) return error;
  return new Error(
    name < BASELINE
      ? 'PostgreSQL has data of a version before 1.0.0, which cannot be migrated: start with empty engines (embedded ones: with another ROLLCALL_DIR), or go on with that version.'
      : `PostgreSQL has data of a newer version (its migration ${name} is unknown here): start that version, or restore a backup of this one.`,
    { cause: error },
  );
}

async function applyMigrations(db: Kysely<Database>): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: readMigrations },
    // Branches use separate number ranges, and no migration depends on the order in which they are merged.
    allowUnorderedMigrations: true,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw explain(error);
  return (results ?? []).map((result) => result.migrationName);
}

/**
 * Applies the missing migrations of `sql/postgres` in order, in one transaction, under Kysely's lock, so that several
 * processes may start at once, and builds missing indexes. Returns the migrations' names.
 */
export async function migratePostgres(db: Kysely<Database>): Promise<string[]> {
  const names = await listMigrations();
  const applied = (await isUpToDate(db, names)) ? [] : await applyMigrations(db);
  await buildIndexes(db);
  return applied;
}
