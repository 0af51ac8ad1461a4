import { readdir, readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';

const FOLDER = new URL('../../../../sql/postgres/', import.meta.url);

async function readMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.sql')).sort();
  const entries = files.map(async (file): Promise<[string, Migration]> => {
    const statements = await readFile(new URL(file, FOLDER), 'utf8');
    return [file.replace(/\.sql$/, ''), { up: async (db) => void (await sql.raw(statements).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Indexes of large tables, which are built while others write. */
const INDEXES = new URL('../../../../sql/postgres-indexes/', import.meta.url);
const INDEX_NAME = /INDEX CONCURRENTLY IF NOT EXISTS (\w+)/;

/**
 * Builds the indexes that a migration's transaction would build under a lock. Only the first of several processes does: the
 * others must not wait with a snapshot, for which the build would wait. An index that was not finished is built again.
 */
async function buildIndexes(db: Kysely<Database>): Promise<void> {
  const files = (await readdir(INDEXES)).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, INDEXES), 'utf8')));
  const statements = texts.flatMap((text) => text.split(';').filter((statement) => INDEX_NAME.test(statement)));
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

/**
 * Applies the missing migrations of `sql/postgres` in order, in one transaction, under Kysely's lock, so that several
 * processes may start at once, and builds missing indexes. Returns the migrations' names.
 */
export async function migratePostgres(db: Kysely<Database>): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: readMigrations },
    // Branches use separate number ranges, and no migration depends on the order in which they are merged.
    allowUnorderedMigrations: true,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw explain(error);
  await buildIndexes(db);
  return (results ?? []).map((result) => result.migrationName);
}
