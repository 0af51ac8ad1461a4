import type { Clock } from './clock.ts';
import { toLogFacts } from './log.ts';

const AGAIN_AFTER_MS = 60_000;

export interface FailureLog {
  warn(facts: object, text: string): void;
  info(facts: object, text: string): void;
}

interface Failing {
  saidAtMs: number;
  unsaid: number;
}

export interface RepeatedFailures {
  /** `facts` are added to the log line. */
  failed(what: string, error: unknown, facts?: object): void;
  succeeded(what: string): void;
}

/**
 * Logs a repeated failure the first time and then once a minute with a count. `what` names a kind of work, not a single
 * item: a thousand parcels of one unreachable carrier give one line.
 */
export function openRepeatedFailures(log: FailureLog, clock: Clock): RepeatedFailures {
  const failing = new Map<string, Failing>();
  return {
    failed: (what, error, facts) => {
      const nowMs = clock.now().getTime();
      const episode = failing.get(what);
      if (episode && nowMs - episode.saidAtMs < AGAIN_AFTER_MS) {
        episode.unsaid += 1;
        return;
      }
      const times = (episode?.unsaid ?? 0) + 1;
      failing.set(what, { saidAtMs: nowMs, unsaid: 0 });
      log.warn({ ...toLogFacts(error), ...facts, ...(episode ? { times } : {}) }, `failing: ${what}`);
    },
    succeeded: (what) => {
      if (failing.delete(what)) log.info({}, `recovered: ${what}`);
    },
  };
}
