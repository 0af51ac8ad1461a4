import type { Context } from '../../context.ts';
import { findMending, finishMending, insertMending } from '../figures/rollups/queries.ts';
import { CLICK_CLAIM } from '../figures/schema.ts';
import { oldestUnsentId } from '../figures/shipping/queries.ts';
import { listBrandIds } from './queries.ts';
import { rebuildFigures } from './rebuild.ts';
import { compareFigures } from './verify.ts';

type Engines = Pick<Context, 'postgres' | 'redis' | 'clickhouse' | 'log'>;

/** What is on its way to ClickHouse. */
async function underWay({ postgres, redis }: Engines): Promise<{ claim: string; batch: number }> {
  const claim = await redis.use((client) => client.get(CLICK_CLAIM));
  return { claim: claim ?? '', batch: await oldestUnsentId(postgres.db) };
}

async function mendAll(engines: Engines): Promise<void> {
  const { postgres, clickhouse, log } = engines;
  for (const brandId of await listBrandIds(postgres.db)) {
    const problems = await compareFigures({ db: postgres.db, clickhouse }, brandId);
    if (problems.length === 0) continue;
    log.warn({ brandId, problems }, 'figures that ClickHouse lost as it was killed are folded again');
    await rebuildFigures(engines, brandId);
  }
}

/**
 * Once after each start of ClickHouse. One that is killed within an insert may lack the batch in a table and take it for
 * a duplicate when it is sent again (clicks/missing.ts): so once that was sent again, every brand's figures are compared
 * with what they are folded from, and folded again where they differ. With replicas that cannot happen.
 */
export async function mendFigures(engines: Engines): Promise<void> {
  const { clickhouse } = engines;
  if (clickhouse.cluster !== undefined) return;
  const mending = await findMending(clickhouse);
  if (mending?.step === 'done') return;
  const now = await underWay(engines);
  if (!mending) return await insertMending(clickhouse, now);
  const isStillUnderWay =
    (mending.claim !== '' && mending.claim === now.claim) || (mending.batch !== 0 && mending.batch === now.batch);
  if (isStillUnderWay) return;
  await mendAll(engines);
  await finishMending(clickhouse);
}
