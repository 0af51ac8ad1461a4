import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { migratePostgres } from '../../../src/kit/engines/postgres/migrate.ts';
import { openPostgres } from '../../../src/kit/engines/postgres/open.ts';

const FOLDERS = ['sql/postgres', 'sql/postgres-indexes'];
/** Runs on the same PostgreSQL make one template between them. */
const LOCK = 7_265_001;

function hashOfMigrations(): string {
  const hash = createHash('sha256');
  for (const folder of FOLDERS) {
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(path.join(folder, file)));
  }
  return hash.digest('hex').slice(0, 12);
}

async function makeTemplate(admin: pg.Client, url: string, name: string): Promise<void> {
  const draft = `${name}_draft`;
  await admin.query(`drop database if exists ${draft} with (force)`);
  await admin.query(`create database ${draft}`);
  const target = new URL(url);
  target.pathname = draft;
  const postgres = openPostgres(target.href, { max: 1 });
  await migratePostgres(postgres.db);
  await postgres.close();
  await admin.query(`alter database ${draft} with allow_connections false`);
  await admin.query(`alter database ${draft} rename to ${name}`);
}

/** The name of an empty database with every migration, which `create database … template` copies in 0.1 s. */
export async function ensureTemplate(url: string): Promise<string> {
  const name = `template_${hashOfMigrations()}`;
  const admin = new pg.Client(url);
  await admin.connect();
  try {
    await admin.query('select pg_advisory_lock($1)', [LOCK]);
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await makeTemplate(admin, url, name);
    return name;
  } finally {
    await admin.end();
  }
}
