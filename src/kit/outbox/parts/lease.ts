import { randomUUID } from 'node:crypto';
import type { Db } from '../../engines/postgres/open.ts';
import { release, renew } from './queries.ts';

const RENEW_EVERY_MS = 2_000;

export interface Parts {
  /** The parts whose brands this worker relays. */
  held(): Promise<readonly number[]>;
  /** Gives them to the other workers. */
  release(): Promise<void>;
}

/** Divides brands among the workers: each relays those of its parts, and a dead worker's are taken over. */
export function openParts(db: Db): Parts {
  const id = randomUUID();
  let parts: Promise<readonly number[]> | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;
  return {
    held: async () => {
      if (parts === undefined || performance.now() - renewedAt >= RENEW_EVERY_MS) {
        renewedAt = performance.now();
        parts = renew(db, id);
        // The next pass tries again.
        parts.catch(() => {
          parts = undefined;
        });
      }
      return await parts;
    },
    release: () => release(db, id),
  };
}
