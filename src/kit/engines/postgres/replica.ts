import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from './open.ts';

const PATIENCE_MS = 2_000;
const LOOK_EVERY_MS = 50;

async function hasReplayed(replica: Db, position: string): Promise<boolean> {
  const { rows } = await sql<{ is: boolean | null }>`
    select pg_last_wal_replay_lsn() >= ${position}::pg_lsn as is`.execute(replica);
  return rows[0]?.is === true;
}

/**
 * True if the replica has, within two seconds, everything that was committed before the call. Without it, or with a
 * server that is not a standby, the primary is read.
 */
export async function hasCaughtUp(replica: Db, primary: Db): Promise<boolean> {
  const { rows } = await sql<{ position: string }>`select pg_current_wal_insert_lsn()::text as position`.execute(
    primary,
  );
  const position = rows[0]?.position ?? '';
  const end = performance.now() + PATIENCE_MS;
  try {
    while (!(await hasReplayed(replica, position))) {
      if (performance.now() > end) return false;
      await pause(LOOK_EVERY_MS);
    }
    return true;
  } catch {
    return false;
  }
}
