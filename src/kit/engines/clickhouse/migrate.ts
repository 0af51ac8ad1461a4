/**
 * The differences between ClickHouse installations, all handled in this folder:
 * - One server (docker-compose.yml) and the embedded engine run `sql/clickhouse` unchanged. The embedded one has no
 *   Keeper and so no replicas; it is the same engine behind a small HTTP server (src/local/engines/clickhouse-http.ts).
 * - With `CLICKHOUSE_CLUSTER` tables become Replicated… on every server of the cluster, and the window of remembered
 *   insert tokens is the replicated one. One shard: figures of a brand are read where they are.
 * - Settings are written into statements (insert.ts, query.ts), because the embedded engine scopes them to a session
 *   and a server to a request. URLs of the embedded one end at 16 KB (idArray).
 */
import { readdir, readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { ClickHouse } from './open.ts';
import { command, query } from './query.ts';

const FOLDER = new URL('../../../../sql/clickhouse/', import.meta.url);

const REMEMBERED = `CREATE TABLE IF NOT EXISTS schema_migrations_v1 (name String, applied_at DateTime64(3, 'UTC'))
ENGINE = MergeTree ORDER BY name SETTINGS non_replicated_deduplication_window = 10000`;

/** Processes that start at once may run statements twice, because ClickHouse has no lock to take. */
const REPEATABLE =
  /^(?:CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS|ALTER TABLE \w+ (?:\w+ \w+ IF (?:NOT )?EXISTS|MODIFY QUERY)|DROP (?:TABLE|VIEW) IF EXISTS)\s/;

/** The file's statements: each ends with a semicolon at the end of a line. */
export function splitStatements(file: string): string[] {
  const statements = file
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean);
  const bad = statements.find((statement) => !REPEATABLE.test(statement));
  if (bad) throw new Error(`A migration must be repeatable (IF NOT EXISTS): ${bad.slice(0, 80)}`);
  return statements;
}

/** Adapts a statement to the cluster, if there is one. */
export function onCluster(statement: string, cluster: string | undefined): string {
  if (cluster === undefined) return statement;
  return statement
    .replace(
      /^(CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS|ALTER TABLE|DROP (?:TABLE|VIEW) IF EXISTS) (\w+)/,
      `$1 $2 ON CLUSTER '${cluster}'`,
    )
    .replace(/ENGINE = (\w*MergeTree)(?:\((.*)\))?/, (_all, engine: string, columns: string | undefined) => {
      const path = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'";
      return `ENGINE = Replicated${engine}(${path}${columns ? `, ${columns}` : ''})`;
    })
    .replace(
      /non_replicated_deduplication_window = (\d+)/,
      'replicated_deduplication_window = $1, replicated_deduplication_window_seconds = 604800',
    );
}

async function run(clickhouse: ClickHouse, statement: string): Promise<void> {
  await command(clickhouse, onCluster(statement, clickhouse.cluster));
}

/** Applies the missing migrations of `sql/clickhouse` in order. Returns their names. */
export async function migrateClickHouse(clickhouse: ClickHouse): Promise<string[]> {
  await run(clickhouse, REMEMBERED);
  const Row = z.object({ name: z.string() });
  const appliedNames = new Set(
    (await query(clickhouse, Row, 'SELECT DISTINCT name FROM schema_migrations_v1')).map(({ name }) => name),
  );
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.sql')).sort();
  const newlyApplied: string[] = [];
  for (const file of files) {
    const name = file.replace(/\.sql$/, '');
    if (appliedNames.has(name)) continue;
    for (const statement of splitStatements(await readFile(new URL(file, FOLDER), 'utf8')))
      await run(clickhouse, statement);
    await command(clickhouse, 'INSERT INTO schema_migrations_v1 SELECT {name:String}, now64(3)', { name });
    newlyApplied.push(name);
  }
  return newlyApplied;
}

const migratedClients = new WeakSet<ClickHouse>();

/** Migrates once per process, for processes that may start before ClickHouse does. */
export async function ensureMigrated(clickhouse: ClickHouse): Promise<void> {
  if (migratedClients.has(clickhouse)) return;
  await migrateClickHouse(clickhouse);
  migratedClients.add(clickhouse);
}
