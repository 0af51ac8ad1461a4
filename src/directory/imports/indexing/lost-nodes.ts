import { setTimeout as pause } from 'node:timers/promises';
import { waitUntilWhole } from '../../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import { ApiError } from '../../../kit/values/errors.ts';

/** An import waits this long for a lost node before it continues without it or builds its index again. */
export const NODE_PATIENCE_MS = 60_000;
const AGAIN_AFTER_MS = 500;

export interface Persistence {
  elastic: Elastic;
  index: string;
  patienceMs: number;
  /** Called while an import waits for a node; throws if the import was stopped. */
  onWait(): void;
  onNotice(notice: string): void;
}

/** Elasticsearch or PostgreSQL may be back soon. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError || (error instanceof Error && error.cause instanceof ApiError);
}

function getReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof ApiError) return getReason(cause);
  if (cause instanceof Error) return cause.message;
  return error instanceof Error ? error.message : String(error);
}

/** If the index has lost shards with a node, waits for them; throws ShardsLost if they do not come back. */
export async function awaitShards(persistence: Persistence, error: unknown): Promise<void> {
  if (!isTransient(error)) return;
  const { elastic, index, patienceMs, onWait } = persistence;
  await waitUntilWhole(elastic, index, patienceMs, onWait);
}

/** Runs a step that is safe to repeat, and repeats it while Elasticsearch loses nodes and gets them back. */
export async function retryThroughNodeLoss<T>(persistence: Persistence, step: () => Promise<T>): Promise<T> {
  let giveUpAt: number | undefined;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      giveUpAt ??= performance.now() + persistence.patienceMs;
      if (!isTransient(error) || performance.now() > giveUpAt) throw error;
      persistence.onNotice(`Elasticsearch did not finish a step, trying again: ${getReason(error)}`);
      persistence.onWait();
      await awaitShards(persistence, error);
      await pause(AGAIN_AFTER_MS);
    }
  }
}
