import type { Transaction } from 'kysely';
import type { Database } from './database.ts';
import { type Db, isEndedForOthers } from './open.ts';

/**
 * PostgreSQL detects a deadlock after a second. The transaction that it ends then waits for the others when it is
 * retried.
 */
const MAX_ATTEMPTS = 4;

/**
 * Runs a change in a transaction, and retries it when PostgreSQL rolled it back in favour of others. The change must
 * have no effect outside the database, and must start its own collections afresh.
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
