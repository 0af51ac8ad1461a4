import { CallError } from '../call/call.ts';

/** A session that ended, a slow connection and a limit say nothing about what was sent. */
const PASSING = [401, 408, 429];

/** Whether the API refused what was sent. Otherwise it may be sent again. */
export const isRefused = (error: unknown): error is CallError =>
  error instanceof CallError && error.status >= 400 && error.status < 500 && !PASSING.includes(error.status);
