import path from 'node:path';
import pg from 'pg';
import type { Config } from '../src/kit/values/config.ts';
import { ignoreFailure } from '../src/kit/values/errors.ts';
import { engineFolder, makeEngineFolder } from '../src/local/engines/folder.ts';
import { findFreePort } from '../src/local/engines/port.ts';
import { postgres } from '../src/local/engines/postgres.ts';
import { lastLines, launch, stopProcess, waitUntilReady } from '../src/local/engines/process.ts';

/** Typical settings for a PostgreSQL with a gigabyte or two for searches. */
const SETTINGS = [
  'shared_buffers=1536MB',
  'effective_cache_size=4GB',
  'work_mem=64MB',
  'maintenance_work_mem=512MB',
  'max_wal_size=4GB',
  // Every core runs a search already; parallel workers would only compete with them.
  'max_parallel_workers_per_gather=0',
];

export interface PostgresServer {
  pool: pg.Pool;
  /** A folder that the server can read. */
  folder: string;
  stop(): Promise<void>;
}

/** Starts a separate PostgreSQL, so that it takes no memory while the others are measured. */
export async function startPostgres(config: Config, dataName: string, connections: number): Promise<PostgresServer> {
  const base = engineFolder(config.directory);
  const folder = makeEngineFolder(path.join(base, dataName, 'compared-postgres'), 0o700);
  const home = path.join(base, postgres.installation?.folder ?? '');
  const seat = { home, data: folder, port: await findFreePort(), heapMb: 0, java: undefined };
  await postgres.prepare(seat);
  const program = postgres.program(seat);
  const args = [...program.args, ...SETTINGS.flatMap((setting) => ['-c', setting])];
  const running = launch({ ...program, args }, path.join(folder, 'server.log'));
  if ((await waitUntilReady(running, () => postgres.isReady(seat.port), postgres.readyWithinMs)) !== 'ready') {
    throw new Error(`PostgreSQL did not start:\n${lastLines(running.log)}`);
  }
  const pool = new pg.Pool({ connectionString: postgres.url(seat), max: connections });
  pool.on('error', ignoreFailure('an idle connection that ends has nothing to lose'));
  return {
    pool,
    folder,
    stop: async () => {
      await pool.end();
      await stopProcess(running, postgres.stopSignal, 10_000);
    },
  };
}
