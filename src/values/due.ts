import type { Clock } from './clock.ts';

/** A transaction that began before this may have been committed since the last pass, whatever the hosts' clocks say. */
const OVERLAP_MS = 30_000;
const ALL_EVERY_MS = 60_000;

export interface Due {
  /** Asks for what moved after a time; without one for all. */
  ask<T>(list: (after: Date | undefined) => Promise<T>): Promise<T>;
}

/**
 * Asks for what moved of late, pass by pass; and for all at the first pass, after one that failed, and once a minute, so that
 * nothing is ever left.
 */
export function openDue(clock: Clock, allEveryMs = ALL_EVERY_MS): Due {
  let allAtMs = Number.NEGATIVE_INFINITY;
  return {
    ask: async (list) => {
      const nowMs = clock.now().getTime();
      const isAll = Math.abs(nowMs - allAtMs) >= allEveryMs;
      try {
        const found = await list(isAll ? undefined : new Date(nowMs - OVERLAP_MS));
        if (isAll) allAtMs = nowMs;
        return found;
      } catch (error) {
        allAtMs = Number.NEGATIVE_INFINITY;
        throw error;
      }
    },
  };
}
