import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, EngineName, Seat } from './engine.ts';
import { lastLines } from './process.ts';
import type { Running } from './run-engine.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** An engine that has run for this long counts as healthy again. */
const WELL_AFTER_MS = 60_000;

interface Trouble {
  /** Starts in a row after which it ended again soon. */
  starts: number;
  /** The time at which the engine last became ready. */
  startedAt: number;
}

export interface ReviverOptions {
  /** `patience` multiplies the time that the engine is given to become ready. */
  start(name: EngineName, seat: Seat, patience: number): Promise<void>;
  /** Aborts when the stack is stopped. */
  ending: AbortSignal;
  report(line: string): void;
}

/** Both promises resolve when the engine is up, and reject only when the stack is stopped. */
export interface Reviver {
  /** Restarts an engine that ended by itself. */
  ended(name: EngineName, running: Running): Promise<void>;
  /** Restarts an engine that failed to start. */
  failed(name: EngineName, engine: Pick<Running, 'engine' | 'seat'>, error: unknown): Promise<void>;
}

const MOST_PATIENCE = 5;
const LINES = 5;

const toMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Restarts engines: at once, then after pauses that double up to a minute, until they are up. */
export function openReviver({ start, ending, report }: ReviverOptions): Reviver {
  const troubles = new Map<EngineName, Trouble>();

  function describeTrouble(name: EngineName): Trouble {
    const lastTrouble = troubles.get(name);
    if (lastTrouble && performance.now() - lastTrouble.startedAt < WELL_AFTER_MS) return lastTrouble;
    const fresh = { starts: 0, startedAt: 0 };
    troubles.set(name, fresh);
    return fresh;
  }

  async function revive(name: EngineName, seat: Seat, { title }: Engine, firstReason: string): Promise<void> {
    const trouble = describeTrouble(name);
    for (let reason = firstReason; ; ) {
      ending.throwIfAborted();
      const pauseMs = trouble.starts === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (trouble.starts - 1), LONGEST_PAUSE_MS);
      report(`${reason}\n${title} is started again${pauseMs === 0 ? '' : ` in ${pauseMs / 1_000} s`} ...`);
      trouble.starts += 1;
      await pause(pauseMs, undefined, { signal: ending });
      try {
        await start(name, seat, Math.min(trouble.starts + 1, MOST_PATIENCE));
        trouble.startedAt = performance.now();
        return;
      } catch (error) {
        reason = toMessage(error);
      }
    }
  }

  return {
    ended: (name, { engine, seat, process }) =>
      revive(name, seat, engine, `The log of ${engine.title} ends with:\n${lastLines(process.log, LINES)}`),
    failed: (name, { engine, seat }, error) => revive(name, seat, engine, toMessage(error)),
  };
}
