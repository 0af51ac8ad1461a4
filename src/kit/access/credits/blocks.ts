import type { AccessEngines } from './access.ts';
import { findKnownEntries } from './queries.ts';
import { blocksKey, readCharges } from './stream.ts';

/** A part of a walk that is paid on its own, counted from 1 over all requests that continue the walk. */
export interface Block {
  walkId: string;
  number: number;
}

/** Redis remembers this long how far a walk is paid. After that the ledger is read. */
export const BLOCKS_KEPT_MS = 24 * 60 * 60_000;
/** Blocks that are looked for in one statement. */
const AT_ONCE = 500;

export const blockCharge = ({ walkId, number }: Block): string => `${walkId}#${number}`;

/** Counts again how far a walk is paid, by the charges that are not settled and the ledger. Blocks are paid in order. */
export async function restoreBlocks({ db, redis }: AccessEngines, subscriptionId: string, block: Block): Promise<void> {
  // Read before the ledger: an entry that is drained in between is then found in both.
  const pending = new Set((await readCharges(redis, subscriptionId)).map(({ entry }) => entry.chargeId));
  let paid = block.number - 1;
  for (let isPaid = true; isPaid; ) {
    const ids = Array.from({ length: AT_ONCE }, (_, i) => blockCharge({ ...block, number: paid + 1 + i }));
    const known = await findKnownEntries(db, ids);
    const unpaid = ids.findIndex((id) => !known.has(`charge:${id}`) && !pending.has(id));
    isPaid = unpaid < 0;
    paid += isPaid ? ids.length : unpaid;
  }
  const key = blocksKey(subscriptionId, block.walkId);
  await redis.use((client) => client.set(key, paid, 'PX', BLOCKS_KEPT_MS, 'NX'));
}
