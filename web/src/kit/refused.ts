import { CallError } from '../call/call.ts';

/** An ended session, a timeout and a rate limit say nothing about the data that was sent. */
const PASSING = [401, 408, 429];

/** True if the API refused the data. After any other error, the same data can be sent again. */
export const isRefused = (error: unknown): error is CallError =>
  error instanceof CallError && error.status >= 400 && error.status < 500 && !PASSING.includes(error.status);
