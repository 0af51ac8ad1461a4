import { PLANS } from '../../kit/access/keys/limits.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { getBrand } from '../../platform/brands/brands.ts';

export const getRosterLimit = async (db: Db, brandId: string): Promise<number> =>
  PLANS[(await getBrand(db, brandId)).plan].rosterLimit;

/** Refuses new creators that the plan has no room for, before anything is written. */
export async function assertRoom(db: Db, brandId: string, addedCount: number): Promise<void> {
  const limit = await getRosterLimit(db, brandId);
  const current = await countRows(
    db.selectFrom('rosterEntries').where('brandId', '=', brandId).where('status', '<>', 'removed').select(COUNT),
  );
  if (current + addedCount <= limit) return;
  throw new ApiError(
    'CREATOR_LIMIT_REACHED',
    `The plan allows ${limit} creators on the roster; there are ${current}, and the file has ${addedCount} more.`,
    { facts: { limit, current } },
  );
}
