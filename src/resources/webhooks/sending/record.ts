import type { Context } from '../../../api/context.ts';
import { transact } from '../../../engines/postgres/transaction.ts';
import { type AttemptResult, finishAttempts, insertAttempts, lockSubscriptions, noteNewest } from './record-queries.ts';

/** Writes down what became of attempts: all of them, or, when that fails, none. */
export async function recordAttempts({ postgres }: Pick<Context, 'postgres'>, results: readonly AttemptResult[]) {
  if (results.length === 0) return;
  await transact(postgres.db, async (db) => {
    await lockSubscriptions(db, [...new Set(results.map(({ subscriptionId }) => subscriptionId))]);
    await insertAttempts(db, results);
    await finishAttempts(db, results);
    await noteNewest(db, results);
  });
}
