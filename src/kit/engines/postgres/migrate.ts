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
 * processes may start at once. Returns their names.
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
  return (results ?? []).map((result) => result.migrationName);
}
