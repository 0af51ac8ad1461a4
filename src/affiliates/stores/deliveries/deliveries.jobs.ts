import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../kit/operation/context.ts';
import type { Follower, Job } from '../../../kit/operation/job.ts';
import { DAY_MS, HOUR_MS } from '../../../kit/values/duration.ts';
import { deleteDeliveriesBefore, retryOfReconnectedStores } from './deliveries.ts';
import { foldBatch, listDueBrands } from './fold.ts';
import { readStoredCount } from './inbox.ts';

/** Delay until a new delivery is noticed. */
const LOOK_EVERY_MS = 100;
/** Number of brands folded concurrently. A slow store occupies one of them. */
const BRANDS_AT_ONCE = 6;

/** Pause after a batch of a brand failed as a whole. */
const FAILED_MS = 2_000;
const WHAT = 'folding deliveries of a brand';

/**
 * Folds what is due, a batch of a brand at a time, until nothing is. A brand whose batch is done waits for those that
 * had none since, so that no backlog delays another brand by more than a batch.
 */
export function openFolding(context: Context): (stopping?: AbortSignal) => Promise<void> {
  const { postgres, clock, failures } = context;
  const owner = randomUUID();
  const folding = new Map<string, Promise<void>>();
  const failedBrands = new Set<string>();
  let turns = 0;
  /** Turn number of each due brand's last batch. */
  let lastTurns = new Map<string, number>();

  async function fold(brandId: string): Promise<void> {
    try {
      await foldBatch(context, owner, brandId);
      failures.succeeded(WHAT);
    } catch (error) {
      failures.failed(WHAT, error, { brandId });
      failedBrands.add(brandId);
      setTimeout(() => failedBrands.delete(brandId), FAILED_MS).unref();
    } finally {
      folding.delete(brandId);
    }
  }

  /** Lists brands that may be folded, longest without a turn first. */
  async function listNext(): Promise<string[]> {
    const dueBrands = await listDueBrands(postgres.db, owner, clock.now());
    lastTurns = new Map(dueBrands.map(({ brandId }) => [brandId, lastTurns.get(brandId) ?? 0]));
    return dueBrands
      .map(({ brandId }) => brandId)
      .filter((brandId) => !folding.has(brandId) && !failedBrands.has(brandId))
      .sort((a, b) => (lastTurns.get(a) ?? 0) - (lastTurns.get(b) ?? 0));
  }

  return async (stopping) => {
    try {
      for (;;) {
        const next = stopping?.aborted ? [] : await listNext();
        if (next.length === 0 && folding.size === 0) return;
        for (const brandId of next.slice(0, BRANDS_AT_ONCE - folding.size)) {
          turns += 1;
          lastTurns.set(brandId, turns);
          folding.set(brandId, fold(brandId));
        }
        await Promise.race([...folding.values(), sleep(LOOK_EVERY_MS)]);
      }
    } finally {
      // A pass that fails leaves nothing behind that would outlive the worker's connections.
      await Promise.all(folding.values());
    }
  };
}

/** Interval of polling PostgreSQL while nothing new is stored, because attempts may be due. */
const ATTEMPTS_EVERY_MS = 1_000;

/** Folds deliveries as they arrive. */
export const foldStoreDeliveries: Follower = {
  name: 'fold-store-deliveries',
  everyMs: LOOK_EVERY_MS,
  open: (context, stopping) => {
    const fold = openFolding(context);
    let lastStored: string | null | undefined;
    let lookedAtMs = Number.NEGATIVE_INFINITY;
    return async () => {
      const storedCount = await readStoredCount(context);
      const nowMs = performance.now();
      if (storedCount === lastStored && nowMs - lookedAtMs < ATTEMPTS_EVERY_MS) return;
      await fold(stopping);
      lastStored = storedCount;
      lookedAtMs = nowMs;
    };
  },
};

const KEPT_MS = 30 * DAY_MS;
const BATCH = 1_000;

export const forgetStoreDeliveries: Job = {
  name: 'forget-store-deliveries',
  everyMs: HOUR_MS,
  asksFor: 'deliveries of stores older than 30 days',
  run: async ({ postgres, clock }) => {
    const before = new Date(clock.now().getTime() - KEPT_MS);
    while ((await deleteDeliveriesBefore(postgres.db, before, BATCH)) === BATCH);
  },
};

const RECONNECTED_EVERY_MS = 10_000;
/** Covers passes that failed. */
const RECONNECTED_WITHIN_MS = HOUR_MS;

/** Retries deliveries that waited for access once their store is connected again. */
export const retryReconnectedStores: Job = {
  name: 'retry-reconnected-stores',
  everyMs: RECONNECTED_EVERY_MS,
  asksFor: 'waiting deliveries of stores that were connected within the last hour',
  run: async ({ postgres, clock }) => {
    const now = clock.now();
    await retryOfReconnectedStores(postgres.db, new Date(now.getTime() - RECONNECTED_WITHIN_MS), now);
  },
};
