import type { Clock } from './clock.ts';

const AGAIN_AFTER_MS = 60_000;

/** Of a log, what is said here. */
export interface Said {
  warn(facts: object, text: string): void;
  info(facts: object, text: string): void;
}

interface Failing {
  saidAtMs: number;
  unsaid: number;
}

export interface RepeatedFailures {
  /** `facts`: further ones of the failure that is logged. */
  failed(what: string, error: unknown, facts?: object): void;
  succeeded(what: string): void;
}

/**
 * What fails again and again is logged the first time, and then once a minute with how often it failed meanwhile. `what`
 * names a kind, not one thing of it: a thousand parcels of a carrier that is away are one line.
 */
export function openRepeatedFailures(log: Said, clock: Clock): RepeatedFailures {
  const failing = new Map<string, Failing>();
  return {
    failed: (what, error, facts) => {
      const nowMs = clock.now().getTime();
      const known = failing.get(what);
      if (known && nowMs - known.saidAtMs < AGAIN_AFTER_MS) {
        known.unsaid += 1;
        return;
      }
      const times = (known?.unsaid ?? 0) + 1;
      failing.set(what, { saidAtMs: nowMs, unsaid: 0 });
      log.warn({ err: error, ...facts, ...(known ? { times } : {}) }, `not done yet: ${what}`);
    },
    succeeded: (what) => {
      if (failing.delete(what)) log.info({}, `done again: ${what}`);
    },
  };
}
