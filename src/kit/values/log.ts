import type { FastifyBaseLogger } from 'fastify';
import type { ApiError } from './errors.ts';

/** Structured log lines: an object of facts, then a message. */
export type Log = FastifyBaseLogger;

/** Logs failures that the caller did not cause: a bug of ours as an error, an unavailable engine as a warning. */
export function logFailure(log: Log, answer: ApiError, requestId: string): void {
  const facts = { err: answer.cause ?? answer, requestId };
  if (answer.status === 503) log.warn(facts, answer.message);
  else if (answer.status >= 500) log.error(facts, answer.message);
}
