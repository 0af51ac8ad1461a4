/** The time, as a value that tests can set. Statements take it as a parameter; only the rate window uses Redis's own. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

let aheadMs = 0;

/** A sandbox's clock was put ahead: from here on this process takes such times for possible. */
export function noteAhead(ms: number): void {
  aheadMs = Math.max(aheadMs, ms);
}

/** The latest time that any clock of this process shows: the real one, but in a sandbox. */
export const latestNow = (): Date => new Date(Date.now() + aheadMs);
