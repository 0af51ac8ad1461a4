import type { Db, Exports } from './open.ts';

const BATCH = 1_000;

/**
 * All rows of an ordered list of a brand's, in batches, as of one moment: each batch begins after the last row of the
 * one before, in one snapshot. Plain statements, not a cursor: a cursor whose connection is lost never answers again
 * (measured). A snapshot lasts as long as its rows are being read, so its connection is none that other calls wait for.
 */
export async function* inBatches<T>(
  { db, semaphore }: Exports,
  brandId: string,
  select: (db: Db, after: T | undefined, limit: number) => Promise<T[]>,
): AsyncGenerator<T> {
  const release = await semaphore.take(brandId);
  try {
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
