import type { Db } from '../../../../kit/engines/postgres/open.ts';
import type { Work } from '../../../../kit/operation/work.ts';
import { ApiError } from '../../../../kit/values/errors.ts';
import { getIntegration } from '../../connections/queries.ts';
import { FIRST_BACK_MS } from '../policy.ts';
import type { StoreOf } from '../queries.ts';
import { type BackfillRow, beginBackfill } from './queries.ts';

/** Before any store's first order. */
const EVER = new Date(0);

/** Has a store's history read in, up to where its sweeps began. */
export async function backfillBefore(db: Db, store: StoreOf & { connectedAt: Date }, now: Date): Promise<BackfillRow> {
  const before = new Date(store.connectedAt.getTime() - FIRST_BACK_MS);
  return await beginBackfill(db, store, { before, since: EVER, now });
}

export async function startBackfill({ db, now, brandId }: Work, id: string): Promise<BackfillRow> {
  const store = await getIntegration(db, brandId, id);
  if (store.status !== 'connected') throw new ApiError('CONFLICT', 'The store is not connected; connect it first.');
  return await backfillBefore(db, store, now);
}
