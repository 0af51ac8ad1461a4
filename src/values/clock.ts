/** The time, as a value that tests can set. Statements take it as a parameter; only the rate window uses Redis's own. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
