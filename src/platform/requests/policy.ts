import { DAY_MS } from '../../kit/values/duration.ts';

/** How long single calls are kept, and their sums by hour. */
export const CALLS_KEPT_MS = 14 * DAY_MS;
export const CALL_SUMS_KEPT_MS = 400 * DAY_MS;
