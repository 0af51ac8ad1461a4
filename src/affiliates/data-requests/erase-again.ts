import type { Context } from '../../kit/operation/context.ts';
import { inWork } from '../../kit/operation/work.ts';
import { convertSeals } from '../ledger/convert-seals.ts';
import { carryOutRunning, noteAgain } from './data-requests.ts';
import { type ErasureLine, readErasures } from './erasures-file.ts';

type Engines = Pick<Context, 'postgres' | 'clock' | 'secrets' | 'files' | 'log'>;

/** The erasures that this database lacks, of brands that it has. */
async function listLacking({ postgres: { db }, files }: Engines): Promise<ErasureLine[]> {
  const lines = new Map((await readErasures(files)).map((line) => [line.request, line]));
  const ids = [...lines.keys()];
  if (ids.length === 0) return [];
  const brands = new Set((await db.selectFrom('brands').select('id').execute()).map(({ id }) => id));
  const knownRequests = await db
    .selectFrom('dataRequests')
    .select('id')
    .where('id', 'in', ids)
    .where('state', 'in', ['done', 'running'])
    .execute();
  for (const { id } of knownRequests) lines.delete(id);
  return [...lines.values()].filter(({ brand }) => brands.has(brand));
}

/**
 * Erases again whom a restored copy has brought back, before anything is answered. What cannot be carried out now stays a running
 * request, which the worker takes up. Returns how many it found.
 */
export async function eraseAgain(engines: Engines): Promise<number> {
  const { postgres, clock, secrets, log } = engines;
  const lacking = await listLacking(engines);
  for (const line of lacking) {
    const actor = { brandId: line.brand, keyId: null, operation: 'restore_erasure', requestId: null };
    await inWork(postgres.db, clock, actor, (work) => noteAgain(work.db, secrets, line));
    try {
      await convertSeals(postgres.db, clock, line.brand);
      await inWork(postgres.db, clock, actor, (work) => carryOutRunning(work, secrets, line.request));
    } catch (error) {
      log.error({ err: error, request: line.request }, 'an erasure of before the restore waits for the worker');
    }
  }
  return lacking.length;
}
