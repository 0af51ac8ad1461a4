/**
 * The current time, which tests can set. Statements take it as a parameter; only the rate window uses Redis's own
 * clock.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

let aheadMs = 0;

/** Records how far a sandbox's clock was advanced, so that this process accepts such times as possible. */
export function noteAhead(ms: number): void {
  aheadMs = Math.max(aheadMs, ms);
}

/** The latest time that any clock of this process shows. Outside a sandbox that is the real time. */
export const latestNow = (): Date => new Date(Date.now() + aheadMs);
