import type { Db } from '../engines/postgres/open.ts';
import { readClockOffset } from '../engines/postgres/sandbox-clock.ts';
import { type Clock, noteAhead } from '../values/clock.ts';
import { ignoreFailure } from '../values/errors.ts';

const READ_EVERY_MS = 1_000;

export const clockAhead = (offsetMs: () => number): Clock => ({ now: () => new Date(Date.now() + offsetMs()) });

export interface SandboxClock {
  clock: Clock;
  /** Reads the offset now; until it was read for the first time the clock shows the real time. */
  refresh(): Promise<void>;
  stop(): void;
}

/** The clock of a sandbox, which `cli clock advance` puts ahead: every process reads each second by how much. */
export function openSandboxClock(db: Db): SandboxClock {
  let offsetMs = 0;
  const refresh = async () => {
    // It only ever goes ahead: an answer that is late must not put it back.
    offsetMs = Math.max(offsetMs, await readClockOffset(db));
    noteAhead(offsetMs);
  };
  const timer = setInterval(
    () => void refresh().catch(ignoreFailure('the next reading is in a second')),
    READ_EVERY_MS,
  ).unref();
  return { clock: clockAhead(() => offsetMs), refresh, stop: () => clearInterval(timer) };
}
