import type { Db } from '../kit/engines/postgres/open.ts';
import { readClockOffset } from '../kit/engines/postgres/sandbox-clock.ts';
import { type Clock, noteAhead } from '../kit/values/clock.ts';
import { ignoreFailure } from '../kit/values/errors.ts';

const READ_EVERY_MS = 1_000;

export const clockAhead = (offsetMs: () => number): Clock => ({ now: () => new Date(Date.now() + offsetMs()) });

export interface SandboxClock {
  clock: Clock;
  /** Reads the offset now. Before the first reading the clock shows the real time. */
  refresh(): Promise<void>;
  stop(): void;
}

/** A sandbox's clock, which `cli clock advance` advances. Every process reads the offset each second. */
export function openSandboxClock(db: Db): SandboxClock {
  let offsetMs = 0;
  const refresh = async () => {
    // The offset only grows, so that a late answer does not set it back.
    offsetMs = Math.max(offsetMs, await readClockOffset(db));
    noteAhead(offsetMs);
  };
  const timer = setInterval(
    () => void refresh().catch(ignoreFailure('the next reading is in a second')),
    READ_EVERY_MS,
  ).unref();
  return { clock: clockAhead(() => offsetMs), refresh, stop: () => clearInterval(timer) };
}
