import type { Db, Exports } from './open.ts';

const BATCH = 1_000;

/**
 * All rows of a brand's ordered list, in batches from one snapshot: each batch starts after the last row of the
 * previous one. Uses plain statements, because a cursor never responds again after its connection is lost (measured).
 * It uses a dedicated connection while the rows are read, so no other call waits for it.
 */
export async function* inBatches<T>(
  { current, semaphore }: Exports,
  brandId: string,
  select: (db: Db, after: T | undefined, limit: number) => Promise<T[]>,
): AsyncGenerator<T> {
  const release = await semaphore.take(brandId);
  try {
    const db = await current();
    const trx = await db.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute();
    try {
      let after: T | undefined;
      for (;;) {
        const rows: T[] = await select(trx, after, BATCH);
        yield* rows;
        after = rows.at(-1);
        if (rows.length < BATCH) break;
      }
      await trx.commit().execute();
    } finally {
      if (!trx.isCommitted) await trx.rollback().execute();
    }
  } finally {
    release();
  }
}
