import type { Transaction } from 'kysely';
import { type Db, isEndedForOthers } from './open.ts';
import type { Database } from './tables.ts';

/** PostgreSQL finds a deadlock after a second; whoever it ends waits for the others the next time, instead of against them. */
const MAX_ATTEMPTS = 4;

/**
 * Runs a change in a transaction, and again when PostgreSQL ended it for the sake of others: nothing is left of it then.
 * So a change has no effect but on the database; what it collects to write later it begins anew.
 */
export async function transact<T>(db: Db, change: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(change);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isEndedForOthers(error)) throw error;
    }
  }
}
