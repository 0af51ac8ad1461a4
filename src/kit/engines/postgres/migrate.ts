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
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}
