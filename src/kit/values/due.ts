import type { Clock } from './clock.ts';

/** Each pass looks back this far, for transactions that committed late and for hosts whose clocks disagree. */
const OVERLAP_MS = 30_000;
const ALL_EVERY_MS = 60_000;

export interface Due {
  /** Calls `list` with the time after which to look for changes, or with undefined to list everything. */
  ask<T>(list: (after: Date | undefined) => Promise<T>): Promise<T>;
}

/**
 * Lists recent changes at each pass. The first pass, the pass after a failure and one pass a minute list everything, so
 * that nothing is missed.
 */
export function openDue(clock: Clock, allEveryMs = ALL_EVERY_MS): Due {
  let allAtMs = Number.NEGATIVE_INFINITY;
  return {
    ask: async (list) => {
      const nowMs = clock.now().getTime();
      const isAll = Math.abs(nowMs - allAtMs) >= allEveryMs;
      try {
        const rows = await list(isAll ? undefined : new Date(nowMs - OVERLAP_MS));
        if (isAll) allAtMs = nowMs;
        return rows;
      } catch (error) {
        allAtMs = Number.NEGATIVE_INFINITY;
        throw error;
      }
    },
  };
}
